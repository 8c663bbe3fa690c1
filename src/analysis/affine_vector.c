/* SPDX-License-Identifier: Apache-2.0 */
/* affine_vector.c: parts of an axis that no sum of steps says.
 *
 *     expand<1> (load ..)            i32[128,1]: a part of axis 0, numbers from memory
 *     expand<1> (iota / 3) * %s      a part of axis 0, scale %s
 *     expand<1> %r * %s + expand<0> (iota)        axis 0 has a part, axis 1 a step
 *     page * 16 + place % 16         two parts of one axis: the sum itself is the part
 *
 * A value of which one axis moves is a vector, whatever it is made of: it is what the source computes,
 * so nothing has to be proved of it. Sums and products are taken apart only as far as it pays: a factor
 * that is the same for the launch is a stride, and a sum that moves in a loop in which the vector stays
 * moves the base. */
#include "analysis/affine.h"

enum { KNOWN_AXES = 1 << 8, DEPTH_SHIFT = 9, DEEPEST = 60 };

bool affine_is_slicewise(const Op *op) {
    return op && op_has(op->code, TRAIT_ELEMENTWISE) && op_has(op->code, TRAIT_PURE) && !op->region_count &&
           op->result_count == 1;
}

/* A reshape that adds and removes axes of one element: the place of the d-th longer axis. */
static int reshaped_from(const Type *old, const Type *new, int axis) {
    int number = 0, from = -1;
    for (int d = 0; d < axis; d++) number += new->extent[d] > 1;
    for (int d = 0; d < old->rank; d++)
        if (old->extent[d] > 1 && number-- == 0) from = d;
    return from >= 0 && old->extent[from] == new->extent[axis] ? from : -1;
}

int affine_axis_from(const Kernel *k, const Op *op, int axis) {
    int64_t at = op_int(op, AT_AXIS, 0);
    switch (op->code) {
    case OP_EXPAND: return axis == at ? -1 : axis < at ? axis : axis - 1;
    case OP_PERMUTE: return (int)op_attr(op, AT_DIMS)->list.at[axis];
    case OP_BROADCAST: return ir_type(k, op->operands[0])->extent[axis] == 1 ? -1 : axis;
    case OP_RESHAPE: return reshaped_from(ir_type(k, op->operands[0]), ir_type(k, op->results[0]), axis);
    default: return -1;
    }
}

bool affine_is_spread(const Kernel *k, const Op *op) {
    if (op->code == OP_SPLAT || op->code == OP_EXPAND || op->code == OP_BROADCAST || op->code == OP_PERMUTE)
        return true;
    if (op->code != OP_RESHAPE) return false;
    const Type *old = ir_type(k, op->operands[0]), *new = ir_type(k, op->results[0]);
    int longer = 0;
    for (int d = 0; d < old->rank; d++) longer += old->extent[d] > 1;
    for (int d = 0; d < new->rank; d++) {
        longer -= new->extent[d] > 1;
        if (new->extent[d] > 1 && reshaped_from(old, new, d) < 0) return false;
    }
    return longer == 0;
}

static unsigned long_axes(const Type *type) {
    unsigned axes = 0;
    for (int d = 0; d < type->rank && d < MAX_RANK; d++) axes |= (unsigned)(type->extent[d] > 1) << d;
    return axes;
}

static bool is_one(unsigned axes) { return axes && !(axes & (axes - 1)); }

static int axis_of(unsigned axes) {
    int d = 0;
    while (!(axes >> d & 1)) d++;
    return d;
}

static unsigned recall(Analysis *a, Ref value) {
    return ref_is_value(value) && ir_type(a->k, value)->rank ? (affine_axes(a, value), a->axes.at[value]) : 0;
}

/* How deep a chain of ops is goes along, so that who computes a slice anew does not recurse for ever. */
static unsigned find_axes(Analysis *a, Ref value) {
    const Type *type = ir_type(a->k, value);
    const Op *op = ir_value(a->k, value)->op;
    if (type->kind != TY_TILE) return 0;
    unsigned all = long_axes(type), axes = 0, depth = 0;
    if (!op || (op->code != OP_SPLAT && !(all & (all - 1)))) return all;
    if (affine_is_spread(a->k, op)) {
        unsigned old = recall(a, op->operands[0]);
        depth = old >> DEPTH_SHIFT;
        for (int d = 0; d < type->rank; d++) {
            int from = affine_axis_from(a->k, op, d);
            axes |= (from >= 0 ? old >> from & 1 : 0) << d;
        }
    } else if (affine_is_slicewise(op))
        for (int i = 0; i < op->operand_count; i++) {
            unsigned old = recall(a, op->operands[i]);
            axes |= old & (KNOWN_AXES - 1);
            if (old >> DEPTH_SHIFT > depth) depth = old >> DEPTH_SHIFT;
        }
    else
        return all;
    return depth >= DEEPEST ? all : axes | (depth + 1) << DEPTH_SHIFT;
}

unsigned affine_axes(Analysis *a, Ref value) {
    if (!ref_is_value(value)) return 0;
    while (a->axes.count < a->k->values.count) *VEC_PUSH(&a->axes, a->arena) = 0;
    if (!a->axes.at[value]) {
        unsigned axes = find_axes(a, value) | KNOWN_AXES;
        a->axes.at[value] = (unsigned short)axes;
    }
    return a->axes.at[value] & (KNOWN_AXES - 1);
}

/* --- one part --- */

/* What is made of a vector is none for the same reason. */
static const Affine *first_reason(Analysis *a, const Op *op, const Affine *why) {
    if (!op || (!affine_is_slicewise(op) && !affine_is_spread(a->k, op))) return why;
    for (int i = 0; i < op->operand_count; i++) {
        const Type *type = op->operands[i] ? ir_type(a->k, op->operands[i]) : NULL;
        const Affine *x =
            type && type->rank && !type->pointer && elem_is_int(type->elem) ? affine_of(a, op->operands[i]) : NULL;
        for (int d = 0; x && x->known && d < x->rank; d++)
            if (x->axis[d].part_count) return x->axis[d].part[0].opaque;
    }
    return why;
}

const Affine *affine_vector(Analysis *a, Ref value, const Affine *why) {
    const Type *type = ir_type(a->k, value);
    unsigned axes = a->separates && !type->pointer ? affine_axes(a, value) : 0;
    const Op *op = ir_value(a->k, value)->op;
    if (axes && !is_one(axes) && why->why == WHY_NOT_AFFINE && affine_is_slicewise(op) &&
        why->where.begin == op->range.begin)
        return affine_unknown(a, op, WHY_TWO_AXES);
    if (!is_one(axes)) return why;
    Affine *f = affine_new(a, type->rank);
    f->wide = elem_info[type->elem].bits == 64;
    Part *part = ARENA_NEW(a->arena, Part);
    *part = (Part){value, poly_int(a->arena, 1), first_reason(a, op, why)};
    for (;;) { /* the same vector, however it is spread, is one value */
        const Op *made = ir_value(a->k, part->value)->op;
        if (!made || !affine_is_spread(a->k, made) || !is_one(affine_axes(a, made->operands[0]))) break;
        part->value = made->operands[0];
    }
    f->axis[axis_of(axes)] = (Axis){.part_count = 1, .part = part};
    return f;
}

/* --- sums and products --- */

static bool add_part(Analysis *a, Part *parts, int *count, const Part *more, int64_t sign) {
    Poly scale = poly_scale(a->arena, more->scale, sign);
    for (int i = 0; i < *count; i++) {
        if (parts[i].value != more->value) continue;
        parts[i].scale = poly_add(a->arena, parts[i].scale, scale);
        if (poly_is_zero(parts[i].scale)) parts[i] = parts[--*count];
        return true;
    }
    if (*count == AXIS_PARTS) return false;
    parts[*count] = *more;
    parts[(*count)++].scale = scale;
    return true;
}

static bool add_all(Analysis *a, Part *parts, int *count, const Axis *axis, bool turn, int64_t sign) {
    bool room = true;
    for (int i = 0; room && i < axis->part_count; i++) room = add_part(a, parts, count, &axis->part[i], sign);
    if (!room || !turn || !axis->turn) return room;
    Part turned = axis->turned;
    turned.scale = axis->scale;
    return turned.value && add_part(a, parts, count, &turned, sign);
}

/* Two axes that turn the same way still are one that turns; otherwise what turns becomes a part. */
bool affine_add_parts(Analysis *a, Axis *out, const Axis *x, const Axis *y, int64_t sign) {
    Part *parts = ARENA_ARRAY(a->arena, Part, AXIS_PARTS);
    int count = 0;
    bool both = x->turn && y->turn;
    bool same = both && poly_equal(x->first, y->first) && poly_equal(x->modulus, y->modulus) && x->turn == y->turn;
    bool apart = both && !same;
    if (!add_all(a, parts, &count, x, apart, 1) || !add_all(a, parts, &count, y, apart, sign)) return false;
    if (apart) {
        Poly step = out->step;
        *out = (Axis){.step = step};
    } else if (same)
        out->scale = poly_add(a->arena, x->scale, poly_scale(a->arena, y->scale, sign));
    else if (y->turn)
        out->scale = poly_scale(a->arena, y->scale, sign);
    out->part_count = count;
    out->part = parts;
    return true;
}

void affine_scale_parts(Analysis *a, Axis *axis, Poly by) {
    if (!axis->part_count) return;
    Part *parts = ARENA_ARRAY(a->arena, Part, axis->part_count);
    int count = 0;
    for (int i = 0; i < axis->part_count; i++) {
        parts[count] = axis->part[i];
        parts[count].scale = poly_mul(a->arena, axis->part[i].scale, by);
        count += !poly_is_zero(parts[count].scale);
    }
    axis->part_count = count;
    axis->part = parts;
}

/* --- when the whole is better than its parts --- */

static bool is_made_in(const Analysis *a, Ref value, const Region *region) {
    const Value *v = ref_is_value(value) ? ir_value(a->k, value) : NULL;
    return v && (v->op ? v->op->parent : v->region) == region;
}

const Affine *affine_join(Analysis *a, Ref value, const Op *op, const Affine *f) {
    unsigned axes = a->separates && !f->base ? affine_axes(a, value) : 0;
    if (!is_one(axes)) return f;
    const Axis *axis = &f->axis[axis_of(axes)];
    const Part *first = axis->part_count ? &axis->part[0] : &axis->turned;
    bool mixed = axis->part_count > 1 || (axis->part_count && (axis->turn || !poly_is_zero(axis->step))), here = false;
    for (int i = 0; i < axis->part_count; i++) {
        mixed |= poly_is_variant(a, axis->part[i].scale);
        here |= is_made_in(a, axis->part[i].value, op->parent);
    }
    if (axis->turn) here |= is_made_in(a, axis->turned.value, op->parent);
    if (!mixed || (!here && !poly_is_invariant(a, f->start, op->parent))) return f;
    return affine_vector(a, value, first->opaque);
}
