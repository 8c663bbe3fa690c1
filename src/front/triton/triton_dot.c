/* SPDX-License-Identifier: Apache-2.0 */
/* triton_dot.c: tl.dot, the product of matrices (rank 2) and of stacks of them (rank 3).
 *
 * The precision asked for is kept as an attribute of the op: targets with narrow matrix units use
 * it, the others compute float32 products in float32. Triton's default for float32 is tf32. So is
 * max_num_imprecise_acc, which says something of 8-bit floats summed in float32 alone.
 *
 *     tl.dot(a, b, acc, input_precision="ieee")     dot %a, %b, %acc */
#include "front/triton/triton.h"

#include <string.h>

/* The least precision asked for. */
static bool dot_precision(Lower *l, const Call *c, Word *word) {
    static const struct {
        const char *text;
        Word word;
    } table[] = {{"ieee", PREC_IEEE},
                 {"tf32", PREC_TF32},
                 {"tf32x3", PREC_TF32X3},
                 {"bf16x3", PREC_BF16X3},
                 {"bf16x6", PREC_BF16X6}};
    const char *text;
    if (!py_want_text(l, c, 3, &text)) return false;
    if (c->args[4].kind != VAL_NONE) {
        bool allow;
        if (!py_want_bool(l, c, 4, &allow)) return false;
        if (text) {
            py_error(l, DIAG_TRI_DOT_PRECISION, c->ranges[4]);
            return false;
        }
        text = allow ? "tf32" : "ieee";
    }
    if (!text) text = "tf32";
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].text, text) == 0) {
            *word = table[i].word;
            return true;
        }
    py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[3], "tl.dot",
             "the precision 'ieee', 'tf32', 'tf32x3', 'bf16x3' or 'bf16x6'", val_describe(l, c->args[3]));
    return false;
}

static bool is_f8(Elem elem) { return elem_is_float(elem) && elem_info[elem].bits == 8; }

/* Both operands in one type: two kinds of 8-bit floats, and those that no matrix unit knows, meet
 * in float16, which holds them exactly. */
static bool dot_operands(Lower *l, const Call *c, Val *a, Val *b) {
    const Type *ta = val_type(l, *a), *tb = val_type(l, *b);
    bool small = is_f8(ta->elem) && is_f8(tb->elem) && !ta->pointer && !tb->pointer;
    bool known = ta->elem == EL_F8E4M3 || ta->elem == EL_F8E5M2;
    if (small && (ta->elem != tb->elem || !known)) {
        const Type *half = ty_scalar(l->module, EL_F16);
        *a = tri_cast(l, *a, half, c->range);
        *b = tri_cast(l, *b, half, c->range);
        return true;
    }
    if (ta->elem == tb->elem && ta->elem != EL_I1 && !ta->pointer && !tb->pointer) return true;
    py_error(l, DIAG_TRI_DOT_MIX, c->range, val_type_text(l, ta), val_type_text(l, tb));
    return false;
}

/* The element of the sum, from the operands' and out_dtype. */
static bool dot_result(Lower *l, const Call *c, Elem a, Elem asked, Elem *out) {
    bool good = elem_is_int(a) ? elem_info[a].bits == 8 : asked != EL_BF16;
    if (elem_is_int(a))
        *out = EL_I32;
    else if (a == EL_F64 || a == EL_F32 || a == EL_BF16)
        *out = a == EL_F64 ? EL_F64 : EL_F32;
    else
        *out = asked;
    good = good && (elem_is_int(a) || *out == EL_F32 || *out == EL_F16 || a == EL_F64);
    if (!good) py_error(l, DIAG_TRI_DOT_TYPE, c->range, tri_dtype_name(a), tri_dtype_name(asked));
    return good;
}

/* max_num_imprecise_acc, -1 where it says nothing. */
static bool dot_promote(Lower *l, const Call *c, const Type *a, const Type *b, int64_t *most) {
    *most = -1;
    if (c->args[5].kind == VAL_NONE) return true;
    if (!py_want_int(l, c, 5, most)) return false;
    int64_t k = a->extent[a->rank - 1];
    if (!is_f8(a->elem) || !is_f8(b->elem)) {
        *most = -1;
    } else if (*most < 0 || *most > k) {
        py_error(l, DIAG_TRI_DOT_PROMOTE, c->ranges[5], (long long)*most, (long long)k);
        return false;
    }
    return true;
}

/* The sum that a product is added to: zeros where there is none, the number or the tile that was given. */
static Val dot_sum(Lower *l, const Call *c, int arg, const Type *type) {
    Val acc = c->args[arg];
    if (acc.kind == VAL_NONE || val_is_number(acc))
        return tri_full(l, type->rank, type->extent, acc.kind == VAL_NONE ? val_int(0) : acc,
                        ty_scalar(l->module, type->elem), c->range);
    if (acc.kind == VAL_TENSOR && val_type(l, acc) == type) return acc;
    return py_error(l, DIAG_TRI_DOT_ACC, c->ranges[arg], val_describe(l, acc), val_type_text(l, type));
}

Val tri_dot(Lower *l, const Call *c, Val a, Val b, int acc_arg, Elem out, const Attr *attr) {
    const Type *ta = val_type(l, a);
    int r = ta->rank;
    int64_t extent[MAX_RANK], batch = 1, inner = ta->extent[r - 1];
    memcpy(extent, ta->extent, sizeof extent);
    extent[r - 1] = val_type(l, b)->extent[r - 1];
    const Type *type = ty_tile(l->module, out, r, extent);
    if (!tri_fits(l, type, c->range)) return val_error;
    Val acc = dot_sum(l, c, acc_arg, type);
    if (val_failed(acc)) return acc;
    for (int d = 0; d < r - 2; d++) batch *= extent[d];
    int64_t rows = extent[r - 2], columns = extent[r - 1];
    if (r > 3) { /* one axis of stacks */
        a = tri_reshape(l, a, 3, (int64_t[]){batch, rows, inner}, c->range);
        b = tri_reshape(l, b, 3, (int64_t[]){batch, inner, columns}, c->range);
        acc = tri_reshape(l, acc, 3, (int64_t[]){batch, rows, columns}, c->range);
    }
    Op *op = ir_begin(&l->b, OP_DOT);
    ir_operand(&l->b, op, a.ref);
    ir_operand(&l->b, op, b.ref);
    ir_operand(&l->b, op, acc.ref);
    if (attr) op_set(l->kernel, op, *attr);
    Val product = val_tensor(ir_end(&l->b, op, NULL));
    return r > 3 ? tri_reshape(l, product, r, extent, c->range) : product;
}

bool tri_dot_fits(const Type *a, const Type *b) {
    int r = a->rank;
    bool fits = r >= 2 && b->rank == r && a->extent[r - 1] == b->extent[r - 2];
    for (int d = 0; fits && d < r - 2; d++) fits = a->extent[d] == b->extent[d];
    return fits;
}

Val tri_lower_dot(Lower *l, const Call *c) {
    Val a, b;
    const Type *asked = ty_scalar(l->module, EL_F32);
    Word precision;
    int64_t promote;
    if (!tri_want_tensor(l, c, 0, &a) || !tri_want_tensor(l, c, 1, &b)) return val_error;
    if ((c->args[6].kind != VAL_NONE && !tri_want_dtype(l, c, 6, &asked)) || !dot_precision(l, c, &precision))
        return val_error;
    const Type *ta = val_type(l, a), *tb = val_type(l, b);
    if (!tri_dot_fits(ta, tb))
        return py_error(l, DIAG_TRI_DOT_SHAPE, c->range, val_type_text(l, ta), val_type_text(l, tb));
    if (!dot_promote(l, c, ta, tb, &promote) || !dot_operands(l, c, &a, &b)) return val_error;
    Elem elem = val_type(l, a)->elem, out;
    if (!dot_result(l, c, elem, asked->elem, &out)) return val_error;
    Attr prec = {.id = AT_PREC, .word = precision}, most = {.id = AT_PROMOTE, .number = promote};
    bool narrow = elem == EL_F32 && precision != PREC_IEEE, partial = promote >= 0 && is_f8(elem) && out == EL_F32;
    return tri_dot(l, c, a, b, 2, out, narrow ? &prec : partial ? &most : NULL);
}
