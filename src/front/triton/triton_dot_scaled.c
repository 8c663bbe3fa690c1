/* SPDX-License-Identifier: Apache-2.0 */
/* triton_dot_scaled.c: tl.dot_scaled, the product of matrices in block-scaled formats (OCP microscaling).
 *
 * No target has such an instruction: the operands become bfloat16 (float16 where one of them is), each times its
 * scale, and an ordinary dot follows. That is what Triton does on chips without it.
 *
 *     tl.dot_scaled(a, a_scale, "e4m3", b, b_scale, "e2m1")     a uint8[M, K]     a_scale uint8[M, K/32]
 *                                                               b uint8[K/2, N]   b_scale uint8[N, K/32]
 *         value of a[m, k]    e4m3(a[m, k]) * 2^(a_scale[m, k/32] - 127), a NaN where the scale is 255
 *
 * Powers of two make these products exact in bfloat16, but for results beyond its range; all are rounded once. Scales
 * in e4m3 (float8e4nv), one for 16 elements, are numbers like others. */
#include "front/triton/triton.h"

#include <string.h>

enum { LHS, LHS_SCALE, LHS_FORMAT, RHS, RHS_SCALE, RHS_FORMAT, ACC, FAST_MATH, LHS_K_PACK, RHS_K_PACK, OUT_DTYPE };

typedef struct Format {
    const char *text;
    Elem elem; /* EL_U8: packed pairs */
    Elem bits; /* what the element may be given as */
} Format;
static const Format formats[] = {{"e2m1", EL_U8, EL_U8},
                                 {"e4m3", EL_F8E4M3, EL_U8},
                                 {"e5m2", EL_F8E5M2, EL_U8},
                                 {"bf16", EL_BF16, EL_U16},
                                 {"fp16", EL_F16, EL_U16}};

typedef struct Side {
    int arg; /* LHS or RHS; its scale and format follow */
    Val v, scale;
    const Format *format;
    int k, packed; /* axes: along K; of the pairs, or -1 */
    int64_t group; /* elements along K for one scale */
} Side;

static bool want(Lower *l, const Call *c, int arg, const char *what) {
    py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[arg], "tl.dot_scaled", what, val_describe(l, c->args[arg]));
    return false;
}

static bool read_format(Lower *l, const Call *c, Side *s) {
    int arg = s->arg + LHS_FORMAT;
    const char *text;
    if (!py_want_text(l, c, arg, &text)) return false;
    for (size_t i = 0; text && i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].text, text) == 0) s->format = &formats[i];
    return s->format || want(l, c, arg, "the format 'e2m1', 'e4m3', 'e5m2', 'bf16' or 'fp16'");
}

/* The operand in the type of its format. */
static bool read_operand(Lower *l, const Call *c, Side *s) {
    if (!tri_want_tensor(l, c, s->arg, &s->v)) return false;
    const Type *type = val_type(l, s->v);
    Elem elem = s->format->elem, bits = s->format->bits;
    if (type->pointer || type->rank < 2 || type->rank > 3 || (type->elem != elem && type->elem != bits))
        return want(l, c, s->arg,
                    arena_printf(l->arena,
                                 elem == EL_U8 ? "matrices of packed '%s', two a uint8"
                                               : "matrices of '%s' elements, as %s or as %s",
                                 s->format->text, tri_dtype_name(elem), tri_dtype_name(bits)));
    if (type->elem != elem) s->v = tri_bitcast(l, s->v, ty_scalar(l->module, elem), c->ranges[s->arg]);
    return true;
}

static bool read_side(Lower *l, const Call *c, int arg, Side *s) {
    *s = (Side){.arg = arg, .packed = -1};
    int pack = arg == LHS ? LHS_K_PACK : RHS_K_PACK;
    bool along_k;
    if (!read_format(l, c, s) || !read_operand(l, c, s) || !py_want_bool(l, c, pack, &along_k)) return false;
    int rank = val_type(l, s->v)->rank;
    s->k = arg == LHS ? rank - 1 : rank - 2;
    if (s->format->elem == EL_U8)
        s->packed = along_k ? s->k : 2 * rank - 3 - s->k;
    else if (!along_k)
        return want(l, c, pack, "True: only 'e2m1' is packed along another axis than K");
    return true;
}

/* --- numbers --- */

static Ref bitcast(Lower *l, Ref x, Elem elem) {
    return tri_bitcast(l, val_tensor(x), ty_scalar(l->module, elem), l->b.range).ref;
}

/* Bits of x under a mask, moved up (or down): one field of a float. */
static Ref field(Lower *l, Ref x, int64_t mask, int up) {
    Elem elem = val_ref_type(l, x)->elem;
    x = ir_binary(&l->b, OP_AND, x, ir_int(&l->b, elem, mask));
    return ir_binary(&l->b, OP_SHL, x, ir_int(&l->b, elem, up));
}

/* The pairs of a tile of uint8 as numbers. The three lower bits of a nibble, put at the border of exponent and
 * fraction, are its number times a power of two, the subnormal 0.5 as well. */
static Val unpack(Lower *l, Val v, int axis, Elem elem) {
    Builder *b = &l->b;
    int border = elem == EL_BF16 ? 6 : 9;
    Ref x = ir_cast(b, v.ref, EL_U16), half[2];
    for (int high = 0; high < 2; high++) {
        Ref number = field(l, x, high ? 0x70 : 7, border - 4 * high);
        Ref sign = field(l, x, high ? 0x80 : 8, 12 - 4 * high);
        half[high] = bitcast(l, ir_binary(b, OP_OR, number, sign), elem);
        half[high] = ir_binary(b, OP_MUL, half[high], ir_float(b, elem, elem == EL_BF16 ? 0x1p126 : 0x1p14));
    }
    const Type *type = val_type(l, v);
    int64_t order[MAX_RANK], extent[MAX_RANK];
    int rank = type->rank;
    for (int d = 0, at = 0; d < rank; d++) {
        extent[d] = type->extent[d] * (d == axis ? 2 : 1);
        order[at++] = d;
        if (d == axis) order[at++] = rank; /* the two of a pair, behind their place */
    }
    Ref pairs = ir_binary(b, OP_JOIN, half[0], half[1]);
    if (axis != rank - 1) pairs = ir_permute(b, pairs, order, rank + 1);
    return tri_reshape(l, val_tensor(pairs), rank, extent, l->b.range);
}

/* A scale as a float: the exponent of a power of two (0 is 2^-127, a subnormal; 255 a NaN), or a number. */
static Ref scale_number(Lower *l, Ref scale, Elem elem, bool fast) {
    Builder *b = &l->b;
    if (val_ref_type(l, scale)->elem == EL_F8E4M3) return ir_cast(b, scale, elem);
    Elem word = elem == EL_BF16 ? EL_U16 : EL_U32;
    int fraction = elem == EL_BF16 ? 7 : 23;
    Ref number = ir_cast(b, scale, word);
    Ref bits = ir_binary(b, OP_SHL, number, ir_int(b, word, fraction));
    Ref least = ir_int(b, word, 1 << (fraction - 1)), nan = ir_int(b, word, (int64_t)0x1ff << (fraction - 1));
    bits = ir_ternary(b, OP_SELECT, ir_compare(b, CMP_EQ, number, ir_int(b, word, 0)), least, bits);
    if (!fast) bits = ir_ternary(b, OP_SELECT, ir_compare(b, CMP_EQ, number, ir_int(b, word, 255)), nan, bits);
    return bitcast(l, bits, elem);
}

/* Every scale at the places of the elements it scales. */
static Ref spread(Lower *l, const Side *s, Ref scale) {
    const Type *type = val_type(l, s->v);
    int rank = type->rank;
    int64_t order[MAX_RANK], extent[MAX_RANK];
    for (int d = 0; d < rank; d++) order[d] = d;
    order[rank - 2] = rank - 1;
    order[rank - 1] = rank - 2;
    if (s->arg == RHS) scale = ir_permute(&l->b, scale, order, rank);
    for (int d = 0; d < rank; d++) extent[d > s->k ? d + 1 : d] = type->extent[d];
    extent[s->k] /= s->group;
    extent[s->k + 1] = s->group;
    const Type *of_scale = val_ref_type(l, scale);
    scale = ir_expand(&l->b, scale, s->k + 1);
    scale = ir_broadcast(&l->b, scale, ty_with_shape(l->module, of_scale, rank + 1, extent));
    return ir_reshape(&l->b, scale, ty_with_shape(l->module, of_scale, rank, type->extent));
}

/* Is the scale [.., M, K / group] (or [.., N, K / group])? */
static bool read_scale(Lower *l, const Call *c, Side *s) {
    int arg = s->arg + LHS_SCALE, rank;
    if (c->args[arg].kind == VAL_NONE) return true;
    if (!tri_want_tensor(l, c, arg, &s->scale)) return false;
    const Type *type = val_type(l, s->v), *scale = val_type(l, s->scale);
    if (scale->elem == EL_I8 && !scale->pointer) { /* the same bits */
        s->scale = tri_bitcast(l, s->scale, ty_scalar(l->module, EL_U8), c->ranges[arg]);
        scale = val_type(l, s->scale);
    }
    if (scale->pointer || (scale->elem != EL_U8 && scale->elem != EL_F8E4M3))
        return want(l, c, arg, "scales as exponents (uint8) or as float8e4nv");
    rank = type->rank;
    int64_t k = type->extent[s->k], extent[MAX_RANK];
    bool half = scale->elem == EL_F8E4M3 || (scale->rank == rank && scale->extent[rank - 1] * 16 == k);
    s->group = half ? 16 : 32;
    memcpy(extent, type->extent, sizeof extent);
    if (s->arg == RHS) extent[rank - 2] = type->extent[rank - 1];
    extent[rank - 1] = k / s->group;
    const Type *needed = ty_with_shape(l->module, scale, rank, extent);
    if (k % s->group == 0 && scale == needed) return true;
    if (k % s->group != 0)
        py_error(l, DIAG_TRI_SCALE_K, c->ranges[arg], (int)s->group, (long long)k);
    else
        py_error(l, DIAG_TRI_SCALE_SHAPE, c->ranges[arg], val_type_text(l, type), val_type_text(l, needed),
                 (int)s->group, val_type_text(l, scale));
    return false;
}

/* Exponents for 16 elements each are a form of later releases: then both sides have it. */
static bool scales_agree(Lower *l, const Call *c, const Side *side) {
    if (side[0].scale.kind != VAL_TENSOR || side[1].scale.kind != VAL_TENSOR || side[0].group == side[1].group)
        return true;
    const Side *half = side[0].group == 16 ? &side[0] : &side[1];
    const Type *type = val_type(l, half->v), *scale = val_type(l, half->scale);
    if (scale->elem == EL_F8E4M3) return true;
    int64_t extent[MAX_RANK];
    memcpy(extent, scale->extent, sizeof extent);
    extent[scale->rank - 1] /= 2;
    py_error(l, DIAG_TRI_SCALE_SHAPE, c->ranges[half->arg + LHS_SCALE], val_type_text(l, type),
             val_type_text(l, ty_with_shape(l->module, scale, scale->rank, extent)), 32, val_type_text(l, scale));
    return false;
}

/* The operand in the type of the product, times its scale. */
static Val scaled(Lower *l, const Side *s, Elem elem, bool fast) {
    if (s->scale.kind != VAL_TENSOR) return tri_cast(l, s->v, ty_scalar(l->module, elem), l->b.range);
    Elem wide = elem == EL_F16 ? EL_F32 : elem; /* float16 does not hold the scales */
    Ref scale = spread(l, s, scale_number(l, s->scale.ref, wide, fast));
    Ref product = ir_binary(&l->b, OP_MUL, ir_cast(&l->b, s->v.ref, wide), scale);
    return val_tensor(ir_cast(&l->b, product, elem));
}

Val tri_lower_dot_scaled(Lower *l, const Call *c) {
    Side side[2];
    const Type *out;
    bool fast;
    if (!py_need_ir(l, c->range) || !read_side(l, c, LHS, &side[0]) || !read_side(l, c, RHS, &side[1]) ||
        !py_want_bool(l, c, FAST_MATH, &fast) || !tri_want_dtype(l, c, OUT_DTYPE, &out))
        return val_error;
    if (out->elem != EL_F32 || out->pointer) {
        want(l, c, OUT_DTYPE, "out_dtype=tl.float32 (.to(...) casts the result)");
        return val_error;
    }
    bool half = side[0].format->elem == EL_F16 || side[1].format->elem == EL_F16;
    Elem elem = half ? EL_F16 : EL_BF16;
    const Type *given[2] = {val_type(l, side[0].v), val_type(l, side[1].v)};
    for (int i = 0; i < 2; i++)
        if (side[i].packed >= 0) side[i].v = unpack(l, side[i].v, side[i].packed, elem);
    if (!tri_dot_fits(val_type(l, side[0].v), val_type(l, side[1].v)))
        return py_error(l, DIAG_TRI_DOT_SCALED, c->range, val_type_text(l, given[0]), side[0].format->text,
                        val_type_text(l, given[1]), side[1].format->text);
    if (!read_scale(l, c, &side[0]) || !read_scale(l, c, &side[1]) || !scales_agree(l, c, side)) return val_error;
    return tri_dot(l, c, scaled(l, &side[0], elem, fast), scaled(l, &side[1], elem, fast), ACC, EL_F32, NULL);
}
