/* SPDX-License-Identifier: Apache-2.0 */
/* access_vector.c: dimensions whose places an index vector says.
 *
 *     base + token[i] * %stride + j,  mask real[i]
 *  -> tensor %base, [none, none], [%stride, 1] ;  %at = select %real, i64(%token), -2^63 ;  tload .., [%at, 0]
 *
 * The parts of the axis (affine.h) and its own steps are summed into one vector of rank 1: in units of
 * a stride where all of them have one in common that is the same for the whole launch, else of elements.
 * Conditions of that axis choose: INDEX_OUTSIDE is outside of every tensor. (Not -1: numbers from memory may
 * be negative and lie inside of the array all the same, since its base may have been moved.)
 *
 * A condition of no axis is a gate, a dimension of one place or none: the access happens or does not, and what
 * it moves is a box all the same, of which no element has to be asked.
 *
 *     load %p, splat(%c) & (%j < %n)  ->  tensor %X, [select(%c, 1, 0), %n], [0, 1] ; tload .., [0, %j0]
 *
 * A vector is made anew from the slices of what the source computes, of rank 1 all the way, and behind
 * the last of them: so a loop that only moves the base does not touch it. One that is there already in
 * rank 1 is taken as it is. Sums are made in 64 bits. */
#include "pass/access/access_plan.h"

enum { DEEPEST = 64 };

/* --- the stride --- */

static bool divide(Analysis *a, Poly p, Poly by, Poly *out) {
    if (poly_equal(p, by)) {
        *out = poly_int(a->arena, 1);
        return true;
    }
    *out = (Poly){0};
    for (int i = 0; i < p.count; i++) {
        Term quotient;
        if (by.count != 1 || !poly_divides(by, &p.at[i], &quotient)) return false;
        *out = poly_add(a->arena, *out, poly_term(a->arena, quotient));
    }
    return !p.bad && !out->bad;
}

static bool take_stride(Analysis *a, PlanDim *dim, Poly stride) {
    PlanDim out = *dim;
    bool whole = !poly_is_variant(a, stride) && divide(a, dim->step, stride, &out.step);
    for (int i = 0; whole && i < dim->part_count; i++)
        whole = divide(a, dim->part[i].scale, stride, &out.part[i].scale);
    if (!whole) return false;
    *dim = out;
    dim->stride = stride;
    return true;
}

void access_plan_index(Analysis *a, PlanDim *dim, const Axis *axis) {
    dim->indexed = true;
    dim->step = axis->step;
    for (int i = 0; i < axis->part_count; i++) dim->part[dim->part_count++] = axis->part[i];
    if (axis->turn) {
        dim->part[dim->part_count] = axis->turned;
        dim->part[dim->part_count++].scale = axis->scale;
    }
    if (!poly_is_zero(dim->step) && take_stride(a, dim, dim->step)) return;
    for (int i = 0; i < dim->part_count; i++)
        if (take_stride(a, dim, dim->part[i].scale)) return;
    dim->stride = poly_int(a->arena, 1);
}

/* --- slices --- */

typedef struct Slicer {
    Access *x;
    Builder *b; /* NULL: nothing is made, the last value that is needed is looked for */
    RefMap made;
    int order;
    Ref last;
} Slicer;

static Ref leaf(Slicer *s, Ref value) {
    if (!ref_is_value(value)) return value;
    if (!s->b && s->x->a.order[value] > s->order) {
        s->order = s->x->a.order[value];
        s->last = value;
    }
    return refmap_get(&s->x->renamed, value);
}

/* The only row that is in it: all other axes have one element. */
static Ref take_row(Slicer *s, Ref value) {
    const Type *type = ir_type(s->x->k, value);
    int64_t length = 1;
    for (int d = 0; d < type->rank; d++) length *= type->extent[d];
    value = leaf(s, value);
    return s->b ? ir_reshape(s->b, value, ty_with_shape(s->b->module, type, length > 1, &length)) : value;
}

static Ref slice(Slicer *s, Ref value, int depth);

static Ref slice_op(Slicer *s, const Op *op, int depth) {
    Ref operands[8];
    for (int i = 0; i < op->operand_count; i++)
        operands[i] = op->operands[i] ? slice(s, op->operands[i], depth + 1) : REF_NONE;
    if (!s->b) return op->results[0];
    const Type *type = ir_type(s->x->k, op->results[0]), *longest = type;
    int rank = 0;
    for (int i = 0; i < op->operand_count; i++)
        if (operands[i] && ir_type(s->x->k, operands[i])->rank > rank) {
            longest = ir_type(s->x->k, operands[i]);
            rank = longest->rank;
        }
    Op *made = ir_begin(s->b, op->code);
    for (int i = 0; i < op->operand_count; i++) ir_operand(s->b, made, operands[i]);
    for (int i = 0; i < op->attr_count; i++) op_set(s->x->k, made, op->attrs[i]);
    bool given = op_info[op->code].result == RES_GIVEN;
    return ir_end(s->b, made, given ? ty_with_shape(s->b->module, type, rank, longest->extent) : NULL);
}

/* What is left of a value when the axes that it does not move along are gone: rank 1, or a number. */
static Ref slice(Slicer *s, Ref value, int depth) {
    const Type *type = ir_type(s->x->k, value);
    if (!ref_is_value(value) || type->rank == 0 || (type->rank == 1 && type->extent[0] > 1)) return leaf(s, value);
    Ref known = refmap_get(&s->made, value);
    if (known != value) return known;
    const Op *op = ir_value(s->x->k, value)->op;
    Ref out;
    if (op && depth < DEEPEST && affine_is_spread(s->x->k, op))
        out = slice(s, op->operands[0], depth + 1);
    else if (op && depth < DEEPEST && affine_is_slicewise(op) && op->operand_count <= 8)
        out = slice_op(s, op, depth);
    else
        out = take_row(s, value);
    refmap_set(&s->made, value, s->b ? out : REF_NONE);
    return out;
}

static Ref slice_poly(Slicer *s, Poly p) {
    Ref sum = REF_NONE;
    for (int i = 0; i < p.count; i++) {
        Ref product = REF_NONE;
        for (int j = 0; j < p.at[i].count; j++) {
            Ref factor = leaf(s, p.at[i].factor[j]);
            if (!s->b) continue;
            factor = ir_cast(s->b, factor, EL_I64);
            product = product ? ir_binary(s->b, OP_MUL, product, factor) : factor;
        }
        if (!s->b) continue;
        Ref number = ir_int(s->b, EL_I64, p.at[i].scale);
        product = !product ? number : p.at[i].scale == 1 ? product : ir_binary(s->b, OP_MUL, product, number);
        sum = sum ? ir_binary(s->b, OP_ADD, sum, product) : product;
    }
    return sum;
}

/* --- the vector --- */

static Ref as_vector(Slicer *s, Ref value, int64_t length) {
    const Type *type = ir_type(s->x->k, value);
    return type->rank ? value : ir_splat(s->b, value, ty_with_shape(s->b->module, type, 1, &length));
}

static Ref add_term(Slicer *s, Ref sum, Ref value, Poly scale) {
    int64_t number;
    bool one = poly_const(scale, &number) && number == 1;
    Ref by = one ? REF_NONE : slice_poly(s, scale);
    if (!s->b) return sum;
    value = ir_cast(s->b, value, EL_I64);
    if (!one) value = ir_binary(s->b, OP_MUL, value, by);
    return sum ? ir_binary(s->b, OP_ADD, sum, value) : value;
}

static Ref sum_parts(Slicer *s, const PlanDim *dim, int64_t length) {
    int64_t number;
    bool still = poly_is_zero(dim->step);
    bool counts = dim->part_count == 0 && poly_const(dim->step, &number) && number == 1;
    bool alone = still && dim->part_count == 1 && poly_const(dim->part[0].scale, &number) && number == 1;
    if (alone) return slice(s, dim->part[0].value, 0);
    Ref sum = REF_NONE, steps = s->b && !still ? ir_iota(s->b, 0, length) : REF_NONE;
    if (counts) return steps;
    for (int i = 0; i < dim->part_count; i++)
        sum = add_term(s, sum, slice(s, dim->part[i].value, 0), dim->part[i].scale);
    return still ? sum : add_term(s, sum, steps, dim->step);
}

/* x of `x >= 0`, of `0 <= x`; or REF_NONE. */
static Ref natural_of(const Kernel *k, Ref condition) {
    const Op *cmp = ref_is_value(condition) ? ir_value(k, condition)->op : NULL;
    int64_t number;
    if (!cmp || cmp->code != OP_CMP) return REF_NONE;
    Word pred = op_word(cmp, AT_PRED, CMP_EQ);
    int x = pred == CMP_GE ? 0 : pred == CMP_LE ? 1 : -1;
    bool zero = x >= 0 && ir_const_int(k, cmp->operands[1 - x], &number) && number == 0;
    return zero ? cmp->operands[x] : REF_NONE;
}

/* 0 <= x and x < n are one comparison of naturals: x < max(n, 0). REF_NONE: they are not these two. */
static Ref as_naturals(Slicer *s, Ref one, Ref other) {
    const Kernel *k = s->x->k;
    Ref x = natural_of(k, one);
    const Op *below = x && ref_is_value(other) ? ir_value(k, other)->op : NULL;
    if (!below || below->code != OP_CMP || op_word(below, AT_PRED, CMP_EQ) != CMP_LT || below->operands[0] != x)
        return REF_NONE;
    Elem elem = ir_type(k, x)->elem, natural = elem == EL_I32 ? EL_U32 : EL_U64;
    if ((elem != EL_I32 && elem != EL_I64) || ir_type(k, below->operands[1])->elem != elem) return REF_NONE;
    int64_t number;
    Ref n = ir_const_int(k, below->operands[1], &number)
                ? ir_int(s->b, elem, number > 0 ? number : 0)
                : ir_binary(s->b, OP_MAX, below->operands[1], ir_int(s->b, elem, 0));
    Ref end = ir_cast(s->b, n, natural);
    return ir_compare(s->b, CMP_LT, ir_cast(s->b, x, natural), end);
}

static Ref all_conditions(Slicer *s, const PlanDim *dim) {
    Ref one[MAX_CONDITIONS], all = REF_NONE;
    for (int i = 0; i < dim->condition_count; i++) {
        one[i] = slice(s, dim->condition[i], 0);
        for (int j = 0; s->b && one[i] && j < i; j++) {
            Ref both = !one[j] ? REF_NONE : as_naturals(s, one[j], one[i]);
            if (!both && one[j]) both = as_naturals(s, one[i], one[j]);
            if (!both) continue;
            one[j] = both;
            one[i] = REF_NONE;
        }
    }
    for (int i = 0; s->b && i < dim->condition_count; i++)
        if (one[i]) all = all ? ir_binary(s->b, OP_AND, all, one[i]) : one[i];
    return all;
}

static Ref make_index(Slicer *s, const PlanDim *dim, int64_t length) {
    Ref sum = sum_parts(s, dim, length), all = all_conditions(s, dim);
    if (!s->b) return REF_NONE;
    sum = as_vector(s, sum ? sum : ir_int(s->b, EL_I64, 0), length); /* 0: an axis that repeats one place */
    if (!all) return sum;
    return ir_ternary(s->b, OP_SELECT, all, ir_cast(s->b, sum, EL_I64), ir_int(s->b, EL_I64, INDEX_OUTSIDE));
}

Ref access_gate(Access *x, Builder *b, const PlanDim *dim) {
    Slicer s = {.x = x, .b = b, .made = {.arena = x->a.arena}};
    return ir_ternary(b, OP_SELECT, all_conditions(&s, dim), ir_int(b, EL_I32, 1), ir_int(b, EL_I32, 0));
}

/* Behind the definition of the value, and behind what was put there before. */
static Builder behind(Access *x, Ref value, int order, Spot **spot) {
    *spot = NULL;
    for (size_t i = 0; i < x->spots.count; i++)
        if (x->spots.at[i].order == order) *spot = &x->spots.at[i];
    Ref now = refmap_get(&x->renamed, value);
    const Value *v = ir_value(x->k, now);
    if (!*spot) {
        *spot = VEC_PUSH(&x->spots, x->a.arena);
        **spot = (Spot){order, v->op};
    }
    Op *last = (*spot)->last;
    Builder b = ir_builder(x->k, last ? last->parent : v->region);
    b.before = last ? last->next : v->region->first;
    return b;
}

Ref access_index(Access *x, const Plan *plan, const PlanDim *dim) {
    int64_t length = ir_type(x->k, plan->pointer)->extent[dim->axis];
    Slicer look = {.x = x, .made = {.arena = x->a.arena}, .order = -1}, s = look;
    make_index(&look, dim, length);
    Spot *spot = NULL;
    Builder b = look.last ? behind(x, look.last, look.order, &spot) : ir_builder_before(x->k, plan->op);
    b.range = plan->op->range;
    s.b = &b;
    Ref index = make_index(&s, dim, length);
    if (spot) {
        Op *last = b.before ? b.before->previous : b.region->last;
        if (last) spot->last = last;
    }
    return index;
}
