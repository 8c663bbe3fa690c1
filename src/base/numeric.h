/* SPDX-License-Identifier: Apache-2.0 */
/* numeric.h: the small float formats, converted exactly.
 *
 * f16 and bf16 overflow to infinity; the 8-bit formats saturate to their largest finite number
 * (infinities too). NaN stays NaN, but f8e4b15 has none: there it is +1.875, the largest. Rounding
 * is to nearest even, or toward zero where asked for, and always happens once: from a double
 * directly, never by way of a float.
 *
 *     f16_from_f32(65520.0f) == 0x7C00          infinity
 *     float_narrow(&format_f8e4m3, 1e6, false) == 0x7E          448
 *
 * The inline functions are the fast paths of the two 16-bit formats; float_narrow and float_widen
 * know all formats. Element types of the IR are read and written by ir/element.h. */
#ifndef BASE_NUMERIC_H
#define BASE_NUMERIC_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct FloatFormat {
    int exponent_bits, mantissa_bits, bias;
    uint32_t largest;  /* bits of the largest finite number */
    uint32_t nan;      /* bits of a quiet NaN; of a format without NaN: the largest number */
    bool has_infinity; /* all-ones exponent with mantissa 0 */
    bool saturates;    /* overflow and infinity become the largest number */
    bool one_zero;     /* no -0: its bits are the format's only NaN */
} FloatFormat;
extern const FloatFormat format_f16, format_bf16, format_f32, format_f8e4m3, format_f8e5m2, format_f8e4b8,
    format_f8e5b16, format_f8e4b15;

/* The bits of the format nearest to x; toward_zero: the nearest not larger in magnitude. */
uint32_t float_narrow(const FloatFormat *format, double x, bool toward_zero);
double float_widen(const FloatFormat *format, uint32_t bits);

/* A double that rounds to any format of at most 50 mantissa bits as the integer itself would:
 * truncated, with the lowest bit standing for all that was cut off. */
double f64_sticky_i64(int64_t x);
double f64_sticky_u64(uint64_t x);

static inline uint32_t f32_bits(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}
static inline float f32_from_bits(uint32_t u) {
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}
static inline uint64_t f64_bits(double x) {
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}
static inline double f64_from_bits(uint64_t u) {
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline float bf16_to_f32(uint16_t h) { return f32_from_bits((uint32_t)h << 16); }
static inline uint16_t bf16_from_f32(float x) {
    uint32_t u = f32_bits(x);
    if ((u & 0x7FFFFFFFu) > 0x7F800000u) return (uint16_t)(u >> 16 | 0x40);
    return (uint16_t)((u + 0x7FFFu + (u >> 16 & 1)) >> 16);
}

static inline float f16_to_f32(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, mantissa = h & 0x3FF;
    if (exponent == 31) return f32_from_bits(sign | 0x7F800000u | mantissa << 13);
    if (exponent) return f32_from_bits(sign | (exponent + 112) << 23 | mantissa << 13);
    return f32_from_bits(sign | f32_bits((float)mantissa * 0x1p-24f));
}
static inline uint16_t f16_from_f32(float x) {
    uint32_t u = f32_bits(x), sign = u >> 16 & 0x8000, size = u & 0x7FFFFFFFu;
    if (size >= 0x47800000u) { /* 65536 and more */
        if (size > 0x7F800000u) return (uint16_t)(sign | 0x7E00 | (size >> 13 & 0x3FF));
        return (uint16_t)(sign | 0x7C00);
    }
    if (size < 0x38800000u) /* below 2^-14: the sum has its last bit at 2^-24 */
        return (uint16_t)(sign | (f32_bits(f32_from_bits(size) + 0.5f) - 0x3F000000u));
    return (uint16_t)(sign | (size - 0x38000000u + 0xFFF + (size >> 13 & 1)) >> 13);
}

/* Double to a 16-bit format in one rounding. */
static inline uint16_t f16_from_f64(double x) { return (uint16_t)float_narrow(&format_f16, x, false); }
static inline uint16_t bf16_from_f64(double x) { return (uint16_t)float_narrow(&format_bf16, x, false); }
static inline float f32_from_f64_rz(double x) { return f32_from_bits(float_narrow(&format_f32, x, true)); }
#define F8_CONVERSIONS(name)                                                                                    \
    static inline uint8_t name##_from_f64(double x) { return (uint8_t)float_narrow(&format_##name, x, false); } \
    static inline float name##_to_f32(uint8_t h) { return (float)float_widen(&format_##name, h); }
F8_CONVERSIONS(f8e4m3)
F8_CONVERSIONS(f8e5m2)
F8_CONVERSIONS(f8e4b8)
F8_CONVERSIONS(f8e5b16)
F8_CONVERSIONS(f8e4b15)
#undef F8_CONVERSIONS
#endif
