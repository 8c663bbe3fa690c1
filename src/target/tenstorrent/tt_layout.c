/* SPDX-License-Identifier: Apache-2.0 */
/* tt_layout.c: where elements lie in pages, and what is known of padding and precision.
 *
 * A page is 32x32 elements. A tile of rank 2 and more takes cdiv(rows, 32) x cdiv(columns, 32)
 * pages for each place of its other axes; a vector has three ways (TtPaging). Extents that are no
 * multiples of a page are padded: what stands in the padding is the fill of the load, and follows
 * every elementwise op, so it is often one known number. A reduction or a product over a padded
 * axis needs that number to be neutral. */
#include "analysis/facts.h"
#include "target/tenstorrent/tt_emit.h"

#include <math.h>

bool tt_format(Elem elem, TtFormat *format) {
    *format = elem == EL_F32 ? TT_Float32 : TT_Float16_b;
    return elem == EL_F32 || elem == EL_F16 || elem == EL_BF16 || tt_holds(elem);
}

bool tt_holds(Elem elem) { return elem == EL_I8 || elem == EL_U8 || elem == EL_F8E5M2 || elem == EL_F8E4M3; }

uint32_t tt_page_bytes(const TtBuffer *b) {
    return b->layout.paging == PAGE_PLAIN ? (uint32_t)TW_PLAIN_BYTES : tensix_tile_bytes(b->format);
}

TtPaging tt_paging(const Tt *tt, Ref value) {
    if (ir_type(tt->k, value)->rank != 1) return PAGE_TILE;
    TtPaging paging = ref_is_value(value) ? tt->paging[value] : PAGE_ANY;
    return paging == PAGE_ANY ? PAGE_VECTOR : paging;
}

static int64_t cdiv(int64_t x, int64_t y) { return (x + y - 1) / y; }

void tt_page_grid(const Type *type, TtPaging paging, int64_t *rows, int64_t *columns) {
    int rank = type->rank;
    *rows = *columns = 1;
    if (rank == 0) return;
    int64_t last = type->extent[rank - 1];
    if (paging == PAGE_VECTOR)
        *columns = cdiv(last, PAGE_ELEMENTS);
    else if (paging == PAGE_COLUMN)
        *rows = cdiv(last, PAGE_SIDE);
    else
        *columns = cdiv(last, PAGE_SIDE);
    if (rank >= 2) *rows = cdiv(type->extent[rank - 2], PAGE_SIDE);
    for (int d = 0; d < rank - 2; d++) *rows *= type->extent[d];
}

int64_t tt_pages(const Type *type, TtPaging paging) {
    int64_t rows, columns;
    tt_page_grid(type, paging, &rows, &columns);
    return rows * columns;
}

TtLayout tt_layout(int rank, const int *dims, const Type *tile, TtPaging paging) {
    TtLayout layout = {.paging = paging, .rank = rank, .row = -1, .column = -1};
    for (int d = 0; d < rank; d++) layout.grain[d] = layout.unit[d] = 1;
    for (int axis = tile->rank >= 2 ? tile->rank - 2 : 0; axis < tile->rank; axis++) {
        int64_t unit = paging == PAGE_VECTOR ? PAGE_ELEMENTS : PAGE_SIDE;
        layout.unit[dims[axis]] = unit;
        layout.grain[dims[axis]] = tile->extent[axis] % unit ? tile->extent[axis] : unit;
        bool is_row = tile->rank >= 2 ? axis == tile->rank - 2 : paging == PAGE_COLUMN;
        *(is_row ? &layout.row : &layout.column) = dims[axis];
    }
    return layout;
}

void tt_access_dims(const Tt *tt, const Op *access, int dims[MAX_RANK]) {
    const Type *tensor = ir_type(tt->k, access->operands[0]);
    bool is_load = access->code == OP_TLOAD;
    const Type *tile = ir_type(tt->k, is_load ? access->results[0] : op_operand(access, 1));
    for (int axis = 0; axis < tile->rank; axis++) dims[axis] = box_dim(access, tensor->rank, tile->rank, axis);
}

/* ------------------------------------------------------------------------------------------ ops without cost */

/* A tile of integers that are sums of products: DST has them as floats. */
static bool is_count(const Kernel *k, Ref value) {
    const Op *op = ref_is_value(value) ? ir_value(k, value)->op : NULL;
    if (op && op->code == OP_ADD) return is_count(k, op->operands[0]) || is_count(k, op->operands[1]);
    return ref_is_value(value) && (!op || op->code == OP_DOT || op->code == OP_FOR);
}

/* All casts between floats but f32 to 16 bits: what is narrower is held exactly by a wider page,
 * and f16 is bf16 here. */
static bool is_free_cast(const Kernel *k, const Op *op) {
    Elem from = ir_type(k, op->operands[0])->elem, to = ir_type(k, op->results[0])->elem;
    if ((from == EL_I1 || tt_holds(from)) && elem_is_float(to)) return true;
    if (from == EL_I32 && to == EL_F32) return is_count(k, op->operands[0]);
    return elem_is_float(from) && elem_is_float(to) && (elem_info[from].bits <= 16 || to == EL_F32);
}

/* [n] as [n, 1] or [1, n], [m, n] as [1, m, n]: the pages stay as they are. */
static bool keeps_pages(const Type *from, const Type *to) {
    const Type *big = to->rank > from->rank ? to : from, *small = big == to ? from : to;
    if (small->rank == 1 && big->rank == 2) return big->extent[0] == 1 || big->extent[1] == 1;
    int extra = big->rank - small->rank;
    for (int d = 0; d < big->rank; d++)
        if (big->extent[d] != (d < extra ? 1 : small->extent[d - extra])) return false;
    return small->rank >= 2;
}

Ref tt_same_pages(const Tt *tt, Ref value) {
    while (ref_is_value(value) && ir_value(tt->k, value)->op) {
        const Op *op = ir_value(tt->k, value)->op;
        bool is_same = op->code == OP_CAST ? is_free_cast(tt->k, op)
                       : op->code == OP_EXPAND || op->code == OP_RESHAPE
                           ? keeps_pages(ir_type(tt->k, op->operands[0]), ir_type(tt->k, value))
                           : false;
        if (!is_same || ty_is_scalar(ir_type(tt->k, op->operands[0]))) break;
        value = op->operands[0];
    }
    return value;
}

/* Answers about values are kept: one that is made from itself twice, forty times, is looked at forty times. */
static bool find_answer(const Map *answers, Ref value, bool *answer) {
    const MapEntry *known = map_find_number(answers, value);
    if (known) *answer = known->value != NULL;
    return known != NULL;
}

static bool keep_answer(Tt *tt, Map *answers, Ref value, bool answer) {
    map_put_number(answers, tt->arena, value, answer ? tt : NULL);
    return answer;
}

bool tt_is_index(Tt *tt, Ref value) {
    if (!ref_is_value(value)) return ref_is_literal(value) || value == REF_NONE;
    const Value *v = ir_value(tt->k, value);
    if (v->type->kind == TY_TENSOR || ty_is_scalar(v->type)) return true;
    if (v->type->kind != TY_TILE || !v->op) return false;
    bool all = true;
    switch (v->op->code) {
    case OP_IOTA: return true;
    case OP_TLOAD: /* of integers: whoever needs an element reads it */
    case OP_LOAD:
        if (elem_is_float(v->type->elem)) return false;
        break;
    case OP_SPLAT:
    case OP_EXPAND:
    case OP_RESHAPE:
    case OP_REPEAT:
    case OP_PERMUTE:
    case OP_PTR_ADD:
    case OP_BROADCAST: break;
    default:
        if (v->type->pointer) return false;
        if (!op_has(v->op->code, TRAIT_ELEMENTWISE)) return false;
    }
    if (find_answer(&tt->is_index, value, &all)) return all;
    for (int i = 0; i < v->op->operand_count && all; i++) all = tt_is_index(tt, v->op->operands[i]);
    return keep_answer(tt, &tt->is_index, value, all);
}

bool tt_is_narrow(Tt *tt, Ref value) {
    const Kernel *k = tt->k;
    Elem elem = ir_type(k, value)->elem;
    if (elem == EL_BF16 || elem == EL_F16 || elem == EL_I1 || tt_holds(elem)) return true;
    if (ref_is_literal(value))
        return elem_is_float(elem) && elem_round(EL_BF16, ir_literal(k, value)->f) == ir_literal(k, value)->f;
    const Op *op = ir_value(k, value)->op;
    bool all = true;
    if (!op) return false;
    switch (op->code) {
    case OP_CAST:
    case OP_NEG:
    case OP_ABS:
    case OP_SPLAT:
    case OP_EXPAND:
    case OP_RESHAPE:
    case OP_BROADCAST:
        if (!elem_is_float(elem)) return false;
        break;
    case OP_MIN:
    case OP_MAX:
    case OP_SELECT: break;
    default: return false;
    }
    if (find_answer(&tt->is_narrow, value, &all)) return all;
    for (int i = op->code == OP_SELECT; i < op->operand_count && all; i++) all = tt_is_narrow(tt, op->operands[i]);
    return keep_answer(tt, &tt->is_narrow, value, all);
}

/* ------------------------------------------------------------------------------------------------- padding */

static bool apply(const Op *op, const double *x, double *r) {
    switch (op->code) {
    case OP_NEG: *r = -x[0]; return true;
    case OP_ABS: *r = fabs(x[0]); return true;
    case OP_CAST: *r = x[0]; return true;
    case OP_SQRT: *r = sqrt(x[0]); return true;
    case OP_SIN: *r = sin(x[0]); return true;
    case OP_TANH: *r = tanh(x[0]); return true;
    case OP_ERF: *r = erf(x[0]); return true;
    case OP_EXP: *r = exp(x[0]); return true;
    case OP_EXP2: *r = exp2(x[0]); return true;
    case OP_ADD: *r = x[0] + x[1]; return true;
    case OP_SUB: *r = x[0] - x[1]; return true;
    case OP_MUL: *r = x[0] * x[1]; return true;
    case OP_FMA: *r = x[0] * x[1] + x[2]; return true;
    case OP_MIN: *r = fmin(x[0], x[1]); return true;
    case OP_MAX: *r = fmax(x[0], x[1]); return true;
    default: return false;
    }
}

/* A mask that the reader writes for the whole tile: 0 in the padding. */
static bool is_made_mask(Tt *tt, Ref mask, const Type *type) {
    const Type *own = ir_type(tt->k, mask);
    return own->rank == type->rank && ty_elements(own) == ty_elements(type) && tt_is_index(tt, mask);
}

static bool find_padding(Tt *tt, Ref value, double *number) {
    const Kernel *k = tt->k;
    if (ref_is_literal(value)) {
        const Literal *literal = ir_literal(k, value);
        *number = elem_is_float(literal->type->elem) ? literal->f : (double)literal->i;
        return true;
    }
    const Value *v = ir_value(k, value);
    const Op *op = v->op;
    double x[3] = {0};
    if (v->type->elem == EL_I1 && v->type->rank && tt_is_index(tt, value)) { /* the reader writes it */
        *number = 0;
        return true;
    }
    if (!op) { /* a carried sum: what it starts with, if that adds nothing */
        const Op *owner = v->region->owner;
        if (!owner || owner->code != OP_FOR || v->index < 1 || !tt_is_sum(tt, owner, v->index - 1)) return false;
        return tt_padding(tt, owner->operands[2 + v->index], number) && *number == 0;
    }
    switch (op->code) {
    case OP_GET: {
        const TtField *field = tt_field(tt, op);
        const Attr *fill = field->load ? op_attr(field->load, AT_FILL) : NULL;
        if (!field->load) return false;
        *number = 0;
        return !fill || tt_padding(tt, fill->ref, number);
    }
    case OP_SPLAT: return tt_padding(tt, op->operands[0], number);
    case OP_DOT: /* rows and columns beyond are sums of zeros */
        return tt_padding(tt, op->operands[0], &x[0]) && tt_padding(tt, op->operands[1], &x[1]) && !x[0] && !x[1] &&
               tt_padding(tt, op->operands[2], number);
    case OP_REDUCE: return tt_padding(tt, op->operands[0], number) && *number == 0;
    case OP_FOR: {
        int carried = v->index + 1;
        const Op *yield = op->regions[0]->last;
        return tt_padding(tt, yield->operands[carried - 1], number) && *number == 0;
    }
    case OP_PERMUTE:
    case OP_EXPAND:
    case OP_RESHAPE: return tt_padding(tt, op->operands[0], number);
    case OP_SELECT:
        if (is_made_mask(tt, op->operands[0], v->type)) return tt_padding(tt, op->operands[2], number);
        return tt_padding(tt, op->operands[1], &x[1]) && tt_padding(tt, op->operands[2], number) && x[1] == *number;
    default: break;
    }
    if (!op_has(op->code, TRAIT_ELEMENTWISE) || op->operand_count > 3) return false;
    for (int i = 0; i < op->operand_count; i++) {
        const Type *type = ir_type(k, op->operands[i]);
        /* A broadcast spreads numbers into the padding. */
        if (type->rank && ty_elements(type) != ty_elements(v->type)) return false;
        if (!tt_padding(tt, op->operands[i], &x[i])) return false;
    }
    return apply(op, x, number);
}

bool tt_padding(Tt *tt, Ref value, double *number) {
    MapEntry *known = map_find_number(&tt->padding, value);
    if (!known) {
        double found = 0;
        bool one = find_padding(tt, value, &found);
        known =
            map_put_number(&tt->padding, tt->arena, value, one ? arena_copy(tt->arena, &found, sizeof found) : NULL);
    }
    if (known->value) *number = *(const double *)known->value;
    return known->value != NULL;
}
