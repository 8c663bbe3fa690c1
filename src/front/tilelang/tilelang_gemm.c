/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_gemm.c: T.gemm, the product of tiles, and T.gemm_sp, whose first factor is sparse.
 *
 * Of a sparse matrix each group of four elements of a row (of 32 bits: of two) has at most two (one) that are not 0. It
 * is stored as these, [M, K / 2], and 4 bits a group that say which they are, [M, K / factor], the first group in the
 * lowest bits: two numbers of 2 bits (of 32 bits: the numbers of the halves, so 0 1 or 2 3). It is made dense first:
 * matrix units that take it sparse would only be faster. */
#include "front/tilelang/tilelang.h"

static Ref zero_of(Lower *l, Elem elem) {
    return elem_is_float(elem) ? ir_float(&l->b, elem, 0) : ir_int(&l->b, elem, 0);
}

/* The first arguments as matrices. */
static bool operands(Lower *l, const Call *c, int count, Box *m) {
    for (int i = 0; i < count; i++) {
        if (!lang_as_tile(l, c, i, &m[i])) return false;
        int rank = m[i].of->rank;
        if (rank >= 2 && lang_leading_ones(&m[i]) >= rank - 2) continue;
        py_error(l, DIAG_TL_SHAPES, c->ranges[i], c->builtin->name, lang_shape_text(l, m[i].of, m[i].shape),
                 count == 3 ? "[M, K] [K, N] [M, N]" : "[M, K/2] [M, K/factor] [K, N] [M, N]",
                 "the operands are matrices");
        return false;
    }
    return true;
}

/* --- sparse factors --- */

static int group_of(Elem elem) { return elem_info[elem].bits == 32 ? 2 : 4; }

/* How many elements of the dense matrix one number of the places is for. */
static int factor_of(Elem elem, Elem places) { return elem_info[places].bits / 4 * group_of(elem); }

/* get_e_factor(dtype, dtype of the places); get_e_replicate_factor(dtype): threads that share a number (code 1) */
Val lang_lower_sparse_factor(Lower *l, const Call *c) {
    Elem elem, places = EL_I16;
    if (!lang_want_elem(l, c, 0, &elem) || (!c->builtin->code && !lang_want_elem(l, c, 1, &places))) return val_error;
    return val_int(c->builtin->code ? (elem_info[elem].bits <= 8 ? 1 : 2) : factor_of(elem, places));
}

/* [rows, columns] as [rows, columns, times], each element so many times. */
static Ref spread(Lower *l, Ref x, int64_t times) {
    const Type *type = val_ref_type(l, x);
    int64_t extent[3] = {type->extent[0], type->extent[1], times};
    return ir_broadcast(&l->b, ir_expand(&l->b, x, 2), ty_tile(l->module, type->elem, 3, extent));
}

/* 0, 1, .. along the last extent of three. */
static Ref counted(Lower *l, const Type *as, Elem elem) {
    Ref n = ir_cast(&l->b, ir_iota(&l->b, 0, as->extent[2]), elem);
    n = ir_expand(&l->b, ir_expand(&l->b, n, 0), 0);
    return ir_broadcast(&l->b, n, ty_with_elem(l->module, as, elem));
}

static Ref places_at(Lower *l, Ref places, int from, int64_t rows, int64_t groups) {
    Elem elem = val_ref_type(l, places)->elem;
    Ref part = ir_binary(&l->b, OP_SHR, places, ir_int(&l->b, elem, from));
    part = ir_cast(&l->b, ir_binary(&l->b, OP_AND, part, ir_int(&l->b, elem, 3)), EL_I32);
    return ir_reshape(&l->b, part, ty_tile(l->module, EL_I32, 2, (int64_t[]){rows, groups}));
}

/* [M, K / 2] and [M, K / factor] as [M, K]; REF_NONE after a message. */
static Ref dense(Lower *l, const Call *c, Ref kept, Ref places) {
    const Type *a = val_ref_type(l, kept), *e = val_ref_type(l, places);
    int bits = elem_info[e->elem].bits, group = group_of(a->elem);
    int64_t rows = a->extent[0], columns = 2 * a->extent[1], groups = columns / group;
    if (elem_is_float(e->elem) || bits < 8 || bits > 32 || elem_info[a->elem].bits > 32) {
        lang_types(l, c->range, "T.gemm_sp takes elements and their places of 8 to 32 bits, the places as integers");
        return REF_NONE;
    }
    if (e->extent[0] != rows || e->extent[1] * factor_of(a->elem, e->elem) != columns) {
        py_error(l, DIAG_TL_SHAPES, c->range, "gemm_sp", ty_text(a, l->arena), ty_text(e, l->arena),
                 arena_printf(l->arena, "a number of the places is for %d columns of the dense matrix, which has twice "
                              "the columns of what is kept", factor_of(a->elem, e->elem)));
        return REF_NONE;
    }
    Elem number = bits == 8 ? EL_U8 : bits == 16 ? EL_U16 : EL_U32;
    if (e->elem != number) {
        Op *op = ir_begin(&l->b, OP_BITCAST);
        ir_operand(&l->b, op, places);
        places = ir_end(&l->b, op, ty_with_elem(l->module, e, number));
    }
    Ref each = spread(l, places, bits / 4), nth = counted(l, val_ref_type(l, each), number);
    each = ir_binary(&l->b, OP_SHR, each, ir_binary(&l->b, OP_MUL, nth, ir_int(&l->b, number, 4)));
    Ref first = places_at(l, each, 0, rows, groups), second = places_at(l, each, 2, rows, groups), out;
    if (group == 2) {
        first = spread(l, ir_binary(&l->b, OP_SHR, first, ir_int(&l->b, EL_I32, 1)), 2);
        Ref here = ir_compare(&l->b, CMP_EQ, first, counted(l, val_ref_type(l, first), EL_I32));
        out = ir_ternary(&l->b, OP_SELECT, here, spread(l, kept, 2), zero_of(l, a->elem));
    } else {
        Op *split = ir_begin(&l->b, OP_SPLIT);
        ir_operand(&l->b, split, ir_reshape(&l->b, kept, ty_tile(l->module, a->elem, 3, (int64_t[]){rows, groups, 2})));
        ir_end(&l->b, split, NULL);
        Ref at[2] = {spread(l, first, 4), spread(l, second, 4)};
        Ref column = counted(l, val_ref_type(l, at[0]), EL_I32);
        out = zero_of(l, a->elem);
        for (int i = 1; i >= 0; i--) /* where both name one place, the first counts */
            out = ir_ternary(&l->b, OP_SELECT, ir_compare(&l->b, CMP_EQ, at[i], column),
                             spread(l, split->results[i], 4), out);
    }
    return ir_reshape(&l->b, out, ty_tile(l->module, a->elem, 2, (int64_t[]){rows, columns}));
}

/* --- products --- */

/* The type in which two factors of a kind meet, which holds both exactly: the wider one, or the next that does. */
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

/* Does the float type hold all integers of the other? */
static bool holds(Elem real, Elem whole) {
    int digits = real == EL_F16 ? 11 : real == EL_BF16 ? 8 : real == EL_F32 ? 24 : real == EL_F64 ? 53 : 0;
    return elem_is_float(real) && elem_is_int(whole) && elem_info[whole].bits - elem_is_signed(whole) <= digits;
}

/* Would they fit with a side turned round? */
static const char *turned(const Type *a, const Type *b, const int64_t *out) {
    const int64_t *x = a->extent, *y = b->extent;
    if (x[0] == out[0] && x[1] == y[1] && y[0] == out[1]) return "; with the other transpose_B they fit";
    if (x[1] == out[0] && x[0] == y[0] && y[1] == out[1]) return "; with the other transpose_A they fit";
    return "";
}

Val lang_lower_gemm(Lower *l, const Call *c) {
    Box m[4], *last;
    int sparse = c->builtin->code, flags = 3 + sparse, more = 5 + 2 * sparse; /* the first flag; the policy */
    bool transpose[3], clear = false;
    bool sometimes = c->args[more + 1].kind == VAL_TENSOR; /* in the first trip of a loop */
    Val policy = lang_plain(c->args[more]);
    bool number = policy.kind == VAL_INT && policy.i >= 0 && policy.i <= 2; /* the policies by number */
    if (!lang_in_kernel(l, c)) return val_error;
    if (!number && !lang_word(l, c, more, "policy", "Square, FullRow, FullCol")) return val_error;
    if (!operands(l, c, 3 + sparse, m)) return val_error;
    for (int i = 0; i < 2 + sparse; i++)
        if (!lang_flag(l, c, flags + i, false, &transpose[i])) return val_error;
    if (!sometimes && !lang_flag(l, c, more + 1, false, &clear)) return val_error;
    Ref fresh = REF_NONE;
    if (sometimes && !lang_convert(l, c->args[more + 1], EL_I1, c->ranges[more + 1], &fresh)) return val_error;
    l->b.range = c->range;
    Ref side[3] = {REF_NONE};
    for (int i = 0; i < 2 + sparse; i++) {
        side[i] = lang_load_box(l, &m[i], 2);
        if (transpose[i]) side[i] = ir_permute(&l->b, side[i], (int64_t[]){1, 0}, 2);
    }
    last = &m[2 + sparse];
    if (sparse) {
        side[0] = dense(l, c, side[0], side[1]);
        side[1] = side[2];
        if (!side[0]) return val_error;
    }
    const Type *a = val_ref_type(l, side[0]), *b = val_ref_type(l, side[1]);
    const int64_t *out = last->shape + last->of->rank - 2;
    Elem elem = last->of->elem;
    if (a->extent[1] != b->extent[0] || a->extent[0] != out[0] || b->extent[1] != out[1])
        return py_error(l, DIAG_TL_SHAPES, c->range, c->builtin->name,
                        arena_printf(l->arena, "%s and %s", ty_text(a, l->arena), ty_text(b, l->arena)),
                        lang_shape_text(l, last->of, last->shape),
                        arena_printf(l->arena, "[M, K] times [K, N] gives [M, N] (after transpose_A, transpose_B)%s",
                                     turned(a, b, out)));
    Elem factors = holds(a->elem, b->elem)   ? a->elem
                   : holds(b->elem, a->elem) ? b->elem
                   : elem_is_float(a->elem) == elem_is_float(b->elem) ? meet(a->elem, b->elem) : EL_COUNT;
    if (factors == EL_COUNT || elem_is_float(factors) != elem_is_float(elem))
        return lang_types(l, c->range,
                          arena_printf(l->arena,
                                       "T.%s takes factors of one kind, floats or integers, into sums of that kind; "
                                       "beside floats an integer factor that their type holds (int8 and float16)",
                                       c->builtin->name));
    for (int i = 0; i < 2; i++) side[i] = ir_cast(&l->b, side[i], factors);
    Ref sum = clear ? ir_splat(&l->b, zero_of(l, elem), lang_box_type(l, last, elem, 2)) : lang_load_box(l, last, 2);
    if (fresh) sum = ir_ternary(&l->b, OP_SELECT, fresh, zero_of(l, elem), sum);
    /* Modulo the range of a short integer the sum is that of 32 bits, which the matrix units take. */
    if (!elem_is_float(elem) && elem_info[elem].bits < 32) sum = ir_cast(&l->b, sum, EL_I32);
    Ref product = ir_dot(&l->b, side[0], side[1], sum);
    if (factors == EL_F32 && (m[0].of->tf32 || m[1 + sparse].of->tf32))
        op_set(l->kernel, ir_value(l->kernel, product)->op, (Attr){.id = AT_PREC, .word = PREC_TF32});
    lang_store_box(l, last, product);
    return val_none;
}
