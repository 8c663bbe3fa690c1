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
 * A maximum that is only subtracted (a softmax, and what a loop keeps of it) may be any number near it, and stays as it
 * is, unless what follows from it is rounded to 8 bits, where a number near it shows; so do sums of what was computed
 * (squares, exponentials), and numbers that bf16 holds. plan.json says what is cut. */
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

/* What became of a value: does another number near it do as well? So it is where all that it does is to be subtracted
 * before an exponential, and added to the logarithm of what those sum up to. */
typedef struct Shift {
    const Tt *tt;
    const UserIndex *users;
    bool *seen; /* by Ref: looked at, or being looked at */
} Shift;

static const Op *maker_of(const Tt *tt, Ref value) { return ref_is_value(value) ? ir_value(tt->k, value)->op : NULL; }
static bool is_number(const Tt *tt, Ref value) { return ty_is_scalar(ir_type(tt->k, value)); }

/* Is it made of `part` by what leaves maxima maxima? */
static bool grows_from(const Tt *tt, Ref value, Ref part, int depth) {
    const Op *op = maker_of(tt, value);
    if (value == part) return true;
    if (!op || depth == 0) return false;
    bool any = false, passes = op->code == OP_MAX || op->code == OP_SELECT || op->code == OP_EXPAND ||
                               op->code == OP_RESHAPE || op->code == OP_BROADCAST;
    for (int i = 0; passes && i < op->operand_count; i++) any |= grows_from(tt, op->operands[i], part, depth - 1);
    return any;
}

static bool is_logarithm(const Tt *tt, Ref value) {
    const Op *op = maker_of(tt, value);
    for (int i = 0; op && op->code == OP_MUL && i < 2; i++)
        if (is_number(tt, op->operands[i])) return is_logarithm(tt, op->operands[1 - i]);
    return op && (op->code == OP_LOG || op->code == OP_LOG2);
}

static bool is_shift(Shift *s, Ref value, bool negated) {
    const Tt *tt = s->tt;
    if (s->seen[value]) return true;
    s->seen[value] = true;
    for (int i = s->users->start[value]; i < s->users->start[value + 1]; i++) {
        const Op *user = s->users->list[i];
        Ref next = user->result_count == 1 ? user->results[0] : REF_NONE;
        switch (user->code) {
        case OP_SUB:
            if (negated || (user->operands[0] == value && !grows_from(tt, user->operands[1], value, 4))) return false;
            break;
        case OP_FMA:
            if (!negated || user->operands[2] != value) return false;
            break;
        case OP_ADD:
            if (!negated && !is_logarithm(tt, user->operands[user->operands[0] == value])) return false;
            break;
        case OP_NEG:
            if (negated || !is_shift(s, next, true)) return false;
            break;
        case OP_MUL:
            if (!is_number(tt, user->operands[user->operands[0] == value]) || !is_shift(s, next, negated)) return false;
            break;
        case OP_EXPAND:
        case OP_RESHAPE:
        case OP_BROADCAST:
        case OP_CAST:
            if (!is_shift(s, next, negated)) return false;
            break;
        case OP_MAX:
            if (negated || !is_shift(s, next, false)) return false;
            break;
        case OP_SELECT:
            if (user->operands[0] == value || !is_shift(s, next, negated)) return false;
            break;
        case OP_YIELD: {
            const Op *loop = user->parent->owner;
            if (negated || loop->code != OP_FOR) return false;
            for (int v = 0; v < loop->result_count; v++)
                if (user->operands[v] == value &&
                    (!is_shift(s, loop->results[v], false) || !is_shift(s, loop->regions[0]->args[v + 1], false)))
                    return false;
            break;
        }
        default: return false;
        }
    }
    return true;
}

/* Is anything that follows from the value rounded to 8 bits? Steps so wide show which number near it was taken. */
static bool is_rounded(Shift *s, Ref value) {
    if (s->seen[value]) return false;
    s->seen[value] = true;
    if (map_find_number(&s->tt->to_bytes, value)) return true;
    for (int i = s->users->start[value]; i < s->users->start[value + 1]; i++) {
        const Op *user = s->users->list[i];
        for (int r = 0; r < user->result_count; r++)
            if (is_rounded(s, user->results[r])) return true;
        const Op *owner = user->code == OP_YIELD ? user->parent->owner : NULL;
        for (int v = 0; owner && v < owner->result_count; v++) {
            if (user->operands[v] != value) continue;
            if (is_rounded(s, owner->results[v])) return true;
            if (owner->code == OP_FOR && is_rounded(s, owner->regions[0]->args[v + 1])) return true;
        }
    }
    return false;
}

static bool may_be_near(Tt *tt, const UserIndex *users, Ref value) {
    Shift s = {.tt = tt, .users = users, .seen = ARENA_ARRAY(tt->arena, bool, tt->k->values.count)};
    if (!is_shift(&s, value, false)) return false;
    if (!tt->to_bytes.count) return true;
    s.seen = ARENA_ARRAY(tt->arena, bool, tt->k->values.count);
    return !is_rounded(&s, value);
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
        has_more &= (kind == COMBINE_MAX || is_min) && !may_be_near(tt, users, old);
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
