/* SPDX-License-Identifier: Apache-2.0 */
/* affine_size.c: how large can it be?
 *
 * Bounds of polynomials, from the types of their factors, literals, loop bounds and places in the
 * grid. They decide what may be computed in 32 bits, and whether a remainder, a quotient or an
 * unsigned sum is that of the exact numbers:
 *
 *     64 * k, k < cdiv(K, 64)     below K
 *     64 * pid                    a place in the grid times an extent: taken to fit
 *     2 * b, b a parameter        may overflow, and then b * 2 rem 5 is not that of the number 2b */
#include "analysis/affine.h"
#include "analysis/facts.h"

typedef __int128 Wide;
typedef struct Interval {
    Wide least, most;
} Interval;

static Interval multiply(Interval x, Interval y) {
    Wide p[4] = {x.least * y.least, x.least * y.most, x.most * y.least, x.most * y.most};
    Interval out = {p[0], p[0]};
    for (int i = 1; i < 4; i++) {
        if (p[i] < out.least) out.least = p[i];
        if (p[i] > out.most) out.most = p[i];
    }
    return out;
}

static Interval range_of(Elem elem) {
    const ElemInfo *info = &elem_info[elem];
    if (info->cls == CLASS_INT) return (Interval){-((Wide)1 << (info->bits - 1)), ((Wide)1 << (info->bits - 1)) - 1};
    return (Interval){0, ((Wide)1 << info->bits) - 1};
}

static const Op *variable_of(const Analysis *a, Ref r) {
    const Value *value = ir_value(a->k, r);
    const Op *owner = value->op ? NULL : value->region->owner;
    return owner && owner->code == OP_FOR && value->index == 0 ? owner : NULL;
}

static Interval interval_of(const Analysis *a, Ref r) {
    const Value *value = ir_value(a->k, r);
    Interval all = range_of(value->type->elem);
    const Op *op = value->op, *loop = variable_of(a, r);
    int64_t lo, hi, step, by;
    if (op && (op->code == OP_REM || op->code == OP_MOD) && ir_const_int(a->k, op->operands[1], &by) && by > 0 &&
        by < INT64_MAX) {
        all.most = by - 1;
        all.least = op->code == OP_MOD ? 0 : 1 - (Wide)by;
    }
    if (loop && ir_const_int(a->k, loop->operands[0], &lo) && ir_const_int(a->k, loop->operands[2], &step) &&
        step > 0) {
        all.least = lo;
        if (ir_const_int(a->k, loop->operands[1], &hi)) all.most = hi > lo ? hi : lo;
    }
    if (all.least < 0 && fact_surely_natural(a->k, r)) all.least = 0;
    return all;
}

/* scale * k stays below X when k runs to cdiv(X, scale) or less, as X div scale is. */
static bool is_below_bound(const Analysis *a, const Term *t) {
    const Op *loop = t->count == 1 && t->scale > 0 ? variable_of(a, t->factor[0]) : NULL;
    int64_t lo, step, by;
    if (!loop || !ir_const_int(a->k, loop->operands[0], &lo) || lo < 0 ||
        !ir_const_int(a->k, loop->operands[2], &step) || step < 1)
        return false;
    const Op *trips = ref_is_value(loop->operands[1]) ? ir_value(a->k, loop->operands[1])->op : NULL;
    bool share = trips && (trips->code == OP_CDIV || trips->code == OP_DIV || trips->code == OP_FLOORDIV);
    return share && ir_const_int(a->k, trips->operands[1], &by) && by >= t->scale &&
           ir_type(a->k, trips->operands[0])->elem == EL_I32;
}

/* A place in the grid, or a part of one, times an extent. */
static bool is_place(const Analysis *a, const Term *t) {
    if (t->count != 1 || t->scale < 0 || t->scale > MAX_TILE_ELEMENTS) return false;
    Ref r = t->factor[0];
    for (int depth = 0; depth < 8; depth++) {
        if (!ref_is_value(r)) return false;
        const Op *op = ir_value(a->k, r)->op;
        if (a->grid.order != ORDER_CODE && (r == a->grid.m || r == a->grid.n)) return true;
        if (!op) return false;
        switch (op->code) {
        case OP_PROGRAM_ID: return true;
        case OP_DIV:
        case OP_FLOORDIV:
        case OP_REM:
        case OP_MIN:
        case OP_CAST: r = op->operands[0]; break;
        default: return false;
        }
    }
    return false;
}

/* False: out of all bounds. */
static bool bound_poly(const Analysis *a, Poly p, bool places, Interval *out) {
    const Wide limit = (Wide)1 << 63;
    bool place = false;
    *out = (Interval){0, 0};
    for (int i = 0; i < p.count; i++) {
        Interval term = {p.at[i].scale, p.at[i].scale};
        if (is_below_bound(a, &p.at[i]))
            term = (Interval){0, INT32_MAX - 1};
        else if (places && is_place(a, &p.at[i])) {
            place = true;
            continue;
        } else
            for (int j = 0; j < p.at[i].count; j++) {
                if (term.most > limit || term.least < -limit) return false;
                term = multiply(term, interval_of(a, p.at[i].factor[j]));
            }
        out->least += term.least;
        out->most += term.most;
        if (out->most > 2 * limit || out->least < -2 * limit) return false;
    }
    /* All places together name one: they leave room for the extents of a tile. */
    if (place) out->most += INT32_MAX - MAX_TILE_ELEMENTS;
    return !p.bad;
}

static bool fits(const Analysis *a, Poly p, bool places, int bits) {
    const Wide end = (Wide)1 << (bits - 1);
    Interval sum;
    return bound_poly(a, p, places, &sum) && sum.least >= -end && sum.most < end;
}

bool poly_fits_i32(const Analysis *a, Poly p) { return fits(a, p, false, 32); }

bool poly_is_place(const Analysis *a, Poly p) { return fits(a, p, true, 32); }

bool poly_fits_i62(const Analysis *a, Poly p) { return fits(a, p, false, 62); }

bool poly_fits_i64(const Analysis *a, Poly p) { return fits(a, p, false, 64); }

bool poly_is_surely_natural(const Analysis *a, Poly p) {
    Interval sum;
    return bound_poly(a, p, false, &sum) && sum.least >= 0;
}

/* --- index vectors --- */

static Interval type_range(const Kernel *k, Ref r) { return range_of(ir_type(k, r)->elem); }

static Interval join(Interval x, Interval y) {
    return (Interval){x.least < y.least ? x.least : y.least, x.most > y.most ? x.most : y.most};
}

/* Of a tile of integers, from the numbers and iotas that it is made of: at most what its type holds. */
static Interval range_at(const Kernel *k, Ref r, int depth) {
    int64_t number;
    Interval all = type_range(k, r);
    if (ir_const_int(k, r, &number)) return (Interval){number, number};
    const Op *op = ref_is_value(r) ? ir_value(k, r)->op : NULL;
    if (!op || depth == 0) return all;
    Ref a = op->operand_count ? op->operands[0] : REF_NONE, b = op->operand_count > 1 ? op->operands[1] : REF_NONE;
    bool numbers = a && !ir_type(k, a)->pointer && elem_is_int(ir_type(k, a)->elem);
    if (op->code == OP_IOTA)
        return (Interval){op_int(op, AT_BEGIN, 0), op_int(op, AT_BEGIN, 0) + ir_type(k, r)->extent[0] - 1};
    if (op->code == OP_SELECT) return join(range_at(k, b, depth - 1), range_at(k, op->operands[2], depth - 1));
    if (!numbers) return all;
    Interval x = range_at(k, a, depth - 1), y = b && op->code != OP_SELECT ? range_at(k, b, depth - 1) : x, out = all;
    bool by = y.least == y.most && y.least > 0; /* a positive number */
    switch (op->code) {
    case OP_SPLAT:
    case OP_EXPAND:
    case OP_BROADCAST:
    case OP_PERMUTE:
    case OP_RESHAPE:
    case OP_CAST: out = x; break;
    case OP_ADD: out = (Interval){x.least + y.least, x.most + y.most}; break;
    case OP_SUB: out = (Interval){x.least - y.most, x.most - y.least}; break;
    case OP_MUL:
        if (x.least >= INT32_MIN && x.most <= INT32_MAX && y.least >= INT32_MIN && y.most <= INT32_MAX)
            out = multiply(x, y);
        break;
    case OP_DIV:
        if (by) out = (Interval){x.least / y.least, x.most / y.least};
        break;
    case OP_FLOORDIV:
        if (by && x.least >= 0) out = (Interval){x.least / y.least, x.most / y.least};
        break;
    case OP_REM:
    case OP_MOD:
        if (by) out = (Interval){op->code == OP_MOD || x.least >= 0 ? 0 : 1 - y.least, y.least - 1};
        break;
    case OP_AND:
        if (y.least >= 0) out = (Interval){0, y.most};
        break;
    case OP_MIN: out = (Interval){x.least < y.least ? x.least : y.least, x.most < y.most ? x.most : y.most}; break;
    case OP_MAX: out = (Interval){x.least > y.least ? x.least : y.least, x.most > y.most ? x.most : y.most}; break;
    default: break;
    }
    return out.least < all.least || out.most > all.most ? all : out;
}

bool affine_range(const Analysis *a, Ref value, int64_t *least, int64_t *most) {
    Interval range = range_at(a->k, value, 8);
    if (range.least <= INT32_MIN || range.most >= INT32_MAX) return false;
    *least = (int64_t)range.least;
    *most = (int64_t)range.most;
    return true;
}

/* --- corners --- */

static bool differs(Analysis *a, const Affine *f) {
    bool differs = f->base || f->start.bad || poly_is_variant(a, f->start);
    for (int d = 0; d < f->rank; d++) {
        const Axis *axis = &f->axis[d];
        differs = differs || axis->turn || poly_is_variant(a, axis->step);
        for (int i = 0; i < axis->part_count; i++)
            differs = differs || affine_is_variant(a, axis->part[i].value) || poly_is_variant(a, axis->part[i].scale);
    }
    return differs;
}

/* Each corner once with the term at its least, once at its most. */
static bool add_corners(Analysis *a, Poly corners[AFFINE_CORNERS], int *count, Poly step, int64_t least, int64_t most) {
    if (2 * *count > AFFINE_CORNERS) return false;
    for (int i = 0; i < *count; i++) {
        corners[*count + i] = poly_add(a->arena, corners[i], poly_scale(a->arena, step, most));
        if (least) corners[i] = poly_add(a->arena, corners[i], poly_scale(a->arena, step, least));
    }
    *count *= 2;
    return true;
}

int affine_corners(Analysis *a, const Affine *f, const Type *type, Poly corners[AFFINE_CORNERS]) {
    int count = 1, unknown = 0;
    corners[0] = f->start;
    if (differs(a, f)) return 0;
    for (int d = 0; d < f->rank; d++) unknown -= f->axis[d].part_count > 0;
    for (int d = 0; d < f->rank; d++) {
        const Axis *axis = &f->axis[d];
        int64_t least, most;
        for (int i = 0; i < axis->part_count; i++)
            if (!affine_range(a, axis->part[i].value, &least, &most) ||
                !add_corners(a, corners, &count, axis->part[i].scale, least, most))
                return -1;
        if (poly_is_zero(axis->step) || type->extent[d] == 1) continue;
        if (!add_corners(a, corners, &count, axis->step, 0, type->extent[d] - 1)) return unknown ? -1 : 0;
    }
    return count;
}

bool affine_holds(const Analysis *a, const Affine *f, const Type *type) {
    Interval sum, range = range_of(type->elem);
    if (!bound_poly(a, f->start, true, &sum)) return false;
    for (int d = 0; d < f->rank; d++) {
        int64_t step;
        if (f->axis[d].turn || f->axis[d].part_count || !poly_const(f->axis[d].step, &step)) return false;
        Wide last = (Wide)step * (type->extent[d] - 1);
        if (last < 0)
            sum.least += last;
        else
            sum.most += last;
    }
    return sum.least >= range.least && sum.most <= range.most;
}
