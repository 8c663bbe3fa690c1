/* SPDX-License-Identifier: Apache-2.0 */
/* scan.h: running combinations along a line for emitted CPU kernels, of those kinds that give the same in any order:
 * integers of 4 and 8 bytes, and the least and largest of floats.
 *
 *     TW_SCAN_8(add_i32, i32, i32, TW_V_ADD, p + q)      defines tw_scan_add_i32(line, n, reverse)
 *
 * A vector is combined with itself moved by 1, 2 and 4 lanes, then with the last lane of what came before. */
#ifndef TILEWRIGHT_SCAN_H
#define TILEWRIGHT_SCAN_H
#include "cpu.h"

#define TW_V_PICK(M, m, x, y) ((__typeof__(x))(((M)(x) & (m)) | ((M)(y) & ~(m))))
#define TW_V_ADD(M, x, y)     ((x) + (y))
#define TW_V_MUL(M, x, y)     ((x) * (y))
#define TW_V_AND(M, x, y)     ((x) & (y))
#define TW_V_OR(M, x, y)      ((x) | (y))
#define TW_V_XOR(M, x, y)     ((x) ^ (y))
/* As tw_min and tw_max do it: the other one where one is no number. */
#define TW_V_MIN(M, x, y) TW_V_PICK(M, (M)((x) < (y)) | (M)((y) != (y)), x, y)
#define TW_V_MAX(M, x, y) TW_V_PICK(M, (M)((x) > (y)) | (M)((y) != (y)), x, y)

#define TW_SCAN_STEP(OP, v, mask, ...)                                                             \
    {                                                                                              \
        V moved = __builtin_shufflevector(v, v, __VA_ARGS__);                                      \
        V both = OP(M, moved, v);                                                                  \
        const M taken = mask;                                                                      \
        v = TW_V_PICK(M, taken, both, v);                                                          \
    }
#define TW_LANES(...) {__VA_ARGS__}
#define TW_SCAN(NAME, T, I, LANES, OP, PAIR, UP, DOWN, TO_LAST, TO_FIRST)                          \
    static __attribute__((unused)) void tw_scan_##NAME(T *x, i64 n, i32 reverse) {                 \
        typedef T V __attribute__((vector_size(32)));                                              \
        typedef T At __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));              \
        typedef I M __attribute__((vector_size(32)));                                              \
        const i64 whole = n / LANES * LANES;                                                       \
        V carry = {0};                                                                             \
        if (reverse) {                                                                             \
            for (i64 e = n; e >= LANES; e -= LANES) {                                              \
                V v = *(At *)(x + e - LANES);                                                      \
                DOWN(OP, v)                                                                        \
                if (e < n) v = OP(M, carry, v);                                                    \
                carry = TO_FIRST(v);                                                               \
                *(At *)(x + e - LANES) = v;                                                        \
            }                                                                                      \
            for (i64 r = whole ? n - whole - 1 : n - 2; r >= 0; r--) {                             \
                const T p = x[r + 1], q = x[r];                                                    \
                x[r] = PAIR;                                                                       \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (i64 r = 0; r < whole; r += LANES) {                                                   \
            V v = *(At *)(x + r);                                                                  \
            UP(OP, v)                                                                              \
            if (r) v = OP(M, carry, v);                                                            \
            carry = TO_LAST(v);                                                                    \
            *(At *)(x + r) = v;                                                                    \
        }                                                                                          \
        for (i64 r = whole ? whole : 1; r < n; r++) {                                              \
            const T p = x[r - 1], q = x[r];                                                        \
            x[r] = PAIR;                                                                           \
        }                                                                                          \
    }

#define TW_UP_8(OP, v)                                                                             \
    TW_SCAN_STEP(OP, v, TW_LANES(0, -1, -1, -1, -1, -1, -1, -1), 0, 0, 1, 2, 3, 4, 5, 6)           \
    TW_SCAN_STEP(OP, v, TW_LANES(0, 0, -1, -1, -1, -1, -1, -1), 0, 0, 0, 1, 2, 3, 4, 5)            \
    TW_SCAN_STEP(OP, v, TW_LANES(0, 0, 0, 0, -1, -1, -1, -1), 0, 0, 0, 0, 0, 1, 2, 3)
#define TW_DOWN_8(OP, v)                                                                           \
    TW_SCAN_STEP(OP, v, TW_LANES(-1, -1, -1, -1, -1, -1, -1, 0), 1, 2, 3, 4, 5, 6, 7, 7)           \
    TW_SCAN_STEP(OP, v, TW_LANES(-1, -1, -1, -1, -1, -1, 0, 0), 2, 3, 4, 5, 6, 7, 7, 7)            \
    TW_SCAN_STEP(OP, v, TW_LANES(-1, -1, -1, -1, 0, 0, 0, 0), 4, 5, 6, 7, 7, 7, 7, 7)
#define TW_UP_4(OP, v)                                                                             \
    TW_SCAN_STEP(OP, v, TW_LANES(0, -1, -1, -1), 0, 0, 1, 2)                                       \
    TW_SCAN_STEP(OP, v, TW_LANES(0, 0, -1, -1), 0, 0, 0, 1)
#define TW_DOWN_4(OP, v)                                                                           \
    TW_SCAN_STEP(OP, v, TW_LANES(-1, -1, -1, 0), 1, 2, 3, 3)                                       \
    TW_SCAN_STEP(OP, v, TW_LANES(-1, -1, 0, 0), 2, 3, 3, 3)
#define TW_LAST_8(v)  __builtin_shufflevector(v, v, 7, 7, 7, 7, 7, 7, 7, 7)
#define TW_FIRST_8(v) __builtin_shufflevector(v, v, 0, 0, 0, 0, 0, 0, 0, 0)
#define TW_LAST_4(v)  __builtin_shufflevector(v, v, 3, 3, 3, 3)
#define TW_FIRST_4(v) __builtin_shufflevector(v, v, 0, 0, 0, 0)
#define TW_SCAN_8(NAME, T, I, OP, PAIR) TW_SCAN(NAME, T, I, 8, OP, PAIR, TW_UP_8, TW_DOWN_8, TW_LAST_8, TW_FIRST_8)
#define TW_SCAN_4(NAME, T, I, OP, PAIR) TW_SCAN(NAME, T, I, 4, OP, PAIR, TW_UP_4, TW_DOWN_4, TW_LAST_4, TW_FIRST_4)
#endif
