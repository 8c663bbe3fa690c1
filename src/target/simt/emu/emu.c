/* SPDX-License-Identifier: Apache-2.0 */
/* emu.c: a launch: clusters (single blocks, mostly) one after another, their threads as fibers under
 * one scheduler.
 *
 * The scheduler resumes a ready thread, which runs until it has to wait; a tick has passed. Events
 * happen at their tick. When no thread is ready the clock jumps to the next event;
 * when there is none either, the threads that remain are in a deadlock. Seed 0 takes threads in the
 * order in which they became ready, any other seed at random. */
#include "target/simt/emu/emu_core.h"

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

void emu_block(Emu *emu, int wait, int line) {
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

void emu_schedule(Emu *emu, int line, void *work) {
    uint64_t due = emu->tick + 1 + emu_random(emu) % (2 * (uint64_t)emu->threads + 8);
    *VEC_PUSH(&emu->events, &emu->arena) = (Event){.line = line, .due = due, .work = work};
    if (due < emu->next_due) emu->next_due = due;
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
        emu->target->happen(emu, &event);
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
        if (emu->target->check_exit) emu->target->check_exit(emu, thread);
        thread->wait = WAIT_EXITED;
        emu->exited++;
        if (emu->target->exited) emu->target->exited(emu, thread);
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
    emu->warp = ARENA_ARRAY(&emu->arena, Warp, emu->warps);
    emu->barrier = ARENA_ARRAY(&emu->arena, NamedBarrier, emu->cluster * EMU_NAMED_BARRIERS);
    memset(&emu->events, 0, sizeof emu->events);
    memset(&emu->nodes, 0, sizeof emu->nodes);
    emu->keys = NULL;
    emu->key_count = emu->key_capacity = 0;
    emu->free_views = NULL;
    emu->exited = 0;
    emu->steps = emu->results = 0;
    emu->next_due = UINT64_MAX;
    if (emu->target->start) emu->target->start(emu);
    View *view = emu_view_new(emu, NULL);
    emu->ready_head = emu->ready_count = 0;
    for (int i = 0; i < emu->threads; i++) {
        Thread *t = &emu->thread[i];
        Fiber *fiber = t->fiber;
        *t = (Thread){.emu = emu, .id = i, .fiber = fiber, .view = emu_view_keep(view), .clock = 1};
        for (int s = 0; s < EMU_SIDES; s++) t->side[s].clock = 1;
        if (fiber)
            fiber_restart(fiber, thread_body, t);
        else if (!(t->fiber = fiber_create(STACK_BYTES, thread_body, t)))
            trap_throw(&emu->trap, TRAP_OUT_OF_MEMORY);
        make_ready(emu, t);
    }
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
    if (emu->report.fault == EMU_FAULT_NONE && emu->target->check_end) emu->target->check_end(emu);
    while (emu->report.fault == EMU_FAULT_NONE && emu->events.count) run_events(emu, UINT64_MAX);
    arena_reset(&emu->arena, mark);
}

void emu_print(Emu *emu, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_vadd(&emu->output, format, args);
    va_end(args);
}

void emu_trap(Emu *emu, int line, const char *text) {
    emu_fail(emu, EMU_FAULT_TRAP, "%s (%s)", text, emu_at(emu, line));
}

static int by_base(const void *a, const void *b) {
    uintptr_t x = (uintptr_t)((const EmuAllocation *)a)->base, y = (uintptr_t)((const EmuAllocation *)b)->base;
    return (x > y) - (x < y);
}

static bool possible(Emu *emu) {
    const EmuLaunch *l = emu->launch;
    if (emu->lanes != 32 && emu->lanes != EMU_MAX_LANES)
        emu_fail(emu, EMU_FAULT_LAUNCH, "warps of %d lanes; they have 32 or %d", emu->lanes, EMU_MAX_LANES);
    else if (!l->threads || l->threads % (uint32_t)emu->lanes || l->threads > EMU_MAX_THREADS)
        emu_fail(emu, EMU_FAULT_LAUNCH, "a block of %u threads; it must be whole warps, at most 1024 threads",
                 l->threads);
    else if (l->shared_bytes > l->shared_most)
        emu_fail(emu, EMU_FAULT_LAUNCH, "%u bytes of shared memory; a block can have %u", l->shared_bytes,
                 l->shared_most);
    else if (l->grid[0] > INT_MAX || l->grid[1] > 65535 || l->grid[2] > 65535)
        emu_fail(emu, EMU_FAULT_LAUNCH, "a grid of %u x %u x %u; the limits are 2147483647 x 65535 x 65535", l->grid[0],
                 l->grid[1], l->grid[2]);
    else if (l->cluster > EMU_MAX_CLUSTER || (l->cluster > 1 && l->grid[0] % l->cluster))
        emu_fail(emu, EMU_FAULT_LAUNCH,
                 "clusters of %u blocks in a grid of %u; at most %d make one, and the grid is whole "
                 "clusters",
                 l->cluster, l->grid[0], EMU_MAX_CLUSTER);
    else
        return !emu->target->possible || emu->target->possible(emu);
    return false;
}

static void run(Emu *emu) {
    const EmuLaunch *l = emu->launch;
    emu->text = text_new(&emu->lasting);
    emu->output = text_new(&emu->lasting);
    emu->report.text = emu->report.output = "";
    emu->lanes = l->lanes ? (int)l->lanes : EMU_LEAST_LANES;
    if (!possible(emu)) return;
    emu->random = l->seed;
    emu->most_steps = l->steps ? l->steps : EMU_STEPS;
    emu->bind.turns = TURNS_BETWEEN_LOOKS;
    emu->cluster = l->cluster > 1 ? (int)l->cluster : 1;
    emu->block_threads = (int)l->threads;
    emu->shared_stride = (l->shared_bytes + 1024) & ~1023u;
    emu->threads = emu->cluster * emu->block_threads;
    emu->warps = emu->threads / emu->lanes;
    emu->agent_count = emu_agents(emu) + (emu->target->agents ? emu->target->agents(emu) : 0);
    emu->allocations = arena_copy(&emu->lasting, l->allocations, l->allocation_count * sizeof *l->allocations);
    if (l->allocation_count) qsort(emu->allocations, l->allocation_count, sizeof *l->allocations, by_base);
    emu->global = ARENA_ARRAY(&emu->lasting, GlobalCell *, l->allocation_count + 1);
    emu->ready = ARENA_ARRAY(&emu->lasting, uint16_t, emu->threads);
    emu->thread = ARENA_ARRAY(&emu->lasting, Thread, emu->threads);
    EmuNow *now = &emu->bind.now;
    now->threads = emu->block_threads;
    now->lanes = emu->lanes;
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

bool emu_run(Emu *emu, const EmuTarget *target, const EmuLaunch *launch, Arena *arena, EmuReport *report) {
    emu->target = target;
    emu->launch = launch;
    emu->bind = (EmuBind){.call = target->table, .emu = emu};
    arena_init(&emu->arena, arena->allocator, &emu->trap);
    arena_init(&emu->lasting, arena->allocator, &emu->trap);
    TrapCode code = TRAP_NONE;
    if (TRAP_ARM(&emu->trap))
        run(emu);
    else
        code = emu->trap.code;
    for (int i = 0; i < emu->threads && emu->thread; i++) fiber_destroy(emu->thread[i].fiber);
    *report = (EmuReport){.fault = emu->report.fault, .text = "", .output = ""};
    if (code == TRAP_NONE) code = copy_texts(emu, arena, report);
    arena_free(&emu->arena);
    arena_free(&emu->lasting);
    if (code == TRAP_INTERNAL) ice(arena->trap, "%s", emu->trap.message);
    if (code != TRAP_NONE) trap_throw(arena->trap, code);
    return report->fault == EMU_FAULT_NONE;
}
