/* SPDX-License-Identifier: Apache-2.0 */
/* simt_lean.c: tiles that are too large for the registers of their block.
 *
 * softmax of a row of 65536 numbers by 512 threads: a thread holds 128 of them, in f32 all the
 * registers there are. But they were loaded as bf16, and what is computed from them element by
 * element can be computed again. So in a lean kernel only loads are arrays; an elementwise value is
 * written into each loop that uses it, as a variable, and reductions take its elements one by one,
 * in the order of their tree, so that few partial results are alive:
 *
 *     for (int i = 0; i < 128; i++) {
 *         const f32 shifted = (tw_f32(x[r]) - most);
 *         f32 value = tw_exp_fast(shifted);
 *         ..
 *     }
 *     tw_fresh(128, x);        the compiler must not remember what it made of x
 *
 * Which kernels are lean is decided in pass/layout/layout_hold.c. The numbers are the same, bit by bit. */
#include "target/simt/simt.h"

#include <string.h>

void lean_put_off(Emit *e, const Op *first, const Op *last) {
    for (const Op *op = first;; op = op->next) {
        if (emit_is_tile(e, op->results[0]) && emit_hold(e, op->results[0])->kind == HOLD_NONE)
            emit_set(e, op->results[0], HOLD_LATER, NULL);
        if (op == last) break;
    }
}

/* What the value takes, as variables of the loop. */
static void compute(Emit *e, Ref value, const Expr *r) {
    if (!ref_is_value(value) || emit_hold(e, value)->kind != HOLD_LATER) return;
    const Expr *text = lean_element(e, value, r);
    const char *name = cs_name(&e->p, value);
    cs_line(&e->p, "%s %s = %p;", elementwise_type(e, ir_type(e->k, value)), name, text);
    emit_set_name(e, value, HOLD_LOCAL, name);
    *VEC_PUSH(&e->computed, e->arena) = value;
}

const Expr *lean_element(Emit *e, Ref value, const Expr *r) {
    const Layout *layout = emit_layout(e, value);
    if (!ref_is_value(value) || emit_hold(e, value)->kind != HOLD_LATER)
        return elementwise_operand(e, value, layout, r);
    const Op *op = ir_value(e->k, value)->op;
    for (int i = 0; i < op->operand_count; i++)
        if (elementwise_reads(e, op, layout, i)) compute(e, op->operands[i], r);
    cs_place(&e->p, op->range);
    return elementwise_at(e, op, layout, r);
}

void lean_close(Emit *e) {
    for (size_t i = 0; i < e->computed.count; i++) emit_set(e, e->computed.at[i], HOLD_LATER, NULL);
    e->computed.count = 0;
}

/* Loads that were read before the reduction and are read again. */
void lean_after_reduce(Emit *e, const Op *reduce) {
    for (const Op *op = e->k->body->first; e->lean && op != reduce; op = op->next)
        if (op->code == OP_TLOAD && emit_layout(e, op->results[0]) && e->uses[op->results[0]])
            cs_line(&e->p, "tw_fresh(%d, %p);",
                    emit_layout(e, op->results[0])->registers /
                        (emit_hold(e, op->results[0])->kind == HOLD_PAIRS ? 2 : 1),
                    emit_hold(e, op->results[0])->by);
}
