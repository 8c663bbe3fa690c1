/* affine.c: see affine.h. Forms are made on demand and kept by reference. */
#include "pass/affine.h"

#include <string.h>

/* --- making forms --- */

static Affine *new_form(Analysis *a, int rank) {
    Affine *f = ARENA_NEW(a->arena, Affine);
    f->known = true;
    f->rank = rank;
    f->axis = ARENA_ARRAY(a->arena, Axis, rank);
    return f;
}

static const Affine *unknown(Analysis *a, const Op *op, const char *why) {
    Affine *f = ARENA_NEW(a->arena, Affine);
    f->why = why;
    if (op) f->where = op->range;
    return f;
}

static bool is_bad(const Affine *f) {
    bool bad = f->start.bad;
    for (int d = 0; d < f->rank; d++) bad = bad || f->axis[d].step.bad || f->axis[d].scale.bad;
    return bad;
}

/* A form that stands for the value itself: a scalar is an unknown of the polynomials, a pointer a
 * base. */
static const Affine *atom(Analysis *a, Ref value, const Op *op, const char *why) {
    const Type *type = ir_type(a->k, value);
    if (type->kind != TY_TILE || type->rank > 0) return unknown(a, op, why);
    Affine *f = new_form(a, 0);
    if (type->pointer)
        f->base = value;
    else
        f->start = poly_ref(a->arena, value);
    return f;
}

static bool is_uniform(const Affine *f) {
    for (int d = 0; d < f->rank; d++)
        if (f->axis[d].wraps || !poly_is_zero(f->axis[d].step)) return false;
    return true;
}

/* Both on one axis; false when they wrap differently. */
static bool add_axis(Analysis *a, Axis *out, const Axis *x, const Axis *y, int64_t sign) {
    *out = *x;
    out->step =
        sign > 0 ? poly_add(a->arena, x->step, y->step) : poly_sub(a->arena, x->step, y->step);
    if (!y->wraps) return true;
    if (!x->wraps) {
        *out = *y;
        out->step =
            sign > 0 ? poly_add(a->arena, x->step, y->step) : poly_sub(a->arena, x->step, y->step);
        out->scale = poly_scale(a->arena, y->scale, sign);
        return true;
    }
    if (!poly_equal(x->first, y->first) || !poly_equal(x->modulus, y->modulus) ||
        x->floor != y->floor)
        return false;
    out->scale = poly_add(a->arena, x->scale, poly_scale(a->arena, y->scale, sign));
    return true;
}

static const Affine *add_forms(Analysis *a, const Op *op, const Affine *x, const Affine *y,
                               int64_t sign) {
    if (!x->known) return x;
    if (!y->known) return y;
    if (y->base && (x->base || sign < 0)) return unknown(a, op, "it combines two pointers");
    Affine *f = new_form(a, x->rank > y->rank ? x->rank : y->rank);
    static const Axis still = {0};
    f->base = x->base ? x->base : y->base;
    f->start =
        sign > 0 ? poly_add(a->arena, x->start, y->start) : poly_sub(a->arena, x->start, y->start);
    for (int d = 0; d < f->rank; d++)
        if (!add_axis(a, &f->axis[d], x->rank ? &x->axis[d] : &still,
                      y->rank ? &y->axis[d] : &still, sign))
            return unknown(a, op, "its indices wrap around in two ways");
    return is_bad(f) ? unknown(a, op, "the arithmetic is too large to follow") : f;
}

static const Affine *scale_form(Analysis *a, const Op *op, const Affine *x, Poly by) {
    Affine *f = new_form(a, x->rank);
    f->start = poly_mul(a->arena, x->start, by);
    for (int d = 0; d < x->rank; d++) {
        f->axis[d] = x->axis[d];
        f->axis[d].step = poly_mul(a->arena, x->axis[d].step, by);
        f->axis[d].scale = poly_mul(a->arena, x->axis[d].scale, by);
    }
    return is_bad(f) ? unknown(a, op, "the arithmetic is too large to follow") : f;
}

static const Affine *mul_forms(Analysis *a, const Op *op, const Affine *x, const Affine *y) {
    if (!x->known) return x;
    if (!y->known) return y;
    if (!is_uniform(x) && !is_uniform(y))
        return unknown(a, op, "two tiles of indices are multiplied");
    const Affine *tile = is_uniform(y) ? x : y, *factor = is_uniform(y) ? y : x;
    if (tile->rank < factor->rank) { /* both uniform: the shape is the larger one's */
        const Affine *swap = tile;
        tile = factor;
        factor = swap;
    }
    return scale_form(a, op, tile, factor->start);
}

/* Wrap-around of one moving axis: (first + i) rem modulus. */
static const Affine *wrap_form(Analysis *a, const Op *op, const Affine *x, const Affine *y) {
    if (!x->known) return x;
    if (!y->known) return y;
    int moving = -1, count = 0;
    for (int d = 0; d < x->rank; d++) {
        if (x->axis[d].wraps) return unknown(a, op, "its indices wrap around twice");
        if (poly_is_zero(x->axis[d].step)) continue;
        moving = d;
        count++;
    }
    int64_t step;
    if (!is_uniform(y) || count != 1 || !poly_const(x->axis[moving].step, &step) || step != 1)
        return unknown(a, op, "a remainder of indices that do not advance one by one");
    Affine *f = new_form(a, x->rank);
    f->axis[moving] = (Axis){.wraps = true,
                             .floor = op->code == OP_MOD,
                             .scale = poly_int(a->arena, 1),
                             .first = x->start,
                             .modulus = y->start};
    return f;
}

/* The axes of x, placed by from[]: axis d of the result is axis from[d] of x, or still when
 * negative. */
static const Affine *place_axes(Analysis *a, const Affine *x, int rank, const int *from) {
    if (!x->known) return x;
    Affine *f = new_form(a, rank);
    f->base = x->base;
    f->start = x->start;
    for (int d = 0; d < rank; d++)
        if (from[d] >= 0 && from[d] < x->rank) f->axis[d] = x->axis[from[d]];
    return f;
}

/* A reshape that only adds or drops extents of 1. */
static const Affine *reshape_form(Analysis *a, const Op *op, const Affine *x) {
    const Type *old = ir_type(a->k, op->operands[0]), *new = ir_type(a->k, op->results[0]);
    int from[MAX_RANK], at = 0;
    for (int d = 0; d < new->rank; d++) {
        while (at < old->rank && old->extent[at] == 1 && new->extent[d] != 1) at++;
        bool same = at < old->rank && old->extent[at] == new->extent[d];
        if (!same && new->extent[d] != 1) return unknown(a, op, "a reshape regroups its indices");
        from[d] = same ? at++ : -1;
    }
    return place_axes(a, x, new->rank, from);
}

static const Affine *shape_form(Analysis *a, const Op *op) {
    const Affine *x = affine_of(a, op->operands[0]);
    const Type *type = ir_type(a->k, op->results[0]);
    int from[MAX_RANK];
    int axis = (int)op_int(op, AT_AXIS, 0);
    for (int d = 0; d < type->rank; d++) {
        switch (op->code) {
        case OP_EXPAND: from[d] = d == axis ? -1 : d < axis ? d : d - 1; break;
        case OP_PERMUTE: from[d] = (int)op_attr(op, AT_DIMS)->list.at[d]; break;
        case OP_SPLAT: from[d] = -1; break;
        default: from[d] = d; break;
        }
    }
    return op->code == OP_RESHAPE ? reshape_form(a, op, x) : place_axes(a, x, type->rank, from);
}

/* --- carried values --- */

static bool in_region(const Region *region, const Region *outer) {
    for (; region; region = region->owner ? region->owner->parent : NULL)
        if (region == outer) return true;
    return false;
}

static bool is_made_inside(const Analysis *a, Ref r, const Region *body) {
    if (!ref_is_value(r)) return false;
    const Value *value = ir_value(a->k, r);
    return in_region(value->region ? value->region : value->op->parent, body);
}

static bool is_poly_invariant(const Analysis *a, Poly p, const Region *body) {
    for (int i = 0; i < p.count; i++)
        for (int j = 0; j < p.at[i].count; j++)
            if (is_made_inside(a, p.at[i].factor[j], body)) return false;
    return !p.bad;
}

/* What is added to `arg` on the way to `value`; false when that is not how value is made. */
static bool find_advance(Analysis *a, Ref value, Ref arg, const Affine **sum) {
    if (value == arg) return true;
    const Op *op = ref_is_value(value) ? ir_value(a->k, value)->op : NULL;
    if (!op || (op->code != OP_ADD && op->code != OP_SUB && op->code != OP_PTR_ADD)) return false;
    int along = find_advance(a, op->operands[0], arg, sum) ? 0 : -1;
    if (along < 0 && op->code == OP_ADD && find_advance(a, op->operands[1], arg, sum)) along = 1;
    if (along < 0) return false;
    const Affine *by = affine_of(a, op->operands[1 - along]);
    *sum = *sum                 ? add_forms(a, op, *sum, by, op->code == OP_SUB ? -1 : 1)
           : op->code == OP_SUB ? scale_form(a, op, by, poly_int(a->arena, -1))
                                : by;
    return (*sum)->known;
}

static const Affine *carried_form(Analysis *a, Ref arg, const Op *loop, int index) {
    static const char why[] = "a loop changes the pointers in a way that has no closed form";
    const Affine *self = atom(a, arg, loop, why);
    a->memo.at[arg] = self; /* while its own step is looked at */
    const Region *body = loop->regions[0];
    const Affine *first = affine_of(a, loop->operands[3 + index]), *by = NULL;
    if (!first->known || !find_advance(a, body->last->operands[index], arg, &by) || !by)
        return self;
    bool invariant = is_poly_invariant(a, by->start, body);
    for (int d = 0; d < by->rank; d++)
        invariant = invariant && !by->axis[d].wraps && is_poly_invariant(a, by->axis[d].step, body);
    int64_t step;
    if (!invariant || by->base || !ir_const_int(a->k, loop->operands[2], &step)) return self;
    const Affine *lo = affine_of(a, loop->operands[0]);
    Poly trip = poly_sub(a->arena, poly_ref(a->arena, body->args[0]), lo->start);
    Affine *per = new_form(a, by->rank); /* what a unit of the loop variable adds */
    if (!poly_over(a->arena, by->start, step, &per->start)) return self;
    for (int d = 0; d < by->rank; d++)
        if (!poly_over(a->arena, by->axis[d].step, step, &per->axis[d].step)) return self;
    const Affine *closed = add_forms(a, loop, first, scale_form(a, loop, per, trip), 1);
    return closed->known ? closed : self;
}

/* --- forms by op --- */

static bool is_address_int(const Type *type) {
    return type->kind == TY_TILE && !type->pointer && elem_is_int(type->elem) &&
           elem_info[type->elem].bits >= 32;
}

static const Affine *op_form(Analysis *a, Ref value, const Op *op) {
    const Type *type = ir_type(a->k, value);
    const Affine *x = op->operand_count && op->operands[0] ? affine_of(a, op->operands[0]) : NULL;
    const Affine *y = op->operand_count > 1 && op->operands[1] ? affine_of(a, op->operands[1])
                                                               : NULL; /* a load's mask */
    bool scalar = type->rank == 0;
    int64_t shift;
    switch (op->code) {
    case OP_IOTA: {
        Affine *f = new_form(a, 1);
        f->start = poly_int(a->arena, op_int(op, AT_BEGIN, 0));
        f->axis[0].step = poly_int(a->arena, 1);
        return f;
    }
    case OP_ADD:
    case OP_PTR_ADD: return add_forms(a, op, x, y, 1);
    case OP_SUB: return add_forms(a, op, x, y, -1);
    case OP_MUL: return mul_forms(a, op, x, y);
    case OP_NEG: return x->known ? scale_form(a, op, x, poly_int(a->arena, -1)) : x;
    case OP_SHL:
        if (!ir_const_int(a->k, op->operands[1], &shift) || shift < 0 || shift > 31 || !x->known)
            break;
        return scale_form(a, op, x, poly_int(a->arena, (int64_t)1 << shift));
    case OP_CAST:
        if (is_address_int(ir_type(a->k, op->operands[0]))) return x;
        break;
    case OP_SPLAT:
    case OP_EXPAND:
    case OP_BROADCAST:
    case OP_PERMUTE:
    case OP_RESHAPE: return shape_form(a, op);
    case OP_REM:
    case OP_MOD:
        if (!scalar) return wrap_form(a, op, x, y);
        break;
    case OP_LOAD:
    case OP_TLOAD:
    case OP_GATHER: return atom(a, value, op, "the index is read from memory");
    default: break;
    }
    return atom(a, value, op,
                arena_printf(a->arena, "`%s` is not affine in the tile's indices",
                             op_info[op->code].mnemonic));
}

static const Affine *make_form(Analysis *a, Ref r) {
    const Type *type = ir_type(a->k, r);
    if (type->kind != TY_TILE || (!type->pointer && !is_address_int(type)))
        return type->rank ? unknown(a, NULL, "it is not made of 32- or 64-bit integers")
                          : atom(a, r, NULL, "");
    if (ref_is_literal(r)) {
        Affine *f = new_form(a, 0);
        f->start = poly_int(a->arena, ir_literal(a->k, r)->i);
        return f;
    }
    for (size_t i = 0; i < a->ones.count; i++)
        if (a->ones.at[i] == r) {
            Affine *f = new_form(a, 0);
            f->start = poly_int(a->arena, 1);
            return f;
        }
    const Value value = *ir_value(a->k, r);
    if (!value.op) {
        const Op *owner = value.region->owner;
        if (owner && owner->code == OP_FOR && value.index > 0)
            return carried_form(a, r, owner, value.index - 1);
        return atom(a, r, owner, "it comes from outside of the region");
    }
    const Affine *f = op_form(a, r, value.op);
    /* A scalar that cannot be taken apart still is a number. */
    return !f->known && type->rank == 0 ? atom(a, r, value.op, f->why) : f;
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
    else if (value.op->code == OP_PROGRAM_ID || !op_has(value.op->code, TRAIT_PURE) ||
             value.op->region_count)
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
        const Wish *w = &a->wishes.at[i];
        if (w->kind == kind && w->number == number && w->value == value) return;
    }
    *VEC_PUSH(&a->wishes, a->arena) = (Wish){kind, number, value};
}

static bool is_natural(Analysis *a, Ref r) {
    int64_t number;
    if (ir_const_int(a->k, r, &number)) return number >= 0;
    if (!ref_is_value(r)) return false;
    const Value value = *ir_value(a->k, r);
    if (elem_info[value.type->elem].cls == CLASS_UINT) return true;
    if (!value.op) {
        const Op *owner = value.region->owner;
        if (!owner && !a->generic && is_address_int(value.type)) {
            affine_wish(a, AT_LEAST, 0, r);
            return true;
        }
        if (owner && owner->code == OP_TASKS) return true;
        return owner && owner->code == OP_FOR && value.index == 0 &&
               is_natural(a, owner->operands[0]);
    }
    if (!a->generic && a->grid.order != ORDER_CODE && (r == a->grid.m || r == a->grid.n)) {
        a->grid_wished = true;
        return true;
    }
    const Op *op = value.op;
    Ref x = op->operand_count ? op->operands[0] : REF_NONE,
        y = op->operand_count > 1 ? op->operands[1] : REF_NONE;
    switch (op->code) {
    case OP_PROGRAM_ID:
    case OP_NUM_PROGRAMS:
    case OP_EXTENT: return true;
    case OP_ADD:
    case OP_MUL:
    case OP_DIV:
    case OP_FLOORDIV:
    case OP_CDIV:
    case OP_MIN:
    case OP_MOD: return is_natural(a, x) && is_natural(a, y);
    case OP_MAX:
    case OP_AND: return is_natural(a, x) || is_natural(a, y);
    case OP_REM:
    case OP_SHR: return is_natural(a, x);
    case OP_CAST: return is_natural(a, x);
    case OP_SELECT: return is_natural(a, y) && is_natural(a, op->operands[2]);
    default: return false;
    }
}

bool poly_is_natural(Analysis *a, Poly p) {
    size_t mark = a->wishes.count;
    for (int i = 0; i < p.count; i++) {
        bool good = p.at[i].scale > 0;
        for (int j = 0; good && j < p.at[i].count; j++) good = is_natural(a, p.at[i].factor[j]);
        if (good) continue;
        a->wishes.count = mark;
        return false;
    }
    return !p.bad;
}

/* --- places --- */

static void number_region(Analysis *a, const Region *region, int *next) {
    for (int i = 0; i < region->arg_count; i++) a->order[region->args[i]] = *next;
    for (const Op *op = region->first; op; op = op->next) {
        ++*next;
        for (int i = 0; i < op->region_count; i++) number_region(a, op->regions[i], next);
        for (int i = 0; i < op->result_count; i++) a->order[op->results[i]] = *next;
    }
}

bool affine_dominates(const Analysis *a, Ref value, const Op *at, int at_order) {
    if (!ref_is_value(value)) return true;
    if (value >= a->order_count || a->order[value] >= at_order) return false;
    const Value *v = ir_value(a->k, value);
    return in_region(at->parent, v->region ? v->region : v->op->parent);
}

void affine_init(Analysis *a, Kernel *k, Arena *arena, bool generic) {
    *a = (Analysis){.k = k, .arena = arena, .generic = generic, .grid = grid_order_find(k)};
    a->order_count = k->values.count;
    a->order = ARENA_ARRAY(arena, int, k->values.count);
    int next = 1;
    number_region(a, k->body, &next);
}

void affine_forget(Analysis *a) {
    a->memo.count = 0;
}
