/* SPDX-License-Identifier: Apache-2.0 */
/* sort.h: sorting lines of integer keys for emitted CPU kernels. A key has the order of its element as a signed number:
 * floats in IEEE order with -0 below 0, NaN last in either direction; descending: complements. Equal keys are equal
 * elements, so it does not matter that the network is not stable.
 *
 *     TW_SORT_i32                        defines tw_sort_i32
 *     tw_sort_i32(keys, n, inner)        n lines of `inner` keys, sorted across the lines
 *
 * A bitonic network: n is a power of two, padded with the largest key, and at least 8 where inner is 1. Steps between
 * lines, or between places at least a vector apart, are whole vectors; the others are shuffles inside one. */
#ifndef TILEWRIGHT_SORT_H
#define TILEWRIGHT_SORT_H
#include "cpu.h"

#define TW_LAST_i32 2147483647
#define TW_LAST_i64 9223372036854775807LL

/* ---- keys ---- */
#define TW_KEY_INT(T, K, FLIP)                                                                     \
    TW_FN K tw_key_##T(T x, i32 descending) {                                                      \
        K k = (K)x ^ FLIP;                                                                         \
        return descending ? ~k : k;                                                                \
    }                                                                                              \
    TW_FN T tw_unkey_##T(K k, i32 descending) { return (T)((descending ? ~k : k) ^ FLIP); }
TW_KEY_INT(i8, i32, 0) TW_KEY_INT(u8, i32, 0) TW_KEY_INT(i16, i32, 0) TW_KEY_INT(u16, i32, 0) TW_KEY_INT(i32, i32, 0)
TW_KEY_INT(u32, i32, (-2147483647 - 1)) TW_KEY_INT(i64, i64, 0) TW_KEY_INT(u64, i64, (-9223372036854775807LL - 1))
#define TW_KEY_FLOAT(T, U, K, NOT_A_NUMBER)                                                        \
    TW_FN K tw_key_##T(T x, i32 descending) {                                                      \
        K u = (K)tw_as_##U(x), k = u ^ (u >> (8 * sizeof(K) - 1) & TW_LAST_##K);                   \
        return x != x ? TW_LAST_##K : descending ? ~k : k;                                         \
    }                                                                                              \
    TW_FN T tw_unkey_##T(K key, i32 descending) {                                                  \
        K k = descending ? ~key : key;                                                             \
        U u = (U)(k ^ (k >> (8 * sizeof(K) - 1) & TW_LAST_##K));                                   \
        return tw_as_##T(key == TW_LAST_##K ? NOT_A_NUMBER : u);                                   \
    }
TW_KEY_FLOAT(f32, u32, i32, 0x7fc00000u) TW_KEY_FLOAT(f64, u64, i64, 0x7ff8000000000000ull)

/* ---- steps ---- */
#define TW_SORT_TYPES(K, LANES)                                                                    \
    typedef K tw_keys_##K __attribute__((vector_size(32)));                                        \
    typedef K tw_keys_at_##K __attribute__((vector_size(32), aligned(sizeof(K)), may_alias));      \
    /* The smaller of each lane and its partner where the mask says so, else the larger. */        \
    TW_FN tw_keys_##K tw_exchange_##K(tw_keys_##K x, tw_keys_##K y, tw_keys_##K smaller) {         \
        tw_keys_##K m = ~((x < y) ^ smaller);                                                      \
        return (x & m) | (y & ~m);                                                                 \
    }                                                                                              \
    /* All pairs of two runs; up: the smaller ones to the first. */                                \
    TW_FN void tw_runs_##K(K *a, K *b, i64 run, i32 up) {                                          \
        K *const lo = up ? a : b, *const hi = up ? b : a;                                          \
        i64 l = 0;                                                                                 \
        for (; l + LANES <= run; l += LANES) {                                                     \
            tw_keys_##K x = *(tw_keys_at_##K *)(lo + l), y = *(tw_keys_at_##K *)(hi + l), m = x < y; \
            *(tw_keys_at_##K *)(lo + l) = (x & m) | (y & ~m);                                      \
            *(tw_keys_at_##K *)(hi + l) = (y & m) | (x & ~m);                                      \
        }                                                                                          \
        for (; l < run; l++) {                                                                     \
            const K x = lo[l], y = hi[l];                                                          \
            lo[l] = x < y ? x : y;                                                                 \
            hi[l] = x < y ? y : x;                                                                 \
        }                                                                                          \
    }
/* Phase k: between places j apart from j = `from` down to `least`; behind them FINISH, inside vectors. A line longer than
 * a cache is gone through in pieces: all phases and steps that fit a piece, piece by piece. */
#define TW_SORT_STEPS(K, LANES, FINISH)                                                            \
    TW_FN void tw_phase_##K(K *x, i64 begin, i64 end, i64 inner, i64 k, i64 from, i64 least) {     \
        for (i64 j = from; j >= least; j /= 2)                                                     \
            for (i64 i = begin; i < end; i += 2 * j)                                               \
                tw_runs_##K(x + i * inner, x + (i + j) * inner, j * inner, (i & k) == 0);          \
    }                                                                                              \
    TW_FN void tw_finish_##K(K *x, i64 begin, i64 end, i64 k) {                                    \
        for (i64 i = begin; i < end; i += LANES) {                                                 \
            const K away = (i & k) == 0 ? 0 : -1;                                                  \
            tw_keys_##K v = *(tw_keys_at_##K *)(x + i);                                            \
            FINISH(v, k, away)                                                                     \
            *(tw_keys_at_##K *)(x + i) = v;                                                        \
        }                                                                                          \
    }                                                                                              \
    static __attribute__((unused)) void tw_sort_##K(K *x, i64 n, i64 inner) {                      \
        const i64 piece = n < 4096 ? n : 4096;                                                     \
        if (inner > 1) {                                                                           \
            for (i64 k = 2; k <= n; k *= 2) tw_phase_##K(x, 0, n, inner, k, k / 2, 1);             \
            return;                                                                                \
        }                                                                                          \
        for (i64 b = 0; b < n; b += piece)                                                         \
            for (i64 k = LANES; k <= piece; k *= 2) {                                              \
                tw_phase_##K(x, b, b + piece, 1, k, k / 2, LANES);                                 \
                tw_finish_##K(x, b, b + piece, k);                                                 \
            }                                                                                      \
        for (i64 k = 2 * piece; k <= n; k *= 2) {                                                  \
            tw_phase_##K(x, 0, n, 1, k, k / 2, piece);                                             \
            for (i64 b = 0; b < n; b += piece) {                                                   \
                tw_phase_##K(x, b, b + piece, 1, k, piece / 2, LANES);                             \
                tw_finish_##K(x, b, b + piece, k);                                                 \
            }                                                                                      \
        }                                                                                          \
    }
#define TW_STEP(K, v, flip, order, ...)                                                            \
    v = tw_exchange_##K(v, __builtin_shufflevector(v, v, __VA_ARGS__), (tw_keys_##K)order ^ (flip));
#define TW_ORDER8(...) {__VA_ARGS__}
#define TW_FINISH_8(v, k, away)                                                                    \
    if (k == 8) {                                                                                  \
        TW_STEP(i32, v, 0, TW_ORDER8(-1, 0, 0, -1, -1, 0, 0, -1), 1, 0, 3, 2, 5, 4, 7, 6)          \
        TW_STEP(i32, v, 0, TW_ORDER8(-1, -1, 0, 0, 0, 0, -1, -1), 2, 3, 0, 1, 6, 7, 4, 5)          \
        TW_STEP(i32, v, 0, TW_ORDER8(-1, 0, -1, 0, 0, -1, 0, -1), 1, 0, 3, 2, 5, 4, 7, 6)          \
    }                                                                                              \
    TW_STEP(i32, v, away, TW_ORDER8(-1, -1, -1, -1, 0, 0, 0, 0), 4, 5, 6, 7, 0, 1, 2, 3)           \
    TW_STEP(i32, v, away, TW_ORDER8(-1, -1, 0, 0, -1, -1, 0, 0), 2, 3, 0, 1, 6, 7, 4, 5)           \
    TW_STEP(i32, v, away, TW_ORDER8(-1, 0, -1, 0, -1, 0, -1, 0), 1, 0, 3, 2, 5, 4, 7, 6)
#define TW_FINISH_4(v, k, away)                                                                    \
    if (k == 4) TW_STEP(i64, v, 0, TW_ORDER8(-1, 0, 0, -1), 1, 0, 3, 2)                            \
    TW_STEP(i64, v, away, TW_ORDER8(-1, -1, 0, 0), 2, 3, 0, 1)                                     \
    TW_STEP(i64, v, away, TW_ORDER8(-1, 0, -1, 0), 1, 0, 3, 2)
#define TW_SORT_i32 TW_SORT_TYPES(i32, 8) TW_SORT_STEPS(i32, 8, TW_FINISH_8)
#define TW_SORT_i64 TW_SORT_TYPES(i64, 4) TW_SORT_STEPS(i64, 4, TW_FINISH_4)
#endif
