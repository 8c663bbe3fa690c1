/* SPDX-License-Identifier: Apache-2.0 */
/* tt_moves.c: elements that change places inside a tile: running sums, sub-tiles, repeated elements.
 *
 * No unit of a core moves single elements of a tile. But a product with a matrix of zeros and ones does, and
 * exactly: each
 * element of it is one product by 1. f32 goes in three parts, of the 11 or 10 bits that products take of a source
 * register.
 *
 * Boxes of whole pages need none of this (tt_parts.c).
 *
 *     slice x, [r, c]           ones(rows - r = i) x ones(i = columns - c)
 *     insert x, [r, c], part    where inside: part, moved there the same way; else x
 *     repeat<axis> x            x ones(i = columns / times)
 *     scan<add> x               x += x moved by 1, by 2, by 4 ..; also of products, maxima and minima
 *
 * The reader writes the matrices (tt_index.c). What is made here is computed once, where it stands (tt->kept). */
#include "ir/build.h"
#include "target/tenstorrent/tt_emit.h"

#include <math.h>

typedef struct Moves {
    Tt *tt;
    Builder b; /* in front of the op */
    Map *made; /* text -> the matrix of constants: it stands in front of all, and the reader writes it once a task */
    Op *first;
} Moves;

static Ref *once(Moves *m, const char *key) {
    Ref *known = map_get(m->made, key);
    if (known) return known;
    known = ARENA_NEW(m->tt->arena, Ref);
    map_set(m->made, m->tt->arena, key, known);
    return known;
}

static const Type *shape(Moves *m, Elem elem, int64_t rows, int64_t columns) {
    return ty_with_shape(m->b.module, ty_scalar(m->b.module, elem), 2, (const int64_t[]){rows, columns});
}

/* Numbers 0 .. along an axis of [rows, columns]. */
static Ref along(Moves *m, int64_t rows, int64_t columns, int axis) {
    Ref places = ir_iota(&m->b, 0, axis ? columns : rows);
    return ir_broadcast(&m->b, ir_expand(&m->b, places, 1 - axis), shape(m, EL_I32, rows, columns));
}

static Ref plus(Moves *m, Ref places, Ref number) {
    Ref word = ir_cast(&m->b, number, EL_I32);
    return ir_binary(&m->b, OP_ADD, places, ir_splat(&m->b, word, ir_type(m->tt->k, places)));
}

static Ref keep(Moves *m, Ref value) {
    Ref pages = tt_same_pages(m->tt, value); /* that are kept */
    const Op *op = ref_is_value(pages) ? ir_value(m->tt->k, pages)->op : NULL;
    if (op && !op->region_count && op->code != OP_GET) map_put_number(&m->tt->kept, m->tt->arena, pages, m->tt);
    return value;
}

static Ref zeros(Moves *m, int64_t rows, int64_t columns) {
    return ir_splat(&m->b, ir_float(&m->b, EL_F32, 0), shape(m, EL_F32, rows, columns));
}

/* x times ones, or with axis 0 ones times x; f32[..]. */
static Ref moved(Moves *m, Ref x, Ref ones, int axis) {
    const Type *type = ir_type(m->tt->k, x), *matrix = ir_type(m->tt->k, ones);
    int64_t rows = axis ? type->extent[0] : matrix->extent[0], columns = axis ? matrix->extent[1] : type->extent[1];
    Ref sum = zeros(m, rows, columns), weights = ir_cast(&m->b, ones, type->elem);
    int parts = type->elem == EL_F32 && !tt_is_narrow(m->tt, x) ? 3 : 1;
    for (int i = 0; i < parts; i++) {
        Ref part = i + 1 < parts ? tt_high_part(&m->b, x, axis == 0) : x;
        sum = axis ? ir_dot(&m->b, part, weights, sum) : ir_dot(&m->b, weights, part, sum);
        if (i + 1 < parts) x = keep(m, ir_binary(&m->b, OP_SUB, x, part));
    }
    return sum;
}

/* Of [i, j]: is place i of the one axis, moved by `by`, place j of the other? */
static Ref ones(Moves *m, int64_t rows, int64_t columns, Ref by) {
    int64_t known;
    if (!ir_const_int(m->tt->k, by, &known))
        return ir_compare(&m->b, CMP_EQ, plus(m, along(m, rows, columns, 0), by), along(m, rows, columns, 1));
    Ref *matrix = once(m, arena_printf(m->tt->arena, "ones %lld %lld %lld", (long long)rows, (long long)columns,
                                       (long long)known));
    if (*matrix) return *matrix;
    Moves front = *m;
    front.b = ir_builder_before(m->tt->k, m->first);
    Ref place = plus(&front, along(&front, rows, columns, 0), ir_int(&front.b, EL_I32, known));
    *matrix = ir_compare(&front.b, CMP_EQ, place, along(&front, rows, columns, 1));
    map_put_number(&m->tt->task_tiles, m->tt->arena, *matrix, m->tt);
    return *matrix;
}
static Ref number(Moves *m, int64_t value) { return ir_int(&m->b, EL_I32, value); }

static bool is_zero(const Moves *m, Ref ref) {
    int64_t value;
    return ir_const_int(m->tt->k, ref, &value) && value == 0;
}

static Ref as(Moves *m, Ref x, Elem elem) { return ir_cast(&m->b, x, elem); }

static Ref negated(Moves *m, Ref offset) {
    int64_t known;
    if (ir_const_int(m->tt->k, offset, &known)) return number(m, -known);
    return ir_unary(&m->b, OP_NEG, ir_cast(&m->b, offset, EL_I32));
}

static Ref make_slice(Moves *m, const Op *op) {
    Ref x = op->operands[0];
    const Type *from = ir_type(m->tt->k, x), *to = ir_type(m->tt->k, op->results[0]);
    RefList at = op_list(op, 0);
    if (to->extent[1] != from->extent[1]) { /* ones [columns, to]: column i is j + offset */
        Ref back = negated(m, at.at[1]);
        x = as(m, moved(m, x, ones(m, from->extent[1], to->extent[1], back), 1), from->elem);
    }
    if (to->extent[0] != from->extent[0]) x = as(m, moved(m, x, ones(m, to->extent[0], from->extent[0], at.at[0]),
                                                          0), from->elem);
    return x;
}

static Ref inside_box(Moves *m, const Type *whole, const Type *part, RefList at) {
    Ref all = REF_NONE;
    for (int axis = 0; axis < 2; axis++) {
        if (whole->extent[axis] == part->extent[axis] && is_zero(m, at.at[axis])) continue;
        Ref places = along(m, whole->extent[0], whole->extent[1], axis);
        places = plus(m, places, negated(m, at.at[axis]));
        const Type *type = ir_type(m->tt->k, places);
        Ref low = ir_compare(&m->b, CMP_GE, places, ir_splat(&m->b, number(m, 0), type));
        Ref high = ir_compare(&m->b, CMP_LT, places, ir_splat(&m->b, number(m, part->extent[axis]), type));
        Ref both = ir_binary(&m->b, OP_AND, low, high);
        all = all ? ir_binary(&m->b, OP_AND, all, both) : both;
    }
    return all;
}

static Ref make_insert(Moves *m, const Op *op) {
    Ref x = op->operands[0], part = op_operand(op, 1);
    const Type *whole = ir_type(m->tt->k, x), *small = ir_type(m->tt->k, part);
    RefList at = op_list(op, 0);
    int64_t row, column;
    Ref inside, *known = NULL;
    if (ir_const_int(m->tt->k, at.at[0], &row) && ir_const_int(m->tt->k, at.at[1], &column))
        known = once(m, arena_printf(m->tt->arena, "box %lld %lld of %lld %lld at %lld %lld",
                                     (long long)small->extent[0],
                                     (long long)small->extent[1], (long long)whole->extent[0],
                                         (long long)whole->extent[1],
                                     (long long)row, (long long)column));
    Moves front = *m;
    if (known) front.b = ir_builder_before(m->tt->k, m->first);
    inside = known && *known ? *known : inside_box(&front, whole, small, at);
    if (!inside) return part;
    if (known) *known = inside, map_put_number(&m->tt->task_tiles, m->tt->arena, inside, m->tt);
    if (whole->extent[1] != small->extent[1])
        part = as(m, moved(m, part, ones(m, small->extent[1], whole->extent[1], at.at[1]), 1), whole->elem);
    if (whole->extent[0] != small->extent[0]) {
        Ref back = negated(m, at.at[0]);
        part = as(m, moved(m, part, ones(m, whole->extent[0], small->extent[0], back), 0), whole->elem);
    }
    return ir_ternary(&m->b, OP_SELECT, inside, part, x);
}

static Ref make_repeat(Moves *m, const Op *op) {
    Ref x = op->operands[0];
    const Type *from = ir_type(m->tt->k, x), *to = ir_type(m->tt->k, op->results[0]);
    int axis = (int)op_int(op, AT_AXIS, 0);
    int64_t few = from->extent[axis], many = to->extent[axis];
    const Type *type = axis ? shape(m, EL_I32, few, many) : shape(m, EL_I32, many, few);
    Ref each = ir_splat(&m->b, number(m, many / few), type);
    Ref place = ir_binary(&m->b, OP_DIV, along(m, type->extent[0], type->extent[1], axis), each);
    Ref which = ir_compare(&m->b, CMP_EQ, place, along(m, type->extent[0], type->extent[1], 1 - axis));
    return as(m, moved(m, x, which, axis), from->elem);
}

/* Step by step: each element with the one 1, 2, 4 .. places before it. */
static Ref make_scan(Moves *m, const Op *op, Opcode combine, double neutral) {
    Ref x = op->operands[0], row = x;
    const Type *type = ir_type(m->tt->k, x);
    bool is_vector = type->rank == 1, reverse = op_attr(op, AT_REVERSE) != NULL;
    if (is_vector) row = ir_expand(&m->b, x, 0);
    const Type *wide = ir_type(m->tt->k, row);
    int axis = is_vector ? 1 : (int)op_int(op, AT_AXIS, 0);
    int64_t n = wide->extent[axis];
    row = keep(m, as(m, row, EL_F32));
    Ref by = keep(m, as(m, ones(m, n, n, number(m, (axis == 1) != reverse ? 1 : -1)), EL_BF16));
    for (int64_t step = 1; step < n; step *= 2) {
        if (step > 1) by = keep(m, as(m, ir_dot(&m->b, by, by, zeros(m, n, n)), EL_BF16)); /* twice as far */
        Ref found = moved(m, row, by, axis);
        Ref places = along(m, wide->extent[0], wide->extent[1], axis);
        Ref bound = ir_splat(&m->b, number(m, reverse ? n - step : step), ir_type(m->tt->k, places));
        Ref there = ir_compare(&m->b, reverse ? CMP_LT : CMP_GE, places, bound);
        Ref none = ir_splat(&m->b, ir_float(&m->b, EL_F32, neutral), ir_type(m->tt->k, found));
        if (neutral != 0) found = ir_ternary(&m->b, OP_SELECT, there, found, none);
        row = keep(m, ir_binary(&m->b, combine, row, found));
    }
    row = as(m, row, type->elem);
    return is_vector ? ir_reshape(&m->b, row, type) : row;
}

static bool has_two_axes(const Moves *m, Ref ref) { return ir_type(m->tt->k, ref)->rank == 2; }

static Ref make(Moves *m, const Op *op) {
    if (!op->operand_count || !ref_is_value(op->operands[0])) return REF_NONE;
    const Type *from = ir_type(m->tt->k, op->operands[0]);
    bool fits = from->rank == 2 && elem_is_float(from->elem) && elem_info[from->elem].bits >= 16;
    switch (op->code) {
    case OP_SLICE: return fits && has_two_axes(m, op->results[0]) ? make_slice(m, op) : REF_NONE;
    case OP_INSERT: return fits && has_two_axes(m, op_operand(op, 1)) ? make_insert(m, op) : REF_NONE;
    case OP_REPEAT: return fits ? make_repeat(m, op) : REF_NONE;
    case OP_SCAN:
        if (op->operand_count != 1 || from->rank > 2 || from->elem == EL_F64 ||
            !elem_is_float(from->elem)) return REF_NONE;
        if (op_word(op, AT_NAN, NAN_DROP) == NAN_KEEP) return REF_NONE;
        switch (op_word(op, AT_COMBINE, COMBINE_ADD)) {
        case COMBINE_ADD: return make_scan(m, op, OP_ADD, 0);
        case COMBINE_MUL: return make_scan(m, op, OP_MUL, 1);
        case COMBINE_MAX: return make_scan(m, op, OP_MAX, -INFINITY);
        case COMBINE_MIN: return make_scan(m, op, OP_MIN, INFINITY);
        default: return REF_NONE;
        }
    default: return REF_NONE;
    }
}

/* Is it nothing but what the next part is inserted into? */
static bool is_under_part(const Tt *tt, const Op *op) {
    TtPart next;
    int uses = ir_count_uses(tt->k, tt->arena)[op->results[0]];
    for (const Op *user = op->next; user; user = user->next)
        if (user->code == OP_INSERT && user->operands[0] == op->results[0] && tt_part_pages(tt, user->results[0], &next))
            uses--;
    return uses == 0;
}

static void move_region(Tt *tt, Region *region, Map *made_before, Op *first) {
    for (Op *op = region->first, *next; op; op = next) {
        next = op->next;
        for (int i = 0; i < op->region_count; i++) move_region(tt, op->regions[i], made_before, first);
        if (op->result_count != 1 || op->region_count || tt_is_index(tt, op->results[0])) continue;
        TtPart part;
        if (tt_part_pages(tt, op->results[0], &part)) {
            if (op->code == OP_INSERT && !is_under_part(tt, op)) map_put_number(&tt->kept, tt->arena, op->results[0], tt);
            continue;
        }
        Moves m = {.tt = tt, .b = ir_builder_before(tt->k, op), .made = made_before, .first = first};
        Ref made = make(&m, op);
        if (!made) continue;
        keep(&m, made);
        ir_replace_all(tt->k, op->results[0], made);
        ir_remove(op);
    }
}

void tt_make_moves(Tt *tt) {
    const Op *compute = tt->role[TENSIX_COMPUTE];
    if (compute) move_region(tt, compute->regions[0], &(Map){0}, compute->regions[0]->first);
}
