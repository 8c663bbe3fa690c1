/* SPDX-License-Identifier: Apache-2.0 */
/* eval_control.c: blocks, loops, branches, spmd regions, tasks and roles.
 *
 * Values handed on by a terminator are collected before any is bound, so a loop may permute its
 * carried values. Nothing is copied: cells change hands. */
#include "ir/interp/interp_core.h"

enum { MAX_HANDED = 64, MAX_WORKERS = 1024, STEPS_BETWEEN_LOOKS = 1 << 12, ELEMENTS_OF_STEP = 32 };

/* Is the launch still wanted? The host is asked on its own stack, so a coroutine goes back there. */
static void look(Process *p) {
    Interp *in = p->in;
    in->until_look = STEPS_BETWEEN_LOOKS;
    if (in->current == p) fiber_yield(p->fiber);
    if (cancel_is_asked(in->launch->cancel) || (!in->current && cancel_look(in->launch->cancel))) process_stop(in);
}

static void spend(Process *p, Range place, int64_t cost) {
    Interp *in = p->in;
    in->budget -= cost;
    in->work += 1 + cost / ELEMENTS_OF_STEP;
    if (--in->until_look <= 0 && in->launch->cancel) look(p);
    if (in->launch->program_steps && in->work > in->launch->program_steps) {
        diag_emit(in->diag, DIAG_INTERP_ENDLESS, place, (long long)in->launch->program_steps, report_process(p));
        process_stop(in);
    }
    if (in->budget >= 0) return;
    diag_emit(in->diag, DIAG_INTERP_BUDGET, place, (long long)in->launch->budget, report_process(p));
    process_stop(in);
}

void ev_run(Process *p, Block *block) {
    Interp *in = p->in;
    const Op *owner = block->region->owner; /* an empty block costs something too */
    spend(p, owner ? owner->range : in->kernel->range, 1);
    for (int i = 0; i < block->count; i++) {
        Step *s = &block->steps[i];
        spend(p, s->op->range, s->cost);
        s->eval(p, s);
        for (int d = 0; d < s->drop_count; d++) {
            cell_release(in, p->cells[s->drops[d]]);
            p->cells[s->drops[d]] = NULL;
        }
    }
}

/* Binds the operands of a step, from `skip` on, to other values. */
static void hand_over(Process *p, Step *s, int skip, const Ref *to, int count) {
    Cell *few[MAX_HANDED];
    Cell **cells = few;
    if (count > MAX_HANDED) { /* kept with the step: a loop must not take memory in every trip */
        if (!s->plan) s->plan = ARENA_ARRAY(&p->in->arena, Cell *, s->op->operand_count);
        cells = s->plan;
    }
    for (int i = 0; i < count; i++) cells[i] = cell_retain(ev_use(p, s, s->op->operands[skip + i]));
    if (op_has(s->op->code, TRAIT_TERMINATOR))
        for (int d = 0; d < s->drop_count; d++) {
            cell_release(p->in, p->cells[s->drops[d]]);
            p->cells[s->drops[d]] = NULL;
        }
    for (int i = 0; i < count; i++) ev_assign(p, to[i], cells[i]);
}

/* Trips of a loop without overflow. */
static uint64_t count_trips(int64_t lo, int64_t hi, int64_t step, bool is_unsigned) {
    if (is_unsigned) {
        uint64_t a = (uint64_t)lo, b = (uint64_t)hi, by = (uint64_t)step;
        return b > a ? (b - a - 1) / by + 1 : 0;
    }
    if (step > 0) return hi > lo ? ((uint64_t)hi - (uint64_t)lo - 1) / (uint64_t)step + 1 : 0;
    return lo > hi ? ((uint64_t)lo - (uint64_t)hi - 1) / -(uint64_t)step + 1 : 0;
}

void eval_for(Process *p, Step *s) {
    const Op *op = s->op;
    Block *body = &s->blocks[0];
    const Ref *args = body->region->args;
    int carried = op->operand_count - 3;
    int64_t lo = ev_scalar(p, s, op->operands[0]), hi = ev_scalar(p, s, op->operands[1]);
    int64_t step = ev_scalar(p, s, op->operands[2]);
    if (step == 0) {
        EV_REPORT(p, s, DIAG_INTERP_STEP, report_process(p));
        process_stop(p->in);
    }
    const Type *type = ir_type(p->in->kernel, op->operands[0]);
    uint64_t trips = count_trips(lo, hi, step, elem_info[type->elem].cls == CLASS_UINT);
    hand_over(p, s, 3, args + 1, carried);
    for (uint64_t i = 0; i < trips; i++) {
        ev_bind(p, args[0], (int64_t)((uint64_t)lo + i * (uint64_t)step));
        ev_run(p, body);
        hand_over(p, body->end, 0, args + 1, carried);
    }
    for (int i = 0; i < carried; i++) ev_assign(p, op->results[i], cell_retain(p->cells[args[i + 1]]));
}

/* The region on element i of every operand, for all i. */
void eval_map(Process *p, Step *s) {
    const Op *op = s->op;
    Block *block = &s->blocks[0];
    Operand x[MAX_MAP_OPERANDS];
    Cell *out[MAX_MAP_RESULTS];
    int results = op->result_count;
    if (op->operand_count > MAX_MAP_OPERANDS) ev_refuse(p, s, "a map of more than 64 tiles");
    for (int k = 0; k < op->operand_count; k++) {
        x[k] = ev_operand(p, s, k);
        if (x[k].cell->shadow) sanitize_use(p, s, &x[k]);
    }
    for (int k = 0; k < results; k++) out[k] = ev_define(p, s, k);
    int64_t n = ty_elements(x[0].type);
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < op->operand_count; k++) {
            size_t bytes = (size_t)elem_info[x[k].elem].bytes;
            memcpy(ev_define_ref(p, block->region->args[k])->data, (char *)x[k].data + (size_t)i * bytes, bytes);
        }
        ev_run(p, block);
        for (int k = 0; k < results; k++) {
            Operand y = ev_operand_of(p, block->end, block->end->op->operands[k]);
            size_t bytes = (size_t)elem_info[y.elem].bytes;
            memcpy((char *)out[k]->data + (size_t)i * bytes, y.data, bytes);
        }
    }
}

void eval_while(Process *p, Step *s) {
    const Op *op = s->op;
    Block *test = &s->blocks[0], *body = &s->blocks[1];
    int count = op->operand_count;
    hand_over(p, s, 0, test->region->args, count);
    for (;;) {
        ev_run(p, test);
        bool go = ev_scalar(p, test->end, test->end->op->operands[0]) != 0;
        hand_over(p, test->end, 1, go ? body->region->args : op->results, count);
        if (!go) return;
        ev_run(p, body);
        hand_over(p, body->end, 0, test->region->args, count);
    }
}

void eval_if(Process *p, Step *s) {
    Block *taken = &s->blocks[ev_scalar(p, s, s->op->operands[0]) ? 0 : 1];
    ev_run(p, taken);
    hand_over(p, taken->end, 0, s->op->results, s->op->result_count);
}

Permutation permutation_new(Interp *in, uint64_t count) {
    Permutation q = {0, 1, count ? count : 1};
    if (!in->launch->seed || count < 2) return q;
    q.offset = interp_random(in) % count;
    do { /* any stride without a common factor reaches everything */
        q.stride = interp_random(in) % count;
        uint64_t a = q.stride, b = count;
        while (a) {
            uint64_t rest = b % a;
            b = a;
            a = rest;
        }
        if (b == 1) return q;
    } while (true);
}

/* The index tuple of number i, the last index running fastest. */
static void bind_indices(Process *p, const Region *region, const int64_t *extent, uint64_t i, int64_t *at) {
    for (int d = region->arg_count - 1; d >= 0; d--) {
        at[d] = (int64_t)(i % (uint64_t)extent[d]);
        i /= (uint64_t)extent[d];
        ev_bind(p, region->args[d], at[d]);
    }
}

static uint64_t count_indices(Process *p, Step *s, int64_t *extent) {
    unsigned __int128 total = 1;
    for (int d = 0; d < s->op->operand_count; d++) {
        extent[d] = ev_scalar(p, s, s->op->operands[d]);
        total *= extent[d] > 0 ? (uint64_t)extent[d] : 0;
        if (total > UINT32_MAX) ev_refuse(p, s, "2^32 iterations or more");
    }
    return (uint64_t)total;
}

void eval_parallel(Process *p, Step *s) {
    int64_t extent[MAX_RANK], at[MAX_RANK];
    uint64_t total = count_indices(p, s, extent);
    Permutation order = permutation_new(p->in, total);
    for (uint64_t i = 0; i < total; i++) {
        bind_indices(p, s->blocks[0].region, extent, permutation_at(&order, i), at);
        ev_run(p, &s->blocks[0]);
    }
}

void eval_spmd(Process *p, Step *s) {
    Interp *in = p->in;
    int64_t extent[MAX_RANK], at[MAX_RANK];
    int64_t workers = (int64_t)count_indices(p, s, extent);
    if (workers > MAX_WORKERS) ev_refuse(p, s, "more than 1024 workers");
    Word unit = op_word(s->op, AT_UNIT, UNIT_THREAD);
    Team *team = ARENA_NEW(&in->arena, Team);
    team->size = workers;
    team->threads = op_attr(s->op, AT_UNIT) && unit == UNIT_THREAD;
    team->lane_threads = unit == UNIT_WARPGROUP ? 128 : unit == UNIT_WARP ? 32 : 1;
    for (int64_t w = 0; w < workers; w++) {
        Process *child = process_new(in, p->instance);
        child->role = p->role;
        child->team = team;
        child->lane = w;
        child->party = p->party * workers + w;
        child->in_task = p->in_task;
        child->task_rank = p->task_rank;
        memcpy(child->task, p->task, sizeof child->task);
        child->writer = p->writer;
        child->code = &s->blocks[s->op->region_count > 1 ? w : 0];
        for (size_t i = 0; i < in->kernel->values.count; i++)
            if (p->cells[i]) child->cells[i] = cell_retain(p->cells[i]);
        if (child->code == s->blocks) bind_indices(child, s->blocks[0].region, extent, (uint64_t)w, at);
        process_start(child);
        team->running++;
    }
    process_wait(p, (Wait){.kind = WAIT_CHILDREN, .step = s, .team = team});
}

/* `tasks in`: every workers-th task; `tasks while`: until its test fails. */
void eval_tasks(Process *p, Step *s) {
    const Op *op = s->op;
    p->in_task = true;
    if (op->region_count == 2) {
        Block *test = &s->blocks[0], *body = &s->blocks[1];
        p->task_rank = 4; /* the program, then the number of the task */
        for (p->task[3] = 0;; p->task[3]++) {
            ev_bind(p, test->region->args[0], p->task[3]);
            ev_run(p, test);
            if (!ev_scalar(p, test->end, test->end->op->operands[0])) break;
            hand_over(p, test->end, 1, body->region->args, body->region->arg_count);
            ev_run(p, body);
        }
    } else {
        int64_t extent[MAX_RANK];
        uint64_t total = count_indices(p, s, extent);
        uint64_t workers = p->in->launch->workers > 0 ? (uint64_t)p->in->launch->workers : 2;
        p->task_rank = op->operand_count;
        for (uint64_t t = (uint64_t)p->instance->worker; t < total; t += workers) {
            bind_indices(p, s->blocks[0].region, extent, t, p->task);
            p->writer = (uint32_t)t + 1;
            ev_run(p, &s->blocks[0]);
        }
    }
}

/* A process runs its own role; without roles of its own (flat) it runs them all, in source order. */
void eval_role(Process *p, Step *s) {
    if (!p->role || p->role == s) ev_run(p, &s->blocks[0]);
}

/* Terminators are looked at by the op that owns the region. */
void eval_yield(Process *p, Step *s) {
    (void)p;
    (void)s;
}

void eval_return(Process *p, Step *s) {
    (void)p;
    (void)s;
}

void eval_program_id(Process *p, Step *s) {
    if (p->in->by_task) ev_refuse(p, s, "program_id beside `tasks in`; the task's indices say it");
    int64_t d = op_int(s->op, AT_DIM, 0);
    ev_bind(p, s->op->results[0], d >= 0 && d < 3 ? p->instance->program[d] : 0);
}

void eval_num_programs(Process *p, Step *s) {
    int64_t d = op_int(s->op, AT_DIM, 0);
    ev_bind(p, s->op->results[0], d >= 0 && d < 3 ? p->in->launch->grid[d] : 1);
}

void eval_extern(Process *p, Step *s) { ev_refuse(p, s, "a function in C or CUDA"); }
void eval_asm(Process *p, Step *s) { ev_refuse(p, s, "assembly of a machine"); }
