/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_gemm.c: T.gemm, the product of tiles. */
#include "front/tilelang/tilelang.h"

static Ref zero_of(Lower *l, Elem elem) {
    return elem_is_float(elem) ? ir_float(&l->b, elem, 0) : ir_int(&l->b, elem, 0);
}

/* Arguments 0 to 2 as matrices. */
static bool operands(Lower *l, const Call *c, Box m[3]) {
    for (int i = 0; i < 3; i++) {
        if (!lang_as_tile(l, c, i, &m[i])) return false;
        int rank = m[i].of->rank;
        if (rank >= 2 && lang_leading_ones(&m[i]) >= rank - 2) continue;
        py_error(l, DIAG_TL_SHAPES, c->ranges[i], "gemm", lang_shape_text(l, m[i].of, m[i].shape),
                 "[M, K] [K, N] [M, N]", "the operands are matrices");
        return false;
    }
    return true;
}

/* The type in which two factors meet, which holds both exactly: the wider one, or the next that is wide enough. */
static Elem meet(Elem a, Elem b) {
    int wide = elem_info[a].bits, other = elem_info[b].bits;
    if (a == b) return a;
    if (elem_is_float(a)) {
        if (wide != other) return wide > other ? a : b;
        return wide == 8 ? EL_F16 : EL_F32; /* e4m3 and e5m2; float16 and bfloat16 */
    }
    if (wide == other || elem_is_signed(wide > other ? a : b) != elem_is_signed(wide > other ? b : a)) return EL_I32;
    return wide > other ? a : b;
}

/* Would they fit with a side turned round? */
static const char *turned(const Type *a, const Type *b, const int64_t *out) {
    const int64_t *x = a->extent, *y = b->extent;
    if (x[0] == out[0] && x[1] == y[1] && y[0] == out[1]) return "; with the other transpose_B they fit";
    if (x[1] == out[0] && x[0] == y[0] && y[1] == out[1]) return "; with the other transpose_A they fit";
    return "";
}

Val lang_lower_gemm(Lower *l, const Call *c) {
    Box m[3];
    bool transpose[2], clear = false, sometimes = c->args[6].kind == VAL_TENSOR; /* in the first trip of a loop */
    Val policy = lang_plain(c->args[5]);
    bool number = policy.kind == VAL_INT && policy.i >= 0 && policy.i <= 2; /* the policies by number */
    if (!lang_in_kernel(l, c)) return val_error;
    if (!number && !lang_word(l, c, 5, "policy", "Square, FullRow, FullCol")) return val_error;
    if (!operands(l, c, m) || !lang_flag(l, c, 3, false, &transpose[0]) || !lang_flag(l, c, 4, false, &transpose[1]) ||
        (!sometimes && !lang_flag(l, c, 6, false, &clear)))
        return val_error;
    Ref fresh = REF_NONE;
    if (sometimes && !lang_convert(l, c->args[6], EL_I1, c->ranges[6], &fresh)) return val_error;
    l->b.range = c->range;
    Ref side[2];
    for (int i = 0; i < 2; i++) {
        side[i] = lang_load_box(l, &m[i], 2);
        if (transpose[i]) side[i] = ir_permute(&l->b, side[i], (int64_t[]){1, 0}, 2);
    }
    const Type *a = val_ref_type(l, side[0]), *b = val_ref_type(l, side[1]);
    const int64_t *out = m[2].shape + m[2].of->rank - 2;
    Elem elem = m[2].of->elem;
    if (a->extent[1] != b->extent[0] || a->extent[0] != out[0] || b->extent[1] != out[1])
        return py_error(l, DIAG_TL_SHAPES, c->range, "gemm",
                        arena_printf(l->arena, "%s and %s", ty_text(a, l->arena), ty_text(b, l->arena)),
                        lang_shape_text(l, m[2].of, m[2].shape),
                        arena_printf(l->arena, "[M, K] times [K, N] gives [M, N] (after transpose_A, transpose_B)%s",
                                     turned(a, b, out)));
    if (elem_is_float(a->elem) != elem_is_float(elem) || elem_is_float(a->elem) != elem_is_float(b->elem))
        return lang_types(l, c->range, "T.gemm cannot mix float and integer tiles");
    Elem factors = meet(a->elem, b->elem);
    for (int i = 0; i < 2; i++) side[i] = ir_cast(&l->b, side[i], factors);
    Ref sum = clear ? ir_splat(&l->b, zero_of(l, elem), lang_box_type(l, &m[2], elem, 2)) : lang_load_box(l, &m[2], 2);
    if (fresh) sum = ir_ternary(&l->b, OP_SELECT, fresh, zero_of(l, elem), sum);
    /* Modulo the range of a short integer the sum is that of 32 bits, which the matrix units take. */
    if (!elem_is_float(elem) && elem_info[elem].bits < 32) sum = ir_cast(&l->b, sum, EL_I32);
    Ref product = ir_dot(&l->b, side[0], side[1], sum);
    if (factors == EL_F32 && (m[0].of->tf32 || m[1].of->tf32))
        op_set(l->kernel, ir_value(l->kernel, product)->op, (Attr){.id = AT_PREC, .word = PREC_TF32});
    lang_store_box(l, &m[2], product);
    return val_none;
}
