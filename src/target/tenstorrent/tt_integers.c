/* SPDX-License-Identifier: Apache-2.0 */
/* tt_integers.c: whole numbers that compute works out of data, as f32.
 *
 * Tiles of integers that follow from indices and memory are made by the reader (tt_index.c). What depends on what compute has
 * computed (the place of a maximum, a count of those above it) must be compute's own, and its units calculate in floats. Where all
 * numbers on the way are known to be within 2^24, f32 holds them exactly, and so do sums, differences, products, choices, minima and
 * maxima of them:
 *
 *     %p = select %is_max, %places, 64 : i32[8,64]            %p = select %is_max, (cast %places : f32[8,64]), 64.0
 *     %first = reduce<min, axis=1> %p : i32[8]          ->    %first = reduce<min, axis=1> %p : f32[8]
 *     put %o.first, %first                                    put %o.first, %first          the writer makes integers of them
 *
 * Numbers that may be larger are refused. */
#include "ir/build.h"
#include "target/tenstorrent/tt_emit.h"

enum { EXACT = 1 << 24, EXACT_TERM = 256 /* of a sum, whose operands lose what bf16 does not hold */ };

typedef struct Whole { /* of one value */
    Ref twin;          /* f32 */
    int64_t low, high;
    const char *why; /* there is none; NULL */
} Whole;

typedef struct Integers {
    Tt *tt;
    Map known; /* value -> Whole */
    Op *first; /* of compute */
} Integers;

static const Type *type_of(const Integers *x, Ref ref) { return ir_type(x->tt->k, ref); }
static Whole none(const char *why) { return (Whole){.why = why}; }
static bool is_whole(Elem elem) { return !elem_is_float(elem); }

static bool elem_range(Elem elem, int64_t *low, int64_t *high) {
    int bits = elem_info[elem].bits;
    if (bits > 16) return false;
    *low = elem_is_signed(elem) && elem != EL_I1 ? -((int64_t)1 << (bits - 1)) : 0;
    *high = *low + ((int64_t)1 << bits) - 1;
    return true;
}

/* Does the type hold it, and f32? */
static bool fits(Elem elem, int64_t low, int64_t high) {
    int64_t least, most;
    if (low < -EXACT || high > EXACT || (!elem_is_signed(elem) && low < 0)) return false;
    return !elem_range(elem, &least, &most) || (low >= least && high <= most);
}

static Whole whole_of(Integers *x, Ref value);

static void widen(int64_t value, Whole *w) {
    if (value < w->low) w->low = value;
    if (value > w->high) w->high = value;
}

/* Of the operands' ranges; false: no such op. */
static bool range_of(const Op *op, const Whole *in, Whole *out) {
    const Whole *a = &in[0], *b = &in[1];
    switch (op->code) {
    case OP_ADD: out->low = a->low + b->low, out->high = a->high + b->high; return true;
    case OP_SUB: out->low = a->low - b->high, out->high = a->high - b->low; return true;
    case OP_NEG: out->low = -a->high, out->high = -a->low; return true;
    case OP_MUL:
        out->low = out->high = a->low * b->low;
        widen(a->low * b->high, out), widen(a->high * b->low, out), widen(a->high * b->high, out);
        return true;
    case OP_MIN: out->low = a->low < b->low ? a->low : b->low, out->high = a->high < b->high ? a->high : b->high; return true;
    case OP_MAX: out->low = a->low > b->low ? a->low : b->low, out->high = a->high > b->high ? a->high : b->high; return true;
    case OP_ABS:
        out->low = a->low > 0 ? a->low : a->high < 0 ? -a->high : 0;
        out->high = -a->low > a->high ? -a->low : a->high;
        return true;
    case OP_SELECT: *out = in[1], widen(in[2].low, out), widen(in[2].high, out); return true;
    case OP_SPLAT:
    case OP_EXPAND:
    case OP_RESHAPE:
    case OP_BROADCAST:
    case OP_REPEAT:
    case OP_PERMUTE:
    case OP_CAST: out->low = a->low, out->high = a->high; return true;
    default: return false;
    }
}

/* What the reader makes of indices: only its range is asked for. */
static bool index_range(Integers *x, Ref value, Whole *out) {
    const Kernel *k = x->tt->k;
    Whole in[3] = {{0}};
    int64_t number;
    if (ir_const_int(k, value, &number)) {
        out->low = out->high = number;
        return true;
    }
    const Op *op = ref_is_value(value) ? ir_value(k, value)->op : NULL;
    if (!op) return elem_range(type_of(x, value)->elem, &out->low, &out->high);
    if (op->code == OP_IOTA) {
        out->low = op_int(op, AT_BEGIN, 0), out->high = out->low + type_of(x, value)->extent[0] - 1;
        return true;
    }
    bool all = op->operand_count <= 3;
    for (int i = 0; i < op->operand_count && all; i++) {
        bool is_condition = op->code == OP_SELECT && i == 0;
        all = is_condition || index_range(x, op->operands[i], &in[i]);
    }
    if (all && range_of(op, in, out) && fits(type_of(x, value)->elem, out->low, out->high)) return true;
    return elem_range(type_of(x, value)->elem, &out->low, &out->high);
}

static Whole of_index(Integers *x, Ref value) {
    Tt *tt = x->tt;
    Whole w = {0};
    if (!index_range(x, value, &w) || !fits(type_of(x, value)->elem, w.low, w.high))
        return none("made of numbers that are not known to be within 2^24");
    if (!ref_is_value(value)) {
        Builder b = ir_builder_before(tt->k, x->first);
        w.twin = ir_float(&b, EL_F32, (double)w.low);
        return w;
    }
    const Op *op = ir_value(tt->k, value)->op;
    if (!op) return none("a number that a loop carries");
    Builder b = op->parent == x->first->parent || role_around(op) ? ir_builder_behind(tt->k, (Op *)op)
                                                                 : ir_builder_before(tt->k, x->first);
    w.twin = ir_cast(&b, value, EL_F32);
    return w;
}

static Whole of_reduce(Integers *x, Builder *b, const Op *op) {
    Word kind = op_word(op, AT_COMBINE, COMBINE_ADD);
    if (op->operand_count != 1 || (kind != COMBINE_ADD && kind != COMBINE_MIN && kind != COMBINE_MAX))
        return none("a reduction other than a sum, minimum or maximum");
    Whole w = whole_of(x, op->operands[0]);
    int axis = (int)op_int(op, AT_AXIS, 0);
    int64_t n = type_of(x, op->operands[0])->extent[axis];
    if (w.why) return w;
    if (kind == COMBINE_ADD) {
        if (w.low < -EXACT_TERM || w.high > EXACT_TERM) return none("a sum of integers beyond 256");
        w.low *= n, w.high *= n;
    }
    w.twin = ir_reduce(b, kind, w.twin, axis);
    return w;
}

static Whole make_whole(Integers *x, Ref value) {
    Tt *tt = x->tt;
    Kernel *k = tt->k;
    const Type *type = type_of(x, value);
    if (type->elem == EL_I1) { /* 1.0 and 0.0 already */
        Whole w = {.low = 0, .high = 1};
        const Op *op = ref_is_value(value) ? ir_value(k, value)->op : NULL;
        Builder b = op ? ir_builder_behind(k, (Op *)op) : ir_builder_before(k, x->first);
        if (!op) return none("a condition that a loop carries");
        w.twin = ir_cast(&b, value, EL_F32);
        return w;
    }
    if (tt_is_index(tt, value)) return of_index(x, value);
    const Op *op = ref_is_value(value) ? ir_value(k, value)->op : NULL;
    if (!op) return none("a tile of integers that a loop carries");
    Builder b = ir_builder_behind(k, (Op *)op);
    Whole in[3] = {{0}}, w = {0};
    if (op->code == OP_GET || op->code == OP_DOT) { /* numbers of 8 bits lie in pages of bf16; products are f32 already */
        if (op->code == OP_GET && !elem_range(type->elem, &w.low, &w.high)) return none("loaded");
        if (op->code == OP_DOT) {
            const Type *a = type_of(x, op->operands[0]);
            w.high = a->extent[a->rank - 1] * 128 * 128 * 4, w.low = -w.high;
            if (w.high > EXACT) return none("a sum of products beyond 2^24");
        }
        w.twin = ir_cast(&b, value, EL_F32);
        return w;
    }
    if (op->code == OP_REDUCE) return of_reduce(x, &b, op);
    if (op->code == OP_CAST && elem_is_float(type_of(x, op->operands[0])->elem)) {
        if (!elem_range(type->elem, &w.low, &w.high)) return none("a float made an integer of more than 16 bits");
        Ref from = ir_cast(&b, op->operands[0], EL_F32);
        const Type *wide = type_of(x, from);
        Ref low = ir_splat(&b, ir_float(&b, EL_F32, (double)w.low), wide);
        Ref high = ir_splat(&b, ir_float(&b, EL_F32, (double)w.high), wide);
        Ref held = ir_unary(&b, OP_TRUNC, ir_binary(&b, OP_MIN, ir_binary(&b, OP_MAX, from, low), high));
        Ref zero = ir_splat(&b, ir_float(&b, EL_F32, 0), wide);
        w.twin = ir_ternary(&b, OP_SELECT, ir_compare(&b, CMP_EQ, from, from), held, zero); /* a NaN is 0 */
        return w;
    }
    if (op->result_count != 1 || op->region_count || op->operand_count > 3) return none(op_info[op->code].mnemonic);
    Ref operands[3] = {0};
    for (int i = 0; i < op->operand_count; i++) {
        bool is_condition = op->code == OP_SELECT && i == 0;
        if (!is_condition) in[i] = whole_of(x, op->operands[i]);
        if (in[i].why) return in[i];
        operands[i] = is_condition ? op->operands[i] : in[i].twin;
    }
    if (!range_of(op, in, &w))
        return none(arena_printf(tt->arena, "`%s` of integers that follow from data", op_info[op->code].mnemonic));
    if (!fits(type->elem, w.low, w.high)) return none("it may be beyond 2^24, or beyond its type");
    if (op->code == OP_CAST)
        w.twin = operands[0];
    else
        w.twin = ir_like(&b, op, operands, ty_with_elem(k->module, type, EL_F32));
    return w;
}

static Whole whole_of(Integers *x, Ref value) {
    if (!ref_is_value(value)) return make_whole(x, value);
    const MapEntry *known = map_find_number(&x->known, value);
    if (known) return *(const Whole *)known->value;
    Whole w = make_whole(x, value);
    map_put_number(&x->known, x->tt->arena, value, arena_copy(x->tt->arena, &w, sizeof w));
    return w;
}

/* Integers of data that compute has no other way for. */
static bool is_worked_out(Integers *x, Ref value) {
    const Type *type = type_of(x, value);
    if (type->kind != TY_TILE || !type->rank || !is_whole(type->elem) || type->elem == EL_I1 || type->pointer) return false;
    if (tt_is_index(x->tt, value) || !ref_is_value(value)) return false;
    const Op *op = ir_value(x->tt->k, value)->op;
    return !op || op->code != OP_GET;
}

static void refuse(Integers *x, const Op *op, const Whole *w) {
    tt_refuse(x->tt, op, "integers that are computed from data, %s; compute has them as floats, exact within 2^24"
              FIX "compute them in floats, or use target cpu", w->why);
}

static void change_region(Integers *x, Region *region) {
    Kernel *k = x->tt->k;
    for (Op *op = region->first, *next; op; op = next) {
        next = op->next;
        for (int i = 0; i < op->region_count; i++) change_region(x, op->regions[i]);
        bool is_float = op->code == OP_CAST && elem_is_float(type_of(x, op->results[0])->elem);
        bool is_asked = is_float || op->code == OP_CMP || op->code == OP_PUT, any = false;
        int from = op->code == OP_PUT ? op->operand_count - 1 : 0;
        for (int i = from; is_asked && i < op->operand_count; i++) any |= is_worked_out(x, op->operands[i]);
        if (is_float && any && tt_same_pages(x->tt, op->results[0]) != op->results[0]) any = false; /* a count, f32 already */
        Whole in[2] = {{0}};
        for (int i = from; any && i < op->operand_count; i++) {
            in[i - from] = whole_of(x, op->operands[i]);
            if (!in[i - from].why) continue;
            refuse(x, op, &in[i - from]);
            any = false;
        }
        if (!any) continue;
        Builder b = ir_builder_before(k, op);
        if (op->code == OP_PUT) {
            op->operands[from] = in[0].twin;
            continue;
        }
        Ref made = op->code == OP_CMP ? ir_compare(&b, op_word(op, AT_PRED, CMP_EQ), in[0].twin, in[1].twin)
                                      : ir_cast(&b, in[0].twin, type_of(x, op->results[0])->elem);
        ir_replace_all(k, op->results[0], made);
        ir_remove(op);
    }
}

void tt_change_integers(Tt *tt) {
    const Op *compute = tt->role[TENSIX_COMPUTE];
    Integers x = {.tt = tt};
    if (!compute) return;
    x.first = compute->regions[0]->first;
    change_region(&x, compute->regions[0]);
    tt->is_index = tt->is_narrow = (Map){0}; /* values are new */
}
