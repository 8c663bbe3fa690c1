/* emu.c: a launch: clusters (single blocks, mostly) one after another, their threads as fibers under
 * one scheduler.
 *
 * The scheduler resumes a ready thread, which runs until it has to wait; a tick has passed. Events
 * (emu_copy.c) happen at their tick. When no thread is ready the clock jumps to the next event;
 * when there is none either, the threads that remain are in a deadlock. Seed 0 takes threads in the
 * order in which they became ready, any other seed at random. */
#include "target/cuda/emu/emu_core.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_BYTES = 256 * 1024, MAX_POLLS = 1 << 16, TURNS_BETWEEN_LOOKS = 1 << 20, SWITCHES_BETWEEN_LOOKS = 1 << 12 };

uint64_t emu_random(Emu *emu) {
    uint64_t z = emu->random += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static void make_ready(Emu *emu, const Thread *thread) {
    emu->ready[(emu->ready_head + emu->ready_count++) % emu->threads] = (uint16_t)thread->id;
}

void emu_wake(Emu *emu, Thread *thread) {
    thread->wait = WAIT_NOTHING;
    make_ready(emu, thread);
}

void emu_block(Emu *emu, Wait wait, int line) {
    Thread *thread = emu->running;
    thread->wait = wait;
    thread->wait_line = line;
    fiber_yield(thread->fiber);
}

/* A load that may be part of a spin loop: others get their turn. Blocks run one at a time, so a
 * wait for another block would never end. */
void emu_poll(Emu *emu, int line) {
    Thread *thread = emu->running;
    if (++thread->polls > MAX_POLLS)
        emu_fail(emu, EMU_FAULT_STUCK,
                 "polls global memory at %s without end; in emulation blocks run one after another, so "
                 "a block cannot wait for a later one",
                 emu_at(emu, line));
    make_ready(emu, thread);
    fiber_yield(thread->fiber);
}

void emu_spend(Emu *emu, uint64_t steps, int line) {
    if (!emu->running) return; /* a copy lands: it was counted when it was issued */
    emu->running->last_line = line;
    emu->steps += steps;
    if (emu->steps <= emu->most_steps) return;
    emu_report_endless(emu);
    for (;;) fiber_yield(emu->running->fiber); /* never resumed */
}

void emu_turn(Emu *emu, int line) {
    emu->bind.turns = TURNS_BETWEEN_LOOKS;
    emu->looks = true; /* on the stack of the call, not on a fiber's */
    fiber_yield(emu->running->fiber);
    emu_spend(emu, (uint64_t)TURNS_BETWEEN_LOOKS * STEPS_OF_TURN, line);
}

Event *emu_schedule(Emu *emu, EventKind kind, int line) {
    Event *event = VEC_PUSH(&emu->events, &emu->arena);
    event->kind = kind;
    event->line = line;
    event->due = emu->tick + 1 + emu_random(emu) % (2 * (uint64_t)emu->threads + 8);
    if (event->due < emu->next_due) emu->next_due = event->due;
    return event;
}

static void run_events(Emu *emu, uint64_t until) {
    size_t i = 0;
    while (i < emu->events.count && emu->report.fault == EMU_FAULT_NONE) {
        if (emu->events.at[i].due > until) {
            i++;
            continue;
        }
        Event event = emu->events.at[i];
        emu->events.at[i] = VEC_LAST(&emu->events);
        emu->events.count--;
        emu_event_happen(emu, &event);
    }
    emu->next_due = UINT64_MAX;
    for (i = 0; i < emu->events.count; i++)
        if (emu->events.at[i].due < emu->next_due) emu->next_due = emu->events.at[i].due;
}

static void set_trap(Emu *emu, Trap *trap) { emu->arena.trap = emu->lasting.trap = trap; }

static void thread_body(void *arg) {
    Thread *thread = arg;
    Emu *emu = thread->emu;
    Trap trap;
    thread->trap = &trap;
    set_trap(emu, &trap);
    if (TRAP_ARM(&trap)) {
        emu->launch->entry(&emu->bind, emu->launch->params);
        emu_thread_exit_check(emu, thread);
        thread->wait = WAIT_EXITED;
        emu->exited++;
        emu_cluster_exit(emu, thread);
    } else {
        emu->lost = trap.code;
        memcpy(emu->trap.message, trap.message, sizeof trap.message);
    }
}

/* Is the launch still wanted? Asked in the scheduler. */
static void look(Emu *emu) {
    if (cancel_look(emu->launch->cancel)) emu->report.fault = EMU_FAULT_CANCELLED;
}

static void resume(Emu *emu, Thread *thread) {
    emu->running = thread;
    EmuNow *now = &emu->bind.now;
    now->rank = block_of(emu, thread->id);
    now->cluster = emu->cluster;
    now->thread = thread->id % emu->block_threads;
    now->block[0] = emu->first_block + now->rank;
    do {
        if (emu->looks || emu->tick % SWITCHES_BETWEEN_LOOKS == 0) look(emu);
        emu->looks = false;
        if (emu->report.fault != EMU_FAULT_NONE) break;
        if (thread->trap) set_trap(emu, thread->trap);
        fiber_resume(thread->fiber);
        set_trap(emu, &emu->trap);
    } while (emu->looks);
    emu->running = NULL;
    emu->steps += STEPS_OF_SWITCH;
    if (emu->lost) trap_throw(&emu->trap, emu->lost);
}

static Thread *next_ready(Emu *emu) {
    int head = emu->ready_head, n = emu->threads;
    if (emu->launch->seed) {
        int pick = (head + (int)(emu_random(emu) % (uint64_t)emu->ready_count)) % n;
        uint16_t t = emu->ready[pick];
        emu->ready[pick] = emu->ready[head];
        emu->ready[head] = t;
    }
    emu->ready_head = (head + 1) % n;
    emu->ready_count--;
    return &emu->thread[emu->ready[head]];
}

/* Everything that lasts for one cluster only. Its memory is that of the launch, given back at the cluster's end. */
static void start_cluster(Emu *emu) {
    uint32_t shared = emu->cluster * emu->shared_stride;
    emu->shared = arena_alloc(&emu->arena, shared + 16);
    memset(emu->shared, 0xFF, shared);
    emu->cell = ARENA_ARRAY(&emu->arena, Cell, shared + 1);
    emu->mbar_at = ARENA_ARRAY(&emu->arena, uint16_t, shared / 8 + 1);
    emu->mbar = ARENA_ARRAY(&emu->arena, Mbar, emu->cluster * EMU_MAX_MBARS);
    emu->warp = ARENA_ARRAY(&emu->arena, Warp, emu->warps);
    emu->group = ARENA_ARRAY(&emu->arena, Warpgroup, emu->groups + 1);
    memset(emu->barrier, 0, sizeof emu->barrier);
    memset(&emu->events, 0, sizeof emu->events);
    memset(&emu->nodes, 0, sizeof emu->nodes);
    emu->keys = NULL;
    emu->key_count = emu->key_capacity = 0;
    emu->free_views = emu->fence_from = emu->fence_to = NULL;
    emu->uses_copies = false;
    emu->mbar_count = emu->exited = emu->cluster_arrived = 0;
    emu->steps = emu->results = 0;
    memset(emu->free_registers, 0, sizeof emu->free_registers);
    memset(&emu->cluster_gather, 0, sizeof emu->cluster_gather);
    for (int i = 0; i < emu->cluster; i++)
        emu->end[i] = (BlockEnd){.touched = ARENA_ARRAY(&emu->arena, uint32_t, emu->threads),
                                 .line = ARENA_ARRAY(&emu->arena, int, emu->threads)};
    emu->next_due = UINT64_MAX;
    int registers = emu->launch->registers ? (int)emu->launch->registers : 65536 / emu->block_threads & ~7;
    if (registers > 255) registers = 255;
    for (int i = 0; i < emu->warps; i++) emu->warp[i].registers = registers & ~7;
    for (int i = 0; i < emu->groups; i++) emu->group[i].group = 1;
    View *view = emu_view_new(emu, NULL);
    emu->ready_head = emu->ready_count = 0;
    for (int i = 0; i < emu->threads; i++) {
        Thread *t = &emu->thread[i];
        Fiber *fiber = t->fiber;
        *t = (Thread){.emu = emu,
                      .id = i,
                      .fiber = fiber,
                      .view = emu_view_keep(view),
                      .clock = 1,
                      .copy_clock = 1,
                      .bulk_clock = 1};
        if (fiber)
            fiber_restart(fiber, thread_body, t);
        else if (!(t->fiber = fiber_create(STACK_BYTES, thread_body, t)))
            trap_throw(&emu->trap, TRAP_OUT_OF_MEMORY);
        make_ready(emu, t);
    }
}

static void check_landed(Emu *emu) {
    for (size_t i = 0; i < emu->events.count; i++)
        if (emu->events.at[i].kind == EVENT_LOAD)
            emu_fail(emu, EMU_FAULT_UNWAITED,
                     "the block ends while the TMA load of %s is still writing to its shared "
                     "memory; wait for its mbarrier",
                     emu_at(emu, emu->events.at[i].line));
}

static void run_cluster(Emu *emu) {
    ArenaMark mark = arena_mark(&emu->arena);
    start_cluster(emu);
    while (emu->exited < emu->threads && emu->report.fault == EMU_FAULT_NONE) {
        if (emu->next_due <= emu->tick) run_events(emu, emu->tick);
        if (emu->report.fault != EMU_FAULT_NONE) break;
        if (emu->ready_count) {
            resume(emu, next_ready(emu));
            emu->tick++;
        } else if (emu->events.count) {
            emu->tick = emu->next_due;
        } else {
            emu_report_deadlock(emu);
        }
    }
    if (emu->report.fault == EMU_FAULT_NONE) check_landed(emu);
    while (emu->report.fault == EMU_FAULT_NONE && emu->events.count) run_events(emu, UINT64_MAX);
    arena_reset(&emu->arena, mark);
}

static void print(Emu *emu, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_vadd(&emu->output, format, args);
    va_end(args);
}

static void trap_here(Emu *emu, int line, const char *text) {
    emu_fail(emu, EMU_FAULT_TRAP, "%s (%s)", text, emu_at(emu, line));
}

static const EmuTable table = {
    .load_global = emu_load_global,
    .store_global = emu_store_global,
    .atomic = emu_atomic,
    .poll = emu_poll,
    .turn = emu_turn,
    .load_shared = emu_load_shared,
    .store_shared = emu_store_shared,
    .atomic_shared = emu_atomic_shared,
    .shuffle = emu_shuffle,
    .ballot = emu_ballot,
    .elect = emu_elect,
    .sync_warp = emu_sync_warp,
    .barrier = emu_barrier,
    .cluster_sync = emu_cluster_sync,
    .setmaxnreg = emu_setmaxnreg,
    .mbar_init = emu_mbar_init,
    .mbar_arrive = emu_mbar_arrive,
    .mbar_arrive_at = emu_mbar_arrive_at,
    .mbar_wait = emu_mbar_wait,
    .fence_mbar_init = emu_fence_mbar_init,
    .fence_async = emu_fence_async,
    .tma = emu_tma,
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
    .narrow = emu_narrow,
    .widen = emu_widen,
    .trap = trap_here,
    .print = print,
};

static int by_base(const void *a, const void *b) {
    uintptr_t x = (uintptr_t)((const EmuAllocation *)a)->base, y = (uintptr_t)((const EmuAllocation *)b)->base;
    return (x > y) - (x < y);
}

static bool possible(Emu *emu) {
    const EmuLaunch *l = emu->launch;
    if (!l->threads || l->threads % EMU_WARP || l->threads > EMU_MAX_THREADS)
        emu_fail(emu, EMU_FAULT_LAUNCH, "a block of %u threads; it must be whole warps, at most 1024 threads",
                 l->threads);
    else if (l->shared_bytes > EMU_MAX_SHARED)
        emu_fail(emu, EMU_FAULT_LAUNCH, "%u bytes of shared memory; a block can have %d", l->shared_bytes,
                 EMU_MAX_SHARED);
    else if (l->grid[0] > INT_MAX || l->grid[1] > 65535 || l->grid[2] > 65535)
        emu_fail(emu, EMU_FAULT_LAUNCH, "a grid of %u x %u x %u; the limits are 2147483647 x 65535 x 65535", l->grid[0],
                 l->grid[1], l->grid[2]);
    else if (l->cluster > EMU_MAX_CLUSTER || (l->cluster > 1 && l->grid[0] % l->cluster))
        emu_fail(emu, EMU_FAULT_LAUNCH,
                 "clusters of %u blocks in a grid of %u; at most %d make one, and the grid is whole "
                 "clusters",
                 l->cluster, l->grid[0], EMU_MAX_CLUSTER);
    else if (l->cluster > 1 && l->threads % EMU_GROUP)
        emu_fail(emu, EMU_FAULT_LAUNCH, "blocks of %u threads in clusters; in emulation these are whole warpgroups",
                 l->threads);
    else
        return true;
    return false;
}

static void run(Emu *emu) {
    const EmuLaunch *l = emu->launch;
    emu->text = text_new(&emu->lasting);
    emu->output = text_new(&emu->lasting);
    emu->report.text = emu->report.output = "";
    if (!possible(emu)) return;
    emu->random = l->seed;
    emu->most_steps = l->steps ? l->steps : EMU_STEPS;
    emu->bind.turns = TURNS_BETWEEN_LOOKS;
    emu->cluster = l->cluster > 1 ? (int)l->cluster : 1;
    emu->block_threads = (int)l->threads;
    emu->shared_stride = (l->shared_bytes + 1024) & ~1023u;
    emu->threads = emu->cluster * emu->block_threads;
    emu->warps = emu->threads / EMU_WARP;
    emu->groups = emu->threads / EMU_GROUP;
    emu->agent_count = 3 * emu->threads + emu->groups + emu->cluster * EMU_MAX_MBARS;
    emu->allocations = arena_copy(&emu->lasting, l->allocations, l->allocation_count * sizeof *l->allocations);
    if (l->allocation_count) qsort(emu->allocations, l->allocation_count, sizeof *l->allocations, by_base);
    emu->global = ARENA_ARRAY(&emu->lasting, GlobalCell *, l->allocation_count + 1);
    emu->ready = ARENA_ARRAY(&emu->lasting, uint16_t, emu->threads);
    emu->thread = ARENA_ARRAY(&emu->lasting, Thread, emu->threads);
    EmuNow *now = &emu->bind.now;
    now->threads = emu->block_threads;
    for (int d = 0; d < 3; d++) now->blocks[d] = (int)l->grid[d];
    uint64_t across = l->grid[0] / (uint32_t)emu->cluster, clusters = across * l->grid[1] * l->grid[2];
    for (uint64_t i = 0; i < clusters && emu->report.fault == EMU_FAULT_NONE; i++) {
        uint64_t c = l->seed ? (i + l->seed) % clusters : i;
        now->block[0] = emu->first_block = (int)(c % across) * emu->cluster;
        now->block[1] = (int)(c / across % l->grid[1]);
        now->block[2] = (int)(c / across / l->grid[1]);
        emu->epoch++;
        run_cluster(emu);
    }
}

/* Arms a trap of our own around the caller's arena, so that the launch can be cleaned up first. */
static TrapCode copy_texts(const Emu *emu, Arena *arena, EmuReport *report) {
    Trap *outer = arena->trap, inner;
    arena->trap = &inner;
    if (TRAP_ARM(&inner)) {
        report->text = arena_string(arena, emu->text.at, emu->text.length);
        report->output = arena_string(arena, emu->output.at, emu->output.length);
    }
    arena->trap = outer;
    return inner.code;
}

bool emu_launch(const EmuLaunch *launch, Arena *arena, EmuReport *report) {
    Emu emu;
    memset(&emu, 0, sizeof emu);
    emu.launch = launch;
    emu.bind = (EmuBind){.call = &table, .emu = &emu};
    arena_init(&emu.arena, arena->allocator, &emu.trap);
    arena_init(&emu.lasting, arena->allocator, &emu.trap);
    TrapCode code = TRAP_NONE;
    if (TRAP_ARM(&emu.trap))
        run(&emu);
    else
        code = emu.trap.code;
    for (int i = 0; i < emu.threads && emu.thread; i++) fiber_destroy(emu.thread[i].fiber);
    *report = (EmuReport){.fault = emu.report.fault, .text = "", .output = ""};
    if (code == TRAP_NONE) code = copy_texts(&emu, arena, report);
    arena_free(&emu.arena);
    arena_free(&emu.lasting);
    if (code == TRAP_INTERNAL) ice(arena->trap, "%s", emu.trap.message);
    if (code != TRAP_NONE) trap_throw(arena->trap, code);
    return report->fault == EMU_FAULT_NONE;
}
