/* SPDX-License-Identifier: Apache-2.0 */
/* numeric.c: see numeric.h. One routine down and one up serve every format; they work on the bits,
 * so they do not depend on the host's rounding mode or on a flush-to-zero setting. */
#include "base/numeric.h"

const FloatFormat format_f16 = {5, 10, 15, 0x7BFF, 0x7E00, true, false, false};
const FloatFormat format_bf16 = {8, 7, 127, 0x7F7F, 0x7FC0, true, false, false};
const FloatFormat format_f32 = {8, 23, 127, 0x7F7FFFFF, 0x7FC00000, true, false, false};
const FloatFormat format_f8e4m3 = {4, 3, 7, 0x7E, 0x7F, false, true, false};
const FloatFormat format_f8e5m2 = {5, 2, 15, 0x7B, 0x7E, true, true, false};
const FloatFormat format_f8e4b8 = {4, 3, 8, 0x7F, 0x80, false, true, true};
const FloatFormat format_f8e5b16 = {5, 2, 16, 0x7F, 0x80, false, true, true};
const FloatFormat format_f8e4b15 = {4, 3, 15, 0x7F, 0x7F, false, true, false};

uint32_t float_narrow(const FloatFormat *f, double x, bool toward_zero) {
    uint64_t u = f64_bits(x);
    uint32_t sign = (uint32_t)(u >> 63) << (f->exponent_bits + f->mantissa_bits);
    uint64_t mantissa = u & 0xFFFFFFFFFFFFFu;
    int exponent = (int)(u >> 52 & 0x7FF) - 1023;
    uint32_t infinity = f->saturates ? f->largest : f->largest + 1;
    /* The sign of a NaN that arithmetic made differs from machine to machine: no number gets it. */
    if (exponent == 1024 && mantissa) return f->nan == f->largest ? f->nan : sign | f->nan;
    if (exponent == 1024) return sign | infinity;
    uint32_t zero = f->one_zero ? 0 : sign;
    if (exponent == -1023) return zero; /* zero, or below half of any format's smallest number */
    int bias = f->bias, least = 1 - bias, top = (1 << f->exponent_bits) - 1;
    if (exponent > top - bias) return sign | (toward_zero ? f->largest : infinity);

    /* The 53-bit number is cut to the format's mantissa, more so below its normal range. */
    int shift = 52 - f->mantissa_bits + (exponent < least ? least - exponent : 0);
    if (shift > 54) return zero;
    mantissa |= (uint64_t)1 << 52;
    uint64_t kept = mantissa >> shift, cut = mantissa & (((uint64_t)1 << shift) - 1);
    uint64_t half = (uint64_t)1 << (shift - 1);
    if (!toward_zero && (cut > half || (cut == half && (kept & 1)))) kept++;
    /* A carry out of the mantissa raises the exponent by itself. */
    uint32_t bits = (uint32_t)kept;
    if (exponent >= least) bits += (uint32_t)(exponent + bias - 1) << f->mantissa_bits;
    if (bits > f->largest) bits = toward_zero ? f->largest : infinity;
    return bits ? sign | bits : zero;
}

double float_widen(const FloatFormat *f, uint32_t bits) {
    int bias = f->bias;
    uint32_t top = (1u << f->exponent_bits) - 1;
    uint32_t exponent = bits >> f->mantissa_bits & top;
    uint32_t mantissa = bits & ((1u << f->mantissa_bits) - 1);
    uint64_t sign = (uint64_t)(bits >> (f->exponent_bits + f->mantissa_bits) & 1) << 63;
    uint32_t size = exponent << f->mantissa_bits | mantissa;
    if (f->one_zero && bits == f->nan) return f64_from_bits((uint64_t)0x7FF8 << 48);
    if (size > f->largest) {
        bool infinite = f->has_infinity && !mantissa;
        uint64_t payload = (uint64_t)mantissa << (52 - f->mantissa_bits) | (uint64_t)1 << 51;
        return f64_from_bits(sign | (uint64_t)0x7FF << 52 | (infinite ? 0 : payload));
    }
    if (!exponent) { /* mantissa * 2^(1 - bias - mantissa_bits), a normal double */
        uint64_t unit = (uint64_t)(1023 + 1 - bias - f->mantissa_bits) << 52;
        return f64_from_bits(sign | f64_bits((double)mantissa * f64_from_bits(unit)));
    }
    uint64_t shifted = (uint64_t)mantissa << (52 - f->mantissa_bits);
    return f64_from_bits(sign | (uint64_t)((int)exponent - bias + 1023) << 52 | shifted);
}

double f64_sticky_u64(uint64_t x) {
    if (x >> 53 == 0) return (double)x;
    int drop = 11 - __builtin_clzll(x); /* keeps 53 bits */
    uint64_t kept = x >> drop, cut = x & (((uint64_t)1 << drop) - 1);
    kept |= cut != 0;
    return (double)kept * (double)((uint64_t)1 << drop);
}

double f64_sticky_i64(int64_t x) { return x < 0 ? -f64_sticky_u64(-(uint64_t)x) : f64_sticky_u64((uint64_t)x); }
