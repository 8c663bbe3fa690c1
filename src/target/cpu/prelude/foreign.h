/* SPDX-License-Identifier: Apache-2.0 */
/* foreign.h: what functions in CUDA that a kernel brings are compiled with here, as C++: words of CUDA, some of its functions, and
 * instructions of PTX, which stand for the assembly of the text (cpu_foreign.c).
 *
 *     asm volatile("and.b32 %0, %1, 15;" : "=r"(y) : "r"(x))   ->   y = tw_ptx_and_b32(x, 15)
 *
 * The name behind TW_PTX is the instruction's, `_` for `.`, without `.rn`: the list of those that are known is this text. */
#ifndef TILEWRIGHT_FOREIGN_H
#define TILEWRIGHT_FOREIGN_H
#include "cpu.h"
#include <stdint.h>

#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__    __attribute__((noinline))
#define __align__(n)    __attribute__((aligned(n)))
#define __restrict      __restrict__
#define nullptr_t       decltype(nullptr)
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned uint;
typedef unsigned long ulong;

#define TW_VECTORS(T, name)                                                                        \
    struct name##2 { T x, y; };                                                                    \
    struct name##4 { T x, y, z, w; };                                                              \
    static inline name##2 make_##name##2(T x, T y) { return {x, y}; }                              \
    static inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
TW_VECTORS(int, int)
TW_VECTORS(unsigned, uint)
TW_VECTORS(short, short)
TW_VECTORS(unsigned short, ushort)
TW_VECTORS(signed char, char)
TW_VECTORS(unsigned char, uchar)
TW_VECTORS(float, float)
#undef TW_VECTORS

/* ---- functions of C and CUDA ---- */
extern "C" {
float expf(float), exp2f(float), logf(float), log2f(float), sqrtf(float), fabsf(float), tanhf(float), sinf(float), cosf(float), powf(float, float);
float floorf(float), ceilf(float), roundf(float), truncf(float), rintf(float), fminf(float, float), fmaxf(float, float), fmaf(float, float, float);
double exp(double), log(double), sqrt(double), fabs(double), tanh(double), sin(double), cos(double), pow(double, double), fma(double, double, double);
}
template <typename T> static inline T min(T x, T y) { return y < x ? y : x; }
template <typename T> static inline T max(T x, T y) { return x < y ? y : x; }
template <typename T> static inline T __ldg(const T *at) { return *at; }
static inline float rsqrtf(float x) { return (float)(1 / sqrt((double)x)); }
static inline float __expf(float x) { return expf(x); }
static inline float __logf(float x) { return logf(x); }
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
static inline unsigned __float_as_uint(float x) { return tw_as_u32(x); }
static inline int __float_as_int(float x) { return (int)tw_as_u32(x); }
static inline float __uint_as_float(unsigned x) { return tw_as_f32(x); }
static inline float __int_as_float(int x) { return tw_as_f32((u32)x); }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __clz(int x) { return x ? __builtin_clz((u32)x) : 32; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline unsigned __umulhi(unsigned x, unsigned y) { return (u32)((u64)x * y >> 32); }
#define TW_BYTES(name, op)                                                                         \
    static inline unsigned name(unsigned x, unsigned y) {                                          \
        u32 out = 0;                                                                               \
        for (int i = 0; i < 32; i += 8) out |= (((x >> i) op (y >> i)) & 0xff) << i;               \
        return out;                                                                                \
    }
TW_BYTES(__vadd4, +)
TW_BYTES(__vsub4, -)
#undef TW_BYTES
static inline int __dp4a(int x, int y, int sum) {
    for (int i = 0; i < 32; i += 8) sum = (int)((u32)sum + (u32)((signed char)(x >> i) * (signed char)(y >> i)));
    return sum;
}
static inline unsigned __brev(unsigned x) {
    u32 out = 0;
    for (int i = 0; i < 32; i++) out |= (x >> i & 1) << (31 - i);
    return out;
}
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned which) {
    u64 both = (u64)y << 32 | x;
    u32 out = 0;
    for (int i = 0; i < 4; i++) {
        u32 byte = (u32)(both >> (which >> 4 * i & 7) * 8 & 0xff);
        out |= (which >> 4 * i & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << 8 * i;
    }
    return out;
}

/* ---- PTX ---- */
#define TW_PTX1(name, T, value) static inline T tw_ptx_##name(T x) { return (T)(value); }
#define TW_PTX2(name, T, value) static inline T tw_ptx_##name(T x, T y) { return (T)(value); }
#define TW_PTX3(name, T, value) static inline T tw_ptx_##name(T x, T y, T z) { return (T)(value); }
#define TW_PTX(name, T, args, value) static inline T tw_ptx_##name args { return (T)(value); }

TW_PTX1(mov_b16, u16, x)
TW_PTX1(mov_u16, u16, x)
TW_PTX1(mov_b32, u32, x)
TW_PTX1(mov_u32, u32, x)
TW_PTX1(mov_s32, u32, x)
TW_PTX1(mov_b64, u64, x)
TW_PTX1(mov_u64, u64, x)
TW_PTX1(mov_f32, f32, x)
TW_PTX(mov_b32, u32, (u16 x, u16 y), (u32)y << 16 | x)
TW_PTX(mov_b64, u64, (u32 x, u32 y), (u64)y << 32 | x)
static inline void tw_ptx_parts(u16 &lo, u16 &hi, u32 x) { lo = (u16)x, hi = (u16)(x >> 16); }
static inline void tw_ptx_parts(u32 &lo, u32 &hi, u64 x) { lo = (u32)x, hi = (u32)(x >> 32); }

TW_PTX2(and_b16, u16, x & y)
TW_PTX2(or_b16, u16, x | y)
TW_PTX2(xor_b16, u16, x ^ y)
TW_PTX2(and_b32, u32, x & y)
TW_PTX2(or_b32, u32, x | y)
TW_PTX2(xor_b32, u32, x ^ y)
TW_PTX2(and_b64, u64, x & y)
TW_PTX2(or_b64, u64, x | y)
TW_PTX2(xor_b64, u64, x ^ y)
TW_PTX1(not_b16, u16, ~x)
TW_PTX1(not_b32, u32, ~x)
TW_PTX1(not_b64, u64, ~x)
TW_PTX(lop3_b32, u32, (u32 x, u32 y, u32 z, u32 table),
       (table & 1 ? ~x & ~y & ~z : 0) | (table & 2 ? ~x & ~y & z : 0) | (table & 4 ? ~x & y & ~z : 0) | (table & 8 ? ~x & y & z : 0) |
           (table & 16 ? x & ~y & ~z : 0) | (table & 32 ? x & ~y & z : 0) | (table & 64 ? x & y & ~z : 0) | (table & 128 ? x & y & z : 0))
TW_PTX3(prmt_b32, u32, __byte_perm(x, y, z))
TW_PTX(shl_b16, u16, (u16 x, u32 y), y > 15 ? 0 : x << y)
TW_PTX(shr_u16, u16, (u16 x, u32 y), y > 15 ? 0 : x >> y)
TW_PTX(shr_b16, u16, (u16 x, u32 y), y > 15 ? 0 : x >> y)
TW_PTX(shl_b32, u32, (u32 x, u32 y), y > 31 ? 0 : x << y)
TW_PTX(shr_u32, u32, (u32 x, u32 y), y > 31 ? 0 : x >> y)
TW_PTX(shr_b32, u32, (u32 x, u32 y), y > 31 ? 0 : x >> y)
TW_PTX(shr_s32, u32, (u32 x, u32 y), (i32)x >> (y > 31 ? 31 : y))
TW_PTX(shl_b64, u64, (u64 x, u32 y), y > 63 ? 0 : x << y)
TW_PTX(shr_u64, u64, (u64 x, u32 y), y > 63 ? 0 : x >> y)
TW_PTX(shr_b64, u64, (u64 x, u32 y), y > 63 ? 0 : x >> y)
TW_PTX(shf_l_wrap_b32, u32, (u32 x, u32 y, u32 n), ((u64)y << 32 | x) << (n & 31) >> 32)
TW_PTX(shf_r_wrap_b32, u32, (u32 x, u32 y, u32 n), ((u64)y << 32 | x) >> (n & 31))
TW_PTX(bfe_u32, u32, (u32 x, u32 at, u32 n), (at & 255) > 31 ? 0 : x >> (at & 255) & ((n & 255) > 31 ? ~0u : (1u << (n & 255)) - 1))
TW_PTX1(popc_b32, u32, __builtin_popcount(x))
TW_PTX1(clz_b32, u32, x ? __builtin_clz(x) : 32)
TW_PTX1(brev_b32, u32, __brev(x))

TW_PTX2(add_u32, u32, x + y)
TW_PTX2(add_s32, u32, x + y)
TW_PTX2(sub_u32, u32, x - y)
TW_PTX2(sub_s32, u32, x - y)
TW_PTX2(add_u64, u64, x + y)
TW_PTX2(add_s64, u64, x + y)
TW_PTX2(sub_u64, u64, x - y)
TW_PTX2(sub_s64, u64, x - y)
TW_PTX2(mul_lo_u32, u32, x * y)
TW_PTX2(mul_lo_s32, u32, x * y)
TW_PTX2(mul_hi_u32, u32, (u64)x * y >> 32)
TW_PTX3(mad_lo_u32, u32, x * y + z)
TW_PTX3(mad_lo_s32, u32, x * y + z)
TW_PTX2(min_u32, u32, y < x ? y : x)
TW_PTX2(max_u32, u32, x < y ? y : x)
TW_PTX2(min_s32, u32, (i32)y < (i32)x ? y : x)
TW_PTX2(max_s32, u32, (i32)x < (i32)y ? y : x)

TW_PTX2(add_f32, f32, x + y)
TW_PTX2(sub_f32, f32, x - y)
TW_PTX2(mul_f32, f32, x * y)
TW_PTX3(fma_f32, f32, fmaf(x, y, z))
/* x * y + z, rounded once to a type of few bits: the sum in f64 is rounded to odd, which the second rounding does not see. */
static inline f64 tw_odd_fma(f64 x, f64 y, f64 z) {
    f64 product = x * y, sum = product + z, back = sum - product, lost = (product - (sum - back)) + (z - back);
    u64 bits = tw_as_u64(sum);
    if (lost != 0 && !(bits & 1) && lost == lost) bits += (lost > 0) == (sum > 0) ? 1 : -1;
    return tw_as_f64(bits);
}
static inline f32 tw_up_f16(u16 x) { return tw_f32_f16(x); }
static inline f32 tw_up_bf16(u16 x) { return tw_f32_bf16(x); }
static inline u16 tw_down_bf16(f64 x) {
    f32 near = (f32)x; /* to odd, so that bf16 rounds once */
    u32 bits = tw_as_u32(near);
    if ((f64)near != x && !(bits & 1) && x == x && near - near == 0) bits += (x > near) == (near > 0) ? 1 : -1;
    return tw_bf16_f32(tw_as_f32(bits));
}
static inline u16 tw_down_f16(f64 x) {
    f32 near = (f32)x;
    u32 bits = tw_as_u32(near);
    if ((f64)near != x && !(bits & 1) && x == x && near - near == 0) bits += (x > near) == (near > 0) ? 1 : -1;
    return tw_f16_f32(tw_as_f32(bits));
}
#define TW_HALF(type, value) tw_down_##type(value)
#define TW_LOW(type, x)      (f64)tw_up_##type((u16)(x))
#define TW_HIGH(type, x)     (f64)tw_up_##type((u16)((x) >> 16))
#define TW_BOTH(type, value, last)                                                                 \
    ((u32)TW_HALF(type, last) << 16 | TW_HALF(type, value))
TW_PTX2(add_f16, u16, TW_HALF(f16, TW_LOW(f16, x) + TW_LOW(f16, y)))
TW_PTX2(sub_f16, u16, TW_HALF(f16, TW_LOW(f16, x) - TW_LOW(f16, y)))
TW_PTX2(mul_f16, u16, TW_HALF(f16, TW_LOW(f16, x) * TW_LOW(f16, y)))
TW_PTX3(fma_f16, u16, TW_HALF(f16, tw_odd_fma(TW_LOW(f16, x), TW_LOW(f16, y), TW_LOW(f16, z))))
TW_PTX2(add_bf16, u16, TW_HALF(bf16, TW_LOW(bf16, x) + TW_LOW(bf16, y)))
TW_PTX2(sub_bf16, u16, TW_HALF(bf16, TW_LOW(bf16, x) - TW_LOW(bf16, y)))
TW_PTX2(mul_bf16, u16, TW_HALF(bf16, TW_LOW(bf16, x) * TW_LOW(bf16, y)))
TW_PTX3(fma_bf16, u16, TW_HALF(bf16, tw_odd_fma(TW_LOW(bf16, x), TW_LOW(bf16, y), TW_LOW(bf16, z))))
TW_PTX2(add_f16x2, u32, TW_BOTH(f16, TW_LOW(f16, x) + TW_LOW(f16, y), TW_HIGH(f16, x) + TW_HIGH(f16, y)))
TW_PTX2(sub_f16x2, u32, TW_BOTH(f16, TW_LOW(f16, x) - TW_LOW(f16, y), TW_HIGH(f16, x) - TW_HIGH(f16, y)))
TW_PTX2(mul_f16x2, u32, TW_BOTH(f16, TW_LOW(f16, x) * TW_LOW(f16, y), TW_HIGH(f16, x) * TW_HIGH(f16, y)))
TW_PTX3(fma_f16x2, u32,
        TW_BOTH(f16, tw_odd_fma(TW_LOW(f16, x), TW_LOW(f16, y), TW_LOW(f16, z)), tw_odd_fma(TW_HIGH(f16, x), TW_HIGH(f16, y), TW_HIGH(f16, z))))
TW_PTX2(add_bf16x2, u32, TW_BOTH(bf16, TW_LOW(bf16, x) + TW_LOW(bf16, y), TW_HIGH(bf16, x) + TW_HIGH(bf16, y)))
TW_PTX2(sub_bf16x2, u32, TW_BOTH(bf16, TW_LOW(bf16, x) - TW_LOW(bf16, y), TW_HIGH(bf16, x) - TW_HIGH(bf16, y)))
TW_PTX2(mul_bf16x2, u32, TW_BOTH(bf16, TW_LOW(bf16, x) * TW_LOW(bf16, y), TW_HIGH(bf16, x) * TW_HIGH(bf16, y)))
TW_PTX3(fma_bf16x2, u32,
        TW_BOTH(bf16, tw_odd_fma(TW_LOW(bf16, x), TW_LOW(bf16, y), TW_LOW(bf16, z)), tw_odd_fma(TW_HIGH(bf16, x), TW_HIGH(bf16, y), TW_HIGH(bf16, z))))
TW_PTX(cvt_f32_f16, f32, (u16 x), tw_up_f16(x))
TW_PTX(cvt_f32_bf16, f32, (u16 x), tw_up_bf16(x))
TW_PTX(cvt_f16_f32, u16, (f32 x), tw_down_f16(x))
TW_PTX(cvt_bf16_f32, u16, (f32 x), tw_down_bf16(x))
TW_PTX(cvt_f16x2_f32, u32, (f32 hi, f32 lo), TW_BOTH(f16, lo, hi))
TW_PTX(cvt_bf16x2_f32, u32, (f32 hi, f32 lo), TW_BOTH(bf16, lo, hi))
TW_PTX(cvt_u32_u16, u32, (u16 x), x)
TW_PTX(cvt_u16_u32, u16, (u32 x), x)
TW_PTX(cvt_u64_u32, u64, (u32 x), x)
TW_PTX(cvt_u32_u64, u32, (u64 x), x)
#endif
