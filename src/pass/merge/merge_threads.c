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
        Range where = regions.at[i]->range;
        const char *why = asked        ? "option `written` asks for it"
                          : on_threads ? merge_had_better(cx, k, regions.at[i], &where)
                                       : NULL;
        if (why) merge_written(cx, k, regions.at[i], why, where);
        if (why || threads_cut(&t)) continue;
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
