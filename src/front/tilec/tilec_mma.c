/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_mma.c: matrix products of Tile C: every transposition, onto what is there or over it.
 *
 *     mma_AB(&d, &a, &b)       d += A B       one warp: A and B in registers
 *     warpgroup_mma_ABt(..)    d += A B^T     four warps: B in shared memory, done behind warpgroup_mma_wait */
#include "front/tilec/tilec.h"

/* Element types of A and B, and of D: floats of 16 bits onto float or onto themselves, one-byte floats and float
 * (rounded to tf32) onto float, bytes onto int. */
static bool types_fit(Elem a, Elem b, Elem d) {
    if (a == EL_BF16 || a == EL_F16) return a == b && (d == EL_F32 || d == a);
    if (a == EL_F8E4M3 || a == EL_F8E5M2) return (b == EL_F8E4M3 || b == EL_F8E5M2) && d == EL_F32;
    if (a == EL_F32) return b == EL_F32 && d == EL_F32;
    return (a == EL_I8 || a == EL_U8) && (b == EL_I8 || b == EL_U8) && d == EL_I32;
}

static bool check_mma(Tc *tc, const Call *call, bool ta, bool tb) {
    const TcType *d = call->args[0].lvalue.type, *a = call->args[1].lvalue.type, *b = call->args[2].lvalue.type;
    bool group = tc->unit > 1;
    if (group && b->level != TC_SHARED) {
        TC_ERROR(tc, TC_MMA_LEVEL, call->args[2].range, call->name, "B must be a shared tile st_*");
        return false;
    }
    if (!group && (a->level != TC_REGISTER || b->level != TC_REGISTER)) {
        TC_ERROR(tc, TC_MMA_LEVEL, call->range, call->name, "at warp scope A and B must be register tiles rt_*");
        return false;
    }
    if (!types_fit(a->elem, b->elem, d->elem)) {
        TC_ERROR(tc, TC_MMA_TYPES, call->range, elem_info[d->elem].text, elem_info[a->elem].text,
                 elem_info[b->elem].text);
        return false;
    }
    const Type *x = tc_value_type(tc, a), *y = tc_value_type(tc, b), *z = tc_value_type(tc, d);
    int64_t am = x->extent[ta], ak = x->extent[!ta], bk = y->extent[tb], bn = y->extent[!tb];
    if (am == z->extent[0] && ak == bk && bn == z->extent[1]) return true;
    TC_ERROR(tc, TC_MMA_SHAPES, call->range, (long long)am, (long long)ak, (long long)bk, (long long)bn,
             (long long)z->extent[0], (long long)z->extent[1]);
    return false;
}

static Ref product(Tc *tc, Ref a, Ref b, Ref c) {
    Op *op = ir_begin(&tc->b, OP_DOT);
    ir_operand(&tc->b, op, a);
    ir_operand(&tc->b, op, b);
    ir_operand(&tc->b, op, c);
    if (ir_type(tc->kernel, a)->elem == EL_F32) op_set(tc->kernel, op, (Attr){.id = AT_PREC, .word = PREC_TF32});
    return ir_end(&tc->b, op, NULL);
}

bool tc_multiply(Tc *tc, const Call *call, int form, bool onto, bool negative) {
    bool ta = form & 1, tb = form & 2, overwrite = (form & 4) && !onto;
    const Lvalue *d = &call->args[0].lvalue, *a = &call->args[1].lvalue, *b = &call->args[2].lvalue;
    const Lvalue *c = call->count > 3 ? &call->args[3].lvalue : d;
    if (!check_mma(tc, call, ta, tb)) return false;
    if (c != d && !tc_same_shape(tc, call->name, d->type, c->type, call->range)) return false;
    Ref va = tc_read_tile(tc, a, call->range);
    const TcEvent *read_a = tc->touched;
    Ref vb = va ? tc_read_tile(tc, b, call->range) : REF_NONE;
    const TcEvent *read_b = tc->touched;
    if (!vb) return false;
    const int64_t swap[] = {1, 0};
    if (negative) va = ir_unary(&tc->b, OP_NEG, va);
    if (ta) va = ir_permute(&tc->b, va, swap, 2);
    if (tb) vb = ir_permute(&tc->b, vb, swap, 2);
    /* Products onto the same tile may follow each other without a wait: they are done in order. */
    tc->follows = c == d;
    Ref vc = overwrite ? ir_splat(&tc->b, tc_zero(tc, tc_scalar_type(d->type->elem)).ref, tc_value_type(tc, d->type))
                       : tc_read_tile(tc, c, call->range);
    if (vc) tc_write_tile(tc, d, product(tc, va, vb, ir_cast(&tc->b, vc, d->type->elem)), call->range);
    tc->follows = false;
    if (vc && tc->unit > 1) tc_note_product(tc, read_a, read_b, tc->touched, !ta, call->range);
    return vc != REF_NONE;
}

Expr bi_mma(Tc *tc, const Call *call) {
    tc_multiply(tc, call, call->row->parameter, false, false);
    return tc_nothing(call);
}
