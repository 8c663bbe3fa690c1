/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_complex.c: operations of Tile C on complex tiles, vectors and globals.
 *
 *     crt_fl(16, 64) z;            a pair of tiles, z.real and z.imag
 *     load(&z, g.f, at(0, 0))      what is done to each part by itself is two calls
 *     mul(&z, &z, &w)              (a + ib)(c + id)
 *     mma_AB(&z, &a, &b)           four products
 *
 * Numbers of 16 bits are multiplied, divided and exponentiated as float, and rounded once. */
#include "front/tilec/tilec.h"

#include <string.h>

/* The call on the real or the imaginary parts of its complex operands; others stay what they are. */
static Call part_of(const Call *call, int part) {
    Call one = *call;
    for (int i = 0; i < one.count; i++) {
        Expr *e = &one.args[i];
        bool place = e->kind == X_PLACE || e->kind == X_POINTER;
        if (place && e->lvalue.type->is_complex) e->lvalue = tc_member(&e->lvalue, part);
    }
    return one;
}

Expr bi_complex_parts(Tc *tc, const Call *call) {
    for (int i = 0; i < 2; i++) {
        Call one = part_of(call, i);
        Expr done = tc_dispatch(tc, &one);
        if (done.kind == X_ERROR) return done;
    }
    return call->row->parameter ? bi_same(tc, call) : tc_nothing(call); /* transpose_inplace gives the tile */
}

/* ---- arithmetic ---- */

typedef struct Pair {
    Ref real, imag;
} Pair;

static Ref read_part(Tc *tc, const Call *call, const Lvalue *part, const TcType *like, Elem elem) {
    if (!tc_same_shape(tc, call->name, like, part->type, call->range)) return REF_NONE;
    Ref value = tc_read_tile(tc, part, call->range);
    return value ? ir_cast(&tc->b, value, elem) : REF_NONE;
}

/* Operand i in the type that the destination is computed in; false after an error. */
static bool read_pair(Tc *tc, const Call *call, int i, Elem elem, Pair *out) {
    const TcType *like = call->args[0].lvalue.type->fields[0].type;
    Lvalue real = tc_member(&call->args[i].lvalue, 0), imag = tc_member(&call->args[i].lvalue, 1);
    out->real = read_part(tc, call, &real, like, elem);
    out->imag = out->real ? read_part(tc, call, &imag, like, elem) : REF_NONE;
    return out->imag != REF_NONE;
}

static bool computed_as(Tc *tc, const Call *call, Elem *elem) {
    *elem = call->args[0].lvalue.type->fields[0].type->elem;
    bool real = elem_is_float(*elem);
    if (!real) TC_ERROR(tc, TC_FLOATS_ONLY, call->range, call->name, elem_info[*elem].text, "float, bf16 or half");
    if (elem_info[*elem].bits < 32) *elem = EL_F32;
    return real;
}

static Expr write_pair(Tc *tc, const Call *call, Ref real, Ref imag) {
    const Lvalue *to = &call->args[0].lvalue;
    Lvalue parts[2] = {tc_member(to, 0), tc_member(to, 1)};
    tc_write_tile(tc, &parts[0], real, call->range);
    tc_write_tile(tc, &parts[1], imag, call->range);
    return tc_nothing(call);
}

static Pair product(Builder *b, Pair x, Pair y) {
    Ref imag = ir_binary(b, OP_MUL, x.imag, y.imag);
    Pair z = {.real = ir_binary(b, OP_SUB, ir_binary(b, OP_MUL, x.real, y.real), imag)};
    Ref cross = ir_binary(b, OP_MUL, x.imag, y.real);
    z.imag = ir_binary(b, OP_ADD, ir_binary(b, OP_MUL, x.real, y.imag), cross);
    return z;
}

Expr bi_complex_mul(Tc *tc, const Call *call) {
    Elem elem;
    Pair x, y;
    bool ok = computed_as(tc, call, &elem) && read_pair(tc, call, 1, elem, &x) && read_pair(tc, call, 2, elem, &y);
    if (!ok) return tc_nothing(call);
    Pair z = product(&tc->b, x, y);
    return write_pair(tc, call, z.real, z.imag);
}

/* x conj(y) / |y|^2 */
Expr bi_complex_div(Tc *tc, const Call *call) {
    Elem elem;
    Pair x, y;
    Builder *b = &tc->b;
    bool ok = computed_as(tc, call, &elem) && read_pair(tc, call, 1, elem, &x) && read_pair(tc, call, 2, elem, &y);
    if (!ok) return tc_nothing(call);
    Ref imag_square = ir_binary(b, OP_MUL, y.imag, y.imag);
    Ref square = ir_binary(b, OP_ADD, ir_binary(b, OP_MUL, y.real, y.real), imag_square);
    Pair z = product(b, x, (Pair){y.real, ir_unary(b, OP_NEG, y.imag)});
    Ref real = ir_binary(b, OP_DIV, z.real, square), imag = ir_binary(b, OP_DIV, z.imag, square);
    return write_pair(tc, call, real, imag);
}

/* e^a (cos b + i sin b) */
Expr bi_complex_exp(Tc *tc, const Call *call) {
    Elem elem;
    Pair x;
    Builder *b = &tc->b;
    if (!computed_as(tc, call, &elem) || !read_pair(tc, call, 1, elem, &x)) return tc_nothing(call);
    Ref size = ir_unary(b, OP_EXP, x.real);
    Ref imag = ir_binary(b, OP_MUL, size, ir_unary(b, OP_SIN, x.imag));
    return write_pair(tc, call, ir_binary(b, OP_MUL, size, ir_unary(b, OP_COS, x.imag)), imag);
}

Expr bi_complex_conj(Tc *tc, const Call *call) {
    Pair x;
    Elem elem = call->args[0].lvalue.type->fields[0].type->elem;
    if (!read_pair(tc, call, 1, elem, &x)) return tc_nothing(call);
    return write_pair(tc, call, x.real, ir_unary(&tc->b, OP_NEG, x.imag));
}

/* ---- products ---- */

/* One of the four: onto part `to` of d, of parts `a` of A and `b` of B. The first of a part begins at c, or at 0. */
static bool multiply(Tc *tc, const Call *call, int to, int a, int b, bool first) {
    Call one = part_of(call, to);
    one.args[1] = part_of(call, a).args[1];
    one.args[2] = part_of(call, b).args[2];
    if (!first) one.count = 3;
    return tc_multiply(tc, &one, call->row->parameter, !first, a == 1 && b == 1);
}

Expr bi_complex_mma(Tc *tc, const Call *call) {
    bool real = multiply(tc, call, 0, 0, 0, true) && multiply(tc, call, 0, 1, 1, false);
    if (real && multiply(tc, call, 1, 0, 1, true)) multiply(tc, call, 1, 1, 0, false);
    return tc_nothing(call);
}
