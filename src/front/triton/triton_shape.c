/* SPDX-License-Identifier: Apache-2.0 */
/* triton_shape.c: builtins that make tiles and change their shape or dtype. */
#include "front/triton/triton.h"

#include <string.h>

/* --- making --- */

Val tri_lower_program(Lower *l, const Call *c) {
    int64_t axis;
    if (!py_want_int(l, c, 0, &axis) || !py_need_ir(l, c->range)) return val_error;
    if (axis < 0 || axis > 2) return py_error(l, DIAG_TRI_GRID_AXIS, c->ranges[0], c->builtin->name, (long long)axis);
    Op *op = ir_begin(&l->b, (Opcode)c->builtin->code);
    op_set(l->kernel, op, (Attr){.id = AT_DIM, .number = axis});
    return val_tensor(ir_end(&l->b, op, NULL));
}

/* A wait may come earlier than the source has it: then more is done behind it. So it is a mark on the kernel, and no
 * plan has to keep loads of other roles behind it. */
Val tri_lower_pdl(Lower *l, const Call *c) {
    if (!py_need_ir(l, c->range)) return val_error;
    kernel_set(l->kernel, (Attr){.id = (AttrId)c->builtin->code, .number = 1});
    return val_none;
}

Val tri_lower_arange(Lower *l, const Call *c) {
    int64_t start, end;
    if (!py_want_int(l, c, 0, &start) || !py_want_int(l, c, 1, &end) || !py_need_ir(l, c->range)) return val_error;
    if (end <= start || start < INT32_MIN || end > INT32_MAX)
        return py_error(l, DIAG_TRI_ARANGE, c->range, (long long)start, (long long)end);
    if (end - start > MAX_TILE_ELEMENTS)
        return py_error(l, DIAG_TRI_TILE_SIZE, c->range, arena_printf(l->arena, "[%lld]", (long long)(end - start)),
                        MAX_TILE_ELEMENTS);
    return val_tensor(ir_iota(&l->b, start, end));
}

Val tri_full(Lower *l, int rank, const int64_t *extent, Val value, const Type *dtype, Range range) {
    if (!py_need_ir(l, range)) return val_error;
    value = tri_cast(l, value, dtype, range);
    if (val_failed(value)) return value;
    const Type *type = dtype->pointer ? ty_pointer_tile(l->module, dtype->elem, rank, extent)
                                      : ty_tile(l->module, dtype->elem, rank, extent);
    if (val_type(l, value)->rank)
        return py_error(l, DIAG_EVAL_ARGUMENT, range, "tl.full", "a scalar value", val_describe(l, value));
    return rank == 0 ? value : val_tensor(ir_splat(&l->b, value.ref, type));
}

Val tri_lower_full(Lower *l, const Call *c) {
    int rank, full = c->builtin->code;
    int64_t extent[MAX_RANK];
    const Type *dtype;
    if (!tri_want_shape(l, c, 0, &rank, extent) || !tri_want_dtype(l, c, 1 + full, &dtype)) return val_error;
    return tri_full(l, rank, extent, full ? c->args[1] : val_int(0), dtype, c->range);
}

Val tri_lower_zeros_like(Lower *l, const Call *c) {
    Val v;
    if (!tri_want_tensor(l, c, 0, &v)) return val_error;
    const Type *type = val_type(l, v);
    return tri_full(l, type->rank, type->extent, val_int(0), ty_scalar(l->module, type->elem), c->range);
}

Val tri_lower_pointer_type(Lower *l, const Call *c) {
    const Type *dtype;
    if (!tri_want_dtype(l, c, 0, &dtype)) return val_error;
    if (dtype->pointer) return py_unsupported(l, c->range, "a pointer to pointers");
    return val_dtype(ty_pointer(l->module, dtype->elem));
}

Val tri_lower_cast(Lower *l, const Call *c) {
    Val v;
    const Type *dtype;
    const char *rounding;
    bool bitcast;
    if (!tri_want_tensor(l, c, 0, &v) || !tri_want_dtype(l, c, 1, &dtype) || !py_want_text(l, c, 2, &rounding) ||
        !py_want_bool(l, c, 3, &bitcast))
        return val_error;
    if (bitcast) return tri_bitcast(l, v, dtype, c->range);
    if (!rounding || strcmp(rounding, "rtne") == 0) return tri_cast(l, v, dtype, c->range);
    const Type *type = val_type(l, v);
    bool narrows = elem_is_float(type->elem) && elem_is_float(dtype->elem) &&
                   elem_info[type->elem].bits > elem_info[dtype->elem].bits;
    if (strcmp(rounding, "rtz") != 0 || !narrows || type->pointer || dtype->pointer)
        return py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[2], py_title(l, c->builtin),
                        "'rtne' or 'rtz' on a narrowing float cast", val_describe(l, c->args[2]));
    Op *op = ir_begin(&l->b, OP_CAST);
    ir_operand(&l->b, op, v.ref);
    op_set(l->kernel, op, (Attr){.id = AT_ROUND, .word = ROUND_RZ});
    return val_tensor(ir_end(&l->b, op, ty_with_elem(l->module, type, dtype->elem)));
}

/* --- shape --- */

Val tri_lower_broadcast(Lower *l, const Call *c) {
    Val v[2];
    if (!tri_want_tensor(l, c, 0, &v[0]) || !tri_want_tensor(l, c, 1, &v[1]) || !tri_align(l, &v[0], &v[1], c->range))
        return val_error;
    const Type *common = ty_broadcast(l->module, val_type(l, v[0]), val_type(l, v[1]));
    for (int i = 0; i < 2; i++) v[i] = tri_broadcast_to(l, v[i], common->rank, common->extent, c->range);
    return val_tuple(l, v, 2);
}

Val tri_lower_broadcast_to(Lower *l, const Call *c) {
    Val v;
    int rank;
    int64_t extent[MAX_RANK];
    if (!tri_want_tensor(l, c, 0, &v) || !tri_want_shape(l, c, 1, &rank, extent)) return val_error;
    const Type *type = val_type(l, v);
    if (type->rank && type->rank != rank)
        return py_error(l, DIAG_TRI_BROADCAST_RANK, c->range, val_type_text(l, type), type->rank, rank);
    return tri_broadcast_to(l, v, rank, extent, c->range);
}

Val tri_expand(Lower *l, Val v, int axis) {
    const Type *type = val_type(l, v);
    if (type->rank) return val_tensor(ir_expand(&l->b, v.ref, axis));
    type = ty_with_shape(l->module, type, 1, (int64_t[]){1});
    return val_tensor(ir_splat(&l->b, v.ref, type));
}

Val tri_lower_expand_dims(Lower *l, const Call *c) {
    Val v, axes = c->args[1];
    if (!tri_want_tensor(l, c, 0, &v)) return val_error;
    if (axes.kind != VAL_TUPLE) axes = (Val){.kind = VAL_TUPLE, .items = &c->args[1], .count = 1};
    int rank = val_type(l, v)->rank + axes.count;
    bool chosen[MAX_RANK] = {false}, twice = false;
    int normal[MAX_RANK];
    if (rank > MAX_RANK) return py_error(l, DIAG_TRI_RANK, c->range, MAX_RANK);
    for (int i = 0; i < axes.count; i++) {
        int axis;
        Call one = {c->builtin, c->range, (Val[]){c->args[0], axes.items[i]}, (Range[]){c->ranges[0], c->ranges[1]}};
        if (!tri_want_axis(l, &one, 1, rank, &axis)) return val_error;
        normal[i] = axis;
        twice |= chosen[axis];
        chosen[axis] = true;
    }
    if (twice) {
        Text t = text_new(l->arena);
        for (int i = 0; i < axes.count; i++) text_add(&t, "%s%d", i ? ", " : "", normal[i]);
        return py_error(l, DIAG_TRI_AXES_TWICE, c->ranges[1], t.at);
    }
    for (int d = 0; d < rank; d++)
        if (chosen[d]) v = tri_expand(l, v, d);
    return v;
}

Val tri_slice(Lower *l, Val v, int axis, int64_t from, int64_t extent) {
    const Type *type = val_type(l, v);
    int64_t shape[MAX_RANK];
    Ref at[MAX_RANK];
    for (int d = 0; d < type->rank; d++) {
        shape[d] = d == axis ? extent : type->extent[d];
        at[d] = ir_int(&l->b, EL_I32, d == axis ? from : 0);
    }
    type = ty_with_shape(l->module, type, type->rank, shape);
    return val_tensor(ir_slice(&l->b, v.ref, at, type));
}

Val tri_reshape(Lower *l, Val v, int rank, const int64_t *extent, Range range) {
    const Type *type = val_type(l, v), *want = ty_with_shape(l->module, type, rank, extent);
    if (ty_elements(type) != ty_elements(want))
        return py_error(l, DIAG_TRI_RESHAPE, range, val_type_text(l, type), val_type_text(l, want));
    return val_tensor(ir_reshape(&l->b, v.ref, want));
}

Val tri_lower_reshape(Lower *l, const Call *c) {
    Val v;
    int rank;
    int64_t extent[MAX_RANK];
    if (!tri_want_tensor(l, c, 0, &v) || !tri_want_shape(l, c, 1, &rank, extent)) return val_error;
    return tri_reshape(l, v, rank, extent, c->range);
}

Val tri_lower_ravel(Lower *l, const Call *c) {
    Val v;
    if (!tri_want_tensor(l, c, 0, &v)) return val_error;
    int64_t extent = ty_elements(val_type(l, v));
    return tri_reshape(l, v, 1, &extent, c->range);
}

Val tri_lower_permute(Lower *l, const Call *c) {
    Val v, dims = c->args[1];
    if (!tri_want_tensor(l, c, 0, &v)) return val_error;
    const Type *type = val_type(l, v);
    int64_t order[MAX_RANK];
    if (dims.count == 1 && dims.items[0].kind == VAL_TUPLE) dims = dims.items[0];
    if (dims.count == 0 && c->builtin->code == 0) {
        if (type->rank < 2) return py_error(l, DIAG_TRI_TRANSPOSE, c->range, val_type_text(l, type));
        for (int d = 0; d < type->rank; d++) order[d] = d;
        order[type->rank - 1] = type->rank - 2;
        order[type->rank - 2] = type->rank - 1;
    } else {
        unsigned seen = 0;
        for (int d = 0; d < dims.count && dims.count == type->rank; d++) {
            Val axis = dims.items[d];
            order[d] = axis.kind == VAL_INT ? (int64_t)(axis.i < 0 ? axis.i + type->rank : axis.i) : -1;
            if (order[d] >= 0 && order[d] < type->rank) seen |= 1u << order[d];
        }
        if (dims.count != type->rank || seen != (1u << type->rank) - 1)
            return py_error(l, DIAG_TRI_PERMUTE, c->range, val_text(l, dims), type->rank);
    }
    return val_tensor(ir_permute(&l->b, v.ref, order, type->rank));
}

/* The one element of a tile, as a scalar. */
Val tri_only_element(Lower *l, Val v) {
    if (val_type(l, v)->rank == 0) return v;
    if (val_type(l, v)->pointer) { /* by way of the address */
        const Type *pointer = ty_pointer(l->module, val_type(l, v)->elem);
        v = tri_bitcast(l, v, ty_scalar(l->module, EL_I64), l->b.range);
        return tri_bitcast(l, tri_only_element(l, v), pointer, l->b.range);
    }
    v = tri_reshape(l, v, 1, (int64_t[]){1}, l->b.range);
    return val_tensor(ir_reduce(&l->b, COMBINE_ADD, v.ref, 0));
}

static Val join(Lower *l, Val v[2], Range range) {
    if (!tri_promote(l, &v[0], &v[1], 0, range)) return val_error;
    const Type *common = ty_broadcast(l->module, val_type(l, v[0]), val_type(l, v[1]));
    if (common->rank == MAX_RANK) return py_error(l, DIAG_TRI_RANK, range, MAX_RANK);
    bool scalars = common->rank == 0;
    if (scalars) common = ty_with_shape(l->module, common, 1, (int64_t[]){1});
    int64_t extent[MAX_RANK];
    memcpy(extent, common->extent, sizeof extent);
    extent[common->rank] = 2;
    if (!tri_fits(l, ty_with_shape(l->module, common, common->rank + 1, extent), range)) return val_error;
    for (int i = 0; i < 2; i++) v[i] = tri_broadcast_to(l, v[i], common->rank, common->extent, range);
    Val pair = val_tensor(ir_binary(&l->b, OP_JOIN, v[0].ref, v[1].ref));
    return scalars ? tri_reshape(l, pair, 1, (int64_t[]){2}, range) : pair;
}

Val tri_lower_join(Lower *l, const Call *c) {
    Val v[2];
    if (!tri_want_tensor(l, c, 0, &v[0]) || !tri_want_tensor(l, c, 1, &v[1])) return val_error;
    return join(l, v, c->range);
}

Val tri_lower_interleave(Lower *l, const Call *c) {
    Val v[2];
    if (!tri_want_tensor(l, c, 0, &v[0]) || !tri_want_tensor(l, c, 1, &v[1])) return val_error;
    Val pairs = join(l, v, c->range);
    if (val_failed(pairs)) return pairs;
    const Type *type = val_type(l, pairs);
    if (type->rank == 1) return pairs; /* of two scalars */
    int64_t extent[MAX_RANK];
    memcpy(extent, type->extent, sizeof extent);
    extent[type->rank - 2] *= 2;
    return tri_reshape(l, pairs, type->rank - 1, extent, c->range);
}

Val tri_lower_squeeze(Lower *l, const Call *c) {
    Val v;
    int axis;
    if (!tri_want_tensor(l, c, 0, &v)) return val_error;
    const Type *type = val_type(l, v);
    if (!tri_want_axis(l, c, 1, type->rank, &axis)) return val_error;
    if (type->extent[axis] != 1)
        return py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[1], "tl.squeeze", "an axis of extent 1",
                        val_describe(l, v));
    int64_t extent[MAX_RANK];
    for (int d = 0; d < type->rank - 1; d++) extent[d] = type->extent[d < axis ? d : d + 1];
    return type->rank == 1 ? tri_only_element(l, v) : tri_reshape(l, v, type->rank - 1, extent, c->range);
}

Val tri_lower_item(Lower *l, const Call *c) {
    Val v;
    if (!tri_want_tensor(l, c, 0, &v)) return val_error;
    const Type *type = val_type(l, v);
    if (ty_elements(type) != 1)
        return py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[0], ".item", "a tensor of one element",
                        val_describe(l, v));
    return tri_only_element(l, v);
}

/* The place of (i, j) when each group of size_g rows is walked column by column. */
Val tri_lower_swizzle(Lower *l, const Call *c) {
    const Val *a = c->args;
    Range r = c->range;
    Val place = tri_binary(l, PY_OP_ADD, tri_binary(l, PY_OP_MUL, a[0], a[3], r), a[1], r);
    Val group = tri_binary(l, PY_OP_MUL, a[4], a[3], r); /* elements of a full group */
    Val first = tri_binary(l, PY_OP_MUL, tri_binary(l, PY_OP_FLOORDIV, place, group, r), a[4], r);
    Val rows[] = {tri_binary(l, PY_OP_SUB, a[2], first, r), a[4]};
    if (val_failed(rows[0])) return val_error;
    Val height = py_apply(l, (Val){.kind = VAL_BUILTIN, .builtin = tri_builtin_find("minimum", 'T')}, rows, 2, r);
    Val inside = tri_binary(l, PY_OP_MOD, place, group, r);
    Val i = tri_binary(l, PY_OP_ADD, first, tri_binary(l, PY_OP_MOD, inside, height, r), r);
    Val j = tri_binary(l, PY_OP_FLOORDIV, inside, height, r);
    if (val_failed(i) || val_failed(j)) return val_error;
    return val_tuple(l, (Val[]){i, j}, 2);
}

Val tri_lower_split(Lower *l, const Call *c) {
    Val v;
    if (!tri_want_tensor(l, c, 0, &v)) return val_error;
    const Type *type = val_type(l, v);
    if (type->rank == 0 || type->extent[type->rank - 1] != 2)
        return py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[0], "tl.split", "a last extent of 2", val_describe(l, v));
    Op *op = ir_begin(&l->b, OP_SPLIT);
    ir_operand(&l->b, op, v.ref);
    ir_end(&l->b, op, NULL);
    return val_tuple(l, (Val[]){val_tensor(op->results[0]), val_tensor(op->results[1])}, 2);
}

Val tri_lower_cat(Lower *l, const Call *c) {
    Val v[2];
    int axis;
    if (!tri_want_tensor(l, c, 0, &v[0]) || !tri_want_tensor(l, c, 1, &v[1])) return val_error;
    const Type *a = val_type(l, v[0]), *b = val_type(l, v[1]);
    if (!tri_want_axis(l, c, 3, a->rank, &axis)) return val_error;
    if (a->elem != b->elem || a->pointer != b->pointer)
        return py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[1], py_title(l, c->builtin),
                        arena_printf(l->arena, "tensors of one type (the first is %s)", val_type_text(l, a)),
                        val_describe(l, v[1]));
    bool fits = a->rank == b->rank;
    for (int d = 0; fits && d < a->rank; d++) fits = d == axis || a->extent[d] == b->extent[d];
    if (!fits) return py_error(l, DIAG_TRI_SHAPES, c->range, val_type_text(l, a), val_type_text(l, b));
    int64_t extent[MAX_RANK];
    memcpy(extent, a->extent, sizeof extent);
    extent[axis] += b->extent[axis];
    if (!tri_fits(l, ty_with_shape(l->module, a, a->rank, extent), c->range)) return val_error;
    Op *op = ir_begin(&l->b, OP_CAT);
    ir_operand(&l->b, op, v[0].ref);
    ir_operand(&l->b, op, v[1].ref);
    op_set(l->kernel, op, (Attr){.id = AT_AXIS, .number = axis});
    return val_tensor(ir_end(&l->b, op, NULL));
}

Val tri_along(Lower *l, Opcode code, Val v, int axis) {
    Op *op = ir_begin(&l->b, code);
    ir_operand(&l->b, op, v.ref);
    op_set(l->kernel, op, (Attr){.id = AT_AXIS, .number = axis});
    return val_tensor(ir_end(&l->b, op, NULL));
}

Val tri_lower_flip(Lower *l, const Call *c) {
    Val v;
    int axis = -1;
    if (!tri_want_tensor(l, c, 0, &v)) return val_error;
    int rank = val_type(l, v)->rank;
    if (c->args[1].kind == VAL_NONE)
        axis = rank - 1;
    else if (!tri_want_axis(l, c, 1, rank, &axis))
        return val_error;
    return axis < 0 ? v : tri_along(l, OP_FLIP, v, axis);
}
