/* emu_copy.c: copies that happen later: TMA and bulk loads, TMA and bulk stores, cp.async.
 *
 * Issuing one checks it against its issuer's view and stamps the shadow at once: from then on until
 * the matching wait, the bytes belong to the copy. The bytes themselves move at a random later tick
 * (or when someone waits for them), so a kernel that does not wait also computes wrong numbers. A
 * store reads shared memory at one tick and writes global memory at another. */
#include "target/cuda/emu/emu_core.h"

#include <string.h>

static Access async_access(Emu *emu, int line, int agent, uint32_t clock, const char *what) {
    return (Access){
        .thread = emu->running, .agent = agent, .line = line, .clock = clock, .kind = CELL_ASYNC, .what = what};
}

/* What a copy touches in global memory: a box, or bytes in a row. */
static void touch_global(Emu *emu, Access access, const char *what, const TensorCode *map, const int *at, const void *p,
                         uint32_t bytes, bool write) {
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

static void issue_load(Emu *emu, int line, int block, uint32_t s, uint32_t bytes, uint32_t bar, const void *from,
                       const TensorCode *map, const int *at, const char *what) {
    int index = emu_mbar_use(emu, line, block, bar, what);
    s += (uint32_t)block * emu->shared_stride;
    Mbar *mbar = &emu->mbar[index];
    if (!mbar->fenced)
        emu_fail(emu, EMU_FAULT_BARRIER,
                 "the TMA load at %s completes on an mbarrier that was made at %s without "
                 "tw_fence_mbar_init() after it",
                 emu_at(emu, line), emu_at(emu, mbar->init_line));
    Access access = async_access(emu, line, agent_mbar(emu, index), mbar->phase + 1, "starts a TMA load into");
    emu_touch_write(emu, &access, s, bytes);
    touch_global(emu, access, "reads by TMA", map, at, from, bytes, false);
    mbar->in_flight++;
    Event *event = emu_schedule(emu, EVENT_LOAD, line);
    event->s = s;
    event->bytes = bytes;
    event->mbar = (uint32_t)index;
    event->phase = mbar->phase;
    event->from = from;
    event->map = map;
    if (at) memcpy(event->at, at, map->rank * sizeof *at);
}

static void issue_store(Emu *emu, int line, EmuCopy copy, uint32_t s, uint32_t bytes, void *to, const TensorCode *map,
                        const int *at) {
    Thread *thread = emu->running;
    s += emu_own(emu);
    Access access = async_access(emu, line, agent_bulk(emu, thread->id), thread->bulk_clock, "starts a TMA store from");
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
                         .group = thread->bulk_clock,
                         .thread = thread->id};
    if (at) memcpy(store->at, at, map->rank * sizeof *at);
    thread->bulk_last = thread->bulk_clock;
    thread->bulk_line = line;
    emu_schedule(emu, EVENT_STORE_READ, line)->store = store;
}

/* What an H200 answers with "illegal instruction": boxes that do not begin at a multiple of 16
 * bytes, and stores that begin before the tensor. Loads may begin before it; both may end beyond
 * it. */
static void check_coordinates(Emu *emu, int line, int copy, const TensorCode *map, const int *at, const char *what) {
    int64_t start = (int64_t)at[0] * emu_type_bytes(map->type);
    if (start % 16)
        emu_fail(emu, EMU_FAULT_TENSORMAP,
                 "%s at %s: coordinate 0 is %d, byte %lld of a row; a box must begin at a multiple "
                 "of 16 bytes",
                 what, emu_at(emu, line), at[0], (long long)start);
    for (int d = 0; d < map->rank && copy != EMU_LOAD; d++)
        if (at[d] < 0)
            emu_fail(emu, EMU_FAULT_TENSORMAP, "%s at %s: coordinate %d is %d; only loads may begin before the tensor",
                     what, emu_at(emu, line), d, at[d]);
}

/* The box to every block of the mask, at the same place there, completing on the mbarrier at the same place there. */
static void spread(Emu *emu, int line, unsigned mask, uint32_t s, uint32_t bytes, uint32_t bar, const TensorCode *map,
                   const int *at) {
    for (unsigned rank = 0; mask >> rank; rank++) {
        if (!(mask >> rank & 1)) continue;
        emu_cluster_check(emu, line, rank, "TMA load");
        issue_load(emu, line, (int)rank, s, bytes, bar, NULL, map, at, "TMA load");
    }
}

void emu_tma(Emu *emu, int line, int copy, int rank, const void *opaque, const int *at, unsigned s, unsigned bar,
             unsigned mask) {
    const char *what = copy == EMU_LOAD ? "TMA load" : "TMA store";
    /* The map is a parameter of the issuing thread, which may end before the copy happens. */
    TensorCode *map = arena_copy(&emu->arena, opaque, sizeof *map);
    uint32_t bytes = emu_box_bytes(map);
    if (!bytes)
        emu_fail(emu, EMU_FAULT_TENSORMAP, "%s at %s: the map was not made by the host's encode function", what,
                 emu_at(emu, line));
    if (map->rank != rank)
        emu_fail(emu, EMU_FAULT_TENSORMAP, "%s of rank %d at %s: the map has rank %d", what, rank, emu_at(emu, line),
                 map->rank);
    check_coordinates(emu, line, copy, map, at, what);
    emu_check_shared(emu, line, s, bytes, 128, what);
    uint64_t first, touched = emu_box_span(map, at, &first);
    if (touched) emu_check_global(emu, line, (void *)(uintptr_t)first, touched, 1, what);
    if (copy == EMU_LOAD)
        spread(emu, line, mask ? mask : 1u << block_of(emu, emu->running->id), s, bytes, bar, map, at);
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
        issue_load(emu, line, block_of(emu, emu->running->id), s, bytes, bar, p, NULL, NULL, what);
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
    emu->running->bulk_clock++;
}

void emu_bulk_wait(Emu *emu, int line, int pending, int read_only) {
    (void)line;
    Thread *thread = emu->running;
    int64_t upto = (int64_t)thread->bulk_clock - 1 - pending;
    if (upto < 0) return;
    for (size_t i = 0; i < emu->events.count; i++) {
        Event *event = &emu->events.at[i];
        if (event->kind != EVENT_STORE_READ && event->kind != EVENT_STORE_WRITE) continue;
        BulkStore *store = event->store;
        if (store->thread != thread->id || store->group > (uint64_t)upto) continue;
        if (read_only)
            read_store(emu, store);
        else
            write_store(emu, store);
    }
    if ((uint32_t)upto > thread->bulk_done) thread->bulk_done = (uint32_t)upto;
}

/* ---- cp.async ---- */
void emu_cp_async(Emu *emu, int line, unsigned s, const void *p, int bytes, int ok) {
    Thread *thread = emu->running;
    emu->uses_copies = true;
    emu_check_shared(emu, line, s, (uint64_t)bytes, (uint32_t)bytes, "cp.async");
    s += emu_own(emu);
    Access access = {.thread = thread,
                     .agent = agent_copies(emu, thread->id),
                     .line = line,
                     .clock = thread->copy_clock,
                     .kind = CELL_COPY,
                     .what = "starts a cp.async into"};
    emu_touch_write(emu, &access, s, (uint32_t)bytes);
    if (ok) {
        emu_check_global(emu, line, p, (uint64_t)bytes, (uint32_t)bytes, "cp.async");
        touch_global(emu, access, "reads by cp.async", NULL, NULL, p, (uint32_t)bytes, false);
    }
    *VEC_PUSH(&thread->copies, &emu->arena) = (CopyAsync){.s = s, .from = p, .bytes = (uint8_t)bytes, .ok = ok != 0};
}

static uint32_t copies_issued(const Thread *thread) { return thread->copies_base + (uint32_t)thread->copies.count; }

static void land_copies(Emu *emu, Thread *thread, uint32_t upto) {
    for (; thread->copies_landed < upto; thread->copies_landed++) {
        const CopyAsync *copy = &thread->copies.at[thread->copies_landed - thread->copies_base];
        if (copy->ok)
            memcpy(emu->shared + copy->s, copy->from, copy->bytes);
        else
            memset(emu->shared + copy->s, 0, copy->bytes);
    }
    if (thread->copies_landed == copies_issued(thread)) {
        thread->copies_base = thread->copies_landed;
        thread->copies.count = 0;
    }
}

void emu_cp_async_commit(Emu *emu, int line) {
    Thread *thread = emu->running;
    CopyGroup *group = VEC_PUSH(&thread->groups, &emu->arena);
    *group = (CopyGroup){.upto = copies_issued(thread), .clock = thread->copy_clock++};
    if (group->upto == thread->copies_landed) return;
    uint32_t upto = group->upto;
    Event *event = emu_schedule(emu, EVENT_COPY_ASYNC, line);
    event->thread = thread->id;
    event->upto = upto;
}

void emu_cp_async_wait(Emu *emu, int line, int pending) {
    (void)line;
    Thread *thread = emu->running;
    if (thread->groups.count <= (size_t)pending) return;
    const CopyGroup *group = &thread->groups.at[thread->groups.count - 1 - (size_t)pending];
    land_copies(emu, thread, group->upto);
    if (group->clock > thread->copy_done) thread->copy_done = group->clock;
}

/* One arrival when the thread's copies so far have landed. Only they are ordered by it, not the thread's stores. */
void emu_cp_async_arrive(Emu *emu, int line, unsigned bar) {
    Thread *thread = emu->running;
    int index = emu_mbar_use(emu, line, block_of(emu, thread->id), bar, "tw_cp_async_arrive");
    Event *event = emu_schedule(emu, EVENT_COPY_ARRIVE, line);
    event->thread = thread->id;
    event->upto = copies_issued(thread);
    event->mbar = (uint32_t)index;
    event->clock = thread->copy_clock++;
    emu->mbar[index].in_flight++;
}

void emu_event_happen(Emu *emu, const Event *event) {
    switch (event->kind) {
    case EVENT_LOAD:
        if (event->map)
            emu_box_move(event->map, event->at, emu->shared + event->s, event->s, EMU_LOAD);
        else
            memcpy(emu->shared + event->s, event->from, event->bytes);
        emu_mbar_complete_bytes(emu, event);
        break;
    case EVENT_STORE_READ:
        read_store(emu, event->store);
        if (!event->store->written) {
            BulkStore *store = event->store; /* scheduling moves the events */
            emu_schedule(emu, EVENT_STORE_WRITE, event->line)->store = store;
        }
        break;
    case EVENT_STORE_WRITE: write_store(emu, event->store); break;
    case EVENT_COPY_ASYNC: land_copies(emu, &emu->thread[event->thread], event->upto); break;
    case EVENT_COPY_ARRIVE:
        land_copies(emu, &emu->thread[event->thread], event->upto);
        emu_mbar_complete_copies(emu, event);
        break;
    }
}

void emu_thread_exit_check(Emu *emu, Thread *thread) {
    if (thread->bulk_last > thread->bulk_done)
        emu_fail(emu, EMU_FAULT_UNWAITED,
                 "the thread ends, but its TMA store of %s may still read shared memory; end with "
                 "tw_bulk_commit() and "
                 "tw_bulk_wait_read(0)",
                 emu_at(emu, thread->bulk_line));
    if (thread->id / EMU_GROUP < emu->groups) emu_wgmma_exit_check(emu, thread);
}
