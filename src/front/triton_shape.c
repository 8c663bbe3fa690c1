/* triton_shape.c: tri_builtins that make tiles, change their shape or dtype, reduce them, and
 * multiply matrices. */
#include "front/triton.h"

#include <string.h>

/* --- making --- */

Val tri_lower_program(Lower *l, const Call *c) {
    int64_t axis;
    if (!tri_want_int(l, c, 0, &axis) || !tri_need_ir(l, c->range)) return val_error;
    if (axis < 0 || axis > 2) return tri_error(l, DIAG_TRI_AXIS, c->ranges[0], (int)axis, 3);
    Op *op = ir_begin(&l->b, (Opcode)c->builtin->code);
    op_set(l->kernel, op, (Attr){.id = AT_DIM, .number = axis});
    return tri_val_tensor(ir_end(&l->b, op, NULL));
}

Val tri_lower_arange(Lower *l, const Call *c) {
    int64_t start, end;
    if (!tri_want_int(l, c, 0, &start) || !tri_want_int(l, c, 1, &end) || !tri_need_ir(l, c->range))
        return val_error;
    if (end <= start || start < INT32_MIN || end > INT32_MAX)
        return tri_error(l, DIAG_TRI_ARANGE, c->range, (long long)start, (long long)end);
    if (end - start > MAX_TILE_ELEMENTS)
        return tri_error(l, DIAG_TRI_TILE_SIZE, c->range,
                         arena_printf(l->arena, "[%lld]", (long long)(end - start)),
                         MAX_TILE_ELEMENTS);
    return tri_val_tensor(ir_iota(&l->b, start, end));
}

static Val make_full(Lower *l, int rank, const int64_t *extent, Val value, const Type *dtype,
                     Range range) {
    if (!tri_need_ir(l, range)) return val_error;
    value = tri_cast(l, value, dtype, range);
    if (tri_val_failed(value)) return value;
    const Type *type = dtype->pointer ? ty_pointer_tile(l->module, dtype->elem, rank, extent)
                                      : ty_tile(l->module, dtype->elem, rank, extent);
    if (tri_val_type(l, value)->rank)
        return tri_error(l, DIAG_TRI_ARGUMENT, range, "full", "a scalar value",
                         tri_val_describe(l, value));
    return rank == 0 ? value : tri_val_tensor(ir_splat(&l->b, value.ref, type));
}

Val tri_lower_full(Lower *l, const Call *c) {
    int rank, full = c->builtin->code;
    int64_t extent[MAX_RANK];
    const Type *dtype;
    if (!tri_want_shape(l, c, 0, &rank, extent) || !tri_want_dtype(l, c, 1 + full, &dtype))
        return val_error;
    return make_full(l, rank, extent, full ? c->args[1] : tri_val_int(0), dtype, c->range);
}

Val tri_lower_zeros_like(Lower *l, const Call *c) {
    Val v;
    if (!tri_want_tensor(l, c, 0, &v)) return val_error;
    const Type *type = tri_val_type(l, v);
    return make_full(l, type->rank, type->extent, tri_val_int(0), ty_scalar(l->module, type->elem),
                     c->range);
}

Val tri_lower_pointer_type(Lower *l, const Call *c) {
    const Type *dtype;
    if (!tri_want_dtype(l, c, 0, &dtype)) return val_error;
    if (dtype->pointer)
        return tri_error(l, DIAG_TRI_UNSUPPORTED, c->range, "a pointer to pointers");
    return tri_val_dtype(ty_pointer(l->module, dtype->elem));
}

Val tri_lower_cast(Lower *l, const Call *c) {
    Val v;
    const Type *dtype;
    const char *rounding;
    bool bitcast;
    if (!tri_want_tensor(l, c, 0, &v) || !tri_want_dtype(l, c, 1, &dtype) ||
        !tri_want_text(l, c, 2, &rounding) || !tri_want_bool(l, c, 3, &bitcast))
        return val_error;
    if (bitcast) return tri_bitcast(l, v, dtype, c->range);
    if (!rounding || strcmp(rounding, "rtne") == 0) return tri_cast(l, v, dtype, c->range);
    const Type *type = tri_val_type(l, v);
    bool narrows = elem_is_float(type->elem) && elem_is_float(dtype->elem) &&
                   elem_info[type->elem].bits > elem_info[dtype->elem].bits;
    if (strcmp(rounding, "rtz") != 0 || !narrows || type->pointer || dtype->pointer)
        return tri_error(l, DIAG_TRI_ARGUMENT, c->ranges[2], c->builtin->name,
                         "'rtne' or 'rtz' on a narrowing float cast",
                         tri_val_describe(l, c->args[2]));
    Op *op = ir_begin(&l->b, OP_CAST);
    ir_operand(&l->b, op, v.ref);
    op_set(l->kernel, op, (Attr){.id = AT_ROUND, .word = ROUND_RZ});
    return tri_val_tensor(ir_end(&l->b, op, ty_with_elem(l->module, type, dtype->elem)));
}

/* --- shape --- */

Val tri_lower_broadcast(Lower *l, const Call *c) {
    Val v[2];
    if (!tri_want_tensor(l, c, 0, &v[0]) || !tri_want_tensor(l, c, 1, &v[1]) ||
        !tri_align(l, &v[0], &v[1], c->range))
        return val_error;
    const Type *common = ty_broadcast(l->module, tri_val_type(l, v[0]), tri_val_type(l, v[1]));
    for (int i = 0; i < 2; i++)
        v[i] = tri_broadcast_to(l, v[i], common->rank, common->extent, c->range);
    return tri_val_tuple(l, v, 2);
}

Val tri_lower_broadcast_to(Lower *l, const Call *c) {
    Val v;
    int rank;
    int64_t extent[MAX_RANK];
    if (!tri_want_tensor(l, c, 0, &v) || !tri_want_shape(l, c, 1, &rank, extent)) return val_error;
    return tri_broadcast_to(l, v, rank, extent, c->range);
}

Val tri_lower_expand_dims(Lower *l, const Call *c) {
    Val v, axes = c->args[1];
    if (!tri_want_tensor(l, c, 0, &v)) return val_error;
    if (axes.kind != VAL_TUPLE) axes = (Val){.kind = VAL_TUPLE, .items = &c->args[1], .count = 1};
    int rank = tri_val_type(l, v)->rank + axes.count;
    bool chosen[MAX_RANK] = {false};
    if (rank > MAX_RANK) return tri_error(l, DIAG_TRI_RANK, c->range, MAX_RANK);
    for (int i = 0; i < axes.count; i++) {
        int axis;
        Call one = {c->builtin, c->range, (Val[]){c->args[0], axes.items[i]},
                    (Range[]){c->ranges[0], c->ranges[1]}};
        if (!tri_want_axis(l, &one, 1, rank, &axis)) return val_error;
        chosen[axis] = true;
    }
    for (int d = 0; d < rank; d++)
        if (chosen[d]) v = tri_val_tensor(ir_expand(&l->b, v.ref, d));
    return v;
}

static Val reshape(Lower *l, Val v, int rank, const int64_t *extent, Range range) {
    const Type *type = tri_val_type(l, v), *want = ty_with_shape(l->module, type, rank, extent);
    if (ty_elements(type) != ty_elements(want))
        return tri_error(l, DIAG_TRI_RESHAPE, range, tri_type_text(l, type),
                         tri_type_text(l, want));
    return tri_val_tensor(ir_reshape(&l->b, v.ref, want));
}

Val tri_lower_reshape(Lower *l, const Call *c) {
    Val v;
    int rank;
    int64_t extent[MAX_RANK];
    if (!tri_want_tensor(l, c, 0, &v) || !tri_want_shape(l, c, 1, &rank, extent)) return val_error;
    return reshape(l, v, rank, extent, c->range);
}

Val tri_lower_ravel(Lower *l, const Call *c) {
    Val v;
    if (!tri_want_tensor(l, c, 0, &v)) return val_error;
    int64_t extent = ty_elements(tri_val_type(l, v));
    return reshape(l, v, 1, &extent, c->range);
}

Val tri_lower_permute(Lower *l, const Call *c) {
    Val v, dims = c->args[1];
    if (!tri_want_tensor(l, c, 0, &v)) return val_error;
    const Type *type = tri_val_type(l, v);
    int64_t order[MAX_RANK];
    if (dims.count == 1 && dims.items[0].kind == VAL_TUPLE) dims = dims.items[0];
    if (dims.count == 0 && c->builtin->code == 0) {
        if (type->rank < 2)
            return tri_error(l, DIAG_TRI_TRANSPOSE, c->range, tri_type_text(l, type));
        for (int d = 0; d < type->rank; d++) order[d] = d;
        order[type->rank - 1] = type->rank - 2;
        order[type->rank - 2] = type->rank - 1;
    } else {
        unsigned seen = 0;
        for (int d = 0; d < dims.count && dims.count == type->rank; d++) {
            Val axis = dims.items[d];
            order[d] =
                axis.kind == VAL_INT ? (int64_t)(axis.i < 0 ? axis.i + type->rank : axis.i) : -1;
            if (order[d] >= 0 && order[d] < type->rank) seen |= 1u << order[d];
        }
        if (dims.count != type->rank || seen != (1u << type->rank) - 1)
            return tri_error(l, DIAG_TRI_PERMUTE, c->range, tri_val_text(l, dims), type->rank);
    }
    return tri_val_tensor(ir_permute(&l->b, v.ref, order, type->rank));
}

Val tri_lower_join(Lower *l, const Call *c) {
    Val v[2];
    if (!tri_want_tensor(l, c, 0, &v[0]) || !tri_want_tensor(l, c, 1, &v[1]) ||
        !tri_promote(l, &v[0], &v[1], 0, c->range))
        return val_error;
    const Type *common = ty_broadcast(l->module, tri_val_type(l, v[0]), tri_val_type(l, v[1]));
    if (common->rank == 0 || common->rank == MAX_RANK)
        return tri_error(l, DIAG_TRI_UNSUPPORTED, c->range, "`join` of scalars");
    int64_t extent[MAX_RANK];
    memcpy(extent, common->extent, sizeof extent);
    extent[common->rank] = 2;
    if (!tri_fits(l, ty_with_shape(l->module, common, common->rank + 1, extent), c->range))
        return val_error;
    for (int i = 0; i < 2; i++)
        v[i] = tri_broadcast_to(l, v[i], common->rank, common->extent, c->range);
    return tri_val_tensor(ir_binary(&l->b, OP_JOIN, v[0].ref, v[1].ref));
}

Val tri_lower_split(Lower *l, const Call *c) {
    Val v;
    if (!tri_want_tensor(l, c, 0, &v)) return val_error;
    const Type *type = tri_val_type(l, v);
    if (type->rank == 0 || type->extent[type->rank - 1] != 2)
        return tri_error(l, DIAG_TRI_ARGUMENT, c->ranges[0], "split", "a last extent of 2",
                         tri_val_describe(l, v));
    Op *op = ir_begin(&l->b, OP_SPLIT);
    ir_operand(&l->b, op, v.ref);
    ir_end(&l->b, op, NULL);
    return tri_val_tuple(l, (Val[]){tri_val_tensor(op->results[0]), tri_val_tensor(op->results[1])},
                         2);
}

Val tri_lower_cat(Lower *l, const Call *c) {
    Val v[2];
    int axis;
    if (!tri_want_tensor(l, c, 0, &v[0]) || !tri_want_tensor(l, c, 1, &v[1])) return val_error;
    const Type *a = tri_val_type(l, v[0]), *b = tri_val_type(l, v[1]);
    if (!tri_want_axis(l, c, 3, a->rank, &axis)) return val_error;
    bool fits = a->rank == b->rank && a->elem == b->elem && a->pointer == b->pointer;
    for (int d = 0; fits && d < a->rank; d++) fits = d == axis || a->extent[d] == b->extent[d];
    if (!fits)
        return tri_error(l, DIAG_TRI_SHAPES, c->range, tri_type_text(l, a), tri_type_text(l, b));
    int64_t extent[MAX_RANK];
    memcpy(extent, a->extent, sizeof extent);
    extent[axis] += b->extent[axis];
    if (!tri_fits(l, ty_with_shape(l->module, a, a->rank, extent), c->range)) return val_error;
    Op *op = ir_begin(&l->b, OP_CAT);
    ir_operand(&l->b, op, v[0].ref);
    ir_operand(&l->b, op, v[1].ref);
    op_set(l->kernel, op, (Attr){.id = AT_AXIS, .number = axis});
    return tri_val_tensor(ir_end(&l->b, op, NULL));
}

static Val along(Lower *l, Opcode code, Val v, int axis) {
    Op *op = ir_begin(&l->b, code);
    ir_operand(&l->b, op, v.ref);
    op_set(l->kernel, op, (Attr){.id = AT_AXIS, .number = axis});
    return tri_val_tensor(ir_end(&l->b, op, NULL));
}

Val tri_lower_flip(Lower *l, const Call *c) {
    Val v;
    int axis = -1;
    if (!tri_want_tensor(l, c, 0, &v)) return val_error;
    int rank = tri_val_type(l, v)->rank;
    if (c->args[1].kind == VAL_NONE)
        axis = rank - 1;
    else if (!tri_want_axis(l, c, 1, rank, &axis))
        return val_error;
    return axis < 0 ? v : along(l, OP_FLIP, v, axis);
}

/* --- along an axis --- */

/* Reduces along the axis argument, or over all elements when it is None. */
static Val reduce(Lower *l, const Call *c, Val v, int axis_arg, bool keep, Word combine) {
    const Type *type = tri_val_type(l, v);
    int rank = type->rank, axis = 0;
    if (rank == 0)
        return combine == COMBINE_ARGMAX || combine == COMBINE_ARGMIN
                   ? tri_val_tensor(ir_int(&l->b, EL_I32, 0))
                   : v;
    bool all = c->args[axis_arg].kind == VAL_NONE;
    if (!all && !tri_want_axis(l, c, axis_arg, rank, &axis)) return val_error;
    if (all && rank > 1) {
        int64_t extent = ty_elements(type);
        v = reshape(l, v, 1, &extent, c->range);
    }
    v = tri_val_tensor(ir_reduce(&l->b, combine, v.ref, axis));
    if (!keep) return v;
    for (int d = 0; d < (all ? rank : 1); d++)
        v = tri_val_tensor(ir_expand(&l->b, v.ref, all ? 0 : axis));
    return v;
}

static bool is_number_tile(Lower *l, const Call *c, Val v) {
    if (!tri_val_type(l, v)->pointer) return true;
    tri_error(l, DIAG_TRI_OPERAND, c->ranges[0], c->builtin->name, tri_val_describe(l, v));
    return false;
}

/* Sums of small integers widen to 32 bits; floats keep their type, as in Triton. */
static Val widen_sum(Lower *l, Val v, Val dtype, Range range) {
    if (dtype.kind == VAL_DTYPE) return tri_cast(l, v, dtype.dtype, range);
    Elem elem = tri_val_type(l, v)->elem;
    if (elem_is_float(elem) || elem_info[elem].bits >= 32) return v;
    return tri_cast(l, v, ty_scalar(l->module, elem_is_signed(elem) ? EL_I32 : EL_U32), range);
}

Val tri_lower_sum(Lower *l, const Call *c) {
    Val v;
    bool keep;
    if (!tri_want_tensor(l, c, 0, &v) || !is_number_tile(l, c, v) || !tri_want_bool(l, c, 2, &keep))
        return val_error;
    v = widen_sum(l, v, c->args[3], c->range);
    return tri_val_failed(v) ? v : reduce(l, c, v, 1, keep, COMBINE_ADD);
}

/* Small numbers widen to 32 bits, except where indices are asked for, where only bfloat16 does. */
static Val widen_extreme(Lower *l, Val v, bool indices, Range range) {
    Elem elem = tri_val_type(l, v)->elem;
    if (elem == EL_BF16) return tri_cast(l, v, ty_scalar(l->module, EL_F32), range);
    if (indices || elem_info[elem].bits >= 32) return v;
    return tri_cast(l, v, ty_scalar(l->module, elem_is_float(elem) ? EL_F32 : EL_I32), range);
}

Val tri_lower_extreme(Lower *l, const Call *c) {
    Val v;
    bool indices, left, keep;
    if (!tri_want_tensor(l, c, 0, &v) || !is_number_tile(l, c, v) ||
        !tri_want_bool(l, c, 2, &indices) || !tri_want_bool(l, c, 3, &left) ||
        !tri_want_bool(l, c, 4, &keep))
        return val_error;
    Word combine = (Word)c->builtin->code;
    v = widen_extreme(l, v, indices, c->range);
    Val best = reduce(l, c, v, 1, keep, combine);
    if (!indices || tri_val_failed(best)) return best;
    if (!left)
        return tri_error(l, DIAG_TRI_UNSUPPORTED, c->range,
                         "`return_indices_tie_break_left=False`");
    Val at = reduce(l, c, v, 1, keep, combine == COMBINE_MAX ? COMBINE_ARGMAX : COMBINE_ARGMIN);
    return tri_val_tuple(l, (Val[]){best, at}, 2);
}

Val tri_lower_arg_extreme(Lower *l, const Call *c) {
    Val v;
    bool left, keep;
    if (!tri_want_tensor(l, c, 0, &v) || !is_number_tile(l, c, v) ||
        !tri_want_bool(l, c, 2, &left) || !tri_want_bool(l, c, 3, &keep))
        return val_error;
    if (!left) return tri_error(l, DIAG_TRI_UNSUPPORTED, c->range, "`tie_break_left=False`");
    return reduce(l, c, widen_extreme(l, v, true, c->range), 1, keep, (Word)c->builtin->code);
}

Val tri_lower_fold(Lower *l, const Call *c) {
    Val v;
    bool keep;
    if (!tri_want_tensor(l, c, 0, &v) || !tri_want_bool(l, c, 2, &keep)) return val_error;
    const Type *type = tri_val_type(l, v);
    if (type->pointer || elem_is_float(type->elem))
        return tri_error(l, DIAG_TRI_OPERAND, c->ranges[0], c->builtin->name,
                         tri_val_describe(l, v));
    return reduce(l, c, v, 1, keep, (Word)c->builtin->code);
}

Val tri_lower_cumulate(Lower *l, const Call *c) {
    Val v;
    int axis;
    bool reverse, sum = c->builtin->code == COMBINE_ADD;
    if (!tri_want_tensor(l, c, 0, &v) || !is_number_tile(l, c, v) ||
        !tri_want_bool(l, c, 2, &reverse))
        return val_error;
    if (!tri_want_axis(l, c, 1, tri_val_type(l, v)->rank, &axis)) return val_error;
    if (tri_val_type(l, v)->elem == EL_BF16)
        v = tri_cast(l, v, ty_scalar(l->module, EL_F32), c->range);
    if (sum) v = widen_sum(l, v, c->args[3], c->range);
    if (tri_val_failed(v)) return v;
    Op *op = ir_begin(&l->b, OP_SCAN);
    ir_operand(&l->b, op, v.ref);
    op_set(l->kernel, op, (Attr){.id = AT_COMBINE, .word = (Word)c->builtin->code});
    op_set(l->kernel, op, (Attr){.id = AT_AXIS, .number = axis});
    if (reverse) op_set(l->kernel, op, (Attr){.id = AT_REVERSE, .number = 1});
    return tri_val_tensor(ir_end(&l->b, op, NULL));
}

/* --- dot --- */

/* The least precision asked for; Triton's default for float32 is tf32. */
static bool dot_precision(Lower *l, const Call *c, Word *word) {
    static const struct {
        const char *text;
        Word word;
    } table[] = {{"ieee", PREC_IEEE}, {"tf32", PREC_TF32}, {"tf32x3", PREC_TF32X3}};
    const char *text;
    if (!tri_want_text(l, c, 3, &text)) return false;
    if (c->args[4].kind != VAL_NONE) {
        bool allow;
        if (!tri_want_bool(l, c, 4, &allow)) return false;
        if (!text) text = allow ? "tf32" : "ieee";
    }
    if (!text) text = "tf32";
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].text, text) == 0) {
            *word = table[i].word;
            return true;
        }
    tri_error(l, DIAG_TRI_ARGUMENT, c->ranges[3], "dot", "the precision 'ieee', 'tf32' or 'tf32x3'",
              tri_val_describe(l, c->args[3]));
    return false;
}

/* The element of the sum, from the operands and out_dtype. */
static bool dot_result(Lower *l, const Call *c, Elem a, const Type *asked, Elem *out) {
    if (elem_is_int(a))
        *out = EL_I32;
    else if (a == EL_F64)
        *out = EL_F64;
    else
        *out = asked->elem;
    bool good = elem_is_int(a) ? elem_info[a].bits == 8
                               : *out == EL_F32 || *out == EL_F64 ||
                                     (*out == EL_F16 && elem_info[a].bits <= 16);
    if (good && elem_is_float(a) && a != EL_F64 && *out == EL_F64) good = false;
    if (!good) tri_error(l, DIAG_TRI_DOT_TYPE, c->range, tri_dtype_name(a), tri_dtype_name(*out));
    return good;
}

Val tri_lower_dot(Lower *l, const Call *c) {
    Val a, b, acc = c->args[2];
    const Type *asked;
    Word precision;
    if (!tri_want_tensor(l, c, 0, &a) || !tri_want_tensor(l, c, 1, &b)) return val_error;
    if (c->args[6].kind == VAL_NONE)
        asked = ty_scalar(l->module, EL_F32);
    else if (!tri_want_dtype(l, c, 6, &asked))
        return val_error;
    if (!dot_precision(l, c, &precision)) return val_error;
    const Type *ta = tri_val_type(l, a), *tb = tri_val_type(l, b);
    int r = ta->rank;
    bool fits = (r == 2 || r == 3) && tb->rank == r && !ta->pointer && !tb->pointer &&
                ta->extent[r - 1] == tb->extent[r - 2] &&
                (r == 2 || ta->extent[0] == tb->extent[0]);
    if (!fits)
        return tri_error(l, DIAG_TRI_DOT_SHAPE, c->range, tri_type_text(l, ta),
                         tri_type_text(l, tb));
    if (ta->elem != tb->elem || ta->elem == EL_I1)
        return tri_error(l, DIAG_TRI_DOT_MIX, c->range, tri_type_text(l, ta), tri_type_text(l, tb));
    Elem out;
    if (!dot_result(l, c, ta->elem, asked, &out)) return val_error;
    int64_t extent[MAX_RANK] = {ta->extent[0], ta->extent[1], 0};
    extent[r - 1] = tb->extent[r - 1];
    if (r == 3) extent[1] = ta->extent[1];
    const Type *type = ty_tile(l->module, out, r, extent);
    if (!tri_fits(l, type, c->range)) return val_error;
    if (acc.kind == VAL_NONE || tri_val_is_number(acc)) {
        acc = make_full(l, r, extent, acc.kind == VAL_NONE ? tri_val_int(0) : acc,
                        ty_scalar(l->module, out), c->range);
        if (tri_val_failed(acc)) return acc;
    } else if (acc.kind != VAL_TENSOR || tri_val_type(l, acc) != type) {
        return tri_error(l, DIAG_TRI_DOT_ACC, c->ranges[2], tri_val_describe(l, acc),
                         tri_type_text(l, type));
    }
    Op *op = ir_begin(&l->b, OP_DOT);
    ir_operand(&l->b, op, a.ref);
    ir_operand(&l->b, op, b.ref);
    ir_operand(&l->b, op, acc.ref);
    if (ta->elem == EL_F32 && precision != PREC_IEEE)
        op_set(l->kernel, op, (Attr){.id = AT_PREC, .word = precision});
    return tri_val_tensor(ir_end(&l->b, op, NULL));
}
