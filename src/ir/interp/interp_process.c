/* SPDX-License-Identifier: Apache-2.0 */
/* interp_process.c: threads of control side by side.
 *
 * Each process runs on a fiber of its own until it waits; then the scheduler picks another that can
 * go on: the first by age, or with a seed any. A process that ends, and its fiber, serve the next.
 * When none can go on, copies under way land; when there are none either, it is a deadlock.
 *
 * A trap may not cross stacks: while a fiber runs, arenas throw to a frame on that fiber, which
 * ends the process; the scheduler throws on from its own stack. */
#include "ir/interp/interp_core.h"

enum { STACK_BYTES = 256 * 1024 };

uint64_t interp_random(Interp *in) {
    uint64_t z = in->random += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

void interp_set_trap(Interp *in, Trap *trap) {
    in->arena.trap = trap;
    in->diag->arena->trap = trap;
}

Process *process_new(Interp *in, Instance *instance) {
    Process *p = in->idle;
    if (p)
        in->idle = p->next;
    else {
        p = ARENA_NEW(&in->arena, Process);
        p->cells = ARENA_ARRAY(&in->arena, Cell *, in->kernel->values.count);
    }
    Fiber *fiber = p->fiber;
    Cell **cells = p->cells;
    memset(p, 0, sizeof *p);
    p->in = in;
    p->instance = instance;
    p->cells = cells;
    p->fiber = fiber;
    p->code = &in->body;
    return p;
}

void process_free(Process *p) {
    for (size_t i = 0; i < p->in->kernel->values.count; i++) {
        cell_release(p->in, p->cells[i]);
        p->cells[i] = NULL;
    }
    p->next = p->in->idle;
    p->in->idle = p;
}

static void process_body(void *argument) {
    Process *p = argument;
    if (TRAP_ARM(&p->trap)) ev_run(p, p->code);
    p->done = true;
}

void process_start(Process *p) {
    Interp *in = p->in;
    Process **place = VEC_PUSH(&in->processes, &in->arena);
    if (p->fiber)
        fiber_restart(p->fiber, process_body, p);
    else
        p->fiber = fiber_create(STACK_BYTES, process_body, p);
    if (!p->fiber) {
        in->processes.count--;
        trap_throw(in->arena.trap, TRAP_OUT_OF_MEMORY);
    }
    *place = p;
}

static bool is_ready(const Process *p) {
    const Wait *wait = &p->wait;
    switch (wait->kind) {
    case WAIT_NOTHING: return true;
    case WAIT_EMPTY:
    case WAIT_FULL: return ring_ready(wait);
    case WAIT_SYNC: return wait->barrier->generation != wait->number;
    case WAIT_BAR: return (wait->bar->phase & 1) != wait->number;
    case WAIT_CHILDREN: return wait->team->running == 0;
    }
    return true;
}

/* A copy under way arrives: its data, then its bytes on the barrier. */
static void land(Interp *in, size_t index) {
    Landing landing = in->landings.at[index];
    in->landings.at[index] = VEC_LAST(&in->landings);
    in->landings.count--;
    memcpy(landing.buffer->data, landing.staged->data, value_bytes(landing.type));
    cell_drop_shadow(in, landing.buffer);
    bar_count(landing.bar->data, 0, -landing.bytes);
    cell_release(in, landing.staged);
    cell_release(in, landing.buffer);
    cell_release(in, landing.bar);
}

void process_wait(Process *p, Wait wait) {
    Interp *in = p->in;
    p->wait = wait;
    while (!is_ready(p)) {
        if (in->current == p)
            fiber_yield(p->fiber);
        else if (in->landings.count)
            land(in, 0);
        else
            report_deadlock(in, p);
    }
    p->wait = (Wait){0};
}

void process_pause(Process *p) {
    if (p->in->launch->seed && p->in->current == p && interp_random(p->in) % 2) fiber_yield(p->fiber);
}

static Process *pick(Interp *in) {
    Process *chosen = NULL;
    uint64_t ready = 0;
    for (size_t i = 0; i < in->processes.count; i++) {
        Process *p = in->processes.at[i];
        if (!is_ready(p)) continue;
        if (!in->launch->seed) return p;
        if (interp_random(in) % ++ready == 0) chosen = p;
    }
    return chosen;
}

static void forget(Interp *in, Process *p) {
    size_t kept = 0;
    for (size_t i = 0; i < in->processes.count; i++)
        if (in->processes.at[i] != p) in->processes.at[kept++] = in->processes.at[i];
    in->processes.count = kept;
    if (p->team) p->team->running--;
    process_free(p);
}

void processes_run(Interp *in) {
    while (in->processes.count) {
        cancel_look(in->launch->cancel); /* the process itself stops */
        size_t flying = in->landings.count;
        if (flying && in->launch->seed && interp_random(in) % 4 == 0) land(in, interp_random(in) % flying);
        Process *p = pick(in);
        if (!p) {
            if (!in->landings.count) report_deadlock(in, NULL);
            land(in, in->launch->seed ? interp_random(in) % in->landings.count : 0);
            continue;
        }
        in->current = p;
        interp_set_trap(in, &p->trap);
        fiber_resume(p->fiber);
        interp_set_trap(in, &in->trap);
        in->current = NULL;
        if (p->done && p->trap.code == TRAP_INTERNAL) ice(&in->trap, "%s", p->trap.message);
        if (p->done && p->trap.code) trap_throw(&in->trap, p->trap.code);
        if (p->done) forget(in, p);
    }
}

void processes_end(Interp *in) {
    for (size_t i = 0; i < in->processes.count; i++) fiber_destroy(in->processes.at[i]->fiber);
    for (Process *p = in->idle; p; p = p->next) fiber_destroy(p->fiber);
}

_Noreturn void process_stop(Interp *in) {
    in->failed = true;
    trap_throw(in->arena.trap, TRAP_STOPPED);
}
