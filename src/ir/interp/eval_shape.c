/* SPDX-License-Identifier: Apache-2.0 */
/* eval_shape.c: constants, and ops that move elements without changing them.
 *
 * Every move is a copy of a box between two strided places (box_copy); a stride of 0 repeats, a
 * negative one reverses. The shadow of a sanitized tile moves the same way, a byte an element. A
 * change of shape alone shares the cell. */
#include "ir/interp/interp_core.h"

void row_major(const Type *type, int64_t *stride) {
    int64_t step = 1;
    for (int d = type->rank - 1; d >= 0; d--) {
        stride[d] = step;
        step *= type->extent[d];
    }
}

static void copy_row(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n, int bytes) {
    if (to_step == bytes && from_step == bytes) {
        memcpy(to, from, (size_t)(n * bytes));
        return;
    }
#define CASE(size)                                                                            \
    case size:                                                                                \
        for (int64_t i = 0; i < n; i++) memcpy(to + i * to_step, from + i * from_step, size); \
        break;
    switch (bytes) {
        CASE(1)
        CASE(2)
        CASE(4)
        CASE(8)
    }
#undef CASE
}

void box_copy(void *to, const int64_t *to_stride, const void *from, const int64_t *from_stride, int rank,
              const int64_t *extent, int bytes) {
    if (rank == 0) {
        memcpy(to, from, (size_t)bytes);
        return;
    }
    int64_t rows = 1, at[MAX_RANK] = {0};
    for (int d = 0; d < rank - 1; d++) rows *= extent[d];
    char *t = to;
    const char *f = from;
    int last = rank - 1;
    for (int64_t row = 0; row < rows; row++) {
        copy_row(t, to_stride[last] * bytes, f, from_stride[last] * bytes, extent[last], bytes);
        for (int d = last - 1; d >= 0; d--) {
            t += to_stride[d] * bytes;
            f += from_stride[d] * bytes;
            if (++at[d] < extent[d]) break;
            t -= to_stride[d] * extent[d] * bytes;
            f -= from_stride[d] * extent[d] * bytes;
            at[d] = 0;
        }
    }
}

/* The box, and its shadow where the source has one. Offsets and strides are in elements. */
static void move(Interp *in, Cell *to, const Type *to_type, int64_t to_offset, const int64_t *to_stride, Cell *from,
                 int64_t from_offset, const int64_t *from_stride, int rank, const int64_t *extent) {
    int bytes = ty_elem_bytes(to_type);
    box_copy((char *)to->data + to_offset * bytes, to_stride, (char *)from->data + from_offset * bytes, from_stride,
             rank, extent, bytes);
    if (!from->shadow && !to->shadow) return;
    static const uint8_t sound = 0;
    static const int64_t nowhere[MAX_RANK] = {0};
    uint8_t *shadow = cell_shadow(in, to, ty_elements(to_type)) + to_offset;
    if (from->shadow)
        box_copy(shadow, to_stride, from->shadow + from_offset, from_stride, rank, extent, 1);
    else
        box_copy(shadow, to_stride, &sound, nowhere, rank, extent, 1);
}

int64_t box_offset(Process *p, Step *s, RefList at, const Type *whole, const Type *box) {
    int64_t stride[MAX_RANK], offset = 0;
    row_major(whole, stride);
    int skip = whole->rank - box->rank; /* a smaller box lies in the last axes */
    for (int d = 0; d < at.count; d++) {
        int64_t begin = ev_scalar(p, s, at.at[d]), extent = d < skip ? 1 : box->extent[d - skip];
        if (begin < 0 || begin > whole->extent[d] - extent) {
            EV_REPORT(p, s, DIAG_INTERP_BOX, (long long)begin, d, (long long)extent, (long long)whole->extent[d],
                      report_process(p));
            process_stop(p->in);
        }
        offset += begin * stride[d];
    }
    return offset;
}

void box_move(Interp *in, Cell *whole_cell, const Type *whole, int64_t offset, Cell *box_cell, const Type *box,
              bool into_whole) {
    int64_t outer[MAX_RANK], inner[MAX_RANK];
    if (box->rank == 0 && !whole_cell->shadow && !box_cell->shadow) { /* an element */
        size_t bytes = (size_t)ty_elem_bytes(box);
        char *at = (char *)whole_cell->data + offset * (int64_t)bytes;
        memcpy(into_whole ? at : box_cell->data, into_whole ? box_cell->data : at, bytes);
        return;
    }
    row_major(whole, outer);
    row_major(box, inner);
    const int64_t *strides = outer + (whole->rank - box->rank);
    if (into_whole)
        move(in, whole_cell, whole, offset, strides, box_cell, 0, inner, box->rank, box->extent);
    else
        move(in, box_cell, box, 0, inner, whole_cell, offset, strides, box->rank, box->extent);
}

void box_gather(Interp *in, Cell *whole_cell, const Type *whole, int64_t offset, Cell *box_cell, const Type *box,
                const int64_t *strides) {
    int64_t outer[MAX_RANK];
    row_major(whole, outer);
    move(in, box_cell, box, 0, strides, whole_cell, offset, outer + (whole->rank - box->rank), box->rank, box->extent);
}

static const Type *result_type(Process *p, Step *s) { return ir_value(p->in->kernel, s->op->results[0])->type; }

void eval_splat(Process *p, Step *s) {
    static const int64_t nowhere[MAX_RANK] = {0};
    Operand x = ev_operand(p, s, 0);
    const Type *type = result_type(p, s);
    int64_t stride[MAX_RANK];
    row_major(type, stride);
    move(p->in, ev_define(p, s, 0), type, 0, stride, x.cell, 0, nowhere, type->rank, type->extent);
}

void eval_iota(Process *p, Step *s) {
    int64_t begin = op_int(s->op, AT_BEGIN, 0), end = op_int(s->op, AT_END, 0);
    int32_t *to = ev_define(p, s, 0)->data;
    for (int64_t i = begin; i < end; i++) to[i - begin] = (int32_t)i;
}

void eval_undef(Process *p, Step *s) {
    const Type *type = result_type(p, s);
    Cell *out = ev_define(p, s, 0);
    value_poison(out->data, type);
    if (p->in->launch->sanitize && type->kind == TY_TILE) {
        int64_t n = ty_elements(type);
        memset(cell_shadow(p->in, out, n), SHADOW_UNWRITTEN, (size_t)n);
    }
}

/* expand, reshape, bitcast, convert: the same bytes in the same order. */
void eval_reshape(Process *p, Step *s) {
    Operand x = ev_operand(p, s, 0);
    if (!x.cell->pinned) {
        ev_assign(p, s->op->results[0], cell_retain(x.cell));
        return;
    }
    int64_t n = ty_elements(x.type), stride = 1;
    const Type *type = result_type(p, s);
    move(p->in, ev_define(p, s, 0), type, 0, &stride, x.cell, 0, &stride, 1, &n);
}

void eval_convert(Process *p, Step *s) { eval_reshape(p, s); }

void eval_broadcast(Process *p, Step *s) {
    Operand x = ev_operand(p, s, 0);
    const Type *type = result_type(p, s);
    int64_t from[MAX_RANK], to[MAX_RANK];
    row_major(x.type, from);
    row_major(type, to);
    for (int d = 0; d < type->rank; d++)
        if (x.type->extent[d] == 1) from[d] = 0;
    move(p->in, ev_define(p, s, 0), type, 0, to, x.cell, 0, from, type->rank, type->extent);
}

void eval_repeat(Process *p, Step *s) {
    Operand x = ev_operand(p, s, 0);
    const Type *type = result_type(p, s);
    int axis = (int)op_int(s->op, AT_AXIS, 0);
    int64_t own = x.type->extent[axis], times = type->extent[axis] / own, before = 1, behind = 1;
    for (int d = 0; d < axis; d++) before *= type->extent[d];
    for (int d = axis + 1; d < type->rank; d++) behind *= type->extent[d];
    const int64_t extent[4] = {before, own, times, behind}, from[4] = {own * behind, behind, 0, 1},
                  to[4] = {own * times * behind, times * behind, behind, 1};
    move(p->in, ev_define(p, s, 0), type, 0, to, x.cell, 0, from, 4, extent);
}

void eval_permute(Process *p, Step *s) {
    Operand x = ev_operand(p, s, 0);
    const Type *type = result_type(p, s);
    const Attr *dims = op_attr(s->op, AT_DIMS);
    int64_t own[MAX_RANK], from[MAX_RANK], to[MAX_RANK];
    row_major(x.type, own);
    row_major(type, to);
    for (int d = 0; d < type->rank; d++) from[d] = own[dims->list.at[d]];
    move(p->in, ev_define(p, s, 0), type, 0, to, x.cell, 0, from, type->rank, type->extent);
}

void eval_flip(Process *p, Step *s) {
    Operand x = ev_operand(p, s, 0);
    int64_t axis = op_int(s->op, AT_AXIS, 0);
    int64_t from[MAX_RANK], to[MAX_RANK];
    row_major(x.type, from);
    row_major(x.type, to);
    int64_t start = (x.type->extent[axis] - 1) * from[axis];
    from[axis] = -from[axis];
    move(p->in, ev_define(p, s, 0), x.type, 0, to, x.cell, start, from, x.type->rank, x.type->extent);
}

/* Two tiles in turn: element i of operand k is element 2 i + k. */
void eval_join(Process *p, Step *s) {
    const Type *type = result_type(p, s);
    Cell *out = ev_define(p, s, 0);
    for (int k = 0; k < 2; k++) {
        Operand x = ev_operand(p, s, k);
        int64_t n = ty_elements(x.type), two = 2, one = 1;
        move(p->in, out, type, k, &two, x.cell, 0, &one, 1, &n);
    }
}

void eval_split(Process *p, Step *s) {
    Operand x = ev_operand(p, s, 0);
    const Type *type = result_type(p, s);
    for (int k = 0; k < 2; k++) {
        int64_t n = ty_elements(type), two = 2, one = 1;
        move(p->in, ev_define(p, s, k), type, 0, &one, x.cell, k, &two, 1, &n);
    }
}

void eval_cat(Process *p, Step *s) {
    const Type *type = result_type(p, s);
    int64_t axis = op_int(s->op, AT_AXIS, 0), to[MAX_RANK], from[MAX_RANK], begin = 0;
    row_major(type, to);
    Cell *out = ev_define(p, s, 0);
    for (int k = 0; k < s->op->operand_count; k++) {
        Operand x = ev_operand(p, s, k);
        row_major(x.type, from);
        move(p->in, out, type, begin * to[axis], to, x.cell, 0, from, type->rank, x.type->extent);
        begin += x.type->extent[axis];
    }
}

void eval_slice(Process *p, Step *s) {
    Operand x = ev_operand(p, s, 0);
    const Type *type = result_type(p, s);
    int64_t offset = box_offset(p, s, op_list(s->op, 0), x.type, type);
    box_move(p->in, x.cell, x.type, offset, ev_define(p, s, 0), type, false);
}

void eval_insert(Process *p, Step *s) {
    Operand x = ev_operand(p, s, 0), part = ev_operand_of(p, s, op_operand(s->op, 1));
    int64_t offset = box_offset(p, s, op_list(s->op, 0), x.type, part.type), n = ty_elements(x.type), one = 1;
    Cell *out = ev_define(p, s, 0);
    move(p->in, out, x.type, 0, &one, x.cell, 0, &one, 1, &n);
    box_move(p->in, out, x.type, offset, part.cell, part.type, true);
}

void eval_scatter(Process *p, Step *s) {
    Operand x = ev_operand(p, s, 0), index = ev_operand(p, s, 1), part = ev_operand(p, s, 2);
    if (index.cell->shadow) sanitize_use(p, s, &index);
    int64_t n = ty_elements(x.type), count = ty_elements(index.type), one = 1;
    Cell *out = ev_define(p, s, 0);
    move(p->in, out, x.type, 0, &one, x.cell, 0, &one, 1, &n);
    int index_bytes = ty_elem_bytes(index.type), bytes = ty_elem_bytes(x.type);
    Word kind = op_word(s->op, AT_COMBINE, WORD_NONE);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = elem_get_i64(index.elem, (char *)index.data + i * index_bytes);
        if (at < 0 || at >= n) continue;
        if (!kind) {
            move(p->in, out, x.type, at, &one, part.cell, i, &one, 1, &one);
            continue;
        }
        char *to = (char *)out->data + at * bytes;
        int64_t added = elem_get_i64(x.elem, (char *)part.data + i * bytes);
        elem_put_i64(x.elem, to, combine_i64(x.elem, kind, elem_get_i64(x.elem, to), added));
        if (part.cell->shadow) cell_shadow(p->in, out, n)[at] |= part.cell->shadow[i];
    }
}

void eval_gather(Process *p, Step *s) {
    Operand x = ev_operand(p, s, 0), index = ev_operand(p, s, 1);
    if (index.cell->shadow) sanitize_use(p, s, &index);
    const Type *type = result_type(p, s);
    int64_t axis = op_int(s->op, AT_AXIS, 0), stride[MAX_RANK], at[MAX_RANK] = {0};
    row_major(x.type, stride);
    Cell *out = ev_define(p, s, 0);
    int64_t n = ty_elements(type);
    int bytes = ty_elem_bytes(type), index_bytes = ty_elem_bytes(index.type);
    uint8_t *shadow = x.cell->shadow ? cell_shadow(p->in, out, n) : NULL;
    for (int64_t i = 0; i < n; i++) {
        int64_t offset = 0;
        for (int d = 0; d < type->rank; d++) {
            int64_t k = d == axis ? elem_get_i64(index.elem, (char *)index.data + i * index_bytes) : at[d];
            if (k < 0 || k >= x.type->extent[d]) {
                EV_REPORT(p, s, DIAG_INTERP_BOX, (long long)k, d, 1LL, (long long)x.type->extent[d], report_process(p));
                k = 0; /* when sanitizing: go on with something */
            }
            offset += k * stride[d];
        }
        memcpy((char *)out->data + i * bytes, (char *)x.data + offset * bytes, (size_t)bytes);
        if (shadow) shadow[i] = x.cell->shadow[offset];
        for (int d = type->rank - 1; d >= 0 && ++at[d] == type->extent[d]; d--) at[d] = 0;
    }
}
