/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_packed.c: dtypes of 4 bits: int4, uint4, float4_e2m1fn.
 *
 * In memory two of them are a byte, the even one in the lower half: a tensor of [M, K] is an array of int8 or uint8 of
 * [M, K / 2]. In tiles and registers they are held as int8, uint8 and float16, which have all their numbers; what is
 * stored is narrowed first, as the dtype rounds: integers keep their lower 4 bits, floats go to the nearest of
 * 0 0.5 1 1.5 2 3 4 6, halves to the even one, and no further than 6. */
#include "front/tilelang/tilelang.h"

#include <string.h>

static const struct {
    const char *name;
    Packed packed;
} names[] = {{"int4", PACKED_I4}, {"uint4", PACKED_U4}, {"float4_e2m1fn", PACKED_F4}};

Packed lang_packed(Val dtype) {
    for (size_t i = 0; dtype.kind == VAL_STR && i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, dtype.text) == 0) return names[i].packed;
    return PACKED_NOT;
}

const char *lang_packed_name(Packed packed) {
    size_t i = 0;
    while (names[i].packed != packed) i++;
    return names[i].name;
}

/* --- numbers, or tiles of them --- */

static Ref bits(Lower *l, Opcode code, Ref x, int64_t n) {
    return ir_binary(&l->b, code, x, ir_int(&l->b, val_ref_type(l, x)->elem, n));
}

static Ref real(Lower *l, Opcode code, Ref x, double n) {
    return ir_binary(&l->b, code, x, ir_float(&l->b, val_ref_type(l, x)->elem, n));
}

static Ref below(Lower *l, Ref x, double n) {
    return ir_compare(&l->b, CMP_LT, x, ir_float(&l->b, val_ref_type(l, x)->elem, n));
}

static Ref select(Lower *l, Ref condition, Ref yes, Ref no) { return ir_ternary(&l->b, OP_SELECT, condition, yes, no); }

static Ref bitcast(Lower *l, Ref x, Elem elem) {
    const Type *type = val_ref_type(l, x);
    if (type->elem == elem) return x;
    Op *op = ir_begin(&l->b, OP_BITCAST);
    ir_operand(&l->b, op, x);
    return ir_end(&l->b, op, ty_with_elem(l->module, type, elem));
}

static Ref narrow_float(Lower *l, Ref x) {
    x = ir_cast(&l->b, x, EL_F32);
    Ref size = real(l, OP_MIN, ir_unary(&l->b, OP_ABS, x), 6);
    Ref halves = real(l, OP_MUL, ir_unary(&l->b, OP_RINT, real(l, OP_MUL, size, 2)), 0.5);
    Ref ones = ir_unary(&l->b, OP_RINT, size);
    Ref twos = real(l, OP_MUL, ir_unary(&l->b, OP_RINT, real(l, OP_MUL, size, 0.5)), 2);
    size = select(l, below(l, size, 2), halves, select(l, below(l, size, 4), ones, twos));
    Ref sign = bits(l, OP_AND, bitcast(l, x, EL_U32), INT64_C(1) << 31);
    return ir_cast(&l->b, bitcast(l, ir_binary(&l->b, OP_OR, bitcast(l, size, EL_U32), sign), EL_F32), EL_F16);
}

Ref lang_narrow(Lower *l, Packed packed, Ref x) {
    if (packed == PACKED_F4) return narrow_float(l, x);
    x = ir_cast(&l->b, x, packed == PACKED_I4 ? EL_I8 : EL_U8);
    return packed == PACKED_U4 ? bits(l, OP_AND, x, 15) : bits(l, OP_SHR, bits(l, OP_SHL, x, 4), 4);
}

/* The number that 4 bits of a byte are. */
static Ref decode(Lower *l, Packed packed, Ref x) {
    if (packed == PACKED_U4) return x;
    if (packed == PACKED_I4) return bits(l, OP_SHR, bits(l, OP_SHL, bitcast(l, x, EL_I8), 4), 4);
    x = ir_cast(&l->b, x, EL_U16);
    Ref exponent = bits(l, OP_AND, bits(l, OP_SHR, x, 1), 3), half = bits(l, OP_AND, x, 1);
    Ref small = bits(l, OP_MUL, half, 0x3800); /* 0.5 */
    Ref large = bits(l, OP_SHL, bits(l, OP_ADD, exponent, 14), 10);
    large = ir_binary(&l->b, OP_OR, large, bits(l, OP_SHL, half, 9));
    Ref tiny = ir_compare(&l->b, CMP_EQ, exponent, ir_int(&l->b, EL_U16, 0));
    Ref sign = bits(l, OP_SHL, bits(l, OP_AND, x, 8), 12);
    return bitcast(l, ir_binary(&l->b, OP_OR, select(l, tiny, small, large), sign), EL_F16);
}

/* The 4 bits of a number that is one of the dtype's. */
static Ref encode(Lower *l, Packed packed, Ref x) {
    if (packed != PACKED_F4) return bits(l, OP_AND, bitcast(l, x, EL_U8), 15);
    Ref size = ir_unary(&l->b, OP_ABS, x);
    Ref large = select(l, below(l, size, 4), real(l, OP_ADD, size, 2), real(l, OP_ADD, real(l, OP_MUL, size, 0.5), 4));
    Ref number = ir_cast(&l->b, select(l, below(l, size, 2), real(l, OP_MUL, size, 2), large), EL_U8);
    Ref sign = ir_cast(&l->b, bits(l, OP_SHL, bits(l, OP_SHR, bitcast(l, x, EL_U16), 15), 3), EL_U8);
    return ir_binary(&l->b, OP_OR, number, sign);
}

/* --- tensors --- */

/* The bytes of a box, which must begin and end at whole ones. */
static bool byte_box(Lower *l, const Box *box, Range range, Ref *offset, int64_t *shape) {
    const Storage *of = box->of;
    int last = of->rank - 1;
    const Linear *at = box->at[last];
    bool even = box->shape[last] % 2 == 0 && at && at->constant % 2 == 0;
    for (int i = 0; even && i < at->count; i++) even = at->factor[i] % 2 == 0;
    int64_t start;
    if (!at && ir_const_int(l->kernel, box->offset[last], &start)) even = box->shape[last] % 2 == 0 && start % 2 == 0;
    if (!even) {
        lang_types(l, range,
                   arena_printf(l->arena,
                                "boxes of a tensor of %s begin at an even element and have an even number of them "
                                "along the last dimension: two elements are a byte",
                                lang_packed_name(of->packed)));
        return false;
    }
    memcpy(offset, box->offset, (size_t)of->rank * sizeof *offset);
    memcpy(shape, box->shape, (size_t)of->rank * sizeof *shape);
    Ref two = ir_int(&l->b, val_ref_type(l, offset[last])->elem, 2);
    offset[last] = ir_binary(&l->b, OP_FLOORDIV, offset[last], two);
    shape[last] /= 2;
    return true;
}

static const Type *tile_of(Lower *l, Elem elem, int rank, const int64_t *shape, int more) {
    int64_t extent[MAX_RANK + 1];
    memcpy(extent, shape, (size_t)rank * sizeof *extent);
    if (more) extent[rank] = more;
    return ty_tile(l->module, elem, rank + !!more, extent);
}

bool lang_packed_load_box(Lower *l, const Box *box, const Type *type, Range range, Ref *out) {
    const Storage *of = box->of;
    Ref offset[MAX_RANK];
    int64_t shape[MAX_RANK];
    if (!byte_box(l, box, range, offset, shape)) return false;
    Ref bytes = lang_tload(l, of, offset, tile_of(l, of->byte, of->rank, shape, 0));
    bytes = bitcast(l, bytes, EL_U8);
    Op *join = ir_begin(&l->b, OP_JOIN);
    ir_operand(&l->b, join, bits(l, OP_AND, bytes, 15));
    ir_operand(&l->b, join, bits(l, OP_SHR, bytes, 4));
    *out = ir_reshape(&l->b, decode(l, of->packed, ir_end(&l->b, join, NULL)), type);
    return true;
}

bool lang_packed_store_box(Lower *l, const Box *box, Ref value, Range range) {
    const Storage *of = box->of;
    Ref offset[MAX_RANK];
    int64_t shape[MAX_RANK];
    if (!byte_box(l, box, range, offset, shape)) return false;
    value = encode(l, of->packed, value);
    Op *split = ir_begin(&l->b, OP_SPLIT);
    ir_operand(&l->b, split, ir_reshape(&l->b, value, tile_of(l, EL_U8, of->rank, shape, 2)));
    ir_end(&l->b, split, NULL);
    Ref both = ir_binary(&l->b, OP_OR, split->results[0], bits(l, OP_SHL, split->results[1], 4));
    ir_tstore(&l->b, of->ref, offset, bitcast(l, both, of->byte), REF_NONE);
    return true;
}

Ref lang_packed_load(Lower *l, const Storage *of, const Ref *at) {
    Ref offset[MAX_RANK];
    int last = of->rank - 1;
    memcpy(offset, at, (size_t)of->rank * sizeof *offset);
    Ref two = ir_int(&l->b, val_ref_type(l, offset[last])->elem, 2);
    Ref odd = ir_cast(&l->b, ir_binary(&l->b, OP_MOD, offset[last], two), EL_U8);
    offset[last] = ir_binary(&l->b, OP_FLOORDIV, offset[last], two);
    Ref byte = bitcast(l, lang_tload(l, of, offset, ty_scalar(l->module, of->byte)), EL_U8);
    byte = bits(l, OP_AND, ir_binary(&l->b, OP_SHR, byte, bits(l, OP_MUL, odd, 4)), 15);
    return decode(l, of->packed, byte);
}
