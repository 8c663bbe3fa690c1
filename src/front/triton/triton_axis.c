/* SPDX-License-Identifier: Apache-2.0 */
/* triton_axis.c: builtins that work along an axis of a tile: reductions by name, running sums,
 * sorts, histograms, gathers, softmax.
 *
 * What Triton widens is widened here: sums of small integers to 32 bits, bfloat16 in maxima and
 * running sums to float32, all small numbers in maxima without indices. Floats keep their type in
 * sums, so a float16 sum rounds at every step, as in Triton.
 *
 *     tl.max(x, axis=1, return_indices=True)   reduce<max, axis=1>, reduce<argmax, axis=1> */
#include "front/triton/triton.h"

/* Reduces along the axis argument, or over all elements when it is None. */
static Val reduce(Lower *l, const Call *c, Val v, int axis_arg, bool keep, bool nan, Word combine) {
    const Type *type = val_type(l, v);
    int rank = type->rank, axis = 0;
    if (rank == 0)
        return combine == COMBINE_ARGMAX || combine == COMBINE_ARGMIN ? val_tensor(ir_int(&l->b, EL_I32, 0)) : v;
    bool all = c->args[axis_arg].kind == VAL_NONE;
    if (!all && !tri_want_axis(l, c, axis_arg, rank, &axis)) return val_error;
    if (all && rank > 1) {
        int64_t extent = ty_elements(type);
        v = tri_reshape(l, v, 1, &extent, c->range);
    }
    v = val_tensor(ir_reduce(&l->b, combine, v.ref, axis));
    if (nan && elem_is_float(type->elem))
        op_set(l->kernel, ir_value(l->kernel, v.ref)->op, (Attr){.id = AT_NAN, .word = NAN_KEEP});
    if (!keep) return v;
    for (int d = 0; d < (all ? rank : 1); d++) v = val_tensor(ir_expand(&l->b, v.ref, all ? 0 : axis));
    return v;
}

static bool is_number_tile(Lower *l, const Call *c, Val v) {
    if (!val_type(l, v)->pointer) return true;
    py_error(l, DIAG_EVAL_OPERAND, c->ranges[0], c->builtin->name, val_describe(l, v), "");
    return false;
}

/* Sums of small integers widen to 32 bits; floats keep their type, as in Triton. */
static Val widen_sum(Lower *l, Val v, Val dtype, Range range) {
    if (dtype.kind == VAL_DTYPE) return tri_cast(l, v, dtype.dtype, range);
    Elem elem = val_type(l, v)->elem;
    if (elem_is_float(elem) || elem_info[elem].bits >= 32) return v;
    return tri_cast(l, v, ty_scalar(l->module, elem_is_signed(elem) ? EL_I32 : EL_U32), range);
}

Val tri_lower_sum(Lower *l, const Call *c) {
    Val v;
    bool keep;
    if (!tri_want_tensor(l, c, 0, &v) || !is_number_tile(l, c, v) || !py_want_bool(l, c, 2, &keep)) return val_error;
    v = widen_sum(l, v, c->args[3], c->range);
    return val_failed(v) ? v : reduce(l, c, v, 1, keep, false, COMBINE_ADD);
}

/* Small numbers widen to 32 bits, except where indices are asked for, where only bfloat16 does. */
static Val widen_extreme(Lower *l, Val v, bool indices, Range range) {
    Elem elem = val_type(l, v)->elem;
    if (elem == EL_BF16) return tri_cast(l, v, ty_scalar(l->module, EL_F32), range);
    if (indices || elem_info[elem].bits >= 32) return v;
    return tri_cast(l, v, ty_scalar(l->module, elem_is_float(elem) ? EL_F32 : EL_I32), range);
}

/* The index of the extreme; of several one, which may as well be the first. */
static Val arg_extreme(Lower *l, const Call *c, Val v, bool keep, bool nan, bool largest) {
    if (val_type(l, v)->elem == EL_I1) v = tri_cast(l, v, ty_scalar(l->module, EL_I32), c->range);
    return reduce(l, c, v, 1, keep, nan, largest ? COMBINE_ARGMAX : COMBINE_ARGMIN);
}

Val tri_lower_extreme(Lower *l, const Call *c) {
    Val v;
    bool indices, left, keep, nan, largest = c->builtin->code == COMBINE_MAX;
    if (!tri_want_tensor(l, c, 0, &v) || !is_number_tile(l, c, v) || !py_want_bool(l, c, 2, &indices) ||
        !py_want_bool(l, c, 3, &left) || !py_want_bool(l, c, 4, &keep) || !py_want_bool(l, c, 5, &nan))
        return val_error;
    v = widen_extreme(l, v, indices, c->range);
    Word combine = (Word)c->builtin->code;
    if (val_type(l, v)->elem == EL_I1) combine = largest ? COMBINE_OR : COMBINE_AND;
    Val best = reduce(l, c, v, 1, keep, nan, combine);
    if (!indices || val_failed(best)) return best;
    Val at = arg_extreme(l, c, v, keep, nan, largest);
    return val_tuple(l, (Val[]){best, at}, 2);
}

Val tri_lower_arg_extreme(Lower *l, const Call *c) {
    Val v;
    bool left, keep;
    if (!tri_want_tensor(l, c, 0, &v) || !is_number_tile(l, c, v) || !py_want_bool(l, c, 2, &left) ||
        !py_want_bool(l, c, 3, &keep))
        return val_error;
    v = widen_extreme(l, v, true, c->range);
    return arg_extreme(l, c, v, keep, false, c->builtin->code == COMBINE_ARGMAX);
}

Val tri_lower_fold(Lower *l, const Call *c) {
    Val v;
    bool keep;
    if (!tri_want_tensor(l, c, 0, &v) || !py_want_bool(l, c, 2, &keep)) return val_error;
    const Type *type = val_type(l, v);
    if (type->pointer || elem_is_float(type->elem))
        return py_error(l, DIAG_EVAL_OPERAND, c->ranges[0], c->builtin->name, val_describe(l, v), "");
    return reduce(l, c, v, 1, keep, false, (Word)c->builtin->code);
}

Val tri_lower_cumulate(Lower *l, const Call *c) {
    Val v;
    int axis;
    bool reverse, sum = c->builtin->code == COMBINE_ADD;
    if (!tri_want_tensor(l, c, 0, &v) || !is_number_tile(l, c, v) || !py_want_bool(l, c, 2, &reverse))
        return val_error;
    if (!tri_want_axis(l, c, 1, val_type(l, v)->rank, &axis)) return val_error;
    if (val_type(l, v)->elem == EL_BF16) v = tri_cast(l, v, ty_scalar(l->module, EL_F32), c->range);
    if (sum) v = widen_sum(l, v, c->args[3], c->range);
    if (val_failed(v)) return v;
    Op *op = ir_begin(&l->b, OP_SCAN);
    ir_operand(&l->b, op, v.ref);
    op_set(l->kernel, op, (Attr){.id = AT_COMBINE, .word = (Word)c->builtin->code});
    op_set(l->kernel, op, (Attr){.id = AT_AXIS, .number = axis});
    if (reverse) op_set(l->kernel, op, (Attr){.id = AT_REVERSE, .number = 1});
    return val_tensor(ir_end(&l->b, op, NULL));
}

/* --- sorts --- */

/* The axis argument, or the last axis. */
static bool want_last(Lower *l, const Call *c, int arg, int rank, int *axis) {
    if (rank == 0) {
        py_error(l, DIAG_TRI_AXIS, c->range, 0, 0);
        return false;
    }
    *axis = rank - 1;
    return c->args[arg].kind == VAL_NONE || tri_want_axis(l, c, arg, rank, axis);
}

static Val sort(Lower *l, Val v, int axis, bool descending) {
    v = tri_along(l, OP_SORT, v, axis);
    if (descending) op_set(l->kernel, ir_value(l->kernel, v.ref)->op, (Attr){.id = AT_DESC, .number = 1});
    return v;
}

/* sort, and bitonic_merge, whose operand is half sorted already: the same numbers come out. */
Val tri_lower_sort(Lower *l, const Call *c) {
    Val v;
    int axis;
    bool descending;
    if (!tri_want_tensor(l, c, 0, &v) || !is_number_tile(l, c, v) ||
        !want_last(l, c, 1, val_type(l, v)->rank, &axis) || !py_want_bool(l, c, 2, &descending))
        return val_error;
    return sort(l, v, axis, descending);
}

Val tri_lower_topk(Lower *l, const Call *c) {
    Val v;
    int axis;
    int64_t k;
    if (!tri_want_tensor(l, c, 0, &v) || !is_number_tile(l, c, v) || !py_want_int(l, c, 1, &k) ||
        !want_last(l, c, 2, val_type(l, v)->rank, &axis))
        return val_error;
    int64_t n = val_type(l, v)->extent[axis];
    if (k < 1 || k > n)
        return py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[1], "tl.topk",
                        arena_printf(l->arena, "a k in 1 .. %lld", (long long)n), val_describe(l, c->args[1]));
    if (k < n) v = widen_extreme(l, v, false, c->range); /* Triton selects with tl.max */
    v = sort(l, v, axis, true);
    return k < n ? tri_slice(l, v, axis, 0, k) : v;
}

/* --- histogram, gather, softmax --- */

Val tri_lower_histogram(Lower *l, const Call *c) {
    Val v, mask = c->args[2];
    int64_t bins;
    if (!tri_want_tensor(l, c, 0, &v) || !py_want_int(l, c, 1, &bins)) return val_error;
    const Type *type = val_type(l, v);
    if (type->pointer || !elem_is_int(type->elem) || type->rank != 1)
        return py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[0], "tl.histogram", "integers along one axis",
                        val_describe(l, v));
    if (bins < 1 || bins > MAX_TILE_ELEMENTS)
        return py_error(l, DIAG_TRI_TILE_SIZE, c->ranges[1], arena_printf(l->arena, "[%lld]", (long long)bins),
                        MAX_TILE_ELEMENTS);
    if (mask.kind != VAL_NONE) { /* masked off: below every bin */
        Elem wide = elem_info[type->elem].bits < 32 ? EL_I32 : EL_I64;
        if (type->elem == EL_I32) wide = EL_I32;
        if (!tri_want_tensor(l, c, 2, &mask)) return val_error;
        if (val_type(l, mask)->elem != EL_I1 || val_type(l, mask)->pointer)
            return py_error(l, DIAG_TRI_MASK, c->ranges[2], val_describe(l, mask));
        v = tri_cast(l, v, ty_scalar(l->module, wide), c->range);
        if (!tri_align(l, &mask, &v, c->range)) return val_error;
        mask = tri_broadcast_to(l, mask, 1, type->extent, c->ranges[2]);
        if (val_failed(mask)) return mask;
        v = val_tensor(ir_ternary(&l->b, OP_SELECT, mask.ref, v.ref, ir_int(&l->b, wide, -1)));
    }
    Op *op = ir_begin(&l->b, OP_HISTOGRAM);
    ir_operand(&l->b, op, v.ref);
    op_set(l->kernel, op, (Attr){.id = AT_BINS, .number = bins});
    return val_tensor(ir_end(&l->b, op, NULL));
}

Val tri_lower_gather(Lower *l, const Call *c) {
    Val v, index;
    int axis;
    if (!tri_want_tensor(l, c, 0, &v) || !is_number_tile(l, c, v) || !tri_want_tensor(l, c, 1, &index))
        return val_error;
    const Type *type = val_type(l, v), *at = val_type(l, index);
    if (!tri_want_axis(l, c, 2, type->rank, &axis)) return val_error;
    if (at->pointer || !elem_is_int(at->elem))
        return py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[1], "tl.gather", "integer indices",
                        val_describe(l, index));
    bool fits = at->rank == type->rank;
    for (int d = 0; fits && d < type->rank; d++) fits = d == axis || at->extent[d] == type->extent[d];
    if (!fits) return py_error(l, DIAG_TRI_GATHER, c->range, val_type_text(l, type), val_type_text(l, at), axis);
    Op *op = ir_begin(&l->b, OP_GATHER);
    ir_operand(&l->b, op, v.ref);
    ir_operand(&l->b, op, index.ref);
    op_set(l->kernel, op, (Attr){.id = AT_AXIS, .number = axis});
    return val_tensor(ir_end(&l->b, op, NULL));
}

/* exp(x - max(x)) over its sum; the axis is 0 unless told. */
Val tri_lower_softmax(Lower *l, const Call *c) {
    Val x;
    bool keep, exact;
    int axis = 0;
    if (!tri_want_tensor(l, c, 0, &x) || !is_number_tile(l, c, x) || !py_want_bool(l, c, 2, &keep) ||
        !py_want_bool(l, c, 3, &exact))
        return val_error;
    const Type *type = val_type(l, x);
    if (c->args[1].kind != VAL_NONE && !tri_want_axis(l, c, 1, type->rank, &axis)) return val_error;
    if (type->rank == 0) return py_error(l, DIAG_TRI_AXIS, c->range, 0, 0);
    Call at = {c->builtin, c->range, (Val[]){x, val_int(axis)}, (Range[]){c->range, c->range}};
    Val top = reduce(l, &at, widen_extreme(l, x, false, c->range), 1, keep, false, COMBINE_MAX);
    Val e = tri_binary(l, PY_OP_SUB, x, top, c->range);
    if (val_failed(e)) return e;
    e = py_apply(l, (Val){.kind = VAL_BUILTIN, .builtin = tri_builtin_find("exp", 'M')}, &e, 1, c->range);
    if (val_failed(e)) return e;
    Val sum = reduce(l, &at, e, 1, keep, false, COMBINE_ADD);
    Val args[] = {e, sum, val_bool(exact)};
    return py_apply(l, (Val){.kind = VAL_BUILTIN, .builtin = tri_builtin_find("fdiv", 'M')}, args, 3, c->range);
}
