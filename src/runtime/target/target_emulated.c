/* target_emulated.c: the CUDA target without a GPU: the very .cu, compiled by the host's C++
 * compiler against the emulator's prelude, every thread a fiber (target/cuda/emu). It is what
 * `--emulate` means for target cuda. */
#include "runtime/compile/cache.h"
#include "runtime/device/cuda_code.h"
#include "runtime/host/process.h"
#include "runtime/host/toolchain.h"
#include "target/cuda/emu/cuda_emu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { MAX_FILES = 32 };

static const char *const candidates[] = {"g++", "clang++", "c++", NULL};
static const ToolKind cxx_compiler = {"C++17", "CXX", candidates, "the emulator", ""};

static bool emulated_available(tw_context *cx, Arena *arena, const char **note) {
    const char *path = toolchain_path(cx, arena, &cxx_compiler, 0, note);
    if (path) *note = path;
    return path != NULL;
}

/* The words of EMU_CXXFLAGS; where they stand in `text`. */
static void list_flags(char *text, const char *flags[TOOL_FLAGS]) {
    int n = 0;
    for (char *rest = text, *word; n < TOOL_FLAGS - 1 && (word = strtok_r(rest, " ", &rest));) flags[n++] = word;
    flags[n] = NULL;
}

static int list_files(const char *text, ToolFile files[MAX_FILES]) {
    static const char *const folders[] = {"prelude", "include"};
    const EmbeddedFile *file;
    int count = 0;
    for (int f = 0; f < 2; f++)
        for (int i = 0; count < MAX_FILES - 1 && (file = cuda_code_header(folders[f], i)); i++)
            files[count++] = (ToolFile){cuda_code_header_name(file), file->text, file->size, false};
    files[count++] = (ToolFile){"kernel.cu", text, strlen(text), true};
    return count;
}

static tw_status emulated_build(tw_kernel *k) {
    tw_context *cx = k->context;
    CudaCode *code = k->code;
    Toolchain tool;
    tw_status status = cuda_code_prepare(k);
    if (status != TW_OK) return status;
    if (!toolchain_find(cx, &k->arena, &cxx_compiler, 0, &tool)) return TW_ERROR_UNAVAILABLE;
    char words[] = EMU_CXXFLAGS, hex[DIGEST_HEX], symbol[300];
    const char *flags[TOOL_FLAGS];
    ToolFile files[MAX_FILES];
    list_flags(words, flags);
    int count = list_files(code->plan->text, files);
    Digest d;
    digest_begin(&d);
    digest_add_text(&d, "cuda-emulated");
    digest_add_text(&d, tw_version());
    for (int i = 0; i < count; i++) digest_add_text(&d, files[i].text);
    toolchain_digest(&tool, flags, &d);
    digest_end_hex(&d, hex);
    status = toolchain_build(cx, &tool, flags, files, count, hex, &code->library);
    if (status != TW_OK) return status;
    snprintf(symbol, sizeof symbol, "tw_emu_%s", code->plan->name);
    code->entry = dlsym(code->library, symbol);
    return code->entry ? TW_OK
                       : context_fail(cx, TW_ERROR_TOOL, "the compiled kernel could not be loaded: %s", dlerror());
}

static void emulated_destroy(tw_kernel *k) {
    CudaCode *code = k->code;
    if (code && code->library) dlclose(code->library);
}

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

/* Arrays of the launch; those that share memory are one. */
static size_t find_memory(tw_kernel *k, EmuAllocation *memory) {
    size_t count = 0;
    for (int i = 0; i < k->param_count; i++) {
        const tw_buffer *b = k->buffers[i];
        if (!b || !b->size) continue;
        char *low = buffer_lowest(b), *high = low + b->size;
        size_t at = 0;
        while (at < count) {
            char *base = memory[at].base, *end = base + memory[at].bytes;
            if (low < end && base < high) { /* joined, and looked at again with what it now covers */
                low = base < low ? base : low;
                high = end > high ? end : high;
                memory[at] = memory[--count];
                at = 0;
                continue;
            }
            at++;
        }
        memory[count++] = (EmuAllocation){k->params[i].name, low, (uint64_t)(high - low)};
    }
    return count;
}

/* Where blocks make tensor maps: places for those that run side by side. */
static void give_room(CudaCode *code, Arena *scratch, EmuAllocation *memory, size_t *count) {
    enum { ALIGN = 128 };
    size_t bytes = cuda_code_place_bytes(code);
    if (!bytes) return;
    code->places = code->plan->cluster ? code->plan->cluster : 1;
    bytes *= (size_t)code->places;
    char *room = ARENA_ARRAY(scratch, char, bytes + ALIGN);
    code->room = (void *)(((uintptr_t)room + ALIGN - 1) / ALIGN * ALIGN);
    memory[(*count)++] = (EmuAllocation){"made_maps", code->room, bytes};
}

static tw_status emulated_launch(tw_kernel *k, const LaunchCall *call) {
    tw_context *cx = k->context;
    CudaCode *code = k->code;
    Arena *scratch = &cx->launch_scratch;
    EmuAllocation *memory = ARENA_ARRAY(scratch, EmuAllocation, k->param_count + 1);
    size_t count = find_memory(k, memory);
    give_room(code, scratch, memory, &count);
    tw_status status = cuda_code_refresh(k, call, encode, NULL);
    if (status != TW_OK) {
        arena_free(scratch);
        return status;
    }
    EmuLaunch launch = {.kernel = k->name,
                        .file = arena_printf(scratch, "%s.cu", k->name),
                        .threads = (uint32_t)code->plan->threads,
                        .lanes = (uint32_t)k->pass.machine->lanes,
                        .shared_bytes = (uint32_t)code->plan->shared_bytes,
                        .shared_most = (uint32_t)k->pass.machine->ring_bytes,
                        .params = code->params,
                        .allocations = memory,
                        .allocation_count = count,
                        .seed = k->seed,
                        .steps = (uint64_t)k->max_steps,
                        .cancel = &cx->cancel};
    memcpy(&launch.entry, &code->entry, sizeof launch.entry);
    cuda_code_blocks(code, call->grid, launch.grid);
    launch.registers = (uint32_t)(k->pass.machine->registers / (code->plan->threads * code->plan->blocks));
    if (code->plan->persist) { /* two blocks share the programs, so that counters go on from task to
                                  task */
        int64_t programs = call->grid[0] * call->grid[1] * call->grid[2];
        launch.cluster = (uint32_t)cuda_code_cluster(code, 1); /* or two clusters of blocks */
        launch.grid[0] = (programs < 2 ? (uint32_t)programs : 2) * launch.cluster;
        launch.grid[1] = launch.grid[2] = 1;
    }
    EmuReport report;
    bool good = emu_launch(&launch, scratch, &report);
    if (cx->print && *report.output) cx->print(cx->print_user, report.output, strlen(report.output));
    status = good ? TW_OK : context_fail(cx, TW_ERROR_LAUNCH, "kernel `%s` on the emulator: %s", k->name, report.text);
    arena_free(scratch);
    return status;
}

const Target target_emulated = {
    .name = "cuda-emulated",
    .about = "the CUDA target's text on the host, thread by thread, with races and deadlocks reported",
    .machine = cuda_code_machine,
    .emit = cuda_code_emit,
    .build = emulated_build,
    .launch = emulated_launch,
    .destroy = emulated_destroy,
    .available = emulated_available,
    .assemble = cuda_assemble,
    .assembly_ending = ".ptx",
};
