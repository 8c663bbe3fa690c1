/* SPDX-License-Identifier: Apache-2.0 */
/* target_emulated.c: the CUDA target without a GPU: the very .cu on the emulator (runtime/device/emulated.h,
 * target/cuda/emu). It is what `--emulate` means for target cuda. */
#include "runtime/device/cuda_code.h"
#include "runtime/device/emulated.h"
#include "target/cuda/emu/cuda_emu.h"

static const char *encode(void *user, CudaMapBytes *map, const CudaMapValue *value) {
    static const EmuType types[EL_COUNT] = {
        [EL_I1] = EMU_U8,      [EL_I8] = EMU_I8,       [EL_U8] = EMU_U8,       [EL_I16] = EMU_I16,
        [EL_U16] = EMU_U16,    [EL_I32] = EMU_I32,     [EL_U32] = EMU_U32,     [EL_I64] = EMU_I64,
        [EL_U64] = EMU_U64,    [EL_F16] = EMU_F16,     [EL_BF16] = EMU_BF16,   [EL_F32] = EMU_F32,
        [EL_F64] = EMU_F64,    [EL_F8E4M3] = EMU_E4M3, [EL_F8E5M2] = EMU_E5M2, [EL_F8E4B8] = EMU_U8,
        [EL_F8E5B16] = EMU_U8, [EL_F8E4B15] = EMU_U8};
    (void)user;
    EmuTensor t = {.type = types[value->elem],
                   .rank = value->rank,
                   .base = (void *)(uintptr_t)value->base,
                   .swizzle = value->swizzle};
    for (int d = 0; d < value->rank; d++) {
        t.dims[d] = value->dims[d];
        t.box[d] = value->box[d];
        if (d) t.strides[d - 1] = value->strides[d - 1];
    }
    return emu_tensormap_encode(map, &t);
}

/* Where blocks make tensor maps: places for those that run side by side. */
static void give_room(CudaCode *code, Arena *scratch, EmuLaunch *launch, EmuAllocation *memory) {
    enum { ALIGN = 128 };
    size_t bytes = cuda_code_place_bytes(code);
    if (!bytes) return;
    code->places = code->plan->cluster ? code->plan->cluster : 1;
    bytes *= (size_t)code->places;
    char *room = ARENA_ARRAY(scratch, char, bytes + ALIGN);
    code->room = (void *)(((uintptr_t)room + ALIGN - 1) / ALIGN * ALIGN);
    memory[launch->allocation_count++] = (EmuAllocation){"made_maps", code->room, bytes};
}

static tw_status prepare(tw_kernel *k, const LaunchCall *call, EmuLaunch *launch, EmuAllocation *memory) {
    CudaCode *code = k->code;
    give_room(code, &k->context->launch_scratch, launch, memory);
    tw_status status = cuda_code_refresh(k, call, encode, NULL);
    if (status != TW_OK || !code->plan->persist) return status;
    /* two blocks share the programs, so that counters go on from task to task; or two clusters of blocks */
    int64_t programs = call->grid[0] * call->grid[1] * call->grid[2];
    launch->cluster = (uint32_t)cuda_code_cluster(code, 1);
    launch->grid[0] = (programs < 2 ? (uint32_t)programs : 2) * launch->cluster;
    launch->grid[1] = launch->grid[2] = 1;
    return TW_OK;
}

static const Emulated emulated = {"cuda-emulated", ".cu", emu_launch, prepare};

static tw_status build(tw_kernel *k) {
    tw_status status = cuda_code_prepare(k);
    return status == TW_OK ? emulated_build(k, &emulated) : status;
}

static tw_status launch(tw_kernel *k, const LaunchCall *call) { return emulated_launch(k, &emulated, call); }

const Target target_emulated = {
    .name = "cuda-emulated",
    .about = "the CUDA target's text on the host, thread by thread, with races and deadlocks reported",
    .machine = cuda_code_machine,
    .emit = cuda_code_emit,
    .build = build,
    .launch = launch,
    .destroy = emulated_destroy,
    .available = emulated_available,
    .assemble = cuda_assemble,
    .assembly_ending = ".ptx",
};
