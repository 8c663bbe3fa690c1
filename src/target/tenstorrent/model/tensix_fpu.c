/* SPDX-License-Identifier: Apache-2.0 */
/* tensix_fpu.c: see tensix_fpu.h.
 *
 * Everything ends in one accumulate step: up to two terms and the old DST value are aligned to the
 * largest exponent, each rounded there, added exactly and rounded once more. A term is sign,
 * exponent and magnitude with 2^23 as 1.0. A matmul or sum makes its two terms from eight products
 * each, aligned among themselves first.
 *
 * The inner loop of matmul works on 16 columns side by side and aligns products with float
 * multiplications by powers of two (exact for these 12-bit numbers), which compilers vectorise
 * where variable shifts they would not. */
#include "target/tenstorrent/model/tensix_fpu.h"

#include <math.h>
#include <string.h>

typedef struct Term {
    int32_t sum; /* signed magnitude, 2^23 is 1.0 */
    int32_t exponent;
} Term;

/* By how much the product of a pass is smaller than that of pass 0. */
static const int32_t pass_exponent[4] = {0, 5, 7, 12};

void fpu_load(Source *source, const uint32_t bits[FORMAT_TILE]) {
    for (int i = 0; i < FORMAT_TILE; i++) {
        int32_t e = (int32_t)(bits[i] >> 23 & 255);
        int32_t m = e ? (int32_t)((bits[i] >> 13 & 1023) | 1024) : 0;
        source->exponent[i] = e;
        source->mantissa[i] = bits[i] >> 31 ? -m : m;
    }
}

/* The parts of a significand that a pass multiplies, with the sign. */
static int32_t part_a(int32_t mantissa, uint32_t pass) {
    int32_t m = mantissa < 0 ? -mantissa : mantissa;
    int32_t part = pass & 1 ? m >> 1 & 31 : m >> 6;
    return mantissa < 0 ? -part : part;
}
static int32_t part_b(int32_t mantissa, uint32_t pass) {
    int32_t m = mantissa < 0 ? -mantissa : mantissa;
    int32_t part = pass & 2 ? (m & 15) << 3 : m >> 4;
    return mantissa < 0 ? -part : part;
}

/* A magnitude moved to an exponent d larger: nearest, ties away from zero for positive numbers,
 * towards it for negative ones (bias 1). In a 16-bit DST it then keeps multiples of 2^13 only. */
static inline int64_t align(uint32_t magnitude, int32_t d, uint32_t bias, bool fp32) {
    uint64_t m = magnitude;
    if (d >= 31)
        m = 0;
    else if (d)
        m = (m + (1ull << (d - 1)) - bias) >> d;
    if (!fp32) m = (m + 4096 - bias) & ~8191ull;
    return (int64_t)m;
}

static inline uint32_t accumulate(uint32_t dst, Term t0, Term t1, bool fp32) {
    int32_t old_exponent = (int32_t)(dst >> 23 & 255);
    uint32_t old = old_exponent ? (dst & 0x7fffff) | 0x800000 : 0;
    int32_t e = old_exponent;
    if (t0.exponent > e) e = t0.exponent;
    if (t1.exponent > e) e = t1.exponent;
    if (e <= 0) return 0;
    int64_t sum = align(old, e - old_exponent, 0, fp32);
    if (dst >> 31) sum = -sum;
    sum += t0.sum < 0 ? -align((uint32_t)-t0.sum, e - t0.exponent, 1, fp32)
                      : align((uint32_t)t0.sum, e - t0.exponent, 0, fp32);
    sum += t1.sum < 0 ? -align((uint32_t)-t1.sum, e - t1.exponent, 1, fp32)
                      : align((uint32_t)t1.sum, e - t1.exponent, 0, fp32);
    if (!sum) return 0;
    uint32_t sign = sum < 0 ? 1u << 31 : 0;
    uint64_t m = (uint64_t)(sum < 0 ? -sum : sum);
    int top = 63 - __builtin_clzll(m), bits = fp32 ? 24 : 8, d = top + 1 - bits;
    e += top - 23;
    if (d > 0) {
        m = (m + (1ull << (d - 1))) >> d;
        if (m >> bits) m >>= 1, e++;
    } else {
        m <<= -d;
    }
    if (e <= 0) return 0;
    if (e >= 255) return sign | 255u << 23;
    return sign | (uint32_t)e << 23 | ((uint32_t)(m << (24 - bits)) & 0x7fffff);
}

void fpu_add(uint32_t dst[FORMAT_TILE], const Source *a, const Source *b, bool subtract, bool accumulating,
             FpuMode mode) {
    for (int i = 0; i < FORMAT_TILE; i++) {
        int32_t ma = a->mantissa[i], mb = subtract ? -b->mantissa[i] : b->mantissa[i];
        int32_t ea = a->exponent[i], eb = b->exponent[i];
        if (eb > ea || (eb == ea && (mb < 0 ? -mb : mb) > (ma < 0 ? -ma : ma))) {
            int32_t m = ma, e = ea;
            ma = mb, ea = eb;
            mb = m, eb = e;
        }
        int32_t d = ea - eb, small = mb < 0 ? -mb : mb;
        if (d) small = d >= 12 ? 0 : (small + (1 << (d - 1))) >> d;
        Term term = {(ma + (mb < 0 ? -small : small)) * 8192, ea};
        dst[i] = accumulate(accumulating ? dst[i] : 0, term, (Term){0, 0}, mode.fp32);
    }
}

void fpu_mul(uint32_t dst[FORMAT_TILE], const Source *a, const Source *b, FpuMode mode) {
    for (int i = 0; i < FORMAT_TILE; i++) {
        int32_t ma = a->mantissa[i], mb = b->mantissa[i];
        for (uint32_t pass = 0; pass < mode.passes; pass++) {
            int32_t e = a->exponent[i] + b->exponent[i] - 127 - pass_exponent[pass];
            Term term = {part_a(ma, pass) * part_b(mb, pass) * 8192, e};
            if (!ma || !mb || e <= 0) term = (Term){0, 0};
            dst[i] = accumulate(dst[i], term, (Term){0, 0}, mode.fp32);
        }
    }
}

/* ---- sums of sixteen products ---- */

/* Eight products aligned to their largest exponent and added. */
static Term sum_products(const int32_t product[8], const int32_t exponent[8]) {
    int32_t e = 0, sum = 0;
    for (int k = 0; k < 8; k++)
        if (exponent[k] > e) e = exponent[k];
    if (e <= 0) return (Term){0, 0};
    for (int k = 0; k < 8; k++) {
        int32_t m = product[k] < 0 ? -product[k] : product[k], d = e - exponent[k];
        if (d > 30) d = 30;
        int32_t aligned = (int32_t)((2 * (int64_t)m + (1ll << d)) >> (d + 1));
        sum += product[k] < 0 ? -aligned : aligned;
    }
    return (Term){sum * 8192, e};
}

/* Sixteen elements of each source, `step` apart, in one pass. */
static uint32_t dot_step(uint32_t dst, const Source *a, int ia, int step_a, const Source *b, int ib, int step_b,
                         uint32_t pass, bool fp32) {
    int32_t product[16], exponent[16];
    for (int k = 0; k < 16; k++) {
        int32_t ma = a->mantissa[ia + k * step_a], mb = b->mantissa[ib + k * step_b];
        product[k] = part_a(ma, pass) * part_b(mb, pass);
        exponent[k] =
            !ma || !mb ? 0 : a->exponent[ia + k * step_a] + b->exponent[ib + k * step_b] - 127 - pass_exponent[pass];
    }
    return accumulate(dst, sum_products(product, exponent), sum_products(product + 8, exponent + 8), fp32);
}

enum { LANES = 16, NO_EXPONENT = -4096 };

typedef struct Parts {
    float value[FORMAT_TILE];
    int32_t exponent[FORMAT_TILE]; /* NO_EXPONENT for zero */
} Parts;

/* The terms of one output row of a face: 16 columns, eight values of k. */
static void sum_lanes(Term terms[LANES], const float *right, const int32_t *right_exponent, const float *left,
                      const int32_t *left_exponent, int32_t base) {
    int32_t e[LANES], sum[LANES];
    for (int j = 0; j < LANES; j++) e[j] = 2 * NO_EXPONENT, sum[j] = 0;
    for (int k = 0; k < 8; k++)
        for (int j = 0; j < LANES; j++) {
            int32_t x = right_exponent[k * LANES + j] + left_exponent[k];
            e[j] = x > e[j] ? x : e[j];
        }
    for (int k = 0; k < 8; k++)
        for (int j = 0; j < LANES; j++) {
            int32_t d = e[j] - right_exponent[k * LANES + j] - left_exponent[k];
            d = d < 30 ? d : 30;
            union {
                int32_t bits;
                float value;
            } scale = {.bits = (127 - d) << 23};
            float product = right[k * LANES + j] * left[k];
            int32_t aligned = (int32_t)(fabsf(product) * scale.value + 0.5f);
            sum[j] += product < 0 ? -aligned : aligned;
        }
    for (int j = 0; j < LANES; j++) {
        bool some = e[j] + base > 0;
        terms[j].sum = some ? sum[j] * 8192 : 0;
        terms[j].exponent = some ? e[j] + base : 0;
    }
}

static void take_parts(Parts *parts, const Source *source, int32_t (*part)(int32_t, uint32_t), uint32_t pass) {
    for (int i = 0; i < FORMAT_TILE; i++) {
        parts->value[i] = (float)part(source->mantissa[i], pass);
        parts->exponent[i] = source->mantissa[i] ? source->exponent[i] : NO_EXPONENT;
    }
}

/* A row of an output face: 16 values of k from a row of the left face and the right face. */
static void matmul_row(uint32_t dst[LANES], const Parts *right, int r, const Parts *left, int l, int32_t base,
                       bool fp32) {
    Term low[LANES], high[LANES];
    sum_lanes(low, &right->value[r], &right->exponent[r], &left->value[l], &left->exponent[l], base);
    sum_lanes(high, &right->value[r + 128], &right->exponent[r + 128], &left->value[l + 8], &left->exponent[l + 8],
              base);
    for (int j = 0; j < LANES; j++) dst[j] = accumulate(dst[j], low[j], high[j], fp32);
}

void fpu_matmul(uint32_t dst[FORMAT_TILE], const Source *right, const Source *left, FpuMode mode) {
    Parts r, l;
    for (uint32_t pass = 0; pass < mode.passes; pass++) {
        take_parts(&r, right, part_a, pass);
        take_parts(&l, left, part_b, pass);
        int32_t base = -127 - pass_exponent[pass];
        for (int k = 0; k < 2; k++)
            for (int face = 0; face < 4; face++)
                for (int row = 0; row < 16; row++)
                    matmul_row(&dst[face * 256 + row * 16], &r, k * 512 + face % 2 * 256, &l,
                               face / 2 * 512 + k * 256 + row * 16, base, mode.fp32);
    }
}

/* ---- reductions ---- */

static void sum_scalar(uint32_t dst[FORMAT_TILE], const Source *data, const Source *scaler, FpuMode mode) {
    uint32_t sums[FORMAT_TILE] = {0};
    Source second;
    for (int c = 0; c < 16; c++) {
        for (int face = 0; face < 4; face++)
            for (uint32_t pass = 0; pass < mode.passes; pass++)
                sums[c] = dot_step(sums[c], data, face * 256 + c, 16, scaler, 0, 1, pass, mode.fp32);
        sums[c] &= 0xffff0000u;
    }
    fpu_load(&second, sums);
    for (uint32_t pass = 0; pass < mode.passes; pass++)
        dst[0] = dot_step(dst[0], &second, 0, 1, scaler, 0, 1, pass, mode.fp32);
}

void fpu_sum(uint32_t dst[FORMAT_TILE], const Source *data, const Source *scaler, uint32_t dim, FpuMode mode) {
    if (dim == TT_REDUCE_SCALAR) {
        sum_scalar(dst, data, scaler, mode);
        return;
    }
    for (uint32_t i = 0; i < 32; i++) {
        if (dim == TT_REDUCE_ROW) {
            uint32_t *out = &dst[format_index(i, 0)];
            for (uint32_t pass = 0; pass < mode.passes; pass++)
                for (uint32_t half = 0; half < 2; half++)
                    *out = dot_step(*out, scaler, 0, 1, data, (int)format_index(i, half * 16), 1, pass, mode.fp32);
        } else {
            uint32_t *out = &dst[format_index(0, i)];
            for (uint32_t half = 0; half < 2; half++)
                for (uint32_t pass = 0; pass < mode.passes; pass++)
                    *out = dot_step(*out, data, (int)format_index(half * 16, i), 16, scaler, 0, 1, pass, mode.fp32);
        }
    }
}

/* Sign and magnitude as one ordered number; the two zeros are equal. */
static int32_t order(uint32_t bits) {
    int32_t magnitude = (int32_t)(bits & 0x7fffffff);
    return bits >> 31 ? -magnitude : magnitude;
}

void fpu_max(uint32_t dst[FORMAT_TILE], const uint32_t data[FORMAT_TILE], uint32_t dim) {
    for (uint32_t r = 0; r < 32; r++)
        for (uint32_t c = 0; c < 32; c++) {
            uint32_t *out = &dst[format_index(dim == TT_REDUCE_ROW ? r : 0, dim == TT_REDUCE_COL ? c : 0)];
            uint32_t x = data[format_index(r, c)];
            if (order(x) > order(*out)) *out = x;
        }
}
