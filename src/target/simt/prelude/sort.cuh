/* SPDX-License-Identifier: Apache-2.0 */
/* sort.cuh: numbers as keys that compare as unsigned integers, so the same on both sides.
 *
 *  tw_key(x, descending) -> u32 (32 bits and less) or u64; NaN is the largest key in either direction
 *  tw_unkey(key, descending, &x)   the number again, NaN as the quiet one
 *  tw_rank(x, least, nan) -> u32 or u64: the larger the better: the largest number, or where `least` the smallest; zeros
 *                         are equal; NaN is the last, or where `nan` the first
 *  tw_take(key, at, other, other_at)   the better of two, of equal ones that with the lower index
 *  tw_lanes_take(key, at)   the best of all lanes, in every lane */
#ifndef TILEWRIGHT_SORT_CUH
#define TILEWRIGHT_SORT_CUH

TW_FN u32 tw_key(u32 x, bool descending) { return descending ? ~x : x; }
TW_FN u64 tw_key(u64 x, bool descending) { return descending ? ~x : x; }
TW_FN u32 tw_key(i32 x, bool descending) { return tw_key((u32)x ^ 0x80000000u, descending); }
TW_FN u64 tw_key(i64 x, bool descending) { return tw_key((u64)x ^ 0x8000000000000000ull, descending); }
TW_FN u32 tw_key(f32 x, bool descending) {
    u32 u = tw_as_u32(x);
    return x != x ? ~0u : tw_key(u >> 31 ? ~u : u | 0x80000000u, descending);
}
TW_FN u64 tw_key(f64 x, bool descending) {
    u64 u = tw_as_u64(x);
    return x != x ? ~0ull : tw_key(u >> 63 ? ~u : u | 0x8000000000000000ull, descending);
}
TW_FN void tw_unkey(u32 key, bool descending, u32 *x) { *x = tw_key(key, descending); }
TW_FN void tw_unkey(u64 key, bool descending, u64 *x) { *x = tw_key(key, descending); }
TW_FN void tw_unkey(u32 key, bool descending, i32 *x) { *x = (i32)(tw_key(key, descending) ^ 0x80000000u); }
TW_FN void tw_unkey(u64 key, bool descending, i64 *x) {
    *x = (i64)(tw_key(key, descending) ^ 0x8000000000000000ull);
}
TW_FN void tw_unkey(u32 key, bool descending, f32 *x) {
    u32 u = tw_key(key, descending);
    *x = tw_as_f32(key == ~0u ? 0x7fc00000u : u >> 31 ? u & 0x7fffffffu : ~u);
}
TW_FN void tw_unkey(u64 key, bool descending, f64 *x) {
    u64 u = tw_key(key, descending);
    *x = tw_as_f64(key == ~0ull ? 0x7ff8000000000000ull : u >> 63 ? u & 0x7fffffffffffffffull : ~u);
}

TW_FN u32 tw_rank(u32 x, bool least, bool) { return least ? ~x : x; }
TW_FN u64 tw_rank(u64 x, bool least, bool) { return least ? ~x : x; }
TW_FN u32 tw_rank(i32 x, bool least, bool nan) { return tw_rank((u32)x ^ 0x80000000u, least, nan); }
TW_FN u64 tw_rank(i64 x, bool least, bool nan) { return tw_rank((u64)x ^ 0x8000000000000000ull, least, nan); }
TW_FN u32 tw_rank(f32 x, bool least, bool nan) {
    const u32 u = tw_as_u32(x + 0.0f), key = u ^ ((u32)((i32)u >> 31) | 0x80000000u);
    return x != x ? (nan ? ~0u : 0u) : tw_rank(key, least, nan);
}
TW_FN u64 tw_rank(f64 x, bool least, bool nan) {
    const u64 u = tw_as_u64(x + 0.0), key = u ^ ((u64)((i64)u >> 63) | 0x8000000000000000ull);
    return x != x ? (nan ? ~0ull : 0ull) : tw_rank(key, least, nan);
}
#define TW_TAKE(U)                                                                                 \
    TW_FN void tw_take(U &key, i32 &at, U other, i32 other_at) {                                   \
        const bool better = (other > key) | ((other == key) & (other_at < at));                    \
        key = better ? other : key;                                                                \
        at = better ? other_at : at;                                                               \
    }
TW_TAKE(u32)
TW_TAKE(u64)
TW_FN void tw_lanes_take(u32 &key, i32 &at) {
    const u32 best = tw_lanes_max(key);
    at = tw_lanes_min(key == best ? at : 0x7fffffff);
    key = best;
}
#endif
