// SPDX-License-Identifier: Apache-2.0
/* tensix_scalar_check.cpp: the scalar part of Tenstorrent's prelude against the compiler's own conversions and libm, on all numbers of
 * 16 bits, on edges, and on bits drawn at random.
 *
 *   g++ -std=c++17 -O1 -ffp-contract=off -Isrc/target/tenstorrent/prelude tests/numeric/tensix_scalar_check.cpp -o CHECK && CHECK */
#include "tilewright_scalar.h"

#include <math.h>
#include <stdio.h>
#include <random>

static long checks, failures;
static void expect(const char *what, double x, double y, u64 got, u64 want) {
    checks++;
    if (got != want && failures++ < 20) printf("%s of %a, %a: %llx, expected %llx\n", what, x, y, got, want);
}
/* Bits, any NaN being the same. */
static u32 bits(f32 x) { return x != x ? 0x7fc00000u : tw_as_u32(x); }
static u16 half(_Float16 x) {
    u16 to;
    memcpy(&to, &x, 2);
    return x != x ? 0x7e00 : to;
}
static u16 half(f16 x) { return (x.bits & 0x7fff) > 0x7c00 ? 0x7e00 : x.bits; }
/* bf16 is f32 with 16 bits less: the nearest by f64, whose sums round to even. */
static u16 brain(f32 x) {
    const u32 low = tw_as_u32(x) & 0xffff0000u;
    if (x != x) return 0x7fc0;
    const f64 down = tw_as_f32(low), up = (low & 0x7f800000u) == 0x7f000000u && (low & 0x7f0000u) == 0x7f0000u ? copysign(0x1p128, down) : tw_as_f32(low + 0x10000u);
    if (isinf(x)) return (u16)(low >> 16);
    const f64 below = fabs(x - down), above = fabs(up - x);
    return (u16)((below < above || (below == above && !(low & 0x10000u)) ? low : low + 0x10000u) >> 16);
}
static u16 brain(bf16 x) { return (x.bits & 0x7fff) > 0x7f80 ? 0x7fc0 : x.bits; }

static void one(f32 x, f32 y, f32 z) {
    expect("f16", x, 0, half(tw_f16(x)), half((_Float16)x));
    expect("bf16", x, 0, brain(tw_bf16(x)), brain(x));
    expect("fma", x, y, bits(tw_fma(x, y, z)), bits(fmaf(x, y, z)));
    expect("floor", x, 0, bits(tw_floor(x)), bits(floorf(x)));
    expect("ceil", x, 0, bits(tw_ceil(x)), bits(ceilf(x)));
    expect("trunc", x, 0, bits(tw_trunc(x)), bits(truncf(x)));
    expect("abs", x, 0, bits(tw_abs(x)), bits(fabsf(x)));
    if (x != 0 || y != 0) { /* which zero is left open */
        expect("min", x, y, bits(tw_min(x, y)), bits(x != x ? y : y != y ? x : fminf(x, y)));
        expect("max", x, y, bits(tw_max(x, y)), bits(x != x ? y : y != y ? x : fmaxf(x, y)));
    }
    expect("min_nan", x, y, tw_min_nan(x, y) != tw_min_nan(x, y), x != x || y != y);
    expect("max_nan", x, y, tw_max_nan(x, y) != tw_max_nan(x, y), x != x || y != y);
    const bool small = fabsf(x) < 0x1p31f, large = fabsf(x) < 0x1p63f;
    expect("i32", x, 0, (u32)tw_i32(x), (u32)(x != x ? 0 : small ? (i32)x : x < 0 ? INT32_MIN : INT32_MAX));
    expect("i64", x, 0, (u64)tw_i64(x), (u64)(x != x ? 0 : large ? (i64)x : x < 0 ? INT64_MIN : INT64_MAX));
    expect("u32", x, 0, tw_u32(x), x != x || x < 0 ? 0 : x >= 0x1p32f ? 0xffffffffu : (u32)x);
    expect("u64", x, 0, tw_u64(x), x != x || x < 0 ? 0 : x >= 0x1p64f ? ~0ull : (u64)x);
}

static void integers(u64 x, u64 y) {
    const unsigned __int128 wide = (unsigned __int128)x * y;
    const __int128 with_sign = (__int128)(i64)x * (i64)y;
    expect("mulhi", x, y, tw_mulhi(x, y), (u64)(wide >> 64));
    expect("mulhi", x, y, (u64)tw_mulhi((i64)x, (i64)y), (u64)(with_sign >> 64));
    expect("mulhi", x, y, tw_mulhi((u32)x, (u32)y), (u32)((u64)(u32)x * (u32)y >> 32));
    expect("mulhi", x, y, (u32)tw_mulhi((i32)x, (i32)y), (u32)((i64)(i32)x * (i32)y >> 32));
    expect("popc", x, 0, tw_popc(x), __builtin_popcountll(x));
    expect("clz", x, 0, tw_clz(x), x ? __builtin_clzll(x) : 64);
    expect("f16 of an integer", x, 0, half(tw_f16(tw_sticky((i64)x))), half((_Float16)(__float128)(i64)x));
    const f32 odd = tw_odd(tw_sticky(x)); /* f32 has 8 bits more than bf16, so the odd one rounds as the integer would */
    expect("bf16 of an integer", x, 0, brain(tw_bf16(tw_sticky(x))), brain(odd));
    expect("f32 cut off", x, 0, tw_as_u32(odd) & ~1u, tw_as_u32((f32)(x >> 24 ? x >> (40 - __builtin_clzll(x)) << (40 - __builtin_clzll(x)) : x)) & ~1u);
}

int main() {
    std::mt19937_64 random(1);
    static const u32 edges[] = {0, 1, 0x7fffff, 0x800000, 0x3f800000, 0x3f7fffff, 0x33000000, 0x33000001, 0x387fc000, 0x387fe000, 0x387fffff, 0x38800000, 0x477fe000, 0x477fefff, 0x477ff000,
                                0x47800000, 0x4effffff, 0x4f000000, 0x4f800000, 0x5f000000, 0x5f800000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x4b000000, 0x4affffff, 0x7f7f8000, 0x3effffff};
    for (u32 x : edges)
        for (u32 y : edges)
            for (u32 signs = 0; signs < 8; signs++)
                one(tw_as_f32(x | signs << 31), tw_as_f32(y | signs >> 1 << 31), tw_as_f32(edges[(x + y) % 29] | signs >> 2 << 31));
    for (u32 h = 0; h < 0x10000; h++) {
        _Float16 x;
        const u16 word = (u16)h;
        memcpy(&x, &word, 2);
        expect("f32 of f16", h, 0, bits(tw_f32(f16{word})), bits((f32)x));
        one(tw_as_f32(h << 16 | 0x8000), tw_as_f32(h << 16), 1.0f);
    }
    for (int i = 0; i < 1000000; i++) {
        const u64 r = random(), s = random();
        one(tw_as_f32((u32)r), tw_as_f32((u32)(r >> 32)), tw_as_f32((u32)s));
        /* numbers near each other, where a sum loses something */
        const f32 x = (f32)((i64)r >> 40), y = (f32)((i64)s >> 40) * 0x1p-20f;
        one(x, y, -x * y * (f32)(1 + (i % 5 - 2) * 0x1p-23));
        integers(r >> (s & 63), s >> (r & 63));
    }
    printf("%ld checks, %ld failed\n", checks, failures);
    return failures != 0;
}
