/* SPDX-License-Identifier: Apache-2.0 */
/* integer.h: division, shifts and bits of integers; see cpu.h. Never a trap: x div 0 = 0, x rem 0 = x, the least number
 * divided by -1 is itself; a shift by the width or more leaves 0, or the sign. */
#ifndef TILEWRIGHT_INTEGER_H
#define TILEWRIGHT_INTEGER_H
#include "cpu.h"

#define TW_ANY_OPS(T, U)                                                                           \
    TW_FN T tw_shl_##T(T x, T n) { return (U)n < 8 * sizeof(T) ? (T)((U)x << n) : 0; }
#define TW_SIGNED_OPS(T, U)                                                                        \
    TW_ANY_OPS(T, U)                                                                               \
    TW_FN T tw_div_##T(T x, T y) { return y == 0 ? 0 : y == -1 ? (T)(0 - (U)x) : x / y; }          \
    TW_FN T tw_rem_##T(T x, T y) { return y == 0 ? x : y == -1 ? 0 : x % y; }                      \
    TW_FN T tw_floordiv_##T(T x, T y) {                                                            \
        return tw_div_##T(x, y) - (y != 0 && tw_rem_##T(x, y) != 0 && (x < 0) != (y < 0));         \
    }                                                                                              \
    TW_FN T tw_mod_##T(T x, T y) {                                                                 \
        T r = tw_rem_##T(x, y);                                                                    \
        return r != 0 && y != 0 && (r < 0) != (y < 0) ? r + y : r;                                 \
    }                                                                                              \
    TW_FN T tw_shr_##T(T x, T n) { return (U)n < 8 * sizeof(T) ? x >> n : x < 0 ? -1 : 0; }        \
    TW_FN T tw_abs_##T(T x) { return x < 0 ? (T)(0 - (U)x) : x; }
#define TW_UNSIGNED_OPS(T)                                                                         \
    TW_ANY_OPS(T, T)                                                                               \
    TW_FN T tw_div_##T(T x, T y) { return y == 0 ? 0 : x / y; }                                    \
    TW_FN T tw_rem_##T(T x, T y) { return y == 0 ? x : x % y; }                                    \
    TW_FN T tw_floordiv_##T(T x, T y) { return tw_div_##T(x, y); }                                 \
    TW_FN T tw_mod_##T(T x, T y) { return tw_rem_##T(x, y); }                                      \
    TW_FN T tw_cdiv_##T(T x, T y) { return y == 0 ? 0 : x / y + (x % y != 0); }                       \
    TW_FN T tw_shr_##T(T x, T n) { return n < 8 * sizeof(T) ? x >> n : 0; }                        \
    TW_FN T tw_abs_##T(T x) { return x; }
TW_SIGNED_OPS(i32, u32)
TW_SIGNED_OPS(i64, u64)
TW_UNSIGNED_OPS(u32)
TW_UNSIGNED_OPS(u64)
/* (x + y - 1) div y, the sum taken without overflow. */
TW_FN i32 tw_cdiv_i32(i32 x, i32 y) { return y == 0 ? 0 : (i32)(((i64)x + y - 1) / y); }
TW_FN i64 tw_cdiv_i64(i64 x, i64 y) {
    if (y == 0) return 0;
    if (x > 0 && y > 0) return (x - 1) / y + 1;
    if (x <= 0 && y < 0) return (i64)((0 - (u64)x + 1) / (0 - (u64)y) + 1); /* of sizes: the sum may not fit */
    return (x + y - 1) / y;
}
TW_FN i32 tw_mulhi_i32(i32 x, i32 y) { return (i32)(((i64)x * y) >> 32); }
TW_FN u32 tw_mulhi_u32(u32 x, u32 y) { return (u32)(((u64)x * y) >> 32); }
TW_FN i64 tw_mulhi_i64(i64 x, i64 y) { return (i64)(((__int128)x * y) >> 64); }
TW_FN u64 tw_mulhi_u64(u64 x, u64 y) { return (u64)(((unsigned __int128)x * y) >> 64); }
/* Sums of neighbouring bits: no call of a library where the machine has no instruction. */
TW_FN u32 tw_popc_u32(u32 x) {
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    return ((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}
TW_FN u64 tw_popc_u64(u64 x) { return tw_popc_u32((u32)x) + tw_popc_u32((u32)(x >> 32)); }
TW_FN u32 tw_clz_u32(u32 x) { return x ? (u32)__builtin_clz(x) : 32; }
TW_FN u64 tw_clz_u64(u64 x) { return x ? (u64)__builtin_clzll(x) : 64; }
#endif
