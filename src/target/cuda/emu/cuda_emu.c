/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_emu.c: CUDA's part of a launch on the emulator: its calls, the state that only it has, and what it says of its
 * own agents and waits. */
#include "target/cuda/emu/cuda_emu_core.h"

#include <string.h>

static const CudaTable table = {
    .simt = {EMU_SIMT_CALLS},
    .cluster_sync = emu_cluster_sync,
    .setmaxnreg = emu_setmaxnreg,
    .mbar_init = emu_mbar_init,
    .mbar_arrive = emu_mbar_arrive,
    .mbar_arrive_at = emu_mbar_arrive_at,
    .mbar_wait = emu_mbar_wait,
    .fence_mbar_init = emu_fence_mbar_init,
    .fence_async = emu_fence_async,
    .tma = emu_tma,
    .map_set = emu_map_set,
    .map_fence = emu_map_fence,
    .bulk = emu_bulk,
    .bulk_commit = emu_bulk_commit,
    .bulk_wait = emu_bulk_wait,
    .cp_async = emu_cp_async,
    .cp_async_commit = emu_cp_async_commit,
    .cp_async_wait = emu_cp_async_wait,
    .cp_async_arrive = emu_cp_async_arrive,
    .ldmatrix = emu_ldmatrix,
    .stmatrix = emu_stmatrix,
    .mma = emu_mma,
    .wgmma = emu_wgmma,
    .wgmma_fence = emu_wgmma_fence,
    .wgmma_commit = emu_wgmma_commit,
    .wgmma_wait = emu_wgmma_wait,
    .wgmma_settle = emu_wgmma_settle,
};

static bool possible(Emu *emu) {
    const EmuLaunch *l = emu->launch;
    if (l->cluster <= 1 || l->threads % EMU_GROUP == 0) return true;
    emu_fail(emu, EMU_FAULT_LAUNCH, "blocks of %u threads in clusters; in emulation these are whole warpgroups",
             l->threads);
    return false;
}

static int agents(Emu *emu) {
    cuda_emu(emu)->groups = emu->threads / EMU_GROUP;
    return cuda_emu(emu)->groups + emu->cluster * EMU_MAX_MBARS;
}

static void start(Emu *emu) {
    CudaEmu *cuda = cuda_emu(emu);
    int registers = emu->launch->registers ? (int)emu->launch->registers : 65536 / emu->block_threads & ~7;
    if (registers > 255) registers = 255;
    cuda->thread = ARENA_ARRAY(&emu->arena, CudaThread, emu->threads);
    cuda->warp = ARENA_ARRAY(&emu->arena, CudaWarp, emu->warps);
    cuda->group = ARENA_ARRAY(&emu->arena, Warpgroup, cuda->groups + 1);
    cuda->mbar_at = ARENA_ARRAY(&emu->arena, uint16_t, (uint32_t)emu->cluster * emu->shared_stride / 8 + 1);
    cuda->mbar = ARENA_ARRAY(&emu->arena, Mbar, emu->cluster * EMU_MAX_MBARS);
    cuda->mbar_count = cuda->cluster_arrived = 0;
    cuda->shown.count = cuda->shown.capacity = 0;
    cuda->shown.at = NULL;
    cuda->uses_copies = false;
    cuda->fence_from = cuda->fence_to = NULL;
    cuda->free_work = NULL;
    memset(cuda->free_registers, 0, sizeof cuda->free_registers);
    memset(&cuda->cluster_gather, 0, sizeof cuda->cluster_gather);
    for (int i = 0; i < emu->cluster; i++)
        cuda->end[i] = (BlockEnd){.touched = ARENA_ARRAY(&emu->arena, uint32_t, emu->threads),
                                  .line = ARENA_ARRAY(&emu->arena, int, emu->threads)};
    for (int i = 0; i < emu->warps; i++) cuda->warp[i].registers = registers & ~7;
    for (int i = 0; i < cuda->groups; i++) cuda->group[i].group = 1;
}

CudaWarp *cuda_warp(Emu *emu, int line, const char *what) {
    if (emu->lanes != EMU_WARP)
        emu_fail(emu, CUDA_FAULT_MATRIX, "%s at %s: it is an instruction of warps of %d lanes; these have %d", what,
                 emu_at(emu, line), EMU_WARP, emu->lanes);
    return &cuda_emu(emu)->warp[emu->running->id / EMU_WARP];
}

/* ---- work that happens later ---- */
void emu_later(Emu *emu, int line, Work work) {
    CudaEmu *cuda = cuda_emu(emu);
    Work *kept = cuda->free_work;
    if (kept)
        cuda->free_work = kept->next_free;
    else
        kept = ARENA_NEW(&emu->arena, Work);
    *kept = work;
    emu_schedule(emu, line, kept);
}

static void happen(Emu *emu, const Event *event) {
    Work *work = event->work;
    emu_work_happen(emu, event);
    work->next_free = cuda_emu(emu)->free_work;
    cuda_emu(emu)->free_work = work;
}

static void check_end(Emu *emu) {
    for (size_t i = 0; i < emu->events.count; i++)
        if (((const Work *)emu->events.at[i].work)->kind == WORK_LOAD)
            emu_fail(emu, CUDA_FAULT_UNWAITED,
                     "the block ends while the TMA load of %s is still writing to its shared "
                     "memory; wait for its mbarrier",
                     emu_at(emu, emu->events.at[i].line));
}

/* ---- reports ---- */
static const char *agent_text(Emu *emu, int agent) {
    const CudaEmu *cuda = cuda_emu(emu);
    int number = agent - emu_agents(emu), own = emu->block_threads;
    if (number < cuda->groups) {
        int first = number * EMU_GROUP;
        return arena_printf(&emu->arena, "wgmma of warpgroup %d%s", first % own / EMU_GROUP,
                            emu_of_block(emu, first / own));
    }
    return arena_printf(&emu->arena, "TMA load on the mbarrier at %s",
                        emu_bytes(emu, cuda->mbar[number - cuda->groups].s, 8));
}

static void say_wait(Emu *emu, const Thread *t) {
    const CudaEmu *cuda = cuda_emu(emu);
    const char *at = emu_at(emu, t->wait_line);
    switch (t->wait) {
    case WAIT_MBAR: {
        const Mbar *m = &cuda->mbar[cuda->mbar_at[t->wait_what / 8] - 1];
        text_add(&emu->text, "mbarrier at %s, parity %u, at %s: it is in phase %u", emu_bytes(emu, m->s, 8),
                 t->wait_detail, at, m->phase);
        text_add(&emu->text, ", %lld of %u arrivals and %lld bytes are missing, %d copies are in flight",
                 (long long)m->pending, m->count, (long long)m->bytes, m->in_flight);
        break;
    }
    case WAIT_WGMMA: text_add(&emu->text, "the other warps of the warpgroup in tw_wgmma_wait at %s", at); break;
    case WAIT_REGISTERS:
        text_add(&emu->text, "registers: setmaxnreg.inc %u at %s, %d are free", t->wait_what, at,
                 cuda->free_registers[block_of(emu, t->id)]);
        break;
    case WAIT_CLUSTER:
        text_add(&emu->text, "the cluster's barrier at %s: %d of %d threads are there", at, cuda->cluster_arrived,
                 emu->threads - emu->exited);
        break;
    }
}

/* A wait for bytes alone, with nothing under way that could bring them: the count was wrong. */
static bool waits_for_bytes(const Emu *emu, const Thread *t) {
    if (t->wait != WAIT_MBAR) return false;
    const Mbar *m = &cuda_emu(emu)->mbar[cuda_emu(emu)->mbar_at[t->wait_what / 8] - 1];
    return m->pending == 0 && m->bytes > 0 && m->in_flight == 0;
}

static EmuFault deadlock(Emu *emu, const char **why) {
    for (int i = 0; i < emu->threads; i++)
        if (waits_for_bytes(emu, &emu->thread[i])) {
            *why = " an mbarrier expects more bytes than are copied;";
            return CUDA_FAULT_BYTES;
        }
    return EMU_FAULT_DEADLOCK;
}

static const char *const fault_names[] = {
#define CUDA_FAULT(id, name, meaning) name,
#include "target/cuda/emu/cuda_fault.def"
#undef CUDA_FAULT
};

static const EmuTarget target = {
    .table = &table.simt,
    .side = {[SIDE_COPIES] = "cp.async of ", [SIDE_BULK] = "TMA store of "},
    .fault_names = fault_names,
    .object = "an mbarrier",
    .fence = "tw_fence_async() after it; what TMA or wgmma will touch needs that fence, before the barrier",
    .possible = possible,
    .agents = agents,
    .start = start,
    .check_exit = emu_thread_exit_check,
    .exited = emu_cluster_exit,
    .check_end = check_end,
    .happen = happen,
    .agent = agent_text,
    .say_wait = say_wait,
    .deadlock = deadlock,
};

bool emu_launch(const EmuLaunch *launch, Arena *arena, EmuReport *report) {
    CudaEmu cuda;
    memset(&cuda, 0, sizeof cuda);
    return emu_run(&cuda.emu, &target, launch, arena, report);
}
