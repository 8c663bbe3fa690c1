/* SPDX-License-Identifier: Apache-2.0 */
/* turn.h: transposes for emitted CPU kernels.
 *
 *     tw_turn_4(to, to_line, from, from_line, lines, n)    to[j * to_line + i] = from[i * from_line + j], i < lines, j < n
 *
 * for elements of 1, 2, 4 and 8 bytes. Squares of a vector's width go through registers: of N rows row i is put
 * beside row i + N / 2, element by element, and after log2 N times columns are rows. As many lines as fill a cache
 * line of `to` are done together, so that lines which meet in one set of the cache are whole before they leave it.
 * At the ends squares lie over each other: `to` and `from` must not. */
#ifndef TILEWRIGHT_TURN_H
#define TILEWRIGHT_TURN_H
#include "cpu.h"

#if defined(__clang__)
#define TW_WHOLLY _Pragma("clang loop unroll(full)")
#else
#define TW_WHOLLY _Pragma("GCC unroll 16")
#endif
#define TW_LOW_2   0, 2
#define TW_HIGH_2  1, 3
#define TW_LOW_4   0, 4, 1, 5
#define TW_HIGH_4  2, 6, 3, 7
#define TW_LOW_8   0, 8, 1, 9, 2, 10, 3, 11
#define TW_HIGH_8  4, 12, 5, 13, 6, 14, 7, 15
#define TW_LOW_16  0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define TW_HIGH_16 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31

/* N elements of B bytes. */
#define TW_TURN(B, T, N)                                                                           \
    TW_FN void tw_square_##B(T *to, i64 to_line, const T *from, i64 from_line) {                   \
        typedef T V __attribute__((vector_size(B * N)));                                           \
        typedef T M __attribute__((vector_size(B * N), aligned(B), may_alias));                    \
        V r[N], s[N];                                                                              \
        TW_WHOLLY for (i32 i = 0; i < N; i++) r[i] = *(const M *)(from + i * from_line);           \
        TW_WHOLLY for (i32 step = 1; step < N; step *= 2) {                                        \
            TW_WHOLLY for (i32 i = 0; i < N / 2; i++) {                                            \
                s[2 * i] = __builtin_shufflevector(r[i], r[i + N / 2], TW_LOW_##N);                \
                s[2 * i + 1] = __builtin_shufflevector(r[i], r[i + N / 2], TW_HIGH_##N);           \
            }                                                                                      \
            TW_WHOLLY for (i32 i = 0; i < N; i++) r[i] = s[i];                                     \
        }                                                                                          \
        TW_WHOLLY for (i32 i = 0; i < N; i++) *(M *)(to + i * to_line) = r[i];                     \
    }                                                                                              \
    static __attribute__((noinline, unused)) void tw_turn_##B(void *to_, i64 to_line, const void *from_, \
                                                              i64 from_line, i64 lines, i64 n) {   \
        enum { BAND = 64 / B > N ? 64 / B : N };                                                   \
        T *to = to_;                                                                               \
        const T *from = from_;                                                                     \
        for (i64 first = 0; first < lines; first += BAND) {                                        \
            const i64 rest = tw_min_i64(lines, first + BAND);                                      \
            for (i64 j = 0; j < n; j += N) {                                                       \
                const i64 at = n < N ? 0 : tw_min_i64(j, n - N);                                   \
                if (n >= N && lines >= N)                                                          \
                    for (i64 i = first; i < rest; i += N) {                                        \
                        const i64 line = tw_min_i64(i, lines - N);                                 \
                        tw_square_##B(to + at * to_line + line, to_line, from + line * from_line + at, from_line); \
                    }                                                                              \
                else                                                                               \
                    for (i64 e = j; e < tw_min_i64(j + N, n); e++)                                 \
                        for (i64 i = first; i < rest; i++) to[e * to_line + i] = from[i * from_line + e]; \
            }                                                                                      \
        }                                                                                          \
    }
TW_TURN(1, u8, 16)
#if defined(__AVX512BW__)
TW_TURN(2, u16, 16)
TW_TURN(4, u32, 16)
TW_TURN(8, u64, 8)
#elif defined(__AVX__)
TW_TURN(2, u16, 8)
TW_TURN(4, u32, 8)
TW_TURN(8, u64, 4)
#else
TW_TURN(2, u16, 8)
TW_TURN(4, u32, 4)
TW_TURN(8, u64, 2)
#endif
#endif
