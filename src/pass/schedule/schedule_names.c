/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_names.c: named barriers of workers and threads that run as they are written.
 *
 *     spmd<unit=warpgroup, id=12> %w in 3 { .. } { .. } { .. }       12: where all meet; 13, 14, 15: each worker's own
 *     spmd<unit=thread, written, id=11> %t in 96 { .. sync .. }      11: its 96 threads, of the block's 128
 *
 * A worker's own threads meet at a number that nobody else has, and so do all workers of a region where they meet as
 * one (`sync<unit=block>`). Numbers that the source gives its own barriers stay free, and 0 is the block's. They are
 * given from the last one down; what runs one after the other, by the same threads, may have the same. */
#include "pass/schedule/schedule.h"

static bool runs_written(const Op *op) {
    return op->code == OP_SPMD && (op->region_count > 1 || op_word(op, AT_UNIT, UNIT_THREAD) == UNIT_THREAD);
}

static bool meets_as(const Op *threads, Word unit, Arena *arena) {
    FoundOps syncs = ir_list(threads->regions[0], OP_SYNC, arena);
    for (size_t i = 0; i < syncs.count; i++)
        if (!op_attr(syncs.at[i], AT_ID) && op_word(syncs.at[i], AT_UNIT, UNIT_BLOCK) == unit) return true;
    return false;
}

static int64_t count_of(const Kernel *k, const Op *spmd) {
    int64_t all = 1, extent;
    for (int d = 0; d < spmd->operand_count; d++) all *= ir_const_int(k, spmd->operands[d], &extent) ? extent : 1;
    return all;
}

/* How many numbers in a row it needs: one for all, and one for each that meets for itself. */
static int names_needed(const Schedule *s, const Op *spmd) {
    const Machine *machine = s->cx->machine;
    if (spmd->region_count > 1) /* a warp meets without one */
        return 1 + (op_word(spmd, AT_UNIT, UNIT_THREAD) != UNIT_WARP ? spmd->region_count : 0);
    int64_t threads = count_of(s->k, spmd), group = (int64_t)machine->group_warps * machine->lanes;
    int64_t around = (int64_t)machine->lanes * layout_group_of(s->cx, s->k, spmd).warps;
    bool groups = meets_as(spmd, UNIT_WARPGROUP, s->arena), all = groups || meets_as(spmd, UNIT_BLOCK, s->arena);
    if (groups && threads > group) return 1 + (int)((threads + group - 1) / group);
    return all && threads != around;
}

typedef struct Names {
    Schedule *s;
    uint64_t taken;     /* by the source, and so far */
    const Region *last; /* where threads have got numbers: those behind them there may have the same */
    int64_t first;
    int count;
    bool proves;
} Names;

static const Region *worker_around(const Op *op) {
    for (const Op *at = op; at->parent && at->parent->owner; at = at->parent->owner)
        if (at->parent->owner->code == OP_SPMD && at->parent->owner->region_count > 1) return at->parent;
    return NULL;
}

static void name_op(Op *op, void *user) {
    Names *n = user;
    Schedule *s = n->s;
    int needed = runs_written(op) ? names_needed(s, op) : 0;
    if (!needed || s->failed) return;
    const Region *around = worker_around(op);
    bool again = op->region_count == 1 && n->count >= needed && n->last == around;
    int64_t first = again ? n->first : s->cx->machine->named_barriers - needed;
    uint64_t own = (((uint64_t)1 << needed) - 1) << (first > 0 ? first : 0);
    for (; !again && first > 0 && (n->taken & own); first--) own >>= 1;
    if (first < 1) {
        schedule_fail(s, op, "its workers need more named barriers than the machine has left beside the source's own");
        return;
    }
    n->taken |= own;
    if (op->region_count == 1 && !again) n->last = around, n->first = first, n->count = needed;
    if (!n->proves)
        op_set(s->k, op, (Attr){.id = AT_ID, .number = first});
    else if (op_int(op, AT_ID, -1) != first)
        schedule_fail(s, op, "`id` is a barrier of its own, before those of its workers");
}

static void run(Schedule *s, bool proves) {
    Names n = {.s = s, .taken = 1, .proves = proves};
    FoundOps syncs = ir_list(s->k->body, OP_SYNC, s->arena);
    for (size_t i = 0; i < syncs.count; i++) {
        int64_t id = op_int(syncs.at[i], AT_ID, 0);
        if (id > 0 && id < 64) n.taken |= (uint64_t)1 << id;
    }
    ir_walk(s->k->body, name_op, &n);
}

void schedule_names(Schedule *s) { run(s, false); }
bool schedule_names_hold(Schedule *s) {
    run(s, true);
    return !s->failed;
}
