/* SPDX-License-Identifier: Apache-2.0 */
/* affine_turn.c: remainders, quotients and clamps of indices.
 *
 *     (64*pid + i) / 64, i < 64        pid: the quotient does not move inside the tile
 *     (64*pid + i) rem 64              i
 *     (m + i) rem M                    an axis that turns: it starts again at 0
 *     min(m + i, M - 1)                an axis that turns: what comes behind M is somewhere below
 *     select(m + i < M, m + i, 0)      the same
 *
 * A quotient toward zero is a floor only of what is never negative; that is proved or wished. */
#include "analysis/affine.h"

/* The one axis that moves, one by one; -1: there is none such. */
static int moving_axis(const Affine *x) {
    int moving = -1;
    int64_t step;
    for (int d = 0; d < x->rank; d++) {
        if (x->axis[d].turn || x->axis[d].part_count) return -1;
        if (poly_is_zero(x->axis[d].step)) continue;
        if (moving >= 0 || !poly_const(x->axis[d].step, &step) || step != 1) return -1;
        moving = d;
    }
    return moving;
}

static const Affine *turned(Analysis *a, Ref value, const Affine *x, int axis, Turn turn, bool sound, Poly modulus) {
    const Op *op = ir_value(a->k, value)->op;
    const Affine *self =
        affine_vector(a, value, affine_unknown(a, op, turn == TURN_CLAMP ? WHY_NOT_AFFINE : WHY_TURNS));
    Affine *f = affine_new(a, x->rank);
    f->wide = x->wide;
    f->axis[axis] =
        (Axis){.turn = turn, .sound = sound, .scale = poly_int(a->arena, 1), .first = x->start, .modulus = modulus};
    if (self->known && self->axis[axis].part_count) f->axis[axis].turned = self->axis[axis].part[0];
    return f;
}

/* x = by * quotient + rest, 0 <= rest < by for every element of the tile? */
static bool split(Analysis *a, const Affine *x, const Type *type, int64_t by, Affine *quotient, Affine *rest) {
    __int128 most = 0;
    for (int d = 0; d < x->rank; d++) {
        int64_t step;
        if (x->axis[d].turn || x->axis[d].part_count) return false;
        if (poly_over(a->arena, x->axis[d].step, by, &quotient->axis[d].step)) continue;
        quotient->axis[d].step = (Poly){0};
        if (!poly_const(x->axis[d].step, &step) || step < 0) return false;
        rest->axis[d].step = x->axis[d].step;
        most += (__int128)step * (type->extent[d] - 1);
    }
    int64_t constant = poly_constant(x->start), left = constant % by;
    if (left < 0) left += by;
    Poly whole = poly_sub(a->arena, x->start, poly_int(a->arena, left));
    rest->start = poly_int(a->arena, left);
    return most + left < by && poly_over(a->arena, whole, by, &quotient->start);
}

static bool is_natural_form(Analysis *a, const Affine *x) {
    bool natural = poly_is_natural(a, x->start);
    for (int d = 0; natural && d < x->rank; d++)
        natural = !x->axis[d].turn && !x->axis[d].part_count && poly_is_natural(a, x->axis[d].step);
    return natural;
}

static const Affine *divide(Analysis *a, Ref value, const Op *op, const Affine *x, const Affine *y) {
    int64_t by;
    bool remainder = op->code == OP_REM || op->code == OP_MOD;
    bool floors = op->code == OP_MOD || op->code == OP_FLOORDIV;
    const Type *type = ir_type(a->k, value);
    bool holds = affine_holds(a, x, type);
    if (holds && x->rank == type->rank && affine_is_uniform(y) && poly_const(y->start, &by) && by > 0 &&
        (floors || is_natural_form(a, x))) {
        Affine *quotient = affine_new(a, x->rank), *rest = affine_new(a, x->rank);
        quotient->wide = x->wide;
        if (split(a, x, type, by, quotient, rest)) return remainder ? rest : quotient;
    }
    if (!remainder) return affine_unknown(a, op, WHY_NOT_AFFINE);
    for (int d = 0; d < x->rank; d++)
        if (x->axis[d].turn) return affine_unknown(a, op, WHY_WRAPS_TWICE);
    int axis = moving_axis(x);
    if (axis < 0 || !affine_is_uniform(y)) return affine_unknown(a, op, WHY_REMAINDER);
    bool sound = holds && affine_holds(a, y, type);
    return turned(a, value, x, axis, op->code == OP_MOD ? TURN_MOD : TURN_REM, sound, y->start);
}

static const Affine *clamp(Analysis *a, Ref value, const Op *op, const Affine *x, const Affine *y) {
    if (affine_is_uniform(x)) {
        const Affine *swap = x;
        x = y;
        y = swap;
    }
    int axis = moving_axis(x);
    if (axis < 0 || !affine_is_uniform(y)) return affine_unknown(a, op, WHY_NOT_AFFINE);
    return turned(a, value, x, axis, TURN_CLAMP, true, poly_add(a->arena, y->start, poly_int(a->arena, 1)));
}

/* select(x < limit, x, a number) */
static const Affine *choose(Analysis *a, Ref value, const Op *op) {
    const Affine *x = affine_of(a, op->operands[1]), *other = affine_of(a, op->operands[2]);
    const Op *cmp = ref_is_value(op->operands[0]) ? ir_value(a->k, op->operands[0])->op : NULL;
    int axis = x->known ? moving_axis(x) : -1;
    if (axis < 0 || !other->known || !affine_is_uniform(other) || !cmp || cmp->code != OP_CMP ||
        op_word(cmp, AT_PRED, CMP_NE) != CMP_LT || elem_info[ir_type(a->k, cmp->operands[0])->elem].cls != CLASS_INT)
        return affine_unknown(a, op, WHY_NOT_AFFINE);
    const Affine *low = affine_of(a, cmp->operands[0]), *limit = affine_of(a, cmp->operands[1]);
    if (!low->known || !limit->known || low->base || limit->base || low->rank != x->rank || moving_axis(low) != axis ||
        !poly_equal(low->start, x->start) || !affine_is_uniform(limit))
        return affine_unknown(a, op, WHY_NOT_AFFINE);
    return turned(a, value, x, axis, TURN_CLAMP, true, limit->start);
}

const Affine *affine_turn(Analysis *a, Ref value, const Op *op) {
    if (op->code == OP_SELECT) return choose(a, value, op);
    const Affine *x = affine_of(a, op->operands[0]), *y = affine_of(a, op->operands[1]);
    if (!x->known) return x;
    if (!y->known) return y;
    if (x->base || y->base) return affine_unknown(a, op, WHY_NOT_AFFINE);
    return op->code == OP_MIN ? clamp(a, value, op, x, y) : divide(a, value, op, x, y);
}
