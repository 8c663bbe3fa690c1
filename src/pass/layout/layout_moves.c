/* SPDX-License-Identifier: Apache-2.0 */
/* layout_moves.c: where tiles live around ops that move elements or combine along an axis.
 *
 * Where the elements of the result are registers of the same thread already, the layout says so and
 * the op costs nothing: `join` adds a register bit for its new extent, `cat` of equal powers of two
 * one above the axis, `split` and an aligned `slice` drop theirs. Everything else (odd extents,
 * run-time offsets, indices) goes through shared memory, so any layout will do on either side:
 *
 *     join f32[128], f32[128] : f32[128,2]     register (0,1), then those of the operand
 *     slice f32[256], [128]   : f32[128]       128 is a register bit: the upper half of them */
#include "pass/layout/layout_state.h"

/* --- the operand's side --- */
/* Where operand i is or, if it floats or lies in shared memory, would be put. */
static const Layout *layout_of(LayoutState *st, const Op *op, int i) {
    const Type *type = ir_type(st->k, op->operands[i]);
    const Layout *layout = lay_natural(st, op->operands[i]);
    return layout && layout->home == HOME_REGISTERS ? layout : lay_default(st, type);
}

static bool equal_shapes(const LayoutState *st, const Op *op) {
    const Type *first = ir_type(st->k, op->operands[0]);
    for (int i = 1; i < op->operand_count; i++)
        for (int d = 0; d < first->rank; d++)
            if (ir_type(st->k, op->operands[i])->extent[d] != first->extent[d]) return false;
    return true;
}

static bool is_power(int64_t x) { return (x & (x - 1)) == 0; }

/* The operand of a split, in a layout where the last extent is a register bit. */
static const Layout *split_operand(LayoutState *st, const Op *op) {
    const Layout *from = layout_of(st, op, 0);
    LinearLayout cut;
    int64_t extent[MAX_RANK];
    const Type *type = ir_type(st->k, op->operands[0]);
    for (int d = 0; d < type->rank; d++) extent[d] = d == type->rank - 1 ? 1 : type->extent[d];
    if (ll_cut(&from->map, extent, &cut)) return from;
    if (lay_is_tile(st->k, op->results[0]))
        return lay_in_registers(st, ll_join(&lay_default(st, ir_type(st->k, op->results[0]))->map), type);
    LinearLayout one = {.rank = 0}; /* every thread has the only element */
    for (int i = 0; 1 << i < st->cx->machine->lanes; i++) ll_push(&one, LL_LANE, 0);
    for (int i = 0; i < ll_log2(st->warps); i++) ll_push(&one, LL_WARP, 0);
    return lay_in_registers(st, ll_join(&one), type);
}

/* Do the elements of an aligned slice lie in the registers of their thread already? */
static bool slice_stays(LayoutState *st, const Op *op, const Layout *from, LinearLayout *map) {
    const Type *whole = ir_type(st->k, op->operands[0]), *part = ir_type(st->k, op->results[0]);
    if (!lay_powers(whole) || !lay_powers(part)) return false;
    RefList offsets = op_list(op, 0);
    for (int d = 0; d < whole->rank; d++) {
        int64_t at;
        if (!ir_const_int(st->k, offsets.at[d], &at) || at % part->extent[d]) return false;
        if (at < 0 || at > whole->extent[d] - part->extent[d]) return false;
    }
    return ll_cut(&from->map, part->extent, map);
}

/* --- the result's side --- */
static const Layout *natural_cat(LayoutState *st, const Op *op, const Type *type) {
    const Layout *from = layout_of(st, op, 0);
    if (!is_power(op->operand_count) || !equal_shapes(st, op) || !lay_powers(ir_type(st->k, op->operands[0])))
        return lay_default(st, type);
    return lay_in_registers(st, ll_widen(&from->map, (int)op_int(op, AT_AXIS, 0), ll_log2(op->operand_count)), type);
}

bool moves_is(const LayoutState *st, const Op *op) {
    switch (op->code) {
    case OP_JOIN:
    case OP_SPLIT:
    case OP_CAT:
    case OP_FLIP:
    case OP_SLICE:
    case OP_INSERT:
    case OP_GATHER:
    case OP_SCATTER:
    case OP_SCAN:
    case OP_SORT:
    case OP_HISTOGRAM:
    case OP_BLOAD:
    case OP_BSTORE:
    case OP_PRINT:
    case OP_ASSERT:
    case OP_ASM:
    case OP_ASM_ACT:
    case OP_MAP: return true;
    case OP_RESHAPE:
        return lay_is_tile(st->k, op->results[0]) && lay_is_tile(st->k, op->operands[0]) &&
               !(lay_powers(ir_type(st->k, op->operands[0])) && lay_powers(ir_type(st->k, op->results[0])));
    default: return false;
    }
}

const Layout *moves_natural(LayoutState *st, const Op *op, int index) {
    const Type *type = ir_type(st->k, op->results[index]);
    switch (op->code) {
    case OP_JOIN:
        if (!lay_is_tile(st->k, op->operands[0])) return lay_default(st, type);
        return lay_in_registers(st, ll_join(&layout_of(st, op, 0)->map), type);
    case OP_SPLIT:
        return lay_in_registers(st, ll_slice(&split_operand(st, op)->map, ir_type(st->k, op->operands[0])->rank - 1),
                                type);
    case OP_CAT: return natural_cat(st, op, type);
    case OP_SLICE: {
        LinearLayout map;
        if (slice_stays(st, op, layout_of(st, op, 0), &map)) return lay_in_registers(st, map, type);
        return lay_default(st, type);
    }
    case OP_FLIP:
    case OP_INSERT:
    case OP_SCATTER:
    case OP_SORT:
    case OP_ASM:
    case OP_ASM_ACT:
    case OP_MAP:
    case OP_SCAN: return layout_of(st, op, 0);
    case OP_GATHER: return layout_of(st, op, 1);
    case OP_BLOAD: {
        const Layout *left = lay_left(st, op);
        return left ? left : lay_default(st, type);
    }
    default: return lay_default(st, type);
    }
}

/* Operands in any registers. */
static void want_somewhere(LayoutState *st, Op *op) {
    for (int i = 0; i < op->operand_count; i++)
        if (lay_is_tile(st->k, op->operands[i]))
            op->operands[i] = lay_want(st, op->operands[i], layout_of(st, op, i), op);
}

/* Operands `from` .. where `layout` says. */
static void want_there(LayoutState *st, Op *op, int from, const Layout *layout) {
    for (int i = from; i < op->operand_count; i++)
        if (lay_is_tile(st->k, op->operands[i])) op->operands[i] = lay_want(st, op->operands[i], layout, op);
}

void moves_place(LayoutState *st, Op *op) {
    const Layout *layout[16] = {0};
    int count = op->result_count < 16 ? op->result_count : 16;
    for (int i = 0; i < count; i++)
        if (lay_is_tile(st->k, op->results[i])) layout[i] = moves_natural(st, op, i);
    switch (op->code) {
    case OP_JOIN:
        if (lay_is_tile(st->k, op->operands[0])) want_there(st, op, 0, layout_of(st, op, 0));
        break;
    case OP_SPLIT: want_there(st, op, 0, split_operand(st, op)); break;
    case OP_CAT: {
        const Layout *first = layout_of(st, op, 0);
        if (equal_shapes(st, op))
            want_there(st, op, 0, first);
        else
            want_somewhere(st, op);
        break;
    }
    case OP_SCATTER:
        op->operands[0] = lay_want(st, op->operands[0], layout[0], op);
        want_there(st, op, 1, layout_of(st, op, 1));
        break;
    case OP_ASM:
    case OP_ASM_ACT:
    case OP_MAP:
    case OP_SCAN: want_there(st, op, 0, layout[0]); break;
    default: want_somewhere(st, op); break;
    }
    for (int i = 0; i < count; i++)
        if (layout[i]) lay_set(st, op->results[i], layout[i]);
}
