/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_loops.c: ops that need loops of their own and are neither boxes nor reductions: scattered
 * stores, buffers, cat and insert, sort, histogram, assert. */
#include "target/cpu/cpu_internal.h"

#include <string.h>

void cpu_emit_store(Emit *e, Op *op) {
    const Type *places = ir_type(e->k, op->operands[0]);
    Nest nest;
    nest_begin(e, &nest, places);
    Ix p = cpu_element(e, &nest, op->operands[0], nest.index);
    Ix x = cpu_operand(e, &nest, op->operands[1], nest.index);
    const Expr *packed = cpu_pack(e, places->elem, x.x);
    Ref mask = op_operand(op, 2);
    if (mask) {
        Ix m = cpu_operand(e, &nest, mask, nest.index);
        nest_add(e, &nest, nest.rank, "if (%p) *%p = %p;", m.x, p.x, packed);
    } else
        nest_add(e, &nest, nest.rank, "*%p = %p;", p.x, packed);
    nest_end(e, &nest, true);
}

/* Indices of a box inside something larger, for the indices of the box. */
static void box_index(Emit *e, const Type *whole, const Type *box, RefList offsets, const Ix *index, Ix *to) {
    int lead = whole->rank - box->rank;
    for (int d = 0; d < whole->rank; d++) {
        Ix inner = d < lead ? ix_zero() : index[d - lead];
        to[d] = ix(ex(e->arena, "((i64)%p + %p)", cpu_ref(e, offsets.at[d]), inner.x), inner.depth);
    }
}

const Expr *cpu_cell(Emit *e, const Op *op) {
    const Type *whole = ir_type(e->k, op->operands[0]);
    Ix to[MAX_RANK];
    box_index(e, whole, &(Type){.kind = TY_TILE}, op_list(op, 0), NULL, to);
    return cpu_slot(e, whole, cs_ref(&e->p, op->operands[0]), to, NULL);
}

void cpu_emit_bstore(Emit *e, Op *op) {
    Ref buffer = op->operands[0], value = op_operand(op, 1);
    const Type *whole = ir_type(e->k, buffer), *box = ir_type(e->k, value);
    Nest nest;
    nest_begin(e, &nest, box);
    Ix x = cpu_element(e, &nest, value, nest.index), to[MAX_RANK];
    box_index(e, whole, box, op_list(op, 0), nest.index, to);
    const Expr *slot = cpu_slot(e, whole, cs_ref(&e->p, buffer), to, NULL);
    nest_add(e, &nest, nest.rank, "%p = %p;", slot, cpu_pack(e, box->elem, x.x));
    nest_end(e, &nest, true);
}

/* --- cat and insert --- */

static void copy_piece(Emit *e, Ref whole, Ref piece, const Expr *const *offsets) {
    const Type *type = ir_type(e->k, piece), *to_type = ir_type(e->k, whole);
    Nest nest;
    nest_begin(e, &nest, type);
    Ix x = cpu_element(e, &nest, piece, nest.index), to[MAX_RANK];
    int lead = to_type->rank - type->rank; /* a piece of lower rank is one element thick along the first dimensions */
    for (int d = 0; d < to_type->rank; d++) {
        Ix inner = d < lead ? ix_zero() : nest.index[d - lead];
        to[d] = ix(ex(e->arena, "(%p + %p)", offsets[d], inner.x), inner.depth);
    }
    const Expr *slot = cpu_slot(e, to_type, cs_ref(&e->p, whole), to, NULL);
    nest_add(e, &nest, nest.rank, "%p = %p;", slot, cpu_pack_for(e, whole, x.x));
    nest_end(e, &nest, true);
}

void cpu_emit_pieces(Emit *e, Op *op) {
    Ref result = op->results[0];
    const Type *type = ir_type(e->k, result);
    const Expr *offsets[MAX_RANK];
    for (int d = 0; d < type->rank; d++) offsets[d] = &expr_zero;
    cpu_declare(e, result);
    if (op->code == OP_CAT) {
        int axis = (int)op_int(op, AT_AXIS, 0);
        int64_t at = 0;
        for (int i = 0; i < op->operand_count; i++) {
            offsets[axis] = ex_int(e->arena, at);
            copy_piece(e, result, op->operands[i], offsets);
            at += ir_type(e->k, op->operands[i])->extent[axis];
        }
        return;
    }
    Ref base = op->operands[0];
    if (!cpu_shares_block(&e->plan, base, result)) cpu_fill(e, cs_ref(&e->p, result), false, base);
    RefList at = op_list(op, 0);
    for (int d = 0; d < at.count; d++) offsets[d] = ex(e->arena, "(i64)%p", cpu_ref(e, at.at[d]));
    copy_piece(e, result, op_operand(op, 1), offsets);
}

/* One element after the other, so that the last one at a place stays. */
void cpu_emit_scatter(Emit *e, Op *op) {
    Ref base = op->operands[0], result = op->results[0];
    long long places = ty_elements(ir_type(e->k, result));
    cpu_declare(e, result);
    if (!cpu_shares_block(&e->plan, base, result)) cpu_fill(e, cs_ref(&e->p, result), false, base);
    Nest nest;
    nest_begin(e, &nest, ir_type(e->k, op->operands[1]));
    Ix at = cpu_element(e, &nest, op->operands[1], nest.index), x = cpu_element(e, &nest, op->operands[2], nest.index);
    Word kind = op_word(op, AT_COMBINE, WORD_NONE);
    const Expr *slot = ex(e->arena, "%p[(i64)%p]", cs_ref(&e->p, result), at.x);
    const Expr *value = kind ? cs_combine(&e->p, kind, ir_type(e->k, result)->elem, false, slot, x.x) : x.x;
    nest_add(e, &nest, nest.rank, "if ((u64)(i64)%p < %lldull) %p = %p;", at.x, places, slot,
             cpu_pack_for(e, result, value));
    nest_end(e, &nest, false);
}

/* --- sort, histogram .. --- */

void cpu_emit_sort(Emit *e, Op *op) {
    Ref result = op->results[0];
    const Type *type = ir_type(e->k, result), *padded = cpu_sort_keys(e->k, op);
    int axis = (int)op_int(op, AT_AXIS, 0), descending = op_flag(op, AT_DESC);
    long long n = type->extent[axis], room = padded->extent[axis], inner = 1;
    for (int d = axis + 1; d < type->rank; d++) inner *= type->extent[d];
    long long lines = ty_elements(type) / (n * inner), all = room * inner;
    const char *key = elem_info[padded->elem].text;
    const char *reg = cs_register_type(&e->p, type->elem == EL_I1 ? EL_U8 : type->elem);
    cpu_declare(e, result);
    const Expr *keys = cpu_memory(e, padded, false, cpu_place(&e->plan, op)->temp[0], "keys");
    Nest nest;
    nest_begin(e, &nest, type);
    Ix x = cpu_element(e, &nest, op->operands[0], nest.index);
    nest_add(e, &nest, nest.rank, "%p = tw_key_%s(%p, %d);", cpu_slot(e, padded, keys, nest.index, NULL), reg, x.x,
             descending);
    nest_end(e, &nest, true);
    cs_open(&e->p, "for (i64 o = 0; o < %lld; o++)", lines);
    if (room > n)
        cs_line(&e->p, "for (i64 r = %lld; r < %lld; r++) %p[o * %lld + r] = TW_LAST_%s;", n * inner, all, keys, all,
                key);
    cs_line(&e->p, "tw_sort_%s(%p + o * %lld, %lld, %lld);", key, keys, all, room, inner);
    cs_open(&e->p, "TW_VECTOR for (i64 r = 0; r < %lld; r++)", n * inner);
    const Expr *back = ex(e->arena, "tw_unkey_%s(%p[o * %lld + r], %d)", reg, keys, all, descending);
    cs_line(&e->p, "%p[o * %lld + r] = %p;", cs_ref(&e->p, result), n * inner, cpu_pack_for(e, result, back));
    cs_close(&e->p);
    cs_close(&e->p);
    const char *maker = arena_printf(e->arena, "TW_SORT_%s", key);
    if (!map_find(&e->helper_names, maker, strlen(maker))) cs_line_of(&e->p, &e->helpers, 0, "%s", maker);
    map_set(&e->helper_names, e->arena, maker, e);
    cpu_needs(e, PART_SORT);
}

void cpu_emit_histogram(Emit *e, Op *op) {
    Ref result = op->results[0];
    long long bins = ty_elements(ir_type(e->k, result));
    cpu_declare(e, result);
    const Expr *name = cs_ref(&e->p, result);
    cs_line(&e->p, "for (i64 r = 0; r < %lld; r++) %p[r] = 0;", bins, name);
    Nest nest;
    nest_begin(e, &nest, ir_type(e->k, op->operands[0]));
    Ix x = cpu_element(e, &nest, op->operands[0], nest.index);
    nest_add(e, &nest, nest.rank, "if (%p >= 0 && (u64)%p < %lld) %p[%p]++;", x.x, x.x, bins, name, x.x);
    nest_end(e, &nest, false);
}

void cpu_emit_assert(Emit *e, Op *op) {
    const char *message = op_text(op, AT_MESSAGE);
    *VEC_PUSH(&e->asserts, e->arena) = (CpuAssert){op->range, message ? message : ""};
    Nest nest;
    nest_begin(e, &nest, ir_type(e->k, op->operands[0]));
    Ix x = cpu_element(e, &nest, op->operands[0], nest.index);
    nest_add(e, &nest, nest.rank, "if (TW_UNLIKELY(!%p)) {", x.x);
    nest_add(e, &nest, nest.rank, "    tw_fail(launch, %d, program);", (int)e->asserts.count);
    nest_add(e, &nest, nest.rank, "    return;");
    nest_add(e, &nest, nest.rank, "}");
    nest_end(e, &nest, false);
}

/* Where the values are in memory, as the launcher reads them. */
void cpu_emit_print(Emit *e, Op *op) {
    *VEC_PUSH(&e->prints, e->arena) = speech_of(e->k, op, e->arena);
    ExprList values = {0};
    cs_open(&e->p, "%s", "");
    for (int i = 0; i < op->operand_count; i++) {
        Ref x = op->operands[i];
        const Type *type = ir_type(e->k, x);
        if (type->kind != TY_TILE) continue;
        const Expr *name = cpu_memory(e, type, false, cpu_place(&e->plan, op)->temp[i], "said");
        cpu_fill(e, name, false, x);
        *VEC_PUSH(&values, e->arena) = name;
    }
    if (!values.count) *VEC_PUSH(&values, e->arena) = &expr_zero;
    cs_line(&e->p, "const void *const values[] = {%p};", ex_list(e->arena, values.at, (int)values.count));
    cs_line(&e->p, "launch->print(launch, %d, program, values);", (int)e->prints.count - 1);
    cs_close(&e->p);
}

/* The region is the body of a loop over the elements. */
void cpu_emit_map(Emit *e, Op *op) {
    Region *region = op->regions[0];
    bool tiles = op->result_count && ir_type(e->k, op->results[0])->rank;
    for (int i = 0; i < op->result_count && tiles; i++) cpu_declare(e, op->results[i]);
    Nest nest;
    nest_begin(e, &nest, ir_type(e->k, op->operands[0]));
    for (int i = 0; i < op->operand_count; i++)
        cs_bind(&e->p, region->args[i], cpu_element(e, &nest, op->operands[i], nest.index).x);
    CLines around = e->p.lines;
    int depth = e->p.depth;
    e->p.lines = nest.body[nest.rank];
    e->p.depth = 0;
    cpu_emit_ops(e, region);
    for (int i = 0; i < op->result_count; i++) {
        Ref result = op->results[i], x = region->last->operands[i];
        if (!tiles) {
            cs_bind(&e->p, result, cpu_ref(e, x));
            continue;
        }
        const Expr *slot = cpu_slot(e, ir_type(e->k, result), cs_ref(&e->p, result), nest.index, NULL);
        cs_line(&e->p, "%p = %p;", slot, cpu_pack_for(e, result, cpu_ref(e, x)));
    }
    nest.body[nest.rank] = e->p.lines;
    e->p.lines = around;
    e->p.depth = depth;
    nest_end(e, &nest, true);
}
