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
    const char *packed = cpu_pack(e, places->elem, x.text);
    Ref mask = op_operand(op, 2);
    if (mask) {
        Ix m = cpu_operand(e, &nest, mask, nest.index);
        nest_add(e, &nest, nest.rank, "if (%s) *%s = %s;", m.text, p.text, packed);
    } else
        nest_add(e, &nest, nest.rank, "*%s = %s;", p.text, packed);
    nest_end(e, &nest, true);
}

/* Indices of a box inside something larger, for the indices of the box. */
static void box_index(Emit *e, const Type *whole, const Type *box, RefList offsets, const Ix *index, Ix *to) {
    int lead = whole->rank - box->rank;
    for (int d = 0; d < whole->rank; d++) {
        Ix inner = d < lead ? ix_zero : index[d - lead];
        const char *text = cpu_ref(e, offsets.at[d]);
        to[d] = ix(arena_printf(e->arena, "((i64)%s + %s)", text, inner.text), inner.depth);
    }
}

void cpu_emit_bstore(Emit *e, Op *op) {
    Ref buffer = op->operands[0], value = op_operand(op, 1);
    const Type *whole = ir_type(e->k, buffer), *box = ir_type(e->k, value);
    Nest nest;
    nest_begin(e, &nest, box);
    Ix x = cpu_element(e, &nest, value, nest.index), to[MAX_RANK];
    box_index(e, whole, box, op_list(op, 0), nest.index, to);
    const char *slot = cpu_slot(e, whole, cs_name(&e->p, buffer), to, NULL);
    nest_add(e, &nest, nest.rank, "%s = %s;", slot, cpu_pack(e, box->elem, x.text));
    nest_end(e, &nest, true);
}

/* --- cat and insert --- */

static void copy_piece(Emit *e, Ref whole, Ref piece, const Ix *offsets) {
    const Type *type = ir_type(e->k, piece), *to_type = ir_type(e->k, whole);
    Nest nest;
    nest_begin(e, &nest, type);
    Ix x = cpu_element(e, &nest, piece, nest.index), to[MAX_RANK];
    for (int d = 0; d < type->rank; d++)
        to[d] = ix(arena_printf(e->arena, "(%s + %s)", offsets[d].text, nest.index[d].text), nest.index[d].depth);
    const char *slot = cpu_slot(e, to_type, cs_name(&e->p, whole), to, NULL);
    nest_add(e, &nest, nest.rank, "%s = %s;", slot, cpu_pack_for(e, whole, x.text));
    nest_end(e, &nest, true);
}

void cpu_emit_pieces(Emit *e, Op *op) {
    Ref result = op->results[0];
    const Type *type = ir_type(e->k, result);
    Ix offsets[MAX_RANK];
    for (int d = 0; d < type->rank; d++) offsets[d] = ix_zero;
    cpu_declare(e, result);
    if (op->code == OP_CAT) {
        int axis = (int)op_int(op, AT_AXIS, 0);
        int64_t at = 0;
        for (int i = 0; i < op->operand_count; i++) {
            offsets[axis].text = arena_printf(e->arena, "%lld", (long long)at);
            copy_piece(e, result, op->operands[i], offsets);
            at += ir_type(e->k, op->operands[i])->extent[axis];
        }
        return;
    }
    Ref base = op->operands[0];
    if (!cpu_shares_block(&e->plan, base, result)) cpu_fill(e, cs_name(&e->p, result), false, base);
    RefList at = op_list(op, 0);
    for (int d = 0; d < at.count; d++) offsets[d].text = arena_printf(e->arena, "(i64)%s", cpu_ref(e, at.at[d]));
    copy_piece(e, result, op_operand(op, 1), offsets);
}

/* --- sort, histogram .. --- */

/* The tile of keys in which a line is padded to a power of two. */
const Type *cpu_sort_keys(const Kernel *k, const Op *op) {
    const Type *type = ir_type(k, op->operands[0]);
    int axis = (int)op_int(op, AT_AXIS, 0);
    int64_t extent[MAX_RANK], inner = 1, n = 1;
    memcpy(extent, type->extent, sizeof extent);
    for (int d = axis + 1; d < type->rank; d++) inner *= extent[d];
    while (n < extent[axis] || (inner == 1 && n < 8)) n *= 2;
    extent[axis] = n;
    Elem key = elem_info[type->elem].bits == 64 ? EL_I64 : EL_I32;
    return ty_tile(k->module, key, type->rank, extent);
}

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
    const char *keys = cpu_memory(e, padded, false, cpu_place(&e->plan, op)->temp[0], "keys");
    Nest nest;
    nest_begin(e, &nest, type);
    Ix x = cpu_element(e, &nest, op->operands[0], nest.index);
    nest_add(e, &nest, nest.rank, "%s = tw_key_%s(%s, %d);", cpu_slot(e, padded, keys, nest.index, NULL), reg, x.text,
             descending);
    nest_end(e, &nest, true);
    cs_open(&e->p, "for (i64 o = 0; o < %lld; o++)", lines);
    if (room > n)
        cs_line(&e->p, "for (i64 r = %lld; r < %lld; r++) %s[o * %lld + r] = TW_LAST_%s;", n * inner, all, keys, all,
                key);
    cs_line(&e->p, "tw_sort_%s(%s + o * %lld, %lld, %lld);", key, keys, all, room, inner);
    cs_open(&e->p, "TW_VECTOR for (i64 r = 0; r < %lld; r++)", n * inner);
    const char *back = arena_printf(e->arena, "tw_unkey_%s(%s[o * %lld + r], %d)", reg, keys, all, descending);
    cs_line(&e->p, "%s[o * %lld + r] = %s;", cs_name(&e->p, result), n * inner, cpu_pack_for(e, result, back));
    cs_close(&e->p);
    cs_close(&e->p);
    const char *maker = arena_printf(e->arena, "TW_SORT_%s", key);
    if (!map_find(&e->helper_names, maker, strlen(maker))) text_add(&e->helpers, "%s\n", maker);
    map_set(&e->helper_names, e->arena, maker, e);
    e->uses_sort = true;
}

void cpu_emit_histogram(Emit *e, Op *op) {
    Ref result = op->results[0];
    long long bins = ty_elements(ir_type(e->k, result));
    cpu_declare(e, result);
    const char *name = cs_name(&e->p, result);
    cs_line(&e->p, "for (i64 r = 0; r < %lld; r++) %s[r] = 0;", bins, name);
    Nest nest;
    nest_begin(e, &nest, ir_type(e->k, op->operands[0]));
    Ix x = cpu_element(e, &nest, op->operands[0], nest.index);
    nest_add(e, &nest, nest.rank, "if (%s >= 0 && (u64)%s < %lld) %s[%s]++;", x.text, x.text, bins, name, x.text);
    nest_end(e, &nest, false);
}

void cpu_emit_assert(Emit *e, Op *op) {
    const char *message = op_text(op, AT_MESSAGE);
    *VEC_PUSH(&e->asserts, e->arena) = (CpuAssert){op->range, message ? message : ""};
    Nest nest;
    nest_begin(e, &nest, ir_type(e->k, op->operands[0]));
    Ix x = cpu_element(e, &nest, op->operands[0], nest.index);
    nest_add(e, &nest, nest.rank, "if (TW_UNLIKELY(!%s)) {", x.text);
    nest_add(e, &nest, nest.rank, "    tw_fail(launch, %d, program);", (int)e->asserts.count);
    nest_add(e, &nest, nest.rank, "    return;");
    nest_add(e, &nest, nest.rank, "}");
    nest_end(e, &nest, false);
}

/* Where the values are in memory, as the launcher reads them. */
void cpu_emit_print(Emit *e, Op *op) {
    *VEC_PUSH(&e->prints, e->arena) = speech_of(e->k, op, e->arena);
    Text values = text_new(e->arena);
    cs_open(&e->p, "%s", "");
    for (int i = 0; i < op->operand_count; i++) {
        Ref x = op->operands[i];
        const Type *type = ir_type(e->k, x);
        if (type->kind != TY_TILE) continue;
        const char *name = cpu_memory(e, type, false, cpu_place(&e->plan, op)->temp[i], "said");
        cpu_fill(e, name, false, x);
        text_add(&values, "%s%s", values.length ? ", " : "", name);
    }
    cs_line(&e->p, "const void *const values[] = {%s};", values.length ? values.at : "0");
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
        e->p.names[region->args[i]] = cpu_element(e, &nest, op->operands[i], nest.index).text;
    Text out = e->p.out;
    int depth = e->p.depth;
    e->p.out = nest.body[nest.rank];
    e->p.depth = 0;
    cpu_emit_ops(e, region);
    for (int i = 0; i < op->result_count; i++) {
        Ref result = op->results[i], x = region->last->operands[i];
        if (!tiles) {
            e->p.names[result] = cpu_ref(e, x);
            continue;
        }
        const char *slot = cpu_slot(e, ir_type(e->k, result), cs_name(&e->p, result), nest.index, NULL);
        cs_line(&e->p, "%s = %s;", slot, cpu_pack_for(e, result, cpu_ref(e, x)));
    }
    nest.body[nest.rank] = e->p.out;
    e->p.out = out;
    e->p.depth = depth;
    nest_end(e, &nest, true);
}
