/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_gemm.c: a loop of dots as one product of global matrices (prelude/gemm.h); which loops are some stands in
 * cpu_plan_gemm.c. */
#include "target/cpu/cpu_internal.h"

/* `const TwSide name = {..};` */
static const Expr *emit_side(Emit *e, const GemmSide *side, int lines, const char *hint, const Expr *length) {
    Box *box = cpu_long_box(e, side->load, side->k, length);
    const Expr *name = cpu_fresh(e, "%s", hint), *to = box->checked[side->k] ? box->hi[side->k] : length;
    const Expr *parts[] = {box->pointer,
                           box->stride[side->line],
                           box->stride[side->k],
                           cpu_box_low(box, side->line),
                           cpu_if_ok(e, box, cpu_box_high(e, box, side->line)),
                           cpu_box_low(box, side->k),
                           to,
                           NULL};
    if (lines >= 0) parts[7] = cpu_box_lines(e, box, side->line, e->plan.blocks.at[lines].offset);
    cs_line(&e->p, "const TwSide %p = {%p};", name, ex_list(e->arena, parts, lines < 0 ? 7 : 8));
    return name;
}

void cpu_emit_gemm(Emit *e, const Gemm *g) {
    Op *loop = g->loop;
    Region *body = loop->regions[0];
    Ref sum = body->args[1], initial = loop->operands[3];
    const Type *c = ir_type(e->k, sum), *a = ir_type(e->k, g->a.load->results[0]);
    const Type *b = ir_type(e->k, g->b.load->results[0]);
    bool start = !ir_is_zero(e->k, initial);
    cpu_declare(e, sum);
    cs_bind(&e->p, loop->results[0], cs_ref(&e->p, sum));
    if (start && !cpu_shares_block(&e->plan, sum, initial)) cpu_fill(e, cs_ref(&e->p, sum), false, initial);
    const Type *index = ir_type(e->k, body->args[0]);
    const Expr *lo = cpu_ref(e, loop->operands[0]), *length = cpu_fresh(e, "length");
    cs_line(&e->p, "const %s %s = %p;", elem_info[index->elem].text, cs_name(&e->p, body->args[0]), lo);
    cs_line(&e->p, "const i64 %p = tw_trips(%p, %p, %p) * %lld;", length, lo, cpu_ref(e, loop->operands[1]),
            cpu_ref(e, loop->operands[2]), (long long)a->extent[g->a.k]);
    for (Op *op = body->first; op != body->last; op = op->next)
        if (ty_is_scalar(ir_type(e->k, op->results[0]))) cpu_emit_op(e, op);
    const Expr *x = emit_side(e, &g->a, g->lines[0], "left", length);
    const Expr *y = emit_side(e, &g->b, g->lines[1], "right", length);
    const Expr *slot = g->slot < 0 ? &expr_zero : ex(e->arena, "(u64 *)(scratch + %d)", g->slot * GEMM_SLOT_BYTES);
    const Expr *out = &expr_zero, *stride = &expr_zero, *done = cpu_fresh(e, "stored");
    if (g->store) {
        const Op *tensor = ir_value(e->k, g->store->operands[0])->op;
        if (tensor) cpu_emit_tensor(e, (Op *)(uintptr_t)tensor);
        const Box *box = cpu_box(e, g->store);
        const Expr *direct = box->ok;
        if (!box->unit) direct = ex_and(e->arena, direct, ex(e->arena, "%p == 1", box->stride[1]));
        out = direct ? ex(e->arena, "%p ? %p : 0", direct, box->pointer) : box->pointer;
        stride = box->stride[0];
        map_put_number(&e->stored, e->arena, (uint64_t)(uintptr_t)g->store, (void *)(uintptr_t)done);
    }
    cs_line(&e->p,
            "const i32 %p = tw_gemm(tw_gather_%s, tw_pack_%s, &%p, &%p, %lld, %lld, %p, %p, %d, %d, "
            "(f32 *)(scratch + %lld), (f32 *)(scratch + %lld), %lld, %p, %p, %p);",
            done, g->pairs ? "pairs" : cs_memory_type(a->elem), g->pairs ? "pairs" : cs_memory_type(b->elem), x, y,
            (long long)c->extent[0], (long long)c->extent[1], length, cs_ref(&e->p, sum), start, g->skip,
            (long long)e->plan.blocks.at[g->rows].offset, (long long)e->plan.blocks.at[g->panels].offset,
            (long long)g->room_k, slot, out, stride);
    cpu_needs(e, PART_GEMM), cpu_needs(e, PART_PRODUCTS);
}
