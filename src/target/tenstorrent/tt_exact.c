/* SPDX-License-Identifier: Apache-2.0 */
/* tt_exact.c: reductions of f32 that keep more than the 11 bits of a source register.
 *
 * The FPU cuts f32 to 11 significant bits before it adds or compares.
 *
 *     max x    max(x) + max(x - m1) + max(x - m1 - m2): each step finds the next 11 bits of the largest, exactly; first
 *              guesses are held within the finite numbers, so that infinities come out as such
 *     min x    -max(-x)
 *     sum x    sum(high) + sum(low), x = high + low: of loaded numbers, whose mean may be large beside what they differ
 *              by; the 22 bits (20 along columns) are those of f32 but two (four)
 *
 * A maximum that is only subtracted (a softmax) may be any number near it, and stays as it is; so do sums of what was
 * computed (squares, exponentials), and numbers that bf16 holds. plan.json says what is cut. */
#include "ir/build.h"
#include "target/tenstorrent/tt_emit.h"

#include <math.h>

#define MOST_F32 3.4028234663852886e38

typedef VEC(Op *) Ops;

static void find_reductions(Tt *tt, Region *region, Ops *found) {
    for (Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->region_count; i++) find_reductions(tt, op->regions[i], found);
        if (op->code != OP_REDUCE || op->operand_count != 1) continue;
        *VEC_PUSH(found, tt->arena) = op;
    }
}

/* Is what became of the value only subtracted from something? */
static bool is_only_subtracted(const Tt *tt, const UserIndex *users, Ref value, int depth) {
    for (int i = users->start[value]; i < users->start[value + 1]; i++) {
        const Op *user = users->list[i];
        switch (user->code) {
        case OP_SUB:
            if (user->operands[0] == value) return false;
            break;
        case OP_YIELD: break; /* carried: the loop's value is looked at where it is used in the same way */
        case OP_EXPAND:
        case OP_RESHAPE:
        case OP_BROADCAST:
        case OP_CAST:
        case OP_MAX:
            if (depth == 0 || !is_only_subtracted(tt, users, user->results[0], depth - 1)) return false;
            break;
        default: return false;
        }
    }
    return true;
}

/* Loaded, and nothing but moved since. */
static bool is_loaded(const Tt *tt, Ref value) {
    const Op *op = ref_is_value(value) ? ir_value(tt->k, tt_same_pages(tt, value))->op : NULL;
    if (op && op->code == OP_SELECT) return is_loaded(tt, op->operands[1]) || is_loaded(tt, op->operands[2]);
    return op && op->code == OP_GET;
}

/* A vector of one number a row or column, within the finite numbers, as a tile that spreads along the axis. */
static Ref guess(Builder *b, Ref vector, int axis) {
    const Type *type = ir_type(b->kernel, vector);
    Ref most = ir_splat(b, ir_float(b, EL_F32, MOST_F32), type), least = ir_splat(b, ir_float(b, EL_F32, -MOST_F32),
                                                                                  type);
    return ir_expand(b, ir_binary(b, OP_MIN, ir_binary(b, OP_MAX, vector, least), most), axis);
}

static Ref reshaped(Builder *b, Ref wide, Ref like) { return ir_reshape(b, wide, ir_type(b->kernel, like)); }

static Ref beside_lowest(Builder *b, Ref inside, Ref x) {
    const Type *type = ir_type(b->kernel, x);
    return ir_ternary(b, OP_SELECT, inside, x, ir_splat(b, ir_float(b, type->elem, -INFINITY), type));
}

/* inside: where there are numbers, not the padding of a last page; REF_NONE: everywhere. */
static Ref exact_max(Builder *b, Ref x, int axis, Ref first, Ref inside) {
    Ref sum = REF_NONE, rest = x, found = first;
    for (int step = 0; step < 3; step++) {
        if (step) found = ir_reduce(b, COMBINE_MAX, rest, axis);
        Ref held = guess(b, found, axis), narrow = reshaped(b, held, found);
        rest = ir_binary(b, OP_SUB, rest, held);
        if (inside) rest = beside_lowest(b, inside, rest);
        sum = step ? ir_binary(b, OP_ADD, sum, narrow) : narrow;
    }
    return sum;
}

/* x = high + low: Veltkamp's splitting. The passes of a product take 11 bits of what is in SrcB, 10 of what is in
 * SrcA: of the
 * left and the right operand, of sums along rows and along columns. What would overflow goes into low. */
Ref tt_high_part(Builder *b, Ref x, bool in_srca) {
    const Type *type = ir_type(b->kernel, x);
    Ref most = ir_splat(b, ir_float(b, EL_F32, 0x1p110), type), least = ir_splat(b, ir_float(b, EL_F32, -0x1p110),
                                                                                 type);
    Ref held = ir_binary(b, OP_MIN, ir_binary(b, OP_MAX, x, least), most);
    Ref wide = ir_binary(b, OP_MUL, held, ir_splat(b, ir_float(b, EL_F32, in_srca ? 16385 : 8193), type));
    return ir_binary(b, OP_SUB, wide, ir_binary(b, OP_SUB, wide, held));
}

static Ref exact_sum(Builder *b, Ref x, int axis) {
    Ref high = tt_high_part(b, x, axis == 0), low = ir_binary(b, OP_SUB, x, high);
    Ref rest = ir_reduce(b, COMBINE_ADD, low, axis);
    return ir_binary(b, OP_ADD, ir_reduce(b, COMBINE_ADD, high, axis), rest);
}

static void refine(Tt *tt, Op *op, const UserIndex *users) {
    Ref x = op->operands[0], old = op->results[0], better;
    const Type *type = ir_type(tt->k, x);
    int axis = (int)op_int(op, AT_AXIS, 0);
    Word kind = op_word(op, AT_COMBINE, COMBINE_ADD);
    int64_t n = type->rank == 2 ? type->extent[axis] : 0;
    bool keeps_nan = op_word(op, AT_NAN, NAN_DROP) == NAN_KEEP, is_min = kind == COMBINE_MIN;
    if (n == 1 && elem_is_float(type->elem)) { /* of one number, which no unit need look at */
        Builder b = ir_builder_before(tt->k, op);
        ir_replace_all(tt->k, old, ir_reshape(&b, x, ir_type(tt->k, old)));
        ir_remove(op);
        return;
    }
    if (n == 0 || !elem_is_float(type->elem) || keeps_nan) return;
    bool has_more = type->elem == EL_F32 && !tt_is_narrow(tt, x), is_sum = kind == COMBINE_ADD;
    if (is_sum)
        has_more &= is_loaded(tt, x);
    else
        has_more &= (kind == COMBINE_MAX || is_min) && !is_only_subtracted(tt, users, old, 4);
    if (!has_more && !is_min) return;
    Builder b = ir_builder_behind(tt->k, op);
    if (is_min) x = ir_unary(&b, OP_NEG, x);
    Ref inside = has_more && !is_sum && n % PAGE_SIDE ? tt_inside_of(&b, type, axis) : REF_NONE;
    if (inside) x = beside_lowest(&b, inside, x);
    better = is_sum ? exact_sum(&b, x, axis) : ir_reduce(&b, COMBINE_MAX, x, axis);
    if (has_more && !is_sum) better = exact_max(&b, x, axis, better, inside);
    if (is_min) better = ir_unary(&b, OP_NEG, better);
    ir_replace_all(tt->k, old, better);
    ir_remove(op);
}

void tt_refine_reductions(Tt *tt) {
    const Op *compute = tt->role[TENSIX_COMPUTE];
    Ops found = {0};
    if (!compute) return;
    find_reductions(tt, compute->regions[0], &found);
    UserIndex users = ir_index_users(tt->k, tt->arena);
    for (size_t i = 0; i < found.count; i++) refine(tt, found.at[i], &users);
    tt->is_index = tt->is_narrow = (Map){0}; /* values are new */
}
