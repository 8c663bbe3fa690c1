/* SPDX-License-Identifier: Apache-2.0 */
/* merge_views.c: the tiles of a ring's record, and the one tile that they are together.
 *
 *     a: [2,64,64], worker w reads [w,0,0]:[1,64,64] as [64,64]     rows 0 1, columns 2: [128,64]
 *     b: [4,64,64], read as permute<1,0,2>, reshape [64,256]        rows 1, columns 0 2: [64,256]
 *     c: [2,4,64,64], worker w writes [64,256] split and permuted   rows 0 2, columns 1 3: [128,256]
 *     a: [2,64,32], worker w reads [w] and turns it to [32,64]      rows 1, columns 0 2: [32,128], which turned is
 *                                                                   [128,32], the workers' tiles above each other
 *
 * Slices, permutations and reshapes only move the digits of an index; a view keeps, for each
 * dimension of the tile, the field's dimensions that make it up. How a field is laid out follows
 * from its first use by a consumer (an input) or from the put (an output), and from where its tiles
 * lie in memory; a use that is no box of that layout is refused. A field always lies as it does in
 * memory, the last dimension along the columns: a view that is turned is a box of it, transposed. */
#include "ir/ringform.h"
#include "pass/merge/merge.h"

#include <string.h>

RingField *merge_field(const Merge *m, const Op *hand_over) {
    Ref ring = hand_ring(m->k, hand_over);
    for (size_t i = 0; i < m->fields.count; i++)
        if (m->fields.at[i]->ring == ring && m->fields.at[i]->number == hand_field(hand_over)) return m->fields.at[i];
    return NULL;
}

const View *merge_view(const Merge *m, Ref old) {
    MapEntry *entry = ref_is_value(old) ? map_find_number(&m->views, old) : NULL;
    return entry ? entry->value : NULL;
}

int64_t merge_extent(const RingField *field, const DimList *list) {
    int64_t product = 1;
    for (int i = 0; i < list->count; i++) product *= field->type->extent[list->dim[i]];
    return product;
}

int64_t merge_stride(const RingField *field, const DimList *list, int dim) {
    int64_t stride = 1;
    for (int i = list->count; i-- > 0;) {
        if (list->dim[i] == dim) return stride;
        stride *= field->type->extent[list->dim[i]];
    }
    return 0;
}

/* ---- moving digits ---- */

/* A dimension of extent 1 has no digit. */
static DimList digit(const RingField *field, int dim) { return (DimList){field->type->extent[dim] > 1, {dim}}; }

/* Regroups all digits, in order, so that the dimensions have these extents; false if a digit would be cut. */
static bool regroup(View *v, int rank, const int64_t *extent) {
    DimList all = {0}, dims[MAX_RANK] = {{0}};
    for (int d = 0; d < v->rank; d++)
        for (int i = 0; i < v->dims[d].count; i++) all.dim[all.count++] = v->dims[d].dim[i];
    int at = 0;
    for (int d = 0; d < rank; d++) {
        int64_t product = 1;
        while (product < extent[d] && at < all.count) {
            product *= v->field->type->extent[all.dim[at]];
            dims[d].dim[dims[d].count++] = all.dim[at++];
        }
        if (product != extent[d]) return false;
    }
    if (at != all.count) return false;
    v->rank = rank;
    memcpy(v->dims, dims, sizeof dims);
    return true;
}

static bool slice_view(const Merge *m, const Op *op, View *v) {
    const Type *from = ir_type(m->k, op->operands[0]), *to = ir_type(m->k, op->results[0]);
    RefList at = op_list(op, 0);
    for (int d = 0; d < from->rank; d++) {
        int64_t offset = 0;
        bool constant = ir_const_int(m->k, at.at[d], &offset);
        if (from->extent[d] == to->extent[d]) {
            if (!constant || offset) return false;
            continue;
        }
        if (to->extent[d] != 1 || v->dims[d].count != 1 || (!constant && at.at[d] != m->worker)) return false;
        int dim = v->dims[d].dim[0];
        v->fixed[dim] = constant ? FIXED_CONST : FIXED_WORKER;
        v->at[dim] = offset;
        v->dims[d].count = 0;
    }
    return true;
}

/* Does an index pick a tile that is neither a constant nor the worker's own number? */
static bool picks_otherwise(const Merge *m, const Op *op) {
    const Type *from = ir_type(m->k, op->operands[0]), *to = ir_type(m->k, op->results[0]);
    RefList at = op_list(op, 0);
    for (int d = 0; op->code == OP_SLICE && d < from->rank; d++) {
        int64_t offset;
        bool picks = from->extent[d] != to->extent[d] && to->extent[d] == 1;
        if (picks && at.at[d] != m->worker && !ir_const_int(m->k, at.at[d], &offset)) return true;
    }
    return false;
}

static void permute_view(const Op *op, View *v) {
    DimList dims[MAX_RANK];
    const Attr *order = op_attr(op, AT_DIMS);
    for (int d = 0; d < v->rank; d++) dims[d] = v->dims[order->list.at[d]];
    memcpy(v->dims, dims, sizeof dims);
}

static bool trace_view(Merge *m, const Op *op) {
    View *v = ARENA_NEW(m->arena, View);
    if (op->code == OP_GET) {
        v->field = merge_field(m, op);
        v->rank = v->field->type->rank;
        for (int d = 0; d < v->rank; d++) v->dims[d] = digit(v->field, d);
    } else {
        const View *from = op->operand_count ? merge_view(m, op->operands[0]) : NULL;
        if (!from) return true;
        *v = *from;
        const Type *to = ir_type(m->k, op->results[0]);
        if (op->code == OP_PERMUTE)
            permute_view(op, v);
        else if (op->code == OP_RESHAPE ? !regroup(v, to->rank, to->extent) : !slice_view(m, op, v))
            return picks_otherwise(m, op)
                       ? merge_fail(m, op, "only the worker's number, or a constant, may pick a tile of the block"
                                    FIX "index it by that number alone")
                       : merge_fail(m, op, "this part of the block is no whole row or column of its tiles"
                                    FIX "take whole tiles");
    }
    map_put_number(&m->views, m->arena, op->results[0], v);
    return true;
}

/* ---- layout ---- */

static void append(DimList *list, const DimList *more) {
    for (int i = 0; i < more->count; i++) list->dim[list->count++] = more->dim[i];
}

static DimList fixed_dims(const View *v, Fixed kind, const DimList *inside) {
    DimList list = {0};
    for (int d = 0; d < v->field->type->rank; d++) {
        bool in = !inside;
        for (int i = 0; inside && i < inside->count; i++) in = in || inside->dim[i] == d;
        if (v->fixed[d] == kind && in) list.dim[list.count++] = d;
    }
    return list;
}

/* The view as it lies in memory: the last dimension of the field counts columns, the last but one rows. */
static View upright(const View *v, bool *turned) {
    View made = *v;
    int last = v->field->type->rank - 1;
    *turned = false;
    for (int i = 0; i < v->dims[0].count; i++) *turned |= v->dims[0].dim[i] == last;
    for (int i = 0; i < v->dims[1].count; i++) *turned |= v->dims[1].dim[i] == last - 1;
    if (*turned) {
        made.dims[0] = v->dims[1];
        made.dims[1] = v->dims[0];
    }
    return made;
}

/* The list counts whole tiles, and along this dimension inside of them. */
static bool ends_with(const RingField *field, const DimList *list, int dim) {
    for (int i = 0; i < list->count; i++)
        if (list->dim[i] >= field->type->rank - 2 && list->dim[i] != dim) return false;
    return field->type->extent[dim] == 1 || (list->count && list->dim[list->count - 1] == dim);
}

/* Does the load role take neighbours along this dimension from side by side in memory? */
static bool lies_across(Merge *m, const RingField *field, int dim) {
    const Op *at[2] = {NULL, NULL};
    for (size_t i = 0; i < field->puts.count; i++) {
        const Op *put = field->puts.at[i];
        const Op *load = ref_is_value(op_operand(put, 1)) ? ir_value(m->k, op_operand(put, 1))->op : NULL;
        int64_t index = 0, which = 0;
        bool others = load && load->code == OP_TLOAD && put->list_count[0];
        for (int d = 0; others && d < field->type->rank - 2; d++) {
            others = ir_const_int(m->k, op_list(put, 0).at[d], &index) && (d == dim || index == 0);
            if (d == dim) which = index;
        }
        if (others && which >= 0 && which < 2) at[which] = load;
    }
    if (!at[0] || !at[1]) return false;
    RefList from = op_list(at[0], 0), to = op_list(at[1], 0);
    int64_t rows, cols;
    return from.count == to.count && from.count >= 2 &&
           merge_distance(m, from.at[from.count - 2], to.at[to.count - 2], &rows) &&
           merge_distance(m, from.at[from.count - 1], to.at[to.count - 1], &cols) && !rows && cols;
}

/* Tiles that are used one by one lie as they do in memory. Those of the workers lie above each
 * other, as the workers' tiles do; so where each turns its own, they lie side by side. */
static bool lay_out(Merge *m, const Op *op, const View *view) {
    RingField *field = view->field;
    if (view->rank != 2)
        return merge_fail(m, op, "a tile of a block must be used as rows and columns"
                          FIX "reshape it to two dimensions");
    if (field->laid) return true;
    bool turned;
    View v = upright(view, &turned);
    DimList constant = fixed_dims(&v, FIXED_CONST, NULL), worker = fixed_dims(&v, FIXED_WORKER, NULL);
    if (worker.count > 1)
        return merge_fail(m, op, "the worker's number picks the tile more than once" FIX "let it index one dimension");
    for (int i = 0; i < constant.count; i++) {
        DimList one = {1, {constant.dim[i]}};
        append(lies_across(m, field, constant.dim[i]) ? &field->cols : &field->rows, &one);
    }
    append(turned ? &field->cols : &field->rows, &worker);
    append(&field->rows, &v.dims[0]);
    append(&field->cols, &v.dims[1]);
    field->stacked = worker.count == 1;
    field->across = field->stacked && turned;
    if (field->stacked && (constant.count || field->type->extent[worker.dim[0]] != m->workers))
        return merge_fail(m, op, "each of the %lld workers must use its own tile of the block"
                          FIX "index the tiles by the worker's number", (long long)m->workers);
    int rank = field->type->rank;
    if (!ends_with(field, &field->rows, rank - 2) || !ends_with(field, &field->cols, rank - 1))
        return merge_fail(m, op, "this part of the block is no whole row or column of its tiles"
                          FIX "take whole tiles");
    field->laid = true;
    return true;
}

static bool same_list(const DimList *a, const DimList *b) {
    return a->count == b->count && !memcmp(a->dim, b->dim, (size_t)a->count * sizeof *a->dim);
}

bool merge_place(const Merge *m, const View *view, FieldBox *box) {
    const RingField *field = view->field;
    *box = (FieldBox){0};
    if (view->rank != 2) return false;
    View v = upright(view, &box->turned);
    DimList down = fixed_dims(&v, FIXED_CONST, &field->rows), across = fixed_dims(&v, FIXED_CONST, &field->cols);
    DimList worker = fixed_dims(&v, FIXED_WORKER, NULL);
    for (int i = 0; i < down.count; i++) box->row += v.at[down.dim[i]] * merge_stride(field, &field->rows, down.dim[i]);
    for (int i = 0; i < across.count; i++)
        box->col += v.at[across.dim[i]] * merge_stride(field, &field->cols, across.dim[i]);
    append(box->turned ? &across : &down, &worker);
    append(&down, &v.dims[0]);
    append(&across, &v.dims[1]);
    int64_t each = worker.count ? m->workers : 1;
    box->rows = merge_extent(field, &v.dims[0]) * (box->turned ? 1 : each);
    box->cols = merge_extent(field, &v.dims[1]) * (box->turned ? each : 1);
    bool lies = same_list(&down, &field->rows) && same_list(&across, &field->cols);
    return lies && (worker.count != 0) == field->stacked;
}

/* The layout that a consumer's put gives: back from the put to the tile that was computed. */
static bool lay_out_put(Merge *m, RingField *field, const Op *put) {
    const Type *whole = field->type, *value = ir_type(m->k, op_operand(put, 1));
    RefList at = op_list(put, 0);
    View v = {.field = field, .rank = value->rank};
    int outer = whole->rank - value->rank;
    for (int d = 0; d < whole->rank; d++) {
        int64_t offset = 0;
        bool constant = !at.count || ir_const_int(m->k, at.at[d], &offset);
        if (d >= outer) {
            if (!constant || offset || value->extent[d - outer] != whole->extent[d])
                return merge_fail(m, put, "a block must be written in whole tiles"
                                  FIX "store a tile that is as large as the block's");
            v.dims[d - outer] = digit(field, d);
        } else if (whole->extent[d] == 1) {
            continue;
        } else if (constant) {
            return merge_fail(m, put, "the tiles of a finish block must be written together"
                              FIX "write a tile_view of all of them");
        } else if (at.at[d] == m->worker) {
            v.fixed[d] = FIXED_WORKER;
        } else {
            return merge_fail(m, put, "only the worker's number may pick the tile that is written"
                              FIX "index it by that number alone");
        }
    }
    Ref source = op_operand(put, 1);
    for (const Op *op = ir_value(m->k, source)->op; op && (op->code == OP_PERMUTE || op->code == OP_RESHAPE);
         op = ir_value(m->k, source)->op) {
        source = op->operands[0];
        const Type *before = ir_type(m->k, source);
        if (op->code == OP_PERMUTE) {
            View back = v;
            const Attr *order = op_attr(op, AT_DIMS);
            for (int d = 0; d < v.rank; d++) back.dims[order->list.at[d]] = v.dims[d];
            v = back;
        } else if (!regroup(&v, before->rank, before->extent)) {
            return merge_fail(m, put, "the tile is cut in a way that does not follow its rows and columns"
                              FIX "cut it into whole rows or columns");
        }
        map_put_number(&m->derived, m->arena, op->results[0], NULL);
    }
    map_put_number(&m->derived, m->arena, UINT64_C(1) << 40 | op_operand(put, 1), (void *)(uintptr_t)source);
    bool turned;
    upright(&v, &turned);
    if (turned)
        return merge_fail(m, put, "a tile must be put as it will lie in memory, not turned"
                          FIX "put it as it is, and turn it where it is read");
    return lay_out(m, put, &v);
}

/* ---- the program ---- */

static bool scan_loads(Merge *m, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_PUT) {
            RingField *field = merge_field(m, op);
            *VEC_PUSH(&field->puts, m->arena) = op;
        }
        for (int i = 0; i < op->region_count; i++) scan_loads(m, op->regions[i]);
    }
    return true;
}

static bool scan_work(Merge *m, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        bool shapes = op->code == OP_GET || op->code == OP_SLICE || op->code == OP_RESHAPE || op->code == OP_PERMUTE;
        if (shapes) {
            if (!trace_view(m, op)) return false;
            continue;
        }
        if (op->code == OP_PUT) {
            RingField *field = merge_field(m, op);
            if (field->puts.count)
                return merge_fail(m, op, "a field of the finish block must be written once"
                                  FIX "combine what is written in registers first");
            *VEC_PUSH(&field->puts, m->arena) = op;
            if (!lay_out_put(m, field, op)) return false;
        }
        for (int i = 0; i < op->operand_count; i++) {
            const View *view = merge_view(m, op->operands[i]);
            if (view && !lay_out(m, op, view)) return false;
        }
        for (int i = 0; i < op->region_count; i++)
            if (!scan_work(m, op->regions[i])) return false;
    }
    return true;
}

bool merge_find_fields(Merge *m) {
    for (const Op *op = m->k->body->first; op; op = op->next) {
        if (op->code != OP_RING) continue;
        const Type *ring = ir_type(m->k, op->results[0]);
        for (int i = 0; i < ring->field_count; i++) {
            RingField *field = ARENA_NEW(m->arena, RingField);
            *field = (RingField){
                .ring = op->results[0], .number = i, .name = ring->fields[i].name, .type = ring->fields[i].type};
            *VEC_PUSH(&m->fields, m->arena) = field;
        }
    }
    return scan_loads(m, m->load->regions[0]) && scan_work(m, m->work);
}
