/* SPDX-License-Identifier: Apache-2.0 */
/* emu_copy.c: copies that happen later: TMA and bulk loads, TMA and bulk stores, cp.async.
 *
 * Issuing one checks it against its issuer's view and stamps the shadow at once: from then on until
 * the matching wait, the bytes belong to the copy. The bytes themselves move at a random later tick
 * (or when someone waits for them), so a kernel that does not wait also computes wrong numbers. A
 * store reads shared memory at one tick and writes global memory at another. */
#include "target/cuda/emu/cuda_emu_core.h"

#include <string.h>

static EmuAccess async_access(Emu *emu, int line, int agent, uint32_t clock, const char *what) {
    return (EmuAccess){
        .thread = emu->running, .agent = agent, .line = line, .clock = clock, .kind = CELL_ASYNC, .what = what};
}

/* What a copy touches in global memory: a box, or bytes in a row. */
static void touch_global(Emu *emu, EmuAccess access, const char *what, const TensorCode *map, const int *at,
                         const void *p, uint32_t bytes, bool write) {
    access.what = what;
    if (!map) {
        emu_touch_global(emu, &access, p, bytes, write);
        return;
    }
    uint32_t rows = bytes / (map->box[0] * emu_type_bytes(map->type));
    for (uint32_t row = 0; row < rows; row++) {
        uint64_t global;
        uint32_t before, inside = emu_box_row(map, at, row, &global, &before);
        if (inside) emu_touch_global(emu, &access, (const void *)(uintptr_t)global, inside, write);
    }
}

/* made: where its map lies in global memory; NULL: it is a parameter, or there is none. */
static void issue_load(Emu *emu, int line, int block, uint32_t s, uint32_t bytes, uint32_t bar, const void *from,
                       const TensorCode *map, const int *at, const void *made, const char *what) {
    int index = emu_mbar_use(emu, line, block, bar, what);
    s += (uint32_t)block * emu->shared_stride;
    Mbar *mbar = &cuda_emu(emu)->mbar[index];
    if (!mbar->fenced)
        emu_fail(emu, EMU_FAULT_BARRIER,
                 "the TMA load at %s completes on an mbarrier that was made at %s without "
                 "tw_fence_mbar_init() after it",
                 emu_at(emu, line), emu_at(emu, mbar->init_line));
    EmuAccess access = async_access(emu, line, agent_mbar(emu, index), mbar->phase + 1, "starts a TMA load into");
    emu_touch_write(emu, &access, s, bytes);
    touch_global(emu, access, "reads by TMA", map, at, from, bytes, false);
    if (made) { /* until it is complete */
        emu_check_global(emu, line, made, sizeof *map, 64, what);
        access.what = "reads a tensor map in";
        emu_touch_global(emu, &access, made, sizeof *map, false);
    }
    mbar->in_flight++;
    Work work = {.kind = WORK_LOAD,
                 .s = s,
                 .bytes = bytes,
                 .mbar = (uint32_t)index,
                 .phase = mbar->phase,
                 .from = from,
                 .map = map};
    if (at) memcpy(work.at, at, map->rank * sizeof *at);
    emu_later(emu, line, work);
}

static void issue_store(Emu *emu, int line, EmuCopy copy, uint32_t s, uint32_t bytes, void *to, const TensorCode *map,
                        const int *at) {
    Thread *thread = emu->running;
    s += emu_own(emu);
    EmuAccess access =
        async_access(emu, line, agent_bulk(emu, thread->id), thread->side[SIDE_BULK].clock, "starts a TMA store from");
    emu_touch_read(emu, &access, s, bytes);
    access.kind = copy == EMU_STORE ? CELL_ASYNC : CELL_ATOMIC;
    touch_global(emu, access, "writes by TMA", map, at, to, bytes, true);
    BulkStore *store = ARENA_NEW(&emu->arena, BulkStore);
    *store = (BulkStore){.copy = copy,
                         .line = line,
                         .s = s,
                         .bytes = bytes,
                         .to = to,
                         .map = map,
                         .group = thread->side[SIDE_BULK].clock,
                         .thread = thread->id};
    if (at) memcpy(store->at, at, map->rank * sizeof *at);
    cuda_thread(emu, thread)->bulk_last = thread->side[SIDE_BULK].clock;
    cuda_thread(emu, thread)->bulk_line = line;
    emu_later(emu, line, (Work){.kind = WORK_STORE_READ, .store = store});
}

/* What an H200 answers with "illegal instruction": boxes that do not begin at a multiple of 16
 * bytes, and stores that begin before the tensor. Loads may begin before it; both may end beyond
 * it. And what it does without a word: a store writes whole chunks of 16 bytes, also where a row
 * ends within one. */
static void check_coordinates(Emu *emu, int line, int copy, const TensorCode *map, const int *at, const char *what) {
    int64_t start = (int64_t)at[0] * emu_type_bytes(map->type);
    if (start % 16)
        emu_fail(emu, CUDA_FAULT_TENSORMAP,
                 "%s at %s: coordinate 0 is %d, byte %lld of a row; a box must begin at a multiple "
                 "of 16 bytes",
                 what, emu_at(emu, line), at[0], (long long)start);
    for (int d = 0; d < map->rank && copy != EMU_LOAD; d++)
        if (at[d] < 0)
            emu_fail(emu, CUDA_FAULT_TENSORMAP, "%s at %s: coordinate %d is %d; only loads may begin before the tensor",
                     what, emu_at(emu, line), d, at[d]);
    int64_t row = (int64_t)map->dims[0] * emu_type_bytes(map->type);
    bool ends =
        copy != EMU_LOAD && row % 16 && start / 16 <= row / 16 && (int64_t)at[0] + map->box[0] >= (int64_t)map->dims[0];
    for (int d = 1; d < map->rank; d++) ends = ends && at[d] < (int64_t)map->dims[d];
    if (ends)
        emu_fail(
            emu, CUDA_FAULT_TENSORMAP,
            "%s at %s: rows have %lld bytes; a store writes whole chunks of 16 bytes, also beyond the end of a row",
            what, emu_at(emu, line), (long long)row);
}

/* The box to every block of the mask, at the same place there, completing on the mbarrier at the same place there. */
static void spread(Emu *emu, int line, unsigned mask, uint32_t s, uint32_t bytes, uint32_t bar, const TensorCode *map,
                   const int *at, const void *made) {
    for (unsigned rank = 0; mask >> rank; rank++) {
        if (!(mask >> rank & 1)) continue;
        emu_cluster_check(emu, line, rank, "TMA load");
        issue_load(emu, line, (int)rank, s, bytes, bar, NULL, map, at, made, "TMA load");
    }
}

void emu_tma(Emu *emu, int line, int copy, int rank, const void *opaque, const int *at, unsigned s, unsigned bar,
             unsigned mask) {
    const char *what = copy == EMU_LOAD ? "TMA load" : "TMA store";
    bool made = emu_map_shown(emu, line, opaque, what);
    /* A parameter is one of the issuing thread, which may end before the copy happens. */
    TensorCode *map = arena_copy(&emu->arena, opaque, sizeof *map);
    uint32_t bytes = emu_box_bytes(map);
    if (!bytes)
        emu_fail(emu, CUDA_FAULT_TENSORMAP, "%s at %s: the map was not made by the host's encode function", what,
                 emu_at(emu, line));
    if (map->rank != rank)
        emu_fail(emu, CUDA_FAULT_TENSORMAP, "%s of rank %d at %s: the map has rank %d", what, rank, emu_at(emu, line),
                 map->rank);
    check_coordinates(emu, line, copy, map, at, what);
    emu_check_shared(emu, line, s, bytes, 128, what);
    uint64_t first, touched = emu_box_span(map, at, &first);
    if (touched) emu_check_global(emu, line, (void *)(uintptr_t)first, touched, 1, what);
    if (copy == EMU_LOAD)
        spread(emu, line, mask ? mask : 1u << block_of(emu, emu->running->id), s, bytes, bar, map, at,
               made ? opaque : NULL);
    else
        issue_store(emu, line, (EmuCopy)copy, s, bytes, NULL, map, at);
}

void emu_bulk(Emu *emu, int line, int copy, unsigned s, void *p, unsigned bytes, unsigned bar) {
    const char *what = copy == EMU_LOAD ? "bulk load" : "bulk store";
    if (bytes % 16)
        emu_fail(emu, EMU_FAULT_ALIGN, "%s of %u bytes at %s: the size must be a multiple of 16", what, bytes,
                 emu_at(emu, line));
    emu_check_shared(emu, line, s, bytes, 16, what);
    emu_check_global(emu, line, p, bytes, 16, what);
    if (copy == EMU_LOAD)
        issue_load(emu, line, block_of(emu, emu->running->id), s, bytes, bar, p, NULL, NULL, NULL, what);
    else
        issue_store(emu, line, EMU_STORE, s, bytes, p, NULL, NULL);
}

static void read_store(Emu *emu, BulkStore *store) {
    if (!store->staged) store->staged = arena_copy(&emu->arena, emu->shared + store->s, store->bytes);
}

static void write_store(Emu *emu, BulkStore *store) {
    if (store->written) return;
    read_store(emu, store);
    store->written = true;
    if (store->map)
        emu_box_move(store->map, store->at, store->staged, store->s, store->copy);
    else
        memcpy(store->to, store->staged, store->bytes);
}

void emu_bulk_commit(Emu *emu, int line) {
    (void)line;
    emu->running->side[SIDE_BULK].clock++;
}

void emu_bulk_wait(Emu *emu, int line, int pending, int read_only) {
    (void)line;
    Thread *thread = emu->running;
    int64_t upto = (int64_t)thread->side[SIDE_BULK].clock - 1 - pending;
    if (upto < 0) return;
    for (size_t i = 0; i < emu->events.count; i++) {
        const Work *work = emu->events.at[i].work;
        if (work->kind != WORK_STORE_READ && work->kind != WORK_STORE_WRITE) continue;
        BulkStore *store = work->store;
        if (store->thread != thread->id || store->group > (uint64_t)upto) continue;
        if (read_only)
            read_store(emu, store);
        else
            write_store(emu, store);
    }
    if ((uint32_t)upto > thread->side[SIDE_BULK].done) thread->side[SIDE_BULK].done = (uint32_t)upto;
}

/* ---- cp.async ---- */
void emu_cp_async(Emu *emu, int line, unsigned s, const void *p, int bytes, int taken) {
    Thread *thread = emu->running;
    cuda_emu(emu)->uses_copies = true;
    emu_check_shared(emu, line, s, (uint64_t)bytes, (uint32_t)bytes, "cp.async");
    s += emu_own(emu);
    EmuAccess access = {.thread = thread,
                        .agent = agent_copies(emu, thread->id),
                        .line = line,
                        .clock = thread->side[SIDE_COPIES].clock,
                        .kind = CELL_COPY,
                        .what = "starts a cp.async into"};
    emu_touch_write(emu, &access, s, (uint32_t)bytes);
    if (taken) { /* its address is aligned to all of it, however much is read */
        emu_check_global(emu, line, p, (uint64_t)taken, (uint32_t)bytes, "cp.async");
        touch_global(emu, access, "reads by cp.async", NULL, NULL, p, (uint32_t)taken, false);
    }
    *VEC_PUSH(&cuda_thread(emu, thread)->copies, &emu->arena) =
        (CopyAsync){.s = s, .from = p, .bytes = (uint8_t)bytes, .taken = (uint8_t)taken};
}

static uint32_t copies_issued(const CudaThread *own) { return own->copies_base + (uint32_t)own->copies.count; }

static void land_copies(Emu *emu, CudaThread *own, uint32_t upto) {
    for (; own->copies_landed < upto; own->copies_landed++) {
        const CopyAsync *copy = &own->copies.at[own->copies_landed - own->copies_base];
        memset(emu->shared + copy->s, 0, copy->bytes);
        if (copy->taken) memcpy(emu->shared + copy->s, copy->from, copy->taken);
    }
    if (own->copies_landed == copies_issued(own)) {
        own->copies_base = own->copies_landed;
        own->copies.count = 0;
    }
}

void emu_cp_async_commit(Emu *emu, int line) {
    Thread *thread = emu->running;
    CudaThread *own = cuda_thread(emu, thread);
    CopyGroup *group = VEC_PUSH(&own->groups, &emu->arena);
    *group = (CopyGroup){.upto = copies_issued(own), .clock = thread->side[SIDE_COPIES].clock++};
    if (group->upto == own->copies_landed) return;
    emu_later(emu, line, (Work){.kind = WORK_COPY_ASYNC, .thread = thread->id, .upto = group->upto});
}

void emu_cp_async_wait(Emu *emu, int line, int pending) {
    (void)line;
    Side *side = &emu->running->side[SIDE_COPIES];
    CudaThread *own = cuda_thread(emu, emu->running);
    if (own->groups.count <= (size_t)pending) return;
    const CopyGroup *group = &own->groups.at[own->groups.count - 1 - (size_t)pending];
    land_copies(emu, own, group->upto);
    if (group->clock > side->done) side->done = group->clock;
}

/* One arrival when the thread's copies so far have landed. Only they are ordered by it, not the thread's stores. */
void emu_cp_async_arrive(Emu *emu, int line, unsigned bar) {
    Thread *thread = emu->running;
    int index = emu_mbar_use(emu, line, block_of(emu, thread->id), bar, "tw_cp_async_arrive");
    emu_later(emu, line,
              (Work){.kind = WORK_COPY_ARRIVE,
                     .thread = thread->id,
                     .upto = copies_issued(cuda_thread(emu, thread)),
                     .mbar = (uint32_t)index,
                     .clock = thread->side[SIDE_COPIES].clock++});
    cuda_emu(emu)->mbar[index].in_flight++;
}

void emu_work_happen(Emu *emu, const Event *event) {
    const Work *work = event->work;
    switch (work->kind) {
    case WORK_LOAD:
        if (work->map)
            emu_box_move(work->map, work->at, emu->shared + work->s, work->s, EMU_LOAD);
        else
            memcpy(emu->shared + work->s, work->from, work->bytes);
        emu_mbar_complete_bytes(emu, work, event->line);
        break;
    case WORK_STORE_READ:
        read_store(emu, work->store);
        if (!work->store->written) emu_later(emu, event->line, (Work){.kind = WORK_STORE_WRITE, .store = work->store});
        break;
    case WORK_STORE_WRITE: write_store(emu, work->store); break;
    case WORK_COPY_ASYNC: land_copies(emu, &cuda_emu(emu)->thread[work->thread], work->upto); break;
    case WORK_COPY_ARRIVE:
        land_copies(emu, &cuda_emu(emu)->thread[work->thread], work->upto);
        emu_mbar_complete_copies(emu, work, event->line);
        break;
    }
}

void emu_thread_exit_check(Emu *emu, Thread *thread) {
    const CudaThread *own = cuda_thread(emu, thread);
    if (own->bulk_last > thread->side[SIDE_BULK].done)
        emu_fail(emu, CUDA_FAULT_UNWAITED,
                 "the thread ends, but its TMA store of %s may still read shared memory; end with "
                 "tw_bulk_commit() and "
                 "tw_bulk_wait_read(0)",
                 emu_at(emu, own->bulk_line));
    if (thread->id / EMU_GROUP < cuda_emu(emu)->groups) emu_wgmma_exit_check(emu, thread);
}
