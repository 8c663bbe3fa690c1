/* SPDX-License-Identifier: Apache-2.0 */
/* affine.c: see affine.h. Forms are made on demand and kept by reference; here are sums, products,
 * shapes and conversions, and what is known of the polynomials in them. */
#include "analysis/affine.h"
#include "analysis/facts.h"

enum { MOST_NUMBERS = 256 };

/* --- making forms --- */

Affine *affine_new(Analysis *a, int rank) {
    Affine *f = ARENA_NEW(a->arena, Affine);
    f->known = true;
    f->rank = rank;
    f->axis = ARENA_ARRAY(a->arena, Axis, rank);
    return f;
}

const Affine *affine_unknown(Analysis *a, const Op *op, WhyId why) {
    Affine *f = ARENA_NEW(a->arena, Affine);
    f->why = why;
    f->what = op ? op_info[op->code].mnemonic : "";
    if (op) f->where = op->range;
    return f;
}

static bool is_bad(const Affine *f) {
    bool bad = f->start.bad;
    for (int d = 0; d < f->rank; d++) {
        bad = bad || f->axis[d].step.bad || f->axis[d].scale.bad;
        for (int i = 0; i < f->axis[d].part_count; i++) bad = bad || f->axis[d].part[i].scale.bad;
    }
    return bad;
}

/* A form that stands for the value itself: a scalar is an unknown of the polynomials, a pointer a base. */
const Affine *affine_atom(Analysis *a, Ref value, const Op *op, WhyId why) {
    const Type *type = ir_type(a->k, value);
    if (type->kind != TY_TILE || type->rank > 0) return affine_unknown(a, op, why);
    Affine *f = affine_new(a, 0);
    if (type->pointer)
        f->base = value;
    else
        f->start = poly_ref(a->arena, value);
    return f;
}

bool affine_is_uniform(const Affine *f) {
    for (int d = 0; d < f->rank; d++)
        if (f->axis[d].turn || f->axis[d].part_count || !poly_is_zero(f->axis[d].step)) return false;
    return true;
}

/* Both on one axis; false when they turn differently, or have too many parts. */
static bool add_axis(Analysis *a, Axis *out, const Axis *x, const Axis *y, int64_t sign) {
    *out = x->turn ? *x : *y;
    out->step = poly_add(a->arena, x->step, poly_scale(a->arena, y->step, sign));
    if (x->part_count || y->part_count || (a->separates && x->turn && y->turn))
        return affine_add_parts(a, out, x, y, sign);
    if (!y->turn) return true;
    if (!x->turn) {
        out->scale = poly_scale(a->arena, y->scale, sign);
        return true;
    }
    if (!poly_equal(x->first, y->first) || !poly_equal(x->modulus, y->modulus) || x->turn != y->turn) return false;
    out->scale = poly_add(a->arena, x->scale, poly_scale(a->arena, y->scale, sign));
    return true;
}

const Affine *affine_add(Analysis *a, const Op *op, const Affine *x, const Affine *y, int64_t sign) {
    if (!x->known) return x;
    if (!y->known) return y;
    if (y->base && (x->base || sign < 0)) return affine_unknown(a, op, WHY_TWO_POINTERS);
    Affine *f = affine_new(a, x->rank > y->rank ? x->rank : y->rank);
    static const Axis still = {0};
    f->base = x->base ? x->base : y->base;
    /* Two offsets that a pointer is moved by, one after the other, meet in 64 bits. */
    f->wide = x->wide || y->wide || (f->base && !poly_is_zero(x->start) && !poly_is_zero(y->start));
    f->start = poly_add(a->arena, x->start, poly_scale(a->arena, y->start, sign));
    for (int d = 0; d < f->rank; d++)
        if (!add_axis(a, &f->axis[d], x->rank ? &x->axis[d] : &still, y->rank ? &y->axis[d] : &still, sign))
            return affine_unknown(a, op, WHY_WRAPS_TWO_WAYS);
    return is_bad(f) ? affine_unknown(a, op, WHY_TOO_LARGE) : f;
}

const Affine *affine_scale(Analysis *a, const Op *op, const Affine *x, Poly by) {
    Affine *f = affine_new(a, x->rank);
    f->wide = x->wide;
    f->start = poly_mul(a->arena, x->start, by);
    for (int d = 0; d < x->rank; d++) {
        f->axis[d] = x->axis[d];
        f->axis[d].step = poly_mul(a->arena, x->axis[d].step, by);
        f->axis[d].scale = poly_mul(a->arena, x->axis[d].scale, by);
        affine_scale_parts(a, &f->axis[d], by);
    }
    return is_bad(f) ? affine_unknown(a, op, WHY_TOO_LARGE) : f;
}

static const Affine *mul_forms(Analysis *a, const Op *op, const Affine *x, const Affine *y) {
    if (!x->known) return x;
    if (!y->known) return y;
    if (!affine_is_uniform(x) && !affine_is_uniform(y)) return affine_unknown(a, op, WHY_PRODUCT);
    const Affine *tile = affine_is_uniform(y) ? x : y, *factor = affine_is_uniform(y) ? y : x;
    if (tile->rank < factor->rank) { /* both uniform: the shape is the larger one's */
        const Affine *swap = tile;
        tile = factor;
        factor = swap;
    }
    return affine_scale(a, op, tile, factor->start);
}

/* --- shapes --- */

/* The axes of x, placed by from[]: axis d of the result is axis from[d] of x, or still when negative. */
static const Affine *place_axes(Analysis *a, const Affine *x, int rank, const int *from) {
    if (!x->known) return x;
    Affine *f = affine_new(a, rank);
    f->base = x->base;
    f->wide = x->wide;
    f->start = x->start;
    for (int d = 0; d < rank; d++)
        if (from[d] >= 0 && from[d] < x->rank) f->axis[d] = x->axis[from[d]];
    return f;
}

/* Axes [from, to) of x as one long axis: the step of the last, if the others go on where it ends. */
static bool join_axes(Analysis *a, const Affine *x, const Type *old, int from, int to, Axis *out) {
    *out = (Axis){0};
    int64_t length = 1;
    for (int d = to - 1; d >= from; d--) {
        const Axis *axis = &x->axis[d];
        if (old->extent[d] == 1) continue;
        if (length == 1)
            *out = *axis;
        else if (axis->turn || out->turn || axis->part_count || out->part_count ||
                 !poly_equal(axis->step, poly_scale(a->arena, out->step, length)))
            return false;
        length *= old->extent[d];
    }
    return true;
}

/* A reshape cuts both shapes into runs of equal length; each old run must be one long axis, and is cut again. */
static const Affine *reshape_form(Analysis *a, const Op *op, const Affine *x) {
    const Type *old = ir_type(a->k, op->operands[0]), *new = ir_type(a->k, op->results[0]);
    if (!x->known) return x;
    Affine *f = affine_new(a, new->rank);
    f->base = x->base;
    f->wide = x->wide;
    f->start = x->start;
    for (int i = 0, j = 0; i < old->rank || j < new->rank;) {
        int from = i, to = j;
        int64_t size = i < old->rank ? old->extent[i++] : 1, made = j < new->rank ? new->extent[j++] : 1;
        while (size != made) {
            if (size < made)
                size *= old->extent[i++];
            else
                made *= new->extent[j++];
        }
        Axis axis;
        int parts = 0;
        for (int d = to; d < j; d++) parts += new->extent[d] > 1;
        if (!join_axes(a, x, old, from, i, &axis) || ((axis.turn || axis.part_count) && parts > 1))
            return affine_unknown(a, op, WHY_RESHAPE);
        int64_t length = 1;
        for (int d = j - 1; d >= to; length *= new->extent[d--]) {
            if (new->extent[d] == 1) continue;
            f->axis[d] = axis;
            f->axis[d].step = poly_scale(a->arena, axis.step, length);
        }
    }
    return is_bad(f) ? affine_unknown(a, op, WHY_TOO_LARGE) : f;
}

/* One element that turns, spread over an axis: no sum of steps says that. */
static bool spreads_turn(const Analysis *a, const Op *broadcast, const Affine *x) {
    const Type *old = ir_type(a->k, broadcast->operands[0]);
    for (int d = 0; x->known && d < x->rank; d++)
        if (x->axis[d].turn && old->extent[d] == 1) return true;
    return false;
}

static const Affine *shape_form(Analysis *a, const Op *op) {
    const Affine *x = affine_of(a, op->operands[0]);
    const Type *type = ir_type(a->k, op->results[0]);
    if (op->code == OP_BROADCAST && spreads_turn(a, op, x)) return affine_unknown(a, op, WHY_RESHAPE);
    int from[MAX_RANK];
    int axis = (int)op_int(op, AT_AXIS, 0);
    for (int d = 0; d < type->rank; d++) {
        switch (op->code) {
        case OP_EXPAND: from[d] = d == axis ? -1 : d < axis ? d : d - 1; break;
        case OP_PERMUTE: from[d] = (int)op_attr(op, AT_DIMS)->list.at[d]; break;
        case OP_SPLAT: from[d] = -1; break;
        case OP_BROADCAST: from[d] = ir_type(a->k, op->operands[0])->extent[d] == 1 ? -1 : d; break;
        default: from[d] = d; break;
        }
    }
    return op->code == OP_RESHAPE ? reshape_form(a, op, x) : place_axes(a, x, type->rank, from);
}

/* --- forms by op --- */

static bool is_address_int(const Type *type) {
    return type->kind == TY_TILE && !type->pointer && elem_is_int(type->elem) && elem_info[type->elem].bits >= 32;
}

static bool launch_knows(const Kernel *k, Ref r) {
    const Op *op = ref_is_value(r) ? ir_value(k, r)->op : NULL;
    return fact_at_launch(k, r) || (op && op->code == OP_NUM_PROGRAMS && op->parent == k->body);
}

/* Can the launch be asked whether it fits in 32 bits? */
static bool is_askable(const Analysis *a, Poly p) {
    bool good = !a->generic && poly_fits_i64(a, p);
    for (int i = 0; good && i < p.count; i++)
        for (int j = 0; good && j < p.at[i].count; j++) good = launch_knows(a->k, p.at[i].factor[j]);
    return good;
}

/* Signed 32-bit numbers that are the same for the whole launch: that they are those of the exact
 * numbers is believed only where the launch can be asked (access_wish.c). */
static bool is_believable(Analysis *a, const Affine *f, const Type *type) {
    Poly corners[AFFINE_CORNERS];
    int count = a->asks ? affine_corners(a, f, type, corners) : 0;
    if (count < 0) return false;
    for (int i = 0; i < count; i++)
        if (!poly_fits_i32(a, corners[i]) && !is_askable(a, corners[i])) return false;
    return true;
}

/* Sums of 64-bit numbers are addresses modulo 2^64 whatever their sign; unsigned 32-bit ones only
 * as long as nothing in them is meant to be negative. */
static const Affine *exact(Analysis *a, Ref value, const Op *op, const Affine *f) {
    const ElemInfo *info = &elem_info[ir_type(a->k, value)->elem];
    if (!f->known || ir_type(a->k, value)->pointer || info->bits == 64) return f;
    bool good =
        info->cls == CLASS_UINT ? affine_holds(a, f, ir_type(a->k, value)) : is_believable(a, f, ir_type(a->k, value));
    return good ? f : affine_atom(a, value, op, info->cls == CLASS_UINT ? WHY_UNSIGNED : WHY_WRAPS);
}

static const Affine *cast_form(Analysis *a, Ref value, const Op *op, const Affine *x) {
    const Type *old = ir_type(a->k, op->operands[0]);
    if (!x->known) return x;
    if (!is_address_int(old)) return affine_atom(a, value, op, WHY_SMALL_INT);
    const ElemInfo *from = &elem_info[old->elem], *to = &elem_info[ir_type(a->k, value)->elem];
    bool kept = to->bits > from->bits || (to->bits == from->bits && to->bits == 64) ||
                (to->bits == from->bits && to->cls == from->cls);
    if (!kept && to->bits == from->bits && to->cls == CLASS_UINT) {
        kept = poly_is_natural(a, x->start);
        for (int d = 0; kept && d < x->rank; d++)
            kept = !x->axis[d].turn && !x->axis[d].part_count && poly_is_natural(a, x->axis[d].step);
    }
    if (!kept) return affine_atom(a, value, op, WHY_NARROW);
    Affine *f = affine_new(a, x->rank);
    *f = *x;
    f->wide |= to->bits == 64;
    return f;
}

static const Affine *op_form(Analysis *a, Ref value, const Op *op) {
    const Type *type = ir_type(a->k, value);
    const Affine *x = op->operand_count && op->operands[0] ? affine_of(a, op->operands[0]) : NULL;
    const Affine *y =
        op->operand_count > 1 && op->operands[1] ? affine_of(a, op->operands[1]) : NULL; /* a load's mask */
    bool scalar = type->rank == 0;
    int64_t shift;
    switch (op->code) {
    case OP_IOTA: {
        Affine *f = affine_new(a, 1);
        f->start = poly_int(a->arena, op_int(op, AT_BEGIN, 0));
        f->axis[0].step = poly_int(a->arena, type->extent[0] > 1);
        return f;
    }
    case OP_ADD:
    case OP_PTR_ADD: return exact(a, value, op, affine_add(a, op, x, y, 1));
    case OP_SUB: return exact(a, value, op, affine_add(a, op, x, y, -1));
    case OP_MUL: return exact(a, value, op, mul_forms(a, op, x, y));
    case OP_NEG: return exact(a, value, op, x->known ? affine_scale(a, op, x, poly_int(a->arena, -1)) : x);
    case OP_SHL:
        if (!ir_const_int(a->k, op->operands[1], &shift) || shift < 0 || shift > 30 || !x->known) break;
        return exact(a, value, op, affine_scale(a, op, x, poly_int(a->arena, (int64_t)1 << shift)));
    case OP_CAST: return cast_form(a, value, op, x);
    case OP_SPLAT:
    case OP_EXPAND:
    case OP_BROADCAST:
    case OP_PERMUTE:
    case OP_RESHAPE: return shape_form(a, op);
    case OP_REM:
    case OP_MOD:
    case OP_DIV:
    case OP_FLOORDIV:
    case OP_MIN:
    case OP_SELECT:
        if (!scalar && !type->pointer) return affine_turn(a, value, op);
        break;
    case OP_LOAD:
    case OP_TLOAD:
    case OP_GATHER: return affine_atom(a, value, op, WHY_MEMORY);
    case OP_FOR: return scalar && !type->pointer ? affine_result(a, value, op) : affine_atom(a, value, op, WHY_LOOP);
    case OP_WHILE:
    case OP_IF: return affine_atom(a, value, op, WHY_REGION);
    default: break;
    }
    return affine_atom(a, value, op, WHY_NOT_AFFINE);
}

/* A number that an earlier op made the same way, from equal numbers, is that number. (64-bit ones
 * must be the very same: equal sums may have been cut to 32 bits on the way, or not.) */
static Ref same_number(Analysis *a, Ref value, const Op *op) {
    if (!op_has(op->code, TRAIT_PURE) || op->region_count || op->attr_count || !op->operand_count ||
        op->operand_count > 2 || value >= a->order_count)
        return value;
    for (int i = 0; i < op->operand_count; i++)
        if (!op->operands[i] || !ty_is_scalar(ir_type(a->k, op->operands[i])) ||
            !is_address_int(ir_type(a->k, op->operands[i])))
            return value;
    for (size_t n = 0; n < a->numbers.count; n++) {
        const Op *other = ir_value(a->k, a->numbers.at[n])->op;
        if (other->code != op->code || a->order[a->numbers.at[n]] >= a->order[value] ||
            ir_type(a->k, a->numbers.at[n]) != ir_type(a->k, value) || !affine_in_region(op->parent, other->parent))
            continue;
        bool same = true;
        for (int i = 0; same && i < op->operand_count; i++)
            same = op->operands[i] == other->operands[i] ||
                   (elem_info[ir_type(a->k, op->operands[i])->elem].bits == 32 &&
                    ir_type(a->k, op->operands[i]) == ir_type(a->k, other->operands[i]) &&
                    poly_equal(affine_of(a, op->operands[i])->start, affine_of(a, other->operands[i])->start));
        if (same) return a->numbers.at[n];
    }
    if (a->numbers.count < MOST_NUMBERS) *VEC_PUSH(&a->numbers, a->arena) = value;
    return value;
}

static const Affine *number_form(Analysis *a, int64_t number) {
    Affine *f = affine_new(a, 0);
    f->start = poly_int(a->arena, number);
    return f;
}

/* What is no integer of an address: numbers of 8 bits that were read say that they were. */
static const Affine *small_form(Analysis *a, Ref r, const Type *type) {
    const Op *op = ref_is_value(r) ? ir_value(a->k, r)->op : NULL;
    bool read = op && (op->code == OP_LOAD || op->code == OP_TLOAD || op->code == OP_GATHER);
    if (type->rank || ref_is_literal(r)) return affine_unknown(a, read ? op : NULL, read ? WHY_MEMORY : WHY_SMALL_INT);
    return affine_atom(a, r, NULL, WHY_SMALL_INT);
}

static const Affine *make_form(Analysis *a, Ref r) {
    const Type *type = ir_type(a->k, r);
    bool number = ref_is_literal(r) && !type->pointer && !elem_is_float(type->elem) && elem_info[type->elem].bits < 64;
    if (number) return number_form(a, ir_literal(a->k, r)->i); /* of any width: a literal is no unknown */
    if (type->kind != TY_TILE || (!type->pointer && !is_address_int(type)))
        return small_form(a, r, type);
    if (ref_is_literal(r)) return number_form(a, ir_literal(a->k, r)->i);
    for (size_t i = 0; i < a->ones.count; i++)
        if (a->ones.at[i] == r) return number_form(a, 1);
    const Value value = *ir_value(a->k, r);
    if (!value.op) {
        const Op *owner = value.region->owner;
        if (owner && owner->code == OP_FOR && value.index > 0) {
            const Affine *carried = affine_carried(a, r, owner, value.index - 1);
            return carried->known ? carried : affine_vector(a, r, carried);
        }
        const Affine *self = affine_atom(a, r, owner, owner && owner->code == OP_WHILE ? WHY_LOOP : WHY_REGION);
        return self->known ? self : affine_vector(a, r, self);
    }
    const Affine *f = op_form(a, r, value.op);
    /* A scalar that cannot be taken apart still is a number. */
    if (!f->known && type->rank == 0) f = affine_atom(a, r, value.op, f->why);
    /* A tile that moves along one axis still is a vector. */
    if (type->rank && !type->pointer) f = f->known ? affine_join(a, r, value.op, f) : affine_vector(a, r, f);
    bool itself = type->rank == 0 && !type->pointer && f->start.count == 1 && f->start.at[0].count == 1 &&
                  f->start.at[0].factor[0] == r;
    Ref same = itself ? same_number(a, r, value.op) : r;
    return same == r ? f : affine_of(a, same);
}

const Affine *affine_of(Analysis *a, Ref value) {
    if (ref_is_literal(value)) return make_form(a, value);
    while (a->memo.count < a->k->values.count) *VEC_PUSH(&a->memo, a->arena) = NULL;
    if (!a->memo.at[value]) {
        const Affine *f = make_form(a, value);
        a->memo.at[value] = f;
    }
    return a->memo.at[value];
}

/* --- facts --- */

bool affine_is_variant(Analysis *a, Ref r) {
    if (!ref_is_value(r)) return false;
    while (a->variant.count < a->k->values.count) *VEC_PUSH(&a->variant, a->arena) = 0;
    if (a->variant.at[r]) return a->variant.at[r] == 2;
    const Value value = *ir_value(a->k, r);
    bool variant;
    if (!value.op)
        variant = value.region->owner != NULL;
    else if (value.op->code == OP_PROGRAM_ID || !op_has(value.op->code, TRAIT_PURE) || value.op->region_count)
        variant = true;
    else {
        variant = false;
        for (int i = 0; i < value.op->operand_count; i++)
            variant = variant || affine_is_variant(a, value.op->operands[i]);
    }
    a->variant.at[r] = variant ? 2 : 1;
    return variant;
}

bool poly_is_variant(Analysis *a, Poly p) {
    for (int i = 0; i < p.count; i++)
        for (int j = 0; j < p.at[i].count; j++)
            if (affine_is_variant(a, p.at[i].factor[j])) return true;
    return p.bad;
}

void affine_wish(Analysis *a, AttrId kind, int64_t number, Ref value) {
    for (size_t i = 0; i < a->wishes.count; i++) {
        Wish *w = &a->wishes.at[i];
        if (w->kind != kind || w->value != value) continue;
        if (w->number == number) return;
        if (kind == AT_LEAST) { /* the stronger one holds both */
            if (number > w->number) w->number = number;
            return;
        }
    }
    *VEC_PUSH(&a->wishes, a->arena) = (Wish){kind, number, value};
}

static bool is_parameter(const Analysis *a, Ref r) {
    const Value *value = ir_value(a->k, r);
    return !value->op && !value->region->owner && is_address_int(value->type);
}

/* What no op says, the launcher can be asked to test. */
static bool wish_natural(void *user, Ref r) {
    Analysis *a = user;
    if (a->generic) return false;
    if (is_parameter(a, r)) {
        affine_wish(a, AT_LEAST, 0, r);
        return true;
    }
    if (a->any_grid || a->grid.order == ORDER_CODE || (r != a->grid.m && r != a->grid.n)) return false;
    return a->grid_wished = true;
}

bool poly_is_natural(Analysis *a, Poly p) {
    size_t mark = a->wishes.count;
    for (int i = 0; i < p.count; i++) {
        bool good = p.at[i].scale > 0;
        for (int j = 0; good && j < p.at[i].count; j++) good = fact_natural(a->k, p.at[i].factor[j], wish_natural, a);
        if (good) continue;
        a->wishes.count = mark;
        return false;
    }
    return !p.bad;
}

bool poly_is_positive(Analysis *a, Poly p) {
    if (poly_constant(p) >= 1) return poly_is_natural(a, p);
    if (p.bad || p.count != 1 || p.at[0].scale < 1 || p.at[0].count != 1) return false;
    Ref r = p.at[0].factor[0];
    if (fact_stated_least(a->k, r) >= 1) return true;
    if (a->generic || !is_parameter(a, r)) return false;
    affine_wish(a, AT_LEAST, 1, r);
    return true;
}
