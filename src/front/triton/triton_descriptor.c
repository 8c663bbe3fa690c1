/* SPDX-License-Identifier: Apache-2.0 */
/* triton_descriptor.c: tensor descriptors made in a kernel.
 *
 *     d = tl.make_tensor_descriptor(base, [M, N], [N, 1], [16, 32])
 *     x = d.load([m, n]); d.store([m, n], y); d.atomic_add([m, n], z)
 *     r = d.gather(rows, n); d.scatter(r, rows, n)         # block shape [1, columns]
 *
 * The value is a VAL_OWN (tri_descriptor) of six items: base pointer, tuples shape, strides and block shape,
 * whether what lies outside reads as NaN, and whether the kernel made it. All dimensions are bounded.
 * Loads and stores are boxes (triton_block.c); rows picked by a tile of indices go through pointers with a mask. */
#include "front/triton/triton.h"

#include <math.h>
#include <string.h>

enum { D_BASE, D_SHAPE, D_STRIDES, D_BLOCK, D_NAN, D_MADE, D_ITEMS };
enum { LEAST_BYTES = 16 };

static Val make_descriptor(Lower *l, const Call *c, bool made) {
    Val items[D_ITEMS];
    bool nan = false; /* code 1: the signature has no padding */
    if (!tri_box_base(l, c, &items[D_BASE]) ||
        !tri_box_numbers(l, c->args[1], c->ranges[1], "an extent", false, &items[D_SHAPE]) ||
        !tri_box_numbers(l, c->args[2], c->ranges[2], "a stride", false, &items[D_STRIDES]) ||
        !tri_box_shape(l, c, 3, items[D_SHAPE].count, &items[D_BLOCK]) ||
        (c->builtin->code == 0 && !tri_box_padding(l, c, 4, val_type(l, items[D_BASE])->elem, &nan)))
        return val_error;
    int rank = items[D_SHAPE].count;
    if (items[D_STRIDES].count != rank)
        return py_error(l, DIAG_TRI_BLOCK_RANK, c->ranges[2], rank, items[D_STRIDES].count);
    int64_t last;
    if (!ir_const_int(l->kernel, items[D_STRIDES].items[rank - 1].ref, &last) || last != 1)
        return py_error(l, DIAG_TRI_DESCRIPTOR_STRIDE, c->ranges[2]);
    items[D_NAN] = val_bool(nan);
    items[D_MADE] = val_bool(made);
    return (Val){.kind = VAL_OWN,
                 .own = &tri_descriptor,
                 .items = arena_copy(l->arena, items, sizeof items),
                 .count = D_ITEMS};
}

/* Triton's rule for descriptors made in a kernel, which is TMA's: what it copies is 16 bytes wide at least. */
Val tri_lower_make_descriptor(Lower *l, const Call *c) {
    Val made = make_descriptor(l, c, true);
    if (val_failed(made)) return made;
    const Type *block = tri_box_type(l, made.items[D_BASE], made.items[D_BLOCK]);
    long long columns = block->extent[block->rank - 1], bytes = ty_elem_bytes(block);
    if (columns * bytes >= LEAST_BYTES) return made;
    return py_error(l, DIAG_TRI_DESCRIPTOR_WIDTH, c->ranges[3], columns, bytes, columns * bytes,
                    (long long)(LEAST_BYTES / bytes));
}

Val tri_descriptor_given(Lower *l, Val base, Val shape, Val strides, Val block, bool nan, Range range) {
    static const Builtin as = {.name = "make_tensor_descriptor", .kinds = "T"};
    Val args[] = {base, shape, strides, block, nan ? val_str("nan") : val_none};
    Range ranges[] = {range, range, range, range, range};
    return make_descriptor(l, &(Call){&as, range, args, ranges}, false);
}

static bool want_descriptor(Lower *l, const Call *c, int arg, const Val **items) {
    *items = c->args[arg].items;
    if (val_is_own(c->args[arg], &tri_descriptor)) return true;
    py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[arg], py_title(l, c->builtin), "a tensor descriptor",
             val_describe(l, c->args[arg]));
    return false;
}

static bool want_place(Lower *l, const Call *c, int arg, const Val *d, Val *offsets) {
    if (!tri_box_numbers(l, c->args[arg], c->ranges[arg], "an offset", true, offsets)) return false;
    if (offsets->count == d[D_SHAPE].count) return true;
    py_error(l, DIAG_TRI_BLOCK_RANK, c->ranges[arg], d[D_SHAPE].count, offsets->count);
    return false;
}

/* Whoever makes a descriptor promises what TMA asks for: its base and strides are multiples of 16 bytes. */
static void promise_rows(Lower *l, const Val *d, Op *access) {
    if (d[D_MADE].i) op_set(l->kernel, access, (Attr){.id = AT_ALIGN, .number = LEAST_BYTES});
}

static Ref bounded(Lower *l, const Val *d) { return tri_box_tensor(l, d[D_BASE], d[D_SHAPE], d[D_STRIDES], ~0u); }

Val tri_lower_descriptor_load(Lower *l, const Call *c) {
    const Val *d;
    Val offsets;
    if (!want_descriptor(l, c, 0, &d) || !want_place(l, c, 1, d, &offsets)) return val_error;
    const Type *type = tri_box_type(l, d[D_BASE], d[D_BLOCK]);
    Ref tile = tri_box_load(l, bounded(l, d), offsets, type, d[D_NAN].i != 0);
    promise_rows(l, d, ir_value(l->kernel, tile)->op);
    return val_tensor(tile);
}

/* The value of a store, in the descriptor's type and block shape. */
static bool want_block_value(Lower *l, const Call *c, int arg, const Type *type, Val *value) {
    if (!tri_want_tensor(l, c, arg, value)) return false;
    *value = tri_cast(l, *value, ty_scalar(l->module, type->elem), c->ranges[arg]);
    if (!val_failed(*value)) *value = tri_broadcast_to(l, *value, type->rank, type->extent, c->ranges[arg]);
    return !val_failed(*value);
}

Val tri_lower_descriptor_store(Lower *l, const Call *c) {
    const Val *d;
    Val offsets, value;
    int place = 1 + c->builtin->code; /* where the offsets stand; the value has the other place */
    if (!want_descriptor(l, c, 0, &d) || !want_place(l, c, place, d, &offsets) ||
        !want_block_value(l, c, 3 - place, tri_box_type(l, d[D_BASE], d[D_BLOCK]), &value))
        return val_error;
    Ref at[MAX_RANK];
    tri_box_offsets(offsets, at);
    promise_rows(l, d, ir_tstore(&l->b, bounded(l, d), at, value.ref, REF_NONE));
    return val_none;
}

Val tri_lower_descriptor_atomic(Lower *l, const Call *c) {
    const Val *d;
    Val offsets, value;
    if (!want_descriptor(l, c, 0, &d) || !want_place(l, c, 1, d, &offsets)) return val_error;
    const Type *type = tri_box_type(l, d[D_BASE], d[D_BLOCK]);
    Word combine = (Word)c->builtin->code;
    if (!tri_atomic_fits(combine, type->elem))
        return py_error(l, DIAG_TRI_ATOMIC, c->range, c->builtin->name, tri_dtype_name(type->elem));
    if (!want_block_value(l, c, 2, type, &value)) return val_error;
    Ref at[MAX_RANK];
    tri_box_offsets(offsets, at);
    Op *op = ir_begin(&l->b, OP_TATOMIC);
    ir_operand(&l->b, op, bounded(l, d));
    ir_operand_list(&l->b, op, 0, at, offsets.count);
    ir_operand(&l->b, op, value.ref);
    op_set(l->kernel, op, (Attr){.id = AT_COMBINE, .word = combine});
    ir_end(&l->b, op, NULL);
    return val_none;
}

/* --- rows picked by indices --- */

typedef struct Rows {
    Val pointer, mask;
    const Type *type; /* of the picked tile */
} Rows;

static Val number(Lower *l, Val v) { return tri_cast(l, v, ty_scalar(l->module, EL_I64), l->b.range); }

/* 0 <= index < extent */
static Val inside(Lower *l, Val index, Val extent) {
    Ref zero = ir_int(&l->b, EL_I64, 0);
    Ref low = ir_compare(&l->b, CMP_GE, index.ref, zero);
    return val_tensor(ir_binary(&l->b, OP_AND, low, ir_compare(&l->b, CMP_LT, index.ref, extent.ref)));
}

/* Addresses of the rows at a tile of indices and the columns from an offset on. */
static bool pick_rows(Lower *l, const Call *c, const Val *d, int rows_arg, Rows *rows) {
    Val index, column;
    if (!tri_want_tensor(l, c, rows_arg, &index) ||
        !tri_box_numbers(l, c->args[rows_arg + 1], c->ranges[rows_arg + 1], "an offset", true, &column))
        return false;
    const Type *type = val_type(l, index);
    bool fits = d[D_BLOCK].count == 2 && d[D_BLOCK].items[0].i == 1 && type->rank == 1 && !type->pointer &&
                elem_is_int(type->elem) && column.count == 1;
    if (!fits) {
        py_error(l, DIAG_TRI_DESCRIPTOR_ROWS, c->range, c->builtin->name, val_text(l, d[D_BLOCK]),
                 val_describe(l, index));
        return false;
    }
    int64_t columns = (int64_t)d[D_BLOCK].items[1].i;
    Range range = c->range;
    index = number(l, val_tensor(ir_expand(&l->b, index.ref, 1)));
    Val step = number(l, val_tensor(ir_expand(&l->b, ir_iota(&l->b, 0, columns), 0)));
    Val at = tri_binary(l, PY_OP_ADD, step, number(l, column.items[0]), range);
    Val row = inside(l, index, number(l, d[D_SHAPE].items[0])), col = inside(l, at, number(l, d[D_SHAPE].items[1]));
    Val far = tri_binary(l, PY_OP_MUL, index, number(l, d[D_STRIDES].items[0]), range);
    Val offset = tri_binary(l, PY_OP_ADD, far, at, range); /* the last stride is 1 */
    rows->pointer = tri_binary(l, PY_OP_ADD, d[D_BASE], offset, range);
    rows->mask = tri_binary(l, PY_OP_BITAND, row, col, range);
    rows->type = ty_tile(l->module, val_type(l, d[D_BASE])->elem, 2, (int64_t[]){type->extent[0], columns});
    return !val_failed(rows->pointer) && !val_failed(rows->mask);
}

Val tri_lower_descriptor_gather(Lower *l, const Call *c) {
    const Val *d;
    Rows rows;
    if (!want_descriptor(l, c, 0, &d) || !pick_rows(l, c, d, 1, &rows)) return val_error;
    Op *op = ir_begin(&l->b, OP_LOAD);
    ir_operand(&l->b, op, rows.pointer.ref);
    ir_operand(&l->b, op, rows.mask.ref);
    ir_operand(&l->b, op, d[D_NAN].i ? ir_float(&l->b, rows.type->elem, NAN) : REF_NONE);
    return val_tensor(ir_end(&l->b, op, NULL));
}

Val tri_lower_descriptor_scatter(Lower *l, const Call *c) {
    const Val *d;
    Rows rows;
    Val value;
    if (!want_descriptor(l, c, 0, &d) || !pick_rows(l, c, d, 2, &rows) || !want_block_value(l, c, 1, rows.type, &value))
        return val_error;
    Op *op = ir_begin(&l->b, OP_STORE);
    ir_operand(&l->b, op, rows.pointer.ref);
    ir_operand(&l->b, op, value.ref);
    ir_operand(&l->b, op, rows.mask.ref);
    ir_end(&l->b, op, NULL);
    return val_none;
}

Val tri_descriptor_attribute(Lower *l, Val v, const char *attr, Range range) {
    const Val *d = v.items;
    const Type *type = tri_box_type(l, d[D_BASE], d[D_BLOCK]);
    if (strcmp(attr, "dtype") == 0) return val_dtype(ty_scalar(l->module, type->elem));
    if (strcmp(attr, "block_type") == 0 || strcmp(attr, "type") == 0) return val_dtype(type);
    if (strcmp(attr, "block_shape") == 0) return d[D_BLOCK];
    if (strcmp(attr, "base") == 0) return d[D_BASE];
    if (strcmp(attr, "shape") == 0) return d[D_SHAPE];
    if (strcmp(attr, "strides") == 0) return d[D_STRIDES];
    const Builtin *builtin = tri_builtin_find(attr, 'D');
    if (builtin) return (Val){.kind = VAL_BUILTIN, .builtin = builtin, .self = arena_copy(l->arena, &v, sizeof v)};
    return py_error(l, DIAG_EVAL_ATTRIBUTE, range, "a tensor descriptor", attr);
}
