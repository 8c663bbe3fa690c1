/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_dot.c: a dot of tiles.
 *
 * A dot copies nothing that is there already. Its operands are in memory as f32 (or f64, or
 * integers of the sum's type) because the plan put them there; the accumulator is updated in
 * place; a box of a global tensor that only this dot reads is read where it lies if it is full,
 * and else gathered, transposed or widened in one go:
 *
 *     const f32 *b = k_in_p; i64 ldb = stride;
 *     if (!k_in_full) { tw_gather_f32(..); b = .., ldb = 64; }
 *     tw_dot_f32(64, 64, 64, q, 64, b, ldb, s, 64, 0, room);
 *
 * Loops of dots that are products of global matrices as a whole: cpu_gemm.c. */
#include "target/cpu/cpu_internal.h"

#include <string.h>

/* An operand as the prelude takes it: rows of numbers of the sum's type. */
typedef struct Operand {
    const Expr *pointer, *ld;
} Operand;

static void fill_as(Emit *e, const Expr *pointer, Elem to, Ref tile) {
    const Type *type = ir_type(e->k, tile);
    Nest nest;
    nest_begin(e, &nest, type);
    Ix x = cpu_element(e, &nest, tile, nest.index);
    const Expr *slot = cpu_slot(e, type, pointer, nest.index, NULL);
    nest_add(e, &nest, nest.rank, "%p = %p;", slot, cs_cast(&e->p, type->elem, to, false, x.x));
    nest_end(e, &nest, true);
}

/* A box whose lines an index vector chooses is gathered, line by line. */
static Operand lines_operand(Emit *e, const DotBox *source, const Expr *temp, int64_t block, long long extent[2]) {
    const Box *box = cpu_find_box(e, source->load);
    int vector = box->indices[1] != NULL, other = !vector, turned = vector == source->columns;
    const Expr *all = cpu_if_ok(e, box, cs_number(e->arena, EL_I32, box->tile->extent[vector]));
    const Expr *at = cpu_box_lines(e, box, vector, block + cpu_lines_offset(box->tile)), *side = cpu_fresh(e, "side");
    cs_line(&e->p, "const TwSide %p = {%p, %p, %p, 0, %p, %p, %p, %p};", side, box->pointer, box->stride[vector],
            box->stride[other], all, cpu_box_low(box, other), cpu_box_high(e, box, other), at);
    cs_line(&e->p, "tw_gather_%s(%p, %lld, %lld, &%p, 0, %lld, 0, %lld);", cs_memory_type(box->tile->elem), temp,
            turned ? 1 : extent[1], turned ? extent[1] : 1, side, (long long)box->tile->extent[vector],
            (long long)box->tile->extent[other]);
    cpu_needs(e, PART_GEMM), cpu_needs(e, PART_PRODUCTS);
    return (Operand){temp, ex_int(e->arena, extent[1])};
}

/* A box as operand; `rows` and `columns` are axes of the box. */
static Operand box_operand(Emit *e, const DotBox *source, bool may_stay, const Expr *temp, long long extent[2]) {
    const Box *box = cpu_find_box(e, source->load);
    const char *elem = cs_memory_type(box->tile->elem);
    int r = source->rows, c = source->columns;
    Operand x = {cpu_fresh(e, "rows"), cpu_fresh(e, "ld")};
    const Expr *stays = box->full;
    if (!box->unit) stays = ex_and(e->arena, stays, ex(e->arena, "%p == 1", box->stride[1]));
    if (may_stay && !stays) return (Operand){box->pointer, box->stride[0]};
    cs_line(&e->p, "const f32 *%p = %p;", x.pointer, temp);
    cs_line(&e->p, "i64 %p = %lld;", x.ld, extent[1]);
    if (may_stay) {
        cs_open(&e->p, "if (%p)", stays);
        cs_line(&e->p, "%p = %p, %p = %p;", x.pointer, box->pointer, x.ld, box->stride[0]);
        cs_reopen(&e->p, "else");
    }
    const Expr *side = cpu_fresh(e, "side");
    cs_line(&e->p, "const TwSide %p = {%p, %p, %p, %p, %p, %p, %p};", side, box->pointer, box->stride[r],
            box->stride[c], cpu_box_low(box, r), cpu_if_ok(e, box, cpu_box_high(e, box, r)), cpu_box_low(box, c),
            cpu_box_high(e, box, c));
    cs_line(&e->p, "tw_gather_%s(%p, %lld, 1, &%p, 0, %lld, 0, %lld);", elem, temp, extent[1], side, extent[0],
            extent[1]);
    if (may_stay) cs_close(&e->p);
    cpu_needs(e, PART_GEMM), cpu_needs(e, PART_PRODUCTS);
    return x;
}

static Operand dot_operand(Emit *e, Op *op, int i, const Type *sum) {
    const DotPlan *plan = &cpu_place(&e->plan, op)->dot;
    int block = cpu_place(&e->plan, op)->temp[i];
    const Type *type = ir_type(e->k, op->operands[i]);
    long long extent[2] = {type->extent[type->rank - 2], type->extent[type->rank - 1]};
    Operand x = {cs_ref(&e->p, op->operands[i]), ex_int(e->arena, extent[1])};
    if (plan->form[i] == OPERAND_THERE) return x;
    x.pointer = cpu_memory(e, ty_with_elem(e->k->module, type, sum->elem), false, block, i ? "b" : "a");
    const DotBox *box = &plan->box[i];
    if (plan->form[i] == OPERAND_LINES)
        return lines_operand(e, box, x.pointer, e->plan.blocks.at[block].offset, extent);
    if (plan->form[i] == OPERAND_STAYS || plan->form[i] == OPERAND_BOX)
        return box_operand(e, box, plan->form[i] == OPERAND_STAYS, x.pointer, extent);
    fill_as(e, x.pointer, sum->elem, op->operands[i]);
    return x;
}

void cpu_emit_dot(Emit *e, Op *op) {
    Ref result = op->results[0], start = op->operands[2];
    const Type *c = ir_type(e->k, result), *a = ir_type(e->k, op->operands[0]);
    bool small = cpu_is_wide_elem(c), zero = ir_is_zero(e->k, start);
    const Type *sum = small ? ty_with_elem(e->k->module, c, EL_F32) : c;
    if (!elem_is_float(sum->elem) && elem_info[sum->elem].bits < 32) {
        cpu_unsupported(e, op, "the sum must be a float or an integer of at least 32 bits");
        return;
    }
    cpu_declare(e, result);
    Operand x = dot_operand(e, op, 0, sum), y = dot_operand(e, op, 1, sum);
    const Expr *z = cs_ref(&e->p, result);
    if (small) z = cpu_memory(e, sum, false, cpu_place(&e->plan, op)->temp[2], "sum");
    if (!zero && (small || !cpu_shares_block(&e->plan, start, result))) cpu_fill(e, z, small, start);
    int r = c->rank;
    long long M = c->extent[r - 2], N = c->extent[r - 1], K = a->extent[r - 1], batch = ty_elements(c) / (M * N);
    const char *type = cs_memory_type(sum->elem);
    long long room = (long long)e->plan.blocks.at[cpu_place(&e->plan, op)->room].offset;
    if (batch > 1) {
        cs_open(&e->p, "for (i64 o = 0; o < %lld; o++)", batch);
        x = (Operand){ex(e->arena, "%p + o * %lld", x.pointer, M * K), ex_int(e->arena, K)};
        y = (Operand){ex(e->arena, "%p + o * %lld", y.pointer, K * N), ex_int(e->arena, N)};
    }
    const Expr *to = batch > 1 ? ex(e->arena, "%p + o * %lld", z, M * N) : z;
    cs_line(&e->p, "tw_dot_%s(%lld, %lld, %lld, %p, %p, %p, %p, %p, %lld, %d, (%s *)(scratch + %lld));", type, M, N, K,
            x.pointer, x.ld, y.pointer, y.ld, to, N, !zero, type, room);
    if (batch > 1) cs_close(&e->p);
    if (small) {
        cs_open(&e->p, "TW_VECTOR for (i64 r = 0; r < %lld; r++)", (long long)ty_elements(c));
        cs_line(&e->p, "%p[r] = %p;", cs_ref(&e->p, result), cs_pack(&e->p, c->elem, ex(e->arena, "%p[r]", z)));
        cs_close(&e->p);
    }
    cpu_needs(e, PART_DOT);
    if (sum->elem == EL_F32) cpu_needs(e, PART_PRODUCTS);
}
