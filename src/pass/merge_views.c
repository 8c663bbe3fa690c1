/* merge_views.c: the tiles of a ring's record, and the one tile that they are together.
 *
 *     a: [2,64,64], worker w reads [w,0,0]:[1,64,64] as [64,64]     rows 0 1, columns 2: [128,64]
 *     b: [4,64,64], read as permute<1,0,2>, reshape [64,256]        rows 1, columns 0 2: [64,256]
 *     c: [2,4,64,64], worker w writes [64,256] split and permuted   rows 0 2, columns 1 3:
 * [128,256]
 *
 * Slices, permutations and reshapes only move the digits of an index; a view keeps, for each
 * dimension of the tile, the field's dimensions that make it up. How a field is laid out follows
 * from its first use by a consumer (an input) or from the put (an output); a use that is no box of
 * that layout is refused. */
#include "pass/merge.h"

#include <string.h>

RingField *merge_field(const Merge *m, Ref ring, const char *name) {
    for (size_t i = 0; i < m->fields.count; i++)
        if (m->fields.at[i]->ring == ring && !strcmp(m->fields.at[i]->name, name))
            return m->fields.at[i];
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
static DimList digit(const RingField *field, int dim) {
    return (DimList){field->type->extent[dim] > 1, {dim}};
}

/* Regroups all digits, in order, so that the dimensions have these extents; false if a digit would
 * be cut. */
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
        if (to->extent[d] != 1 || v->dims[d].count != 1 || (!constant && at.at[d] != m->worker))
            return false;
        int dim = v->dims[d].dim[0];
        v->fixed[dim] = constant ? FIXED_CONST : FIXED_WORKER;
        v->at[dim] = offset;
        v->dims[d].count = 0;
    }
    return true;
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
        const Op *held = ir_value(m->k, op->operands[0])->op;
        v->field = merge_field(m, held->operands[0], op_text(op, AT_FIELD));
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
            return merge_fail(m, op,
                              "this part of the block is no whole row or column of its tiles");
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

/* Tiles that are used one by one, or one a worker, lie above each other. */
static bool lay_out(Merge *m, const Op *op, const View *v) {
    RingField *field = v->field;
    if (v->rank != 2)
        return merge_fail(m, op, "a tile of a block must be used as rows and columns");
    if (field->laid) return true;
    DimList constant = fixed_dims(v, FIXED_CONST, NULL), worker = fixed_dims(v, FIXED_WORKER, NULL);
    if (worker.count > 1)
        return merge_fail(m, op, "the worker's number picks the tile more than once");
    append(&field->rows, &constant);
    append(&field->rows, &worker);
    append(&field->rows, &v->dims[0]);
    append(&field->cols, &v->dims[1]);
    field->stacked = worker.count == 1;
    if (field->stacked && (constant.count || field->type->extent[worker.dim[0]] != m->workers))
        return merge_fail(m, op, "each of the %lld workers must use its own tile of the block",
                          (long long)m->workers);
    field->laid = true;
    return true;
}

static bool same_list(const DimList *a, const DimList *b) {
    return a->count == b->count && !memcmp(a->dim, b->dim, (size_t)a->count * sizeof *a->dim);
}

bool merge_place(const Merge *m, const View *v, int64_t *row, int64_t *col, int64_t *rows,
                 int64_t *cols) {
    const RingField *field = v->field;
    DimList down = fixed_dims(v, FIXED_CONST, &field->rows),
            across = fixed_dims(v, FIXED_CONST, &field->cols);
    DimList worker = fixed_dims(v, FIXED_WORKER, NULL);
    *row = *col = 0;
    for (int i = 0; i < down.count; i++)
        *row += v->at[down.dim[i]] * merge_stride(field, &field->rows, down.dim[i]);
    for (int i = 0; i < across.count; i++)
        *col += v->at[across.dim[i]] * merge_stride(field, &field->cols, across.dim[i]);
    append(&down, &worker);
    append(&down, &v->dims[0]);
    append(&across, &v->dims[1]);
    *rows = merge_extent(field, &v->dims[0]) * (worker.count ? m->workers : 1);
    *cols = merge_extent(field, &v->dims[1]);
    return v->rank == 2 && same_list(&down, &field->rows) && same_list(&across, &field->cols) &&
           (worker.count != 0) == field->stacked;
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
                return merge_fail(m, put, "a block must be written in whole tiles");
            v.dims[d - outer] = digit(field, d);
        } else if (whole->extent[d] == 1) {
            continue;
        } else if (constant) {
            return merge_fail(
                m, put,
                "the tiles of a finish block must be written together: tile_view of all of them");
        } else if (at.at[d] == m->worker) {
            v.fixed[d] = FIXED_WORKER;
        } else {
            return merge_fail(m, put, "only the worker's number may pick the tile that is written");
        }
    }
    Ref source = op_operand(put, 1);
    for (const Op *op = ir_value(m->k, source)->op;
         op && (op->code == OP_PERMUTE || op->code == OP_RESHAPE);
         op = ir_value(m->k, source)->op) {
        source = op->operands[0];
        const Type *before = ir_type(m->k, source);
        if (op->code == OP_PERMUTE) {
            View back = v;
            const Attr *order = op_attr(op, AT_DIMS);
            for (int d = 0; d < v.rank; d++) back.dims[order->list.at[d]] = v.dims[d];
            v = back;
        } else if (!regroup(&v, before->rank, before->extent)) {
            return merge_fail(m, put,
                              "the tile is cut in a way that does not follow its rows and columns");
        }
        map_put_number(&m->derived, m->arena, op->results[0], NULL);
    }
    map_put_number(&m->derived, m->arena, UINT64_C(1) << 40 | op_operand(put, 1),
                   (void *)(uintptr_t)source);
    return lay_out(m, put, &v);
}

/* ---- the program ---- */

static bool scan_loads(Merge *m, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_PUT) {
            const Op *held = ir_value(m->k, op->operands[0])->op;
            RingField *field = merge_field(m, held->operands[0], op_text(op, AT_FIELD));
            *VEC_PUSH(&field->puts, m->arena) = op;
        }
        for (int i = 0; i < op->region_count; i++) scan_loads(m, op->regions[i]);
    }
    return true;
}

static bool scan_work(Merge *m, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        bool shapes = op->code == OP_GET || op->code == OP_SLICE || op->code == OP_RESHAPE ||
                      op->code == OP_PERMUTE;
        if (shapes) {
            if (!trace_view(m, op)) return false;
            continue;
        }
        if (op->code == OP_PUT) {
            const Op *held = ir_value(m->k, op->operands[0])->op;
            RingField *field = merge_field(m, held->operands[0], op_text(op, AT_FIELD));
            if (field->puts.count)
                return merge_fail(m, op, "a field of the finish block must be written once");
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
                .ring = op->results[0], .name = ring->fields[i].name, .type = ring->fields[i].type};
            *VEC_PUSH(&m->fields, m->arena) = field;
        }
    }
    return scan_loads(m, m->load->regions[0]) && scan_work(m, m->work);
}
