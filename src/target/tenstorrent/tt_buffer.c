/* SPDX-License-Identifier: Apache-2.0 */
/* tt_buffer.c: which DRAM buffers there are: one for each tensor, paging, grain and fill of the loads, and one for the
 * stores.
 *
 * So in-place kernels read what was there before the launch, which is what tasks without order may rely on. Where a
 * tensor lies and ends follows from arguments and the grid, but for one dimension that may go as far as the memory. */
#include "analysis/facts.h"
#include "ir/roots.h"
#include "target/tenstorrent/tt_emit.h"

#include <string.h>

/* The address at which a tensor begins: a pointer, or a parameter that is a tensor itself. */
static Ref base_of(const Tt *tt, Ref tensor) {
    const Op *op = ir_value(tt->k, tensor)->op;
    return op && op->code == OP_TENSOR ? op_operand(op, 0) : tensor;
}

/* Is it the same for all tasks? */
static bool is_launch_value(const Tt *tt, Ref ref) {
    if (!ref_is_value(ref)) return true;
    const Value *v = ir_value(tt->k, ref);
    return (v->op ? v->op->parent : v->region) == tt->k->body;
}

/* How far the boxes of a tensor reach along a dimension, where they all begin at fixed places; -1: they do not. */
static int64_t reach(const Tt *tt, const Region *region, Ref tensor, int dim) {
    int64_t most = 0;
    for (const Op *op = region->first; op && most >= 0; op = op->next) {
        int64_t end = 0;
        if ((op->code == OP_TLOAD || op->code == OP_TSTORE) && op->operands[0] == tensor) {
            int dims[MAX_RANK];
            Ref offset = op_list(op, 0).at[dim];
            const Type *tile = ir_type(tt->k, op->code == OP_TLOAD ? op->results[0] : op_operand(op, 1));
            tt_access_dims(tt, op, dims);
            if (!ir_const_int(tt->k, offset, &end) || end < 0) return -1;
            int64_t extent = 1;
            for (int axis = 0; axis < tile->rank; axis++)
                if (dims[axis] == dim) extent = tile->extent[axis];
            end += extent;
        }
        for (int i = 0; i < op->region_count && end >= 0; i++) {
            int64_t inner = reach(tt, op->regions[i], tensor, dim);
            end = inner < 0 || inner > end ? inner : end;
        }
        most = end < 0 || end > most ? end : most;
    }
    return most;
}

/* Where it ends must follow from the kernel, but for one dimension: that goes as far as the memory. If there are more,
 * those end where the last box ends. */
static bool close_extents(Tt *tt, Ref tensor, TtBuffer *buffer) {
    int open = 0;
    for (int d = 0; d < buffer->layout.rank; d++) open += buffer->open[d];
    for (int d = buffer->layout.rank - 1; d >= 0 && open > 1; d--) {
        int64_t end = buffer->open[d] ? reach(tt, tt->k->body, tensor, d) : -1;
        if (end < 0) continue;
        buffer->open[d] = false;
        buffer->extent[d] = tt_add_value(tt, ir_literal_int(tt->k, ty_scalar(tt->k->module, EL_I64), end));
        open--;
    }
    return open <= 1;
}

static bool place_tensor(Tt *tt, Ref tensor, TtBuffer *buffer) {
    const Value *v = ir_value(tt->k, tensor);
    int rank = v->type->rank;
    if (!v->op) {
        buffer->base = tt_add_number(tt, (TtNumber){.kind = NUMBER_ADDRESS, .arg = v->index});
        for (int d = 0; d < rank; d++) {
            buffer->extent[d] = tt_add_number(tt, (TtNumber){.kind = NUMBER_EXTENT, .arg = v->index, .dim = d});
            buffer->stride[d] = tt_add_number(tt, (TtNumber){.kind = NUMBER_STRIDE, .arg = v->index, .dim = d});
        }
        return true;
    }
    if (v->op->code != OP_TENSOR || !is_launch_value(tt, op_operand(v->op, 0))) return false;
    RefList extents = op_list(v->op, 0), strides = op_list(v->op, 1);
    buffer->base = tt_add_value(tt, op_operand(v->op, 0));
    for (int d = 0; d < rank; d++) {
        if (!is_launch_value(tt, extents.at[d]) || !is_launch_value(tt, strides.at[d])) return false;
        buffer->open[d] = extents.at[d] == REF_NONE;
        if (!buffer->open[d]) buffer->extent[d] = tt_add_value(tt, extents.at[d]);
        buffer->stride[d] = tt_add_value(tt, strides.at[d]);
    }
    return true;
}

/* Of the same tensor. */
static bool same_buffer(const TtBuffer *a, const TtBuffer *b) {
    bool same = a->output == b->output && memcmp(&a->fill, &b->fill, sizeof a->fill) == 0 &&
                a->layout.paging == b->layout.paging && a->layout.row == b->layout.row &&
                a->layout.column == b->layout.column;
    for (int d = 0; same && d < a->layout.rank; d++) same = a->layout.grain[d] == b->layout.grain[d];
    return same;
}

static bool check_offsets(Tt *tt, const Op *access, const TtLayout *layout) {
    RefList offsets = op_list(access, 0);
    bool good = true;
    for (int d = 0; d < offsets.count; d++) {
        if (d == tt_indexed_dim(tt, access)) continue; /* any row */
        if (fact_multiple(tt->k, offsets.at[d]) % layout->grain[d] == 0) continue;
        diag_emit(tt->cx->module->diag, DIAG_TT_OFFSET, access->range, d, (long long)layout->grain[d]);
        good = false;
    }
    return good;
}

static void note_f16(Tt *tt, const char *name) {
    diag_emit(tt->cx->module->diag, DIAG_TT_F16, tt->k->range, name);
    *VEC_PUSH(&tt->plan->notes, tt->arena) =
        arena_printf(tt->arena, "f16 tensor %s travels as Float16_b: 8 significant bits instead of 11", name);
}

int tt_buffer(Tt *tt, const Op *access, TtPaging paging) {
    Ref tensor = access->operands[0];
    bool is_load = access->code == OP_TLOAD;
    const Type *tile = ir_type(tt->k, is_load ? access->results[0] : op_operand(access, 1));
    TtBuffer buffer = {.output = !is_load, .elem = tile->elem, .arg = roots_only(tt->k, tt->arena, tensor)};
    int dims[MAX_RANK];
    Ref mask = op_operand(access, is_load ? 1 : 2);
    const Attr *fill = op_attr(access, AT_FILL);
    if (mask) {
        tt_refuse(tt, access, "a mask that is no box of the tensor; compare each index with its extent only");
        return -1;
    }
    int indexed = tt_indexed_dim(tt, access);
    if (indexed >= 0 && !is_load) {
        tt_refuse(tt, access,
                  "a store of rows that an index vector chooses; pages are written whole, store one box a row");
        return -1;
    }
    if (op_attr(access, AT_WRAP)) {
        tt_refuse(tt, access, "an index taken modulo the extent; pages cannot wrap, clip it by a mask");
        return -1;
    }
    if (fill && !ref_is_literal(fill->ref)) {
        tt_refuse(tt, access, "a fill value that is not constant");
        return -1;
    }
    if (fill) tt_padding(tt, fill->ref, &buffer.fill);
    bool is_vector = is_load && elem_is_int(tile->elem) && paging == PAGE_VECTOR; /* of indices (tt_rows.c) */
    if (is_vector)
        buffer.format = TT_Int32;
    else if (!tt_format(tile->elem, &buffer.format)) {
        tt_refuse(tt, access, "tensors of %s; use f32, bf16 or f16", elem_info[tile->elem].text);
        return -1;
    }
    tt_access_dims(tt, access, dims);
    buffer.layout = tt_layout(ir_type(tt->k, tensor)->rank, dims, tile, paging);
    if (indexed >= 0) {
        uint32_t least = tensix_limits(tt->plan->options.arch)->dram_alignment;
        int bytes = ty_elem_bytes(tile) * PAGE_SIDE / 2;
        if (tile->rank != 2 || buffer.layout.row != indexed) {
            tt_refuse(tt, access,
                      "an index vector that does not choose rows of a tile of rank 2: those are read one by one, "
                      "single elements and columns are not");
            return -1;
        }
        if ((uint32_t)bytes % least) {
            tt_refuse(tt, access,
                      "rows of %s that an index vector chooses: half a row of a page has %d bytes, and this chip "
                      "reads its memory by %u; use f32",
                      elem_info[tile->elem].text, bytes, least);
            return -1;
        }
        buffer.layout.grain[indexed] = PAGE_SIDE;
    }
    if (!check_offsets(tt, access, &buffer.layout)) return -1;
    for (size_t i = 0; i < tt->plan->buffers.count; i++)
        if (tt->buffer_tensors.at[i] == tensor && same_buffer(&buffer, &tt->plan->buffers.at[i])) return (int)i;
    if (buffer.arg < 0 || !place_tensor(tt, tensor, &buffer)) {
        tt_refuse(tt, access, "a tensor whose base, extents or strides differ between tasks");
        return -1;
    }
    if (!close_extents(tt, tensor, &buffer)) {
        tt_refuse(tt, access,
                  "a box of a tensor whose end is not known along two dimensions; compare the "
                  "indices with its extents in the mask, at least for the columns");
        return -1;
    }
    for (size_t i = 0; i < tt->plan->buffers.count && !is_load; i++)
        if (tt->plan->buffers.at[i].output && base_of(tt, tt->buffer_tensors.at[i]) == base_of(tt, tensor)) {
            tt_refuse(tt, access,
                      "a second store to the same array in another way: pages of one layout are "
                      "written back; give both stores tiles of one shape and the same bounds in "
                      "their masks");
            return -1;
        }
    const char *param = ir_value(tt->k, tt->k->body->args[buffer.arg])->name;
    buffer.name = param ? arena_string(tt->arena, param, strlen(param)) : arena_printf(tt->arena, "arg%d", buffer.arg);
    if (buffer.elem == EL_F16) note_f16(tt, buffer.name);
    *VEC_PUSH(&tt->buffer_tensors, tt->arena) = tensor;
    *VEC_PUSH(&tt->plan->buffers, tt->arena) = buffer;
    return (int)tt->plan->buffers.count - 1;
}
