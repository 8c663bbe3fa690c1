/* SPDX-License-Identifier: Apache-2.0 */
/* tt_casts.c: casts to floats of 8 bits, which compute has no call for.
 *
 * Such numbers lie in pages of bf16, exactly, so a cast is nothing but a rounding of f32, which the SFPU does step by
 * step, each of
 * them a sum, difference or product of f32 that is rounded to nearest even:
 *
 *     held    x within the largest number, which is what the format saturates to
 *     near    held * c - (held * c - held), c = 2^s + 1: Veltkamp's splitting, held to the format's significant bits,
 *             to nearest
 *     ties    where held lies halfway between near and another number of the format, the even one of both: the other is
 *             2 held - near, and what splitting to one bit less keeps is even
 *     small   below the normal range all numbers are as far apart: (held + m) - m
 *
 * NaN stays. */
#include "ir/build.h"
#include "ir/element.h"
#include "target/tenstorrent/tt_emit.h"

#include <math.h>

typedef struct Rounding {
    Builder *b;
    const Type *type; /* of the tile, f32 */
} Rounding;

static Ref number(const Rounding *r, double x) { return ir_splat(r->b, ir_float(r->b, EL_F32, x), r->type); }
static Ref two(const Rounding *r, Opcode code, Ref x, Ref y) { return ir_binary(r->b, code, x, y); }

/* To so many significant bits. */
static Ref split(const Rounding *r, Ref x, int bits) {
    Ref wide = two(r, OP_MUL, x, number(r, ldexp(1, 24 - bits) + 1));
    return two(r, OP_SUB, wide, two(r, OP_SUB, wide, x));
}

static Ref rounded(const Rounding *r, Ref x, Elem to) {
    const FloatFormat *format = to == EL_F8E5M2 ? &format_f8e5m2 : &format_f8e4m3;
    double largest = float_widen(format, format->largest);
    int bits = format->mantissa_bits + 1, least = 1 - format->bias;
    Ref above = number(r, largest), held = two(r, OP_MAX, x, number(r, -largest));
    held = two(r, OP_MIN, held, above);
    Ref near = split(r, held, bits), other = two(r, OP_ADD, held, two(r, OP_SUB, held, near));
    Ref is_tie = ir_compare(r->b, CMP_EQ, split(r, other, bits), other);
    Ref is_odd = ir_compare(r->b, CMP_NE, split(r, near, bits - 1), near);
    Ref even = ir_ternary(r->b, OP_SELECT, two(r, OP_AND, is_tie, is_odd), other, near);
    Ref middle = number(r, 1.5 * ldexp(1, 23 + least - format->mantissa_bits));
    Ref small = two(r, OP_SUB, two(r, OP_ADD, held, middle), middle);
    Ref size = ir_unary(r->b, OP_ABS, held), is_small = ir_compare(r->b, CMP_LT, size, number(r, ldexp(1, least)));
    Ref number = ir_ternary(r->b, OP_SELECT, is_small, small, even);
    return ir_ternary(r->b, OP_SELECT, ir_compare(r->b, CMP_EQ, x, x), number, x);
}

static void round_region(Tt *tt, Region *region) {
    for (Op *op = region->first, *next; op; op = next) {
        next = op->next;
        for (int i = 0; i < op->region_count; i++) round_region(tt, op->regions[i]);
        if (op->code != OP_CAST || op_word(op, AT_ROUND, ROUND_RN) != ROUND_RN) continue;
        const Type *from = ir_type(tt->k, op->operands[0]), *to = ir_type(tt->k, op->results[0]);
        bool is_narrow = to->elem == EL_F8E5M2 || to->elem == EL_F8E4M3;
        if (!is_narrow || !to->rank || !elem_is_float(from->elem) || elem_info[from->elem].bits < 16) continue;
        if (from->elem == EL_F64 || tt_is_index(tt, op->operands[0])) continue;
        Builder b = ir_builder_before(tt->k, op);
        Ref x = ir_cast(&b, op->operands[0], EL_F32);
        Rounding r = {&b, ir_type(tt->k, x)};
        map_put_number(&tt->to_bytes, tt->arena, op->operands[0], NULL);
        ir_replace_all(tt->k, op->results[0], ir_cast(&b, rounded(&r, x, to->elem), EL_BF16));
        ir_remove(op);
    }
}

void tt_round_casts(Tt *tt) {
    const Op *compute = tt->role[TENSIX_COMPUTE];
    if (compute) round_region(tt, compute->regions[0]);
}
