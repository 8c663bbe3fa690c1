/* SPDX-License-Identifier: Apache-2.0 */
/* merge_threads.c: code of single threads becomes element loops over the threads.
 *
 *     spmd %t in 128 {                         parallel %t in 128 { s[t] = .. ; own[t] = .. }
 *       s[t] = .. ; sync                  ->
 *       o[t] = s[127 - t] }                    parallel %t in 128 { o[t] = s[127 - t] }
 *
 * A region is cut at its barriers and shuffles (ir/threads.h); between two of them threads have no order, so each
 * piece is a `parallel` loop, which `raise` turns into tile operations. Atomics on buffers become updates of cells:
 * an element loop combines what meets there. What cannot be cut stays a region (merge_written.c), and a target that
 * has no threads of its own refuses it with the reason. */
#include "ir/roles.h"
#include "ir/threads.h"
#include "pass/fold/fold.h"
#include "pass/merge/merge.h"

/* batomic: cell = cell op e */
static void make_update(Kernel *k, Op *op) {
    static const struct {
        Word combine;
        Opcode code;
    } codes[] = {{COMBINE_ADD, OP_ADD}, {COMBINE_MIN, OP_MIN}, {COMBINE_MAX, OP_MAX},
                 {COMBINE_AND, OP_AND}, {COMBINE_OR, OP_OR},   {COMBINE_XOR, OP_XOR}};
    Word combine = op_word(op, AT_COMBINE, COMBINE_ADD);
    Builder b = ir_builder_before(k, op);
    RefList at = op_list(op, 0);
    Ref value = op_operand(op, 1), old = ir_bload(&b, op->operands[0], at.at, ir_type(k, value)), made = value;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].combine == combine) made = ir_binary(&b, codes[i].code, old, value);
    ir_bstore(&b, op->operands[0], at.at, made);
    ir_replace_all(k, op->results[0], old);
    ir_remove(op);
}

/* Does it write single elements of what other workers may write, too? A tile operation would write all of it. */
static bool writes_beside(const Kernel *k, const Op *op, Arena *arena) {
    bool found = false;
    static const Opcode codes[] = {OP_BSTORE, OP_BATOMIC};
    for (int c = 0; c < 2; c++) {
        FoundOps writes = ir_list(op->regions[0], codes[c], arena);
        for (size_t i = 0; i < writes.count; i++) found |= threads_share(k, op, writes.at[i]->operands[0]);
    }
    return found;
}

typedef struct Steps { /* of a loop over what each thread has for itself */
    const Kernel *k;
    const Op *spmd, *loop;
    bool found;
} Steps;

/* Is the number computed from the loop's variable, in the loop? */
static bool follows(const Steps *s, Ref number, int depth) {
    enum { DEEPEST = 16 };
    if (number == s->loop->regions[0]->args[0]) return true;
    const Op *op = ref_is_value(number) ? ir_value(s->k, number)->op : NULL;
    const Op *around = op;
    while (around && around != s->loop) around = around->parent ? around->parent->owner : NULL;
    for (int i = 0; depth < DEEPEST && around && op != s->loop && !op->region_count && i < op->operand_count; i++)
        if (follows(s, op->operands[i], depth + 1)) return true;
    return false;
}

static void look_for_step(Op *op, void *user) {
    Steps *s = user;
    if (op->code != OP_BSTORE || ir_type(s->k, op->operands[0])->scope != SCOPE_LOCAL) return;
    RefList at = op_list(op, 0);
    bool own = at.count && at.at[0] == s->spmd->regions[0]->args[0];
    for (int d = 1; own && d < at.count; d++) s->found |= follows(s, at.at[d], 0);
}

/* A loop that shows threads an element a trip of what each has in an array of its own, and writes one back. As tile
 * operations every trip would take the element out of all threads' arrays at once, and put it back: the whole arrays
 * through shared memory, for one number a thread. */
static bool steps_through_own(const PassContext *cx, const Kernel *k, const Op *spmd) {
    FoundOps shuffles = ir_list(spmd->regions[0], OP_SHFL, cx->scratch);
    for (size_t i = 0; i < shuffles.count; i++) {
        const Op *loop = shuffles.at[i]->parent->owner;
        Steps steps = {k, spmd, loop, false};
        if (!loop || loop->code != OP_FOR) continue;
        ir_walk(loop->regions[0], look_for_step, &steps);
        if (steps.found) return true;
    }
    return false;
}

/* Workers as they are written. */
static bool may_run(PassContext *cx, Kernel *k, const Op *spmd) {
    RolesBounds bounds;
    if (!roles_check(k, cx->scratch, spmd, &(RolesRun){cx->options.unproved}, &bounds)) return false;
    if (bounds.proved)
        pass_find(cx, spmd->range, FIND_ROLES_PROVED, bounds.workers, bounds.orders, (long long)bounds.trips);
    return true;
}

bool merge_threads(PassContext *cx, Kernel *k) {
    FoundOps regions = ir_list(k->body, OP_SPMD, cx->scratch);
    size_t pieces = 0;
    for (size_t i = 0; i < regions.count; i++) merge_workers_apart(cx, k, regions.at[i]);
    if (regions.count) fold_tidy(k, cx->scratch);
    regions = ir_list(k->body, OP_SPMD, cx->scratch);
    for (size_t i = 0; i < regions.count; i++) {
        if (regions.at[i]->region_count > 1) {
            if (!may_run(cx, k, regions.at[i])) return true;
            merge_workers_written(cx, k, regions.at[i]);
        }
        if (op_word(regions.at[i], AT_UNIT, UNIT_THREAD) != UNIT_THREAD) continue;
        Threads t = threads_look(k, regions.at[i], true, cx->scratch);
        bool runs = merge_may_write(cx, k, regions.at[i]), asked = cx->options.written && runs;
        bool on_threads = runs && !asked && cx->machine && cx->machine->has_threads;
        const Op *winding = on_threads ? merge_winding(k, regions.at[i]) : NULL;
        bool steps = on_threads && !winding && steps_through_own(cx, k, regions.at[i]);
        if (asked)
            merge_written(cx, k, regions.at[i], "option `written` asks for it", regions.at[i]->range);
        else if (winding)
            merge_written(cx, k, regions.at[i],
                          "a loop as long as another one says steps through an array of each thread",
                          winding->range);
        else if (steps)
            merge_written(cx, k, regions.at[i], "a loop exchanges elements of arrays that each thread has for itself",
                          regions.at[i]->range);
        if (asked || winding || steps || threads_cut(&t)) continue;
        if (!runs)
            diag_emit(cx->module->diag, DIAG_THREADS, t.where, cx->machine->name, t.why);
        else
            merge_written(cx, k, regions.at[i], t.why, t.where);
    }
    regions = ir_list(k->body, OP_SPMD, cx->scratch);
    for (size_t i = 0; i < regions.count; i++) {
        Op *op = regions.at[i];
        bool kept = op_flag(op, AT_WRITTEN_OUT) || op_word(op, AT_UNIT, UNIT_THREAD) != UNIT_THREAD;
        if (kept || ir_list(op->regions[0], OP_SYNC, cx->scratch).count ||
            ir_list(op->regions[0], OP_SHFL, cx->scratch).count)
            continue;
        if (writes_beside(k, op, cx->scratch)) {
            merge_written(cx, k, op, "other workers may write the tiles that they do", op->range);
            continue;
        }
        FoundOps atomics = ir_list(op->regions[0], OP_BATOMIC, cx->scratch);
        for (size_t n = 0; n < atomics.count; n++) make_update(k, atomics.at[n]);
        op->code = OP_PARALLEL;
        op_drop(op, AT_UNIT);
        pieces++;
    }
    FoundOps bars = ir_list(k->body, OP_BAR, cx->scratch);
    if (bars.count && cx->machine && !cx->machine->counts_phases && !cx->module->diag->errors)
        diag_emit(cx->module->diag, DIAG_WORKERS, bars.at[0]->range, cx->machine->name);
    if (pieces) fold_tidy(k, cx->scratch);
    return pieces > 0;
}
