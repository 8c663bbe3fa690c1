/* SPDX-License-Identifier: Apache-2.0 */
/* hip_matrix.h: matrix instructions of a wave, collective: all lanes, from one place.
 *
 *  tw_mfma_32x32_T(sum *d, const u32 *a, const u32 *b)   d[16] += a b   T: f16 bf16 f32 (sums f32) i8 (i32) e4b8 e5b16 (gfx942)
 *  tw_mfma_16x16_T(sum *d, const u32 *a, const u32 *b)   d[4] += a b    the same, and f64
 *      a lane has four words of a row of A (lane % 32, or % 16) and of a column of B, those of the next lanes follow along K;
 *      the instructions, two or four, take a part of them each, the same on both sides
 *  tw_wmma_16x16_T(sum *d, const u32 *a, const u32 *b)   d[8] += a b    T: f16 bf16 (f32) i8 u8 (i32); gfx1100
 *      a lane has all 16 elements of row lane % 16 of A, of column lane % 16 of B
 *
 *  tw_trade(n, u32 *x)   x[n], 4 words: even lanes have pairs of neighbours at the first n places along K, odd lanes those at
 *      the next n; each keeps one half of them and trades the other: then x are 2 n places of its own side, in their order
 *  tw_under(reads, products, times)         a hint: so many times, reads of the LDS stand between products
 *
 * B goes where the manual has A: the sum is that of the product turned round, so that a lane has a row of it. */
#ifndef TILEWRIGHT_HIP_MATRIX_H
#define TILEWRIGHT_HIP_MATRIX_H

/* TW_MATRIX_ONE(name, the sum's type, how many, operand, emulator's kind and type, builtin, its last arguments): one instruction. */
#ifdef TW_ON_DEVICE
typedef _Float16 TwHalf4 __attribute__((ext_vector_type(4)));
typedef _Float16 TwHalf16 __attribute__((ext_vector_type(16)));
typedef short TwShort4 __attribute__((ext_vector_type(4)));
typedef short TwShort16 __attribute__((ext_vector_type(16)));
typedef int TwInt4 __attribute__((ext_vector_type(4)));
#define TW_MATRIX_ONE(name, T, count, Operand, kind, type, builtin)                                \
    TW_FN void name(T *d, const u32 *a, const u32 *b) {                                            \
        typedef T Sum __attribute__((ext_vector_type(count)));                                     \
        Sum sum;                                                                                   \
        Operand x, y;                                                                              \
        memcpy(&sum, d, sizeof sum), memcpy(&x, a, sizeof x), memcpy(&y, b, sizeof y);             \
        sum = builtin(y, x, sum);                                                                  \
        memcpy(d, &sum, sizeof sum);                                                               \
    }
#else
#define TW_MATRIX_ONE(name, T, count, Operand, kind, type, builtin)                                \
    TW_FN void name(T *d, const u32 *a, const u32 *b, TW_LINE) { TW_HIP(matrix, kind, type, d, b, a); }
#endif
/* So many of them, on so many words each. */
#define TW_MATRIX_SEVERAL(name, T, one, times, words)                                              \
    TW_FN void name(T *d, const u32 *a, const u32 *b TW_LINE_HERE) {                               \
        _Pragma("unroll") for (int i = 0; i < times; i++) one(d, a + i * words, b + i * words TW_LINE_ON); \
    }
#define TW_MFMA(T, count, shape, type, Operand, emu, builtin, times, words)                        \
    TW_MATRIX_ONE(tw_mfma_##shape##_##type##_one, T, count, Operand, HIP_MFMA_##shape, emu, builtin) \
    TW_MATRIX_SEVERAL(tw_mfma_##shape##_##type, T, tw_mfma_##shape##_##type##_one, times, words)

TW_FN void tw_trade(int n, u32 *x TW_LINE_HERE) {
    const bool odd = tw_lane() & 1;
    const u32 own = odd ? 0x07060302u : 0x05040100u, other = odd ? 0x05040100u : 0x07060302u;
    u32 mine[4], given[4];
#pragma unroll
    for (int i = 0; i < n / 2; i++) {
        mine[i] = tw_hw_perm(x[2 * i + 1], x[2 * i], own);
        given[i] = tw_lane_xor(tw_hw_perm(x[2 * i + 1], x[2 * i], other), 1 TW_LINE_ON);
    }
#pragma unroll
    for (int i = 0; i < n / 2; i++) {
        x[i] = odd ? given[i] : mine[i];
        x[n / 2 + i] = odd ? mine[i] : given[i];
    }
}
#ifdef TW_ON_DEVICE
#define tw_under(reads, products, times)                                                           \
    _Pragma("unroll") for (int tw_i = 0; tw_i < times; tw_i++) {                                   \
        __builtin_amdgcn_sched_group_barrier(0x100, reads, 0);                                     \
        __builtin_amdgcn_sched_group_barrier(0x8, products, 0);                                    \
    }
#else
#define tw_under(reads, products, times)
#endif

#if !defined(TW_ON_DEVICE) || defined(__gfx90a__) || defined(__gfx942__)
#define TW_B_32_f16(x, y, sum)   __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, sum, 0, 0, 0)
#define TW_B_16_f16(x, y, sum)   __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, sum, 0, 0, 0)
#define TW_B_32_bf16(x, y, sum)  __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(x, y, sum, 0, 0, 0)
#define TW_B_16_bf16(x, y, sum)  __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(x, y, sum, 0, 0, 0)
#define TW_B_32_f32(x, y, sum)   __builtin_amdgcn_mfma_f32_32x32x2f32(x, y, sum, 0, 0, 0)
#define TW_B_16_f32(x, y, sum)   __builtin_amdgcn_mfma_f32_16x16x4f32(x, y, sum, 0, 0, 0)
#define TW_B_16_f64(x, y, sum)   __builtin_amdgcn_mfma_f64_16x16x4f64(x, y, sum, 0, 0, 0)
TW_MFMA(f32, 16, 32x32, f16, TwHalf4, HIP_F16, TW_B_32_f16, 2, 2)
TW_MFMA(f32, 4, 16x16, f16, TwHalf4, HIP_F16, TW_B_16_f16, 2, 2)
TW_MFMA(f32, 16, 32x32, bf16, TwShort4, HIP_BF16, TW_B_32_bf16, 2, 2)
TW_MFMA(f32, 4, 16x16, bf16, TwShort4, HIP_BF16, TW_B_16_bf16, 2, 2)
TW_MFMA(f32, 16, 32x32, f32, f32, HIP_F32, TW_B_32_f32, 4, 1)
TW_MFMA(f32, 4, 16x16, f32, f32, HIP_F32, TW_B_16_f32, 4, 1)
TW_MFMA(f64, 4, 16x16, f64, f64, HIP_F64, TW_B_16_f64, 2, 2)
#if defined(__gfx90a__)
#define TW_B_32_i8(x, y, sum) __builtin_amdgcn_mfma_i32_32x32x8i8(x, y, sum, 0, 0, 0)
#define TW_B_16_i8(x, y, sum) __builtin_amdgcn_mfma_i32_16x16x16i8(x, y, sum, 0, 0, 0)
TW_MFMA(i32, 16, 32x32, i8, i32, HIP_I8, TW_B_32_i8, 4, 1)
TW_MFMA(i32, 4, 16x16, i8, i32, HIP_I8, TW_B_16_i8, 4, 1)
#else
#define TW_B_32_i8(x, y, sum)    __builtin_amdgcn_mfma_i32_32x32x16_i8(x, y, sum, 0, 0, 0)
#define TW_B_16_i8(x, y, sum)    __builtin_amdgcn_mfma_i32_16x16x32_i8(x, y, sum, 0, 0, 0)
#define TW_B_32_e4b8(x, y, sum)  __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(x, y, sum, 0, 0, 0)
#define TW_B_16_e4b8(x, y, sum)  __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(x, y, sum, 0, 0, 0)
#define TW_B_32_e5b16(x, y, sum) __builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8(x, y, sum, 0, 0, 0)
#define TW_B_16_e5b16(x, y, sum) __builtin_amdgcn_mfma_f32_16x16x32_bf8_bf8(x, y, sum, 0, 0, 0)
TW_MFMA(i32, 16, 32x32, i8, long, HIP_I8, TW_B_32_i8, 2, 2)
TW_MFMA(i32, 4, 16x16, i8, long, HIP_I8, TW_B_16_i8, 2, 2)
TW_MFMA(f32, 16, 32x32, e4b8, long, HIP_E4B8, TW_B_32_e4b8, 2, 2)
TW_MFMA(f32, 4, 16x16, e4b8, long, HIP_E4B8, TW_B_16_e4b8, 2, 2)
TW_MFMA(f32, 16, 32x32, e5b16, long, HIP_E5B16, TW_B_32_e5b16, 2, 2)
TW_MFMA(f32, 4, 16x16, e5b16, long, HIP_E5B16, TW_B_16_e5b16, 2, 2)
#endif
#endif

#if !defined(TW_ON_DEVICE) || defined(__gfx1100__)
#define TW_B_WMMA_i8(x, y, sum) __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, x, true, y, sum, false)
#define TW_B_WMMA_u8(x, y, sum) __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(false, x, false, y, sum, false)
TW_MATRIX_ONE(tw_wmma_16x16_f16, f32, 8, TwHalf16, HIP_WMMA_16x16, HIP_F16, __builtin_amdgcn_wmma_f32_16x16x16_f16_w32)
TW_MATRIX_ONE(tw_wmma_16x16_bf16, f32, 8, TwShort16, HIP_WMMA_16x16, HIP_BF16, __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32)
TW_MATRIX_ONE(tw_wmma_16x16_i8, i32, 8, TwInt4, HIP_WMMA_16x16, HIP_I8, TW_B_WMMA_i8)
TW_MATRIX_ONE(tw_wmma_16x16_u8, i32, 8, TwInt4, HIP_WMMA_16x16, HIP_U8, TW_B_WMMA_u8)
#endif
#endif
