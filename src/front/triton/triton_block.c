/* SPDX-License-Identifier: Apache-2.0 */
/* triton_block.c: block pointers: a box of a tensor that moves.
 *
 *     p = tl.make_block_ptr(base, (M, N), (N, 1), (0, 0), (16, 32), (1, 0))
 *     x = tl.load(p, boundary_check=(0, 1), padding_option="zero")
 *     p = tl.advance(p, (0, 32))
 *
 * The value is a VAL_OWN (tri_block) of five items: base pointer, and tuples: shape, strides, offsets (int32)
 * and block shape. Only the offsets change, so a loop that carries it carries numbers. A load is a
 * tload of `tensor base [extents] [strides]` whose unchecked dimensions have no bound: exactly what
 * the passes make of pointer arithmetic that they understand. The `order` is a hint for layouts
 * that nothing here needs. Descriptors (triton_descriptor.c) share the making of boxes. */
#include "front/triton/triton.h"

#include <math.h>
#include <string.h>

/* A scalar integer in at least 32 bits; unsigned ones as i64, since extents and strides are signed. */
static bool scalar_number(Lower *l, Val *v, Elem literal, Range range, const char *what) {
    if (v->kind == VAL_INT || v->kind == VAL_BOOL) {
        if (v->i < INT32_MIN || v->i > INT32_MAX) literal = EL_I64;
        *v = val_tensor(ir_int(&l->b, literal, (int64_t)v->i));
        return true;
    }
    const Type *type = v->kind == VAL_TENSOR ? val_type(l, *v) : NULL;
    if (!type || type->rank || type->pointer || !elem_is_int(type->elem)) {
        py_error(l, DIAG_TRI_BLOCK_NUMBER, range, what, val_describe(l, *v));
        return false;
    }
    if (elem_info[type->elem].cls == CLASS_UINT)
        *v = tri_cast(l, *v, ty_scalar(l->module, EL_I64), range);
    else if (elem_info[type->elem].bits < 32)
        *v = tri_cast(l, *v, ty_scalar(l->module, EL_I32), range);
    return true;
}

bool tri_box_numbers(Lower *l, Val list, Range range, const char *what, bool offsets, Val *tuple) {
    Val one = list;
    if (list.kind != VAL_TUPLE) list = (Val){.kind = VAL_TUPLE, .items = &one, .count = 1};
    Val items[MAX_RANK];
    if (list.count < 1 || list.count > MAX_RANK) {
        py_error(l, DIAG_TRI_RANK, range, MAX_RANK);
        return false;
    }
    for (int d = 0; d < list.count; d++) {
        items[d] = list.items[d];
        if (!scalar_number(l, &items[d], offsets ? EL_I32 : EL_I64, range, what)) return false;
        if (offsets && val_type(l, items[d])->elem != EL_I32) {
            py_error(l, DIAG_TRI_BLOCK_OFFSET, range, val_describe(l, list.items[d]));
            return false;
        }
    }
    *tuple = val_tuple(l, items, list.count);
    return true;
}

bool tri_box_shape(Lower *l, const Call *c, int arg, int rank, Val *tuple) {
    int given;
    int64_t extent[MAX_RANK];
    Val items[MAX_RANK];
    if (!tri_want_shape(l, c, arg, &given, extent)) return false;
    if (given != rank) {
        py_error(l, DIAG_TRI_BLOCK_RANK, c->ranges[arg], rank, given);
        return false;
    }
    for (int d = 0; d < rank; d++) items[d] = val_int(extent[d]);
    *tuple = val_tuple(l, items, rank);
    return true;
}

const Type *tri_box_type(Lower *l, Val base, Val block) {
    int64_t extent[MAX_RANK];
    for (int d = 0; d < block.count; d++) extent[d] = (int64_t)block.items[d].i;
    return ty_tile(l->module, val_type(l, base)->elem, block.count, extent);
}

Ref tri_box_tensor(Lower *l, Val base, Val shape, Val strides, unsigned checked) {
    Ref extents[MAX_RANK], steps[MAX_RANK];
    for (int d = 0; d < shape.count; d++) {
        extents[d] = checked >> d & 1 ? shape.items[d].ref : REF_NONE;
        steps[d] = strides.items[d].ref;
    }
    return ir_tensor(&l->b, base.ref, extents, steps, shape.count);
}

void tri_box_offsets(Val offsets, Ref at[MAX_RANK]) {
    for (int d = 0; d < offsets.count; d++) at[d] = offsets.items[d].ref;
}

bool tri_box_base(Lower *l, const Call *c, Val *base) {
    *base = c->args[0];
    const Type *type = base->kind == VAL_TENSOR ? val_type(l, *base) : NULL;
    if (!type || !type->pointer || type->rank) {
        py_error(l, DIAG_TRI_POINTER, c->ranges[0], c->builtin->name, val_describe(l, *base));
        return false;
    }
    if (type->elem == EL_I1) /* booleans are bytes here, as in Triton */
        *base = tri_bitcast(l, *base, ty_pointer(l->module, EL_I8), c->range);
    return !val_failed(*base);
}

Val tri_lower_make_block(Lower *l, const Call *c) {
    Val items[5];
    if (!tri_box_base(l, c, &items[0]) ||
        !tri_box_numbers(l, c->args[1], c->ranges[1], "an extent", false, &items[1]) ||
        !tri_box_numbers(l, c->args[2], c->ranges[2], "a stride", false, &items[2]) ||
        !tri_box_numbers(l, c->args[3], c->ranges[3], "an offset", true, &items[3]) ||
        !tri_box_shape(l, c, 4, items[1].count, &items[4]))
        return val_error;
    for (int i = 2; i < 4; i++)
        if (items[i].count != items[1].count)
            return py_error(l, DIAG_TRI_BLOCK_RANK, c->ranges[i], items[1].count, items[i].count);
    Val order = c->args[5];
    unsigned seen = 0;
    for (int d = 0; order.kind == VAL_TUPLE && d < order.count; d++)
        if (order.items[d].kind == VAL_INT && order.items[d].i >= 0 && order.items[d].i < MAX_RANK)
            seen |= 1u << order.items[d].i;
    if (seen != (1u << items[1].count) - 1)
        return py_error(l, DIAG_TRI_PERMUTE, c->ranges[5], val_text(l, order), items[1].count);
    return (Val){.kind = VAL_OWN, .own = &tri_block, .items = arena_copy(l->arena, items, sizeof items), .count = 5};
}

Val tri_block_like(Lower *l, Val v, Val like, bool narrow, Range range) {
    if (!val_is_own(v, &tri_block) || !val_is_own(like, &tri_block)) return v;
    if (v.items[1].count != like.items[1].count) return v;
    Val items[5];
    memcpy(items, v.items, sizeof items);
    for (int i = 1; i <= 2; i++) {
        Val numbers[MAX_RANK];
        for (int d = 0; d < v.items[i].count; d++) {
            numbers[d] = v.items[i].items[d];
            Elem now = val_type(l, numbers[d])->elem, wanted = val_type(l, like.items[i].items[d])->elem;
            int64_t number;
            bool small = ir_const_int(l->kernel, numbers[d].ref, &number) && number == (int32_t)number;
            bool change = now == EL_I32 ? wanted == EL_I64 : wanted == EL_I32 && narrow && small;
            if (change) numbers[d] = tri_cast(l, numbers[d], ty_scalar(l->module, wanted), range);
            if (val_failed(numbers[d])) return val_error;
        }
        items[i] = val_tuple(l, numbers, v.items[i].count);
    }
    return (Val){.kind = VAL_OWN, .own = &tri_block, .items = arena_copy(l->arena, items, sizeof items), .count = 5};
}

static bool want_block(Lower *l, const Call *c, Val *block) {
    *block = c->args[0];
    if (val_is_own(*block, &tri_block)) return true;
    py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[0], py_title(l, c->builtin), "a block pointer of tl.make_block_ptr",
             val_describe(l, *block));
    return false;
}

Val tri_lower_advance(Lower *l, const Call *c) {
    Val block, by;
    if (!want_block(l, c, &block) || !tri_box_numbers(l, c->args[1], c->ranges[1], "an offset", true, &by))
        return val_error;
    Val offsets = block.items[3], items[5], moved[MAX_RANK];
    if (by.count != offsets.count) return py_error(l, DIAG_TRI_BLOCK_RANK, c->ranges[1], offsets.count, by.count);
    for (int d = 0; d < by.count; d++) {
        int64_t step;
        bool stays = ir_const_int(l->kernel, by.items[d].ref, &step) && step == 0;
        moved[d] = stays ? offsets.items[d] : tri_binary(l, PY_OP_ADD, offsets.items[d], by.items[d], c->range);
        if (val_failed(moved[d])) return val_error;
    }
    memcpy(items, block.items, sizeof items);
    items[3] = val_tuple(l, moved, by.count);
    return (Val){.kind = VAL_OWN, .own = &tri_block, .items = arena_copy(l->arena, items, sizeof items), .count = 5};
}

/* --- load and store --- */

static bool want_checked(Lower *l, const Call *c, int arg, int rank, unsigned *checked) {
    Val list = c->args[arg], one = list;
    if (list.kind == VAL_NONE) list = (Val){.kind = VAL_TUPLE};
    if (list.kind != VAL_TUPLE) list = (Val){.kind = VAL_TUPLE, .items = &one, .count = 1};
    *checked = 0;
    for (int i = 0; i < list.count; i++) {
        int axis;
        Call at = {c->builtin, c->range, &list.items[i], &c->ranges[arg]};
        if (!tri_want_axis(l, &at, 0, rank, &axis)) return false;
        *checked |= 1u << axis;
    }
    return true;
}

bool tri_box_padding(Lower *l, const Call *c, int arg, Elem elem, bool *nan) {
    const char *text;
    if (!py_want_text(l, c, arg, &text)) return false;
    *nan = text && strcmp(text, "nan") == 0;
    bool known = !text || *nan || strcmp(text, "zero") == 0;
    if (known && (!*nan || elem_is_float(elem))) return true;
    py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[arg], py_title(l, c->builtin),
             known ? "'zero' for integers" : "the padding 'zero' or 'nan'", val_describe(l, c->args[arg]));
    return false;
}

Ref tri_box_load(Lower *l, Ref tensor, Val offsets, const Type *type, bool nan) {
    Ref at[MAX_RANK];
    tri_box_offsets(offsets, at);
    Ref tile = ir_tload(&l->b, tensor, at, REF_NONE, type);
    if (nan)
        op_set(l->kernel, ir_value(l->kernel, tile)->op,
               (Attr){.id = AT_FILL, .ref = ir_float(&l->b, type->elem, NAN)});
    return tile;
}

static bool no_mask(Lower *l, const Call *c, int arg) {
    if (c->args[arg].kind == VAL_NONE) return true;
    py_error(l, DIAG_TRI_BLOCK_MASK, c->ranges[arg]);
    return false;
}

Val tri_block_load(Lower *l, const Call *c) {
    const Val *b = c->args[0].items;
    const Type *type = tri_box_type(l, b[0], b[4]);
    unsigned checked;
    bool nan;
    if (!no_mask(l, c, 1) || !no_mask(l, c, 2) || !want_checked(l, c, 3, type->rank, &checked) ||
        !tri_box_padding(l, c, 4, type->elem, &nan))
        return val_error;
    Ref tensor = tri_box_tensor(l, b[0], b[1], b[2], checked);
    Ref tile = tri_box_load(l, tensor, b[3], type, nan);
    if (!tri_memory_hints(l, c, 5, 6, ir_value(l->kernel, tile)->op)) return val_error;
    return val_tensor(tile);
}

Val tri_block_store(Lower *l, const Call *c) {
    const Val *b = c->args[0].items;
    const Type *type = tri_box_type(l, b[0], b[4]);
    unsigned checked;
    Val value;
    if (!no_mask(l, c, 2) || !tri_want_tensor(l, c, 1, &value) || !want_checked(l, c, 3, type->rank, &checked))
        return val_error;
    value = tri_cast(l, value, ty_scalar(l->module, type->elem), c->ranges[1]);
    if (val_failed(value)) return value;
    value = tri_broadcast_to(l, value, type->rank, type->extent, c->ranges[1]);
    if (val_failed(value)) return value;
    Ref at[MAX_RANK];
    tri_box_offsets(b[3], at);
    Op *op = ir_tstore(&l->b, tri_box_tensor(l, b[0], b[1], b[2], checked), at, value.ref, REF_NONE);
    return tri_memory_hints(l, c, 4, 5, op) ? val_none : val_error;
}

Val tri_block_attribute(Lower *l, Val v, const char *attr, Range range) {
    const Val *b = v.items;
    if (strcmp(attr, "dtype") == 0 || strcmp(attr, "type") == 0) return val_dtype(val_type(l, b[0]));
    if (strcmp(attr, "shape") == 0 || strcmp(attr, "block_shape") == 0) return b[4];
    const Builtin *builtin = tri_builtin_find(attr, 'm');
    if (builtin && (builtin->lower == tri_lower_advance || builtin->lower == tri_lower_store))
        return (Val){.kind = VAL_BUILTIN, .builtin = builtin, .self = arena_copy(l->arena, &v, sizeof v)};
    return py_error(l, DIAG_EVAL_ATTRIBUTE, range, "a block pointer", attr);
}
