/* SPDX-License-Identifier: Apache-2.0 */
/* access_plan.c: from an address to a box of a tensor.
 *
 * The address of an element is base + start + sum of step * i over the axes of the tile (affine.h);
 * the mask is a conjunction of bounds on single axes. The plan names a tensor and a box in it that
 * say the same:
 *
 *   - an axis of the tile that moves is a dimension; its step is the stride;
 *   - its offset is what the step divides out of start, or, under a mask i < K - 64*k, what makes
 * the bound the same for every program and every trip (offset 64*k, extent K);
 *   - what is left of start and differs between programs becomes dimensions of its own, in which
 * the box has one place (row * stride, batch * stride); the rest moves the base;
 *   - a part of an index that could be negative, without a mask saying otherwise, moves the base
 * too, since a tensor begins at 0.
 *
 * So every affine access has a plan; how good it is (extents and strides known before the launch,
 * unit stride) is what the targets look at. */
#include "pass/access/access_plan.h"

/* --- masks --- */

/* The axis of the tile that a part of the mask moves along, for what can be told of it alone. */
static int place_of(Analysis *a, Ref mask, const int *map) {
    unsigned axes = affine_axes(a, mask);
    int axis = -1;
    for (int d = 0; d < MAX_RANK; d++)
        if (axes >> d & 1) axis = d;
    return axes & (axes - 1) ? -2 : axis < 0 ? -1 : map[axis];
}

static void add_condition(Analysis *a, Conditions *out, const int *map, Condition c) {
    c.place = place_of(a, c.value, map);
    if (out->count == MAX_CONDITIONS)
        out->opaque = true;
    else
        out->at[out->count++] = c;
}

/* A part of the mask that is no bound: on one axis it can choose among the numbers of an index vector. */
static void add_other(Analysis *a, Ref mask, const int *map, Conditions *out) {
    int place = place_of(a, mask, map);
    if (!a->separates || place == -2)
        out->opaque = true;
    else
        add_condition(a, out, map, (Condition){.axis = place, .other = true, .value = mask});
}

/* d > 0, its axes placed by map[]. */
static void add_positive(Analysis *a, Ref mask, const Affine *d, const int *map, Conditions *out) {
    int axis = -1;
    for (int i = 0; i < d->rank; i++) {
        if (poly_is_zero(d->axis[i].step) && !d->axis[i].turn) continue;
        if (axis >= 0 || d->axis[i].turn) {
            add_other(a, mask, map, out);
            return;
        }
        axis = i;
    }
    if (axis < 0) {
        add_condition(a, out, map, (Condition){.axis = -1, .limit = d->start, .value = mask});
        return;
    }
    int64_t step;
    if (!poly_const(d->axis[axis].step, &step) || (step != 1 && step != -1) || map[axis] < 0) {
        add_other(a, mask, map, out);
        return;
    }
    Poly one = poly_int(a->arena, 1); /* start + i > 0 is i >= 1 - start */
    Poly limit = step < 0 ? d->start : poly_sub(a->arena, one, d->start);
    add_condition(a, out, map, (Condition){.axis = map[axis], .upper = step < 0, .limit = limit, .value = mask});
}

/* Unsigned numbers compare as the integers they stand for only when none of them is below 0. */
static bool are_natural(Analysis *a, const Affine *x, const Affine *y) {
    bool good = poly_is_natural(a, x->start) && poly_is_natural(a, y->start);
    for (int d = 0; good && d < x->rank; d++) good = !x->axis[d].turn && poly_is_natural(a, x->axis[d].step);
    for (int d = 0; good && d < y->rank; d++) good = !y->axis[d].turn && poly_is_natural(a, y->axis[d].step);
    return good;
}

static bool has_parts(const Affine *f) {
    int parts = 0;
    for (int d = 0; d < f->rank; d++) parts += f->axis[d].part_count;
    return parts > 0;
}

static void collect(Analysis *a, Ref mask, const int *map, Conditions *out) {
    const Op *op = ref_is_value(mask) ? ir_value(a->k, mask)->op : NULL;
    int64_t number;
    if (ir_const_int(a->k, mask, &number) && number) return;
    int inner[MAX_RANK + 1] = {0};
    const Type *type = op && op->operand_count ? ir_type(a->k, op->operands[0]) : NULL;
    switch (op ? op->code : OP_NONE) {
    case OP_AND:
        for (int i = 0; i < 2; i++) collect(a, op->operands[i], map, out);
        return;
    case OP_SPLAT: collect(a, op->operands[0], inner, out); return;
    case OP_BROADCAST: collect(a, op->operands[0], map, out); return;
    case OP_EXPAND:
        for (int d = 0, axis = (int)op_int(op, AT_AXIS, 0); d < type->rank; d++) inner[d] = map[d < axis ? d : d + 1];
        collect(a, op->operands[0], inner, out);
        return;
    case OP_PERMUTE:
        for (int d = 0; d < type->rank; d++) inner[op_attr(op, AT_DIMS)->list.at[d]] = map[d];
        collect(a, op->operands[0], inner, out);
        return;
    case OP_CMP: break;
    default: add_other(a, mask, map, out); return;
    }
    const Affine *x = affine_of(a, op->operands[0]), *y = affine_of(a, op->operands[1]);
    Word predicate = op_word(op, AT_PRED, CMP_EQ);
    bool less = predicate == CMP_LT || predicate == CMP_LE, more = predicate == CMP_GT || predicate == CMP_GE;
    if (!x->known || !y->known || x->base || y->base || (!less && !more) || !elem_is_int(type->elem) || has_parts(x) ||
        has_parts(y) || (!elem_is_signed(type->elem) && !are_natural(a, x, y))) {
        add_other(a, mask, map, out);
        return;
    }
    const Affine *big = less ? y : x, *small = less ? x : y;
    int rank = x->rank > y->rank ? x->rank : y->rank;
    Affine d = {.known = true, .rank = rank, .axis = ARENA_ARRAY(a->arena, Axis, rank)};
    d.start = poly_sub(a->arena, big->start, small->start);
    if (predicate == CMP_LE || predicate == CMP_GE) d.start = poly_add(a->arena, d.start, poly_int(a->arena, 1));
    for (int i = 0; i < rank; i++) {
        const Axis *b = big->rank ? &big->axis[i] : NULL, *s = small->rank ? &small->axis[i] : NULL;
        Poly none = {0};
        d.axis[i].step = poly_sub(a->arena, b ? b->step : none, s ? s->step : none);
        d.axis[i].turn = b && b->turn ? b->turn : s ? s->turn : TURN_NONE;
    }
    if (d.start.bad)
        add_other(a, mask, map, out);
    else
        add_positive(a, mask, &d, map, out);
}

void access_conditions(Analysis *a, Ref mask, int rank, Conditions *out) {
    int map[MAX_RANK];
    for (int d = 0; d < rank; d++) map[d] = d;
    *out = (Conditions){0};
    if (mask) collect(a, mask, map, out);
}

/* --- dimensions of the tile --- */

/* The terms of which that is true. */
static Poly terms_that(Analysis *a, Poly p, bool (*is)(Analysis *, Poly)) {
    Poly out = {0};
    for (int i = 0; i < p.count; i++) {
        Poly term = poly_term(a->arena, p.at[i]);
        if (is(a, term)) out = poly_add(a->arena, out, term);
    }
    return out;
}

static Poly variant_part(Analysis *a, Poly p) { return terms_that(a, p, poly_is_variant); }

/* Is the term a place times something that only the launch knows: batch * stride? */
static bool is_strided_place(Analysis *a, const Term *t) {
    bool moves = false, still = false;
    for (int i = 0; i < t->count; i++) {
        if (affine_is_variant(a, t->factor[i]))
            moves = true;
        else
            still = true;
    }
    return moves && still;
}

/* What the stride divides out of p; nothing as large as `row`, the next larger stride that is known. */
static Poly quotient(Analysis *a, Poly p, Poly stride, int64_t row) {
    Poly out = {0};
    int64_t number;
    bool plain = poly_const(stride, &number);
    for (int i = 0; i < p.count; i++) {
        Term q;
        if (plain && is_strided_place(a, &p.at[i])) continue;
        if (plain && p.at[i].count && (p.at[i].scale >= row || p.at[i].scale <= -row)) continue;
        if (poly_divides(stride, &p.at[i], &q)) out = poly_add(a->arena, out, poly_term(a->arena, q));
    }
    return out;
}

/* The part of an offset that is known not to be negative. */
static Poly natural_part(Analysis *a, Poly offset) { return terms_that(a, offset, poly_is_natural); }

/* The constant of the index, and those of its terms by which the bound moves too. */
static Poly shared_part(Analysis *a, Poly index, Poly bound) {
    Poly out = poly_int(a->arena, poly_constant(index));
    for (int i = 0; i < bound.count; i++)
        for (int j = 0; j < index.count; j++) {
            Poly term = poly_term(a->arena, index.at[j]);
            if (index.at[j].count && poly_equal(term, poly_term(a->arena, bound.at[i])))
                out = poly_add(a->arena, out, term);
        }
    return out;
}

static int64_t next_stride(const Plan *plan, Poly stride) {
    int64_t own, other, next = INT64_MAX;
    if (!poly_const(stride, &own)) return next;
    for (int i = 0; i < plan->dim_count; i++)
        if (poly_const(plan->dim[i].stride, &other) && other > own && other < next) next = other;
    return next;
}

static void place_dim(Analysis *a, Plan *plan, PlanDim *dim, const Conditions *conditions, Poly *rest) {
    Poly offset = quotient(a, *rest, dim->stride, next_stride(plan, dim->stride));
    const Condition *lower = NULL, *upper = NULL;
    for (int i = 0; i < conditions->count; i++) {
        const Condition *c = &conditions->at[i];
        if (c->axis < 0 || c->axis != dim->axis || c->other) continue;
        if (c->upper && !upper) upper = c;
        if (!c->upper && !lower && poly_fits_i62(a, c->limit)) lower = c;
        plan->keeps_mask |= !c->upper && lower != c;
    }
    if (lower) {
        offset = poly_sub(a->arena, (Poly){0}, lower->limit);
        dim->starts_at_zero = true;
    } else if (upper) {
        offset = shared_part(a, offset, poly_sub(a->arena, (Poly){0}, variant_part(a, upper->limit)));
    }
    if (!dim->starts_at_zero) offset = natural_part(a, offset);
    dim->offset = offset;
    for (int i = 0; i < conditions->count; i++) {
        const Condition *c = &conditions->at[i];
        if (c->axis < 0 || c->axis != dim->axis || c->other || !c->upper || dim->limit_count == MAX_LIMITS) continue;
        Poly limit = poly_add(a->arena, c->limit, offset);
        if (poly_fits_i64(a, limit))
            dim->limit[dim->limit_count++] = limit;
        else
            plan->keeps_mask = true;
    }
    *rest = poly_sub(a->arena, *rest, poly_mul(a->arena, dim->stride, offset));
}

/* Which dimension divides first: the more the stride says, the earlier. */
static int64_t stride_rank(Poly stride) {
    int64_t number;
    if (poly_const(stride, &number)) return number < 0 ? -number : number;
    return ((int64_t)1 << 40) + (stride.count ? stride.at[0].count : 0);
}

static void place_dims(Analysis *a, Plan *plan, const Conditions *conditions, Poly *rest) {
    bool placed[MAX_RANK] = {false};
    for (int n = 0; n < plan->dim_count; n++) {
        int next = -1;
        for (int i = 0; i < plan->dim_count; i++) {
            if (placed[i]) continue;
            if (next < 0 || stride_rank(plan->dim[i].stride) > stride_rank(plan->dim[next].stride)) next = i;
        }
        placed[next] = true;
        const PlanDim *dim = &plan->dim[next];
        if (!dim->wraps && !dim->gave_way && !dim->indexed) place_dim(a, plan, &plan->dim[next], conditions, rest);
    }
}

/* --- what is left of start --- */

/* A dimension in which the box has one place: offset * stride. */
static bool add_place(Analysis *a, Plan *plan, const Term *t) {
    Term stride = {.scale = t->scale}, offset = {.scale = 1};
    for (int i = 0; i < t->count; i++) {
        Term *to = affine_is_variant(a, t->factor[i]) ? &offset : &stride;
        to->factor[to->count++] = t->factor[i];
    }
    bool unit = stride.count == 0 && (stride.scale == 1 || stride.scale == -1);
    Poly place = poly_term(a->arena, offset), by = poly_term(a->arena, stride);
    if (unit || !poly_is_natural(a, place)) return false;
    for (int i = 0; i < plan->dim_count; i++) {
        PlanDim *dim = &plan->dim[i];
        if (dim->axis >= 0 || !poly_equal(dim->stride, by)) continue;
        dim->offset = poly_add(a->arena, dim->offset, place);
        return true;
    }
    if (plan->dim_count >= 5) return false; /* what a descriptor can hold */
    for (int i = plan->dim_count++; i > 0; i--) plan->dim[i] = plan->dim[i - 1];
    plan->dim[0] = (PlanDim){.axis = -1, .stride = by, .offset = place};
    return true;
}

/* Places come in the order of their strides among the parameters, outermost first as they are written. */
static void sort_places(Plan *plan) {
    for (int i = 0; i < plan->dim_count; i++)
        for (int j = i + 1; j < plan->dim_count && plan->dim[j].axis < 0; j++) {
            Poly x = plan->dim[i].stride, y = plan->dim[j].stride;
            Ref fx = x.count && x.at[0].count ? x.at[0].factor[0] : 0;
            Ref fy = y.count && y.at[0].count ? y.at[0].factor[0] : 0;
            bool swap = fx && fy ? fy < fx : !fx && !fy && stride_rank(y) > stride_rank(x);
            if (!swap) continue;
            PlanDim keep = plan->dim[i];
            plan->dim[i] = plan->dim[j];
            plan->dim[j] = keep;
        }
}

static void place_rest(Analysis *a, Plan *plan, Poly rest) {
    for (int i = 0; i < rest.count; i++) {
        Poly term = poly_term(a->arena, rest.at[i]);
        if (poly_is_variant(a, term) && add_place(a, plan, &rest.at[i])) continue;
        plan->shift = poly_add(a->arena, plan->shift, term);
    }
    sort_places(plan);
}

/* A condition on no axis, such as row < rows, can bound a dimension in which the box has one place. */
static bool bound_place(Analysis *a, Plan *plan, Poly positive) {
    for (int i = 0; i < plan->dim_count; i++) {
        PlanDim *dim = &plan->dim[i];
        Poly limit = poly_add(a->arena, positive, dim->offset);
        if (dim->axis >= 0 || !poly_fits_i64(a, limit) || poly_is_variant(a, limit) || dim->limit_count == MAX_LIMITS)
            continue;
        dim->limit[dim->limit_count++] = limit;
        return true;
    }
    return false;
}

/* Such as row >= 1 - pad: the dimension begins where that is true, and what the index is less there moves the base. */
static bool start_place(Analysis *a, Plan *plan, Poly positive) {
    Poly index = poly_sub(a->arena, positive, poly_int(a->arena, 1));
    for (int i = 0; i < plan->dim_count; i++) {
        PlanDim *dim = &plan->dim[i];
        Poly by = poly_sub(a->arena, index, dim->offset), limit[MAX_LIMITS];
        int64_t number;
        if (dim->axis >= 0 || dim->starts_at_zero || !poly_is_variant(a, dim->offset) || !poly_const(by, &number) ||
            number != (int32_t)number || !poly_fits_i62(a, index))
            continue;
        bool fits = true;
        for (int j = 0; fits && j < dim->limit_count; j++) {
            limit[j] = poly_add(a->arena, dim->limit[j], by);
            fits = poly_fits_i64(a, limit[j]);
        }
        if (!fits) continue;
        for (int j = 0; j < dim->limit_count; j++) dim->limit[j] = limit[j];
        dim->offset = index;
        dim->starts_at_zero = true;
        plan->shift = poly_sub(a->arena, plan->shift, poly_mul(a->arena, dim->stride, by));
        return true;
    }
    return false;
}

/* --- the whole --- */

static bool refuse(Plan *plan, WhyId why) {
    plan->good = false;
    plan->why = why;
    plan->where = plan->op->range;
    return false;
}

/* What it is made of says why. */
static void blame(Plan *plan, const Affine *opaque) {
    plan->why = opaque->why;
    plan->what = opaque->what;
    if (opaque->where.end) plan->where = opaque->where;
}

/* An axis that turns, as a box that wraps around or may be clipped; or why that cannot be. */
static WhyId plan_turn(Analysis *a, const Plan *plan, PlanDim *dim, const Axis *x) {
    if (!poly_is_zero(x->step)) return WHY_ADVANCES_AND_WRAPS;
    bool natural = poly_is_natural(a, x->first);
    if (!natural && x->turn != TURN_MOD) return WHY_NEGATIVE;
    dim->stride = x->scale;
    dim->offset = x->first;
    dim->limit[dim->limit_count++] = x->modulus;
    dim->clamps = x->turn == TURN_CLAMP;
    bool load = plan->op->code == OP_LOAD;
    dim->gave_way = natural && load && access_is_unseen(a, plan->op->results[0], dim->axis, x->first, x->modulus);
    if (dim->gave_way) return WHY_NONE;
    if (dim->clamps) return WHY_CLAMPED;
    if (!load) return WHY_WRAPPED_STORE;
    dim->wraps = true;
    if (!x->sound) return WHY_OVERFLOW;
    return poly_is_positive(a, x->modulus) ? WHY_NONE : WHY_MODULUS;
}

/* The axis as an index vector that comes in runs; false: it does not. */
static bool plan_as_runs(Analysis *a, const Plan *plan, PlanDim *dim, const Axis *x) {
    if (x->turn && !x->turned.value) return false;
    PlanDim out = {.axis = dim->axis};
    access_plan_index(a, &out, x);
    access_plan_runs(a, plan, &out, false);
    if (out.run > 1) *dim = out;
    return out.run > 1;
}

/* A vector along the only axis is a gather as it stands, unless it comes in runs: there is no row to be had in one
 * piece. What wraps around inside of rows is moved in runs where an argument makes them whole. */
static bool plan_axis(Analysis *a, Plan *plan, const Affine *f, int axis, bool alone, bool index) {
    const Axis *x = &f->axis[axis];
    PlanDim *dim = &plan->dim[plan->dim_count++];
    *dim = (PlanDim){.axis = axis, .stride = x->step};
    WhyId why = x->turn && !x->part_count ? plan_turn(a, plan, dim, x) : WHY_NONE;
    if (!why && dim->wraps && !index && a->aligns && plan_as_runs(a, plan, dim, x)) return true;
    if (!why && !x->part_count && !index) return true;
    if (alone && plan_as_runs(a, plan, dim, x)) return true;
    bool room = !x->turn || x->turned.value;
    if (room && !alone) {
        *dim = (PlanDim){.axis = axis};
        access_plan_index(a, dim, x);
        return true;
    }
    refuse(plan, why ? why : WHY_WRAPS_TWO_WAYS);
    if (x->part_count) blame(plan, x->part[0].opaque);
    return false;
}

/* Each condition as a bound of its dimension, among those of an index vector, or, of no axis, as a gate;
 * else the mask stays. */
static void place_conditions(Analysis *a, Plan *plan, const Conditions *conditions) {
    PlanDim *dims[MAX_RANK] = {0}, gate = {.axis = -1, .gate = true};
    for (int i = 0; i < plan->dim_count; i++)
        if (plan->dim[i].axis >= 0) dims[plan->dim[i].axis] = &plan->dim[i];
    for (int i = 0; i < conditions->count; i++) {
        const Condition *c = &conditions->at[i];
        PlanDim *dim = c->place >= 0 ? dims[c->place] : NULL;
        const PlanDim *own = c->axis >= 0 ? dims[c->axis] : NULL;
        if (c->axis < 0 && !c->other && (bound_place(a, plan, c->limit) || start_place(a, plan, c->limit))) continue;
        if (own && !own->indexed && !c->other) continue; /* an extent says it */
        if (dim && dim->indexed)
            dim->condition[dim->condition_count++] = c->value;
        else if (c->place == -1 && a->separates && plan->dim[plan->dim_count - 1].axis >= 0)
            gate.condition[gate.condition_count++] = c->value;
        else
            plan->keeps_mask = true;
    }
    if (!gate.condition_count || plan->keeps_mask) return;
    if (plan->dim_count == MAX_RANK) {
        plan->keeps_mask = true;
        return;
    }
    for (int i = plan->dim_count++; i > 0; i--) plan->dim[i] = plan->dim[i - 1];
    plan->dim[0] = gate;
}

/* The mask that stays says all of them. */
static void drop_conditions(Plan *plan) {
    int count = 0;
    for (int i = 0; i < plan->dim_count; i++) {
        plan->dim[i].condition_count = 0;
        if (!plan->dim[i].gate) plan->dim[count++] = plan->dim[i];
    }
    plan->dim_count = count;
}

/* `rows`: axes whose indices are to be vectors, for the sake of the mask. */
static void plan_with(Analysis *a, Plan *plan, const Conditions *conditions, unsigned rows) {
    const Affine *f = affine_of(a, plan->pointer);
    const Type *type = ir_type(a->k, plan->pointer);
    plan->good = true;
    plan->base = f->base;
    plan->wide = f->wide;
    int longer = 0;
    for (int d = 0; d < type->rank; d++) longer += type->extent[d] > 1;
    for (int d = 0; d < type->rank; d++)
        if (type->extent[d] > 1 && !plan_axis(a, plan, f, d, longer == 1, rows >> d & 1)) return;
    for (int i = 0; i < plan->dim_count; i++)
        plan->wide |= plan->dim[i].indexed; /* a part of a sum may not fit alone */
    if (plan->dim_count == 0)               /* one element */
        plan->dim[plan->dim_count++] = (PlanDim){.axis = -1, .stride = poly_int(a->arena, 1)};
    Poly rest = f->start;
    place_dims(a, plan, conditions, &rest);
    place_rest(a, plan, rest);
    plan->keeps_mask |= conditions->opaque;
    place_conditions(a, plan, conditions);
    for (int i = 0; i < plan->dim_count; i++) {
        PlanDim *dim = &plan->dim[i];
        bool bad = dim->stride.bad || dim->offset.bad || plan->shift.bad;
        for (int j = 0; j < dim->limit_count; j++) bad = bad || dim->limit[j].bad;
        int uppers = 0, lowers = 0;
        for (int j = 0; j < conditions->count; j++) {
            const Condition *c = &conditions->at[j];
            if (c->other || c->axis != dim->axis || dim->axis < 0 || dim->indexed) continue;
            uppers += c->upper;
            lowers += !c->upper;
        }
        if (dim->wraps || dim->gave_way || uppers > MAX_LIMITS || lowers > 1) plan->keeps_mask |= uppers + lowers > 0;
        if (bad) refuse(plan, WHY_TOO_LARGE);
        for (int j = 0; !bad && j < dim->limit_count; j++) poly_is_natural(a, dim->limit[j]);
    }
    if (plan->keeps_mask) drop_conditions(plan);
}

/* Axes with conditions that are no bounds, beside one that is contiguous: a mask of every element would
 * keep that one from being read in one piece, a vector of rows does not. */
static unsigned masked_rows(Analysis *a, const Plan *plan, const Conditions *conditions) {
    int unit = -1;
    int64_t number;
    unsigned rows = 0, rigid = 0;
    for (int i = 0; i < plan->dim_count; i++) {
        const PlanDim *dim = &plan->dim[i];
        if (dim->axis < 0) continue;
        if (!dim->indexed && poly_const(dim->stride, &number) && number == 1) unit = dim->axis;
        if (dim->wraps || dim->gave_way) rigid |= 1u << dim->axis;
    }
    if (!a->separates || unit < 0 || conditions->opaque) return 0;
    for (int i = 0; i < conditions->count; i++) {
        const Condition *c = &conditions->at[i];
        if (c->other && c->axis >= 0) rows |= 1u << c->axis;
    }
    return rows & (rigid | 1u << unit) ? 0 : rows;
}

void access_plan(Analysis *a, Plan *plan) {
    const Affine *f = affine_of(a, plan->pointer);
    if (!f->known) {
        refuse(plan, f->why);
        plan->what = f->what;
        if (f->where.end) plan->where = f->where;
        return;
    }
    if (!f->base || ir_type(a->k, f->base)->rank) {
        refuse(plan, WHY_NO_BASE);
        return;
    }
    Conditions conditions;
    access_conditions(a, plan->mask, ir_type(a->k, plan->pointer)->rank, &conditions);
    Plan by_rows = *plan;
    plan_with(a, plan, &conditions, 0);
    unsigned rows = plan->good && plan->keeps_mask ? masked_rows(a, plan, &conditions) : 0;
    if (rows) plan_with(a, &by_rows, &conditions, rows);
    if (rows && by_rows.good && !by_rows.keeps_mask) *plan = by_rows;
    access_find_runs(a, plan, false);
    /* The only axis, and its mask takes the runs apart. */
    int axes = 0;
    const PlanDim *broken = NULL;
    for (int i = 0; plan->good && i < plan->dim_count; i++) {
        axes += plan->dim[i].axis >= 0;
        if (plan->dim[i].indexed && plan->dim[i].run <= 1) broken = &plan->dim[i];
    }
    if (axes == 1 && broken) {
        refuse(plan, WHY_NOT_AFFINE);
        if (broken->part_count) blame(plan, broken->part[0].opaque);
    }
}
