/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.h: what emitted CPU kernels are written in. Plain C for gcc and clang, without any system header, because headers
 * would cost more compile time than the kernels themselves. A kernel includes what it uses:
 *   cpu.h        types, f16 and bf16, least and largest, what the launcher shares with the kernel
 *   convert.h    the other small floats; from f64; toward zero; floats to integers
 *   integer.h    division, shifts, bits
 *   vmath.h      exp, exp2, log, log2, tanh, erf of f32: 1 to 2 ulp, vectorisable
 *   functions.h  roots, roundings and the other functions of floats (with libm)
 *   dot.h, tiles.h, gemm.h, sort.h, scan.h   loops of their own
 *
 * LEGEND. Types: i8 .. u64, f32, f64; in memory also f16, bf16 (u16) and the fp8 kinds (u8), which registers hold as the
 * f32 of the same value. Functions carry the type of their operand: tw_div_i32, tw_exp_f32.
 *   convert   tw_f32_f16 .. (bits -> value)   tw_f16_f32, tw_f16_f64 .. (value -> bits, nearest even; fp8 saturates)
 *             tw_f16_rz_f64 .. (toward zero)   tw_i32_f32 .. (toward zero, saturating, NaN 0)
 *   integers  wrap (compile with -fno-strict-overflow); x div 0 = 0, x rem 0 = x; shifts by any amount
 * Results do not depend on vector width: there is no reassociation and no contraction here (-ffp-contract=off). */
#ifndef TILEWRIGHT_CPU_H
#define TILEWRIGHT_CPU_H

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
typedef u16 f16;
typedef u16 bf16;
typedef u8 e4m3;
typedef u8 e5m2;
typedef u8 e4b8;
typedef u8 e5b16;
typedef u8 e4b15;

/* What the launcher hands to every call. */
struct TwTeam;
typedef struct TwLaunch {
    const u64 *args; /* one word a scalar or pointer; a tensor is base, extents, strides */
    i32 grid[3];
    i32 failed;         /* 1 + number of the assertion that failed first; 0: none */
    i64 failed_program; /* in which program */
    void (*print)(struct TwLaunch *launch, i32 number, i64 program, const void *const *values);
    i32 (*stopped)(struct TwLaunch *launch); /* is the launch not wanted any more? May be absent */
    u32 *locks;                              /* TW_LOCKS of them, not taken; 0: the launch runs on one thread */
    void (*rest)(void);                      /* lets other threads run */
    /* Workers side by side (workers.h): runs them to their end, 0 if they cannot get there; lets others run. */
    i32 (*beside)(struct TwTeam *team, void (*const *bodies)(struct TwTeam *, i32), i32 count);
    void (*turn)(struct TwTeam *team);
    void (*lost)(struct TwLaunch *launch); /* a program waits for what never comes */
} TwLaunch;

#define TW_FN static inline __attribute__((unused, always_inline))
/* TW_SHORT stands before loops of few turns: gcc 12 unrolls them first, then vectorises the loop around them, and gives
 * masked loads the masks of other elements. */
#if defined(__clang__)
#define TW_VECTOR _Pragma("clang loop vectorize(assume_safety)")
#define TW_SHORT
#else
#define TW_VECTOR _Pragma("GCC ivdep")
#define TW_SHORT  _Pragma("GCC unroll 1")
#endif
#define TW_RARE __asm__ volatile("") /* in a loop: it is not worth vectors */
#define TW_UNLIKELY(c) __builtin_expect(!!(c), 0)
/* x, of which the compiler knows nothing. */
TW_FN i64 tw_hidden(i64 x) {
    __asm__("" : "+r"(x));
    return x;
}

/* ---- bits ---- */
#define TW_AS(To, From)                                                                            \
    TW_FN To tw_as_##To(From x) {                                                                  \
        To r;                                                                                      \
        __builtin_memcpy(&r, &x, sizeof r);                                                        \
        return r;                                                                                  \
    }
TW_AS(f32, u32)
TW_AS(u32, f32)
TW_AS(f64, u64)
TW_AS(u64, f64)
TW_FN f16 tw_as_f16(u16 x) { return x; }
TW_FN bf16 tw_as_bf16(u16 x) { return x; }

/* ---- small floats: up. A small float's exponent and mantissa, put where f32 has them, differ by a power of two. ---- */
TW_FN f32 tw_f32_f16(f16 h) {
    u32 size = (u32)(h & 0x7fff) << 13, sign = (u32)(h & 0x8000) << 16;
    u32 bits = tw_as_u32(tw_as_f32(size) * 0x1p112f);
    return tw_as_f32((size >= 0x0f800000u ? size | 0x7f800000u : bits) | sign);
}
TW_FN f32 tw_f32_bf16(bf16 h) { return tw_as_f32((u32)h << 16); }

/* ---- down, to nearest even ---- */
/* Below the normal range the addition rounds: the sum's last bit is the format's smallest number. */
TW_FN f16 tw_f16_f32(f32 x) {
    u32 u = tw_as_u32(x), sign = u >> 16 & 0x8000, size = u & 0x7fffffffu;
    u32 normal = (size - 0x38000000u + 0xfff + (size >> 13 & 1)) >> 13;
    u32 small = tw_as_u32(tw_as_f32(size) + 0.5f) - 0x3f000000u;
    u32 large = size > 0x7f800000u ? 0x7e00u | (size >> 13 & 0x3ff) : 0x7c00u;
    return (u16)(sign | (size >= 0x47800000u ? large : size < 0x38800000u ? small : normal));
}
/* The nearest bf16 as f32: 16 zero bits at the end. */
TW_FN f32 tw_round_bf16(f32 x) {
    u32 u = tw_as_u32(x), rounded = u + 0x7fffu + (u >> 16 & 1);
    return tw_as_f32((x != x ? u | 0x400000u : rounded) & 0xffff0000u);
}
TW_FN bf16 tw_top_bf16(f32 x) { return (u16)(tw_as_u32(x) >> 16); }
TW_FN bf16 tw_bf16_f32(f32 x) { return tw_top_bf16(tw_round_bf16(x)); }

/* The first failure of a launch is the one that is reported. */
static inline __attribute__((unused)) void tw_fail(TwLaunch *launch, i32 number, i64 program) {
    i32 none = 0;
    if (__atomic_compare_exchange_n(&launch->failed, &none, number, 0, 5, 5)) launch->failed_program = program;
}

/* Loops that can go on for long look now and then whether they are still wanted. One that counts runs in parts of n
 * trips, which are loops as they would be without; TW_UNTIL is where the part from k on ends, for any integers k < hi. */
#define TW_UNTIL(k, hi, n) ((u64)(hi) - (u64)(k) > (n) ? (k) + (n) : (hi))
static __attribute__((unused, noinline, cold)) i32 tw_stopped(TwLaunch *launch) {
    return launch->stopped && launch->stopped(launch);
}

/* Trips of a loop: max(0, ceil((hi - lo) / step)). */
TW_FN i64 tw_trips(i64 lo, i64 hi, i64 step) {
    if (step == 0 || (step > 0 ? lo >= hi : lo <= hi)) return 0;
    u64 span = step > 0 ? (u64)hi - (u64)lo : (u64)lo - (u64)hi, by = step > 0 ? (u64)step : 0 - (u64)step;
    return (i64)((span - 1) / by + 1);
}

/* Rows of a matrix, one a program: hardware that looks ahead stops at the end of a page, which a row may be. Asks for the
 * next row, which lies as far from this one as this one from the one before. */
TW_FN void tw_ahead(const u8 **last, const void *now, i64 bytes) {
    const i64 by = (const u8 *)now - *last;
    if (*last && by)
        for (i64 i = 0; i < bytes; i += 64) __builtin_prefetch((const u8 *)now + by + i);
    *last = (const u8 *)now;
}

/* As many bytes as can be exchanged at once where nobody else has changed them: *before is what is there, true if it was. */
#if defined(__x86_64__) && defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16)
enum { TW_SWAP_BYTES = 16 };
typedef unsigned __int128 tw_words;
TW_FN i32 tw_swaps(void *p, tw_words *before, tw_words after) {
    const tw_words expected = *before;
    *before = __sync_val_compare_and_swap((tw_words *)p, expected, after);
    return *before == expected;
}
#else
enum { TW_SWAP_BYTES = 8 };
typedef u64 tw_words;
TW_FN i32 tw_swaps(void *p, tw_words *before, tw_words after) {
    return __atomic_compare_exchange_n((tw_words *)p, before, after, 0, 5, 5);
}
#endif

/* Lines of a tensor that many threads change: each page has a lock. *most is the number of elements from p on that it is for;
 * of a launch on one thread no lock is taken, for all. */
enum { TW_LOCKS = 1024, TW_PAGE = 4096 };
static __attribute__((unused)) u32 *tw_lock(TwLaunch *launch, const void *p, i64 size, i64 *most) {
    *most = (i64)1 << 62;
    if (!launch->locks) return 0;
    const u64 page = (u64)p / TW_PAGE;
    u32 *const lock = &launch->locks[(page ^ page / TW_LOCKS) % TW_LOCKS];
    for (i32 i = 1; __atomic_exchange_n(lock, 1, 5); i++)
        for (; __atomic_load_n(lock, 0); i++) {
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
            if (i % 256 == 0) launch->rest();
        }
    const i64 left = (i64)(TW_PAGE - (u64)p % TW_PAGE) / size;
    *most = left > 1 ? left : 1;
    return lock;
}
TW_FN void tw_unlock(u32 *lock) {
    if (lock) __atomic_store_n(lock, 0, 5);
}

/* The line of a matrix that an index vector does not find (indices.h, gemm.h). */
#define TW_NOWHERE (-9223372036854775807LL - 1)

/* Asks for bytes that will be written. */
TW_FN void tw_soon(const void *p, i64 bytes) {
    for (i64 i = 0; i < bytes; i += 64) __builtin_prefetch((const u8 *)p + i, 1);
}

/* Do two pieces of memory, each from its first byte to one past its last, not meet? */
TW_FN i32 tw_apart(const void *a, const void *a_end, const void *b, const void *b_end) {
    return (u64)a_end <= (u64)b || (u64)b_end <= (u64)a;
}

/* ---- least and largest, fma ---- */
#define TW_EXTREMES(T)                                                                             \
    TW_FN T tw_min_##T(T x, T y) { return y < x ? y : x; }                                         \
    TW_FN T tw_max_##T(T x, T y) { return x < y ? y : x; }
#define TW_FLOAT_EXTREMES(T, s)                                                                    \
    TW_FN T tw_abs_##T(T x) { return __builtin_fabs##s(x); }                                       \
    TW_FN T tw_fma_##T(T x, T y, T z) { return __builtin_fma##s(x, y, z); }                        \
    TW_FN T tw_min_##T(T x, T y) { const T r = x < y ? x : y; return y != y ? x : r; }             \
    TW_FN T tw_max_##T(T x, T y) { const T r = x > y ? x : y; return y != y ? x : r; }             \
    TW_FN T tw_min_nan_##T(T x, T y) { const T r = x < y ? x : y; return x != x ? x : r; }         \
    TW_FN T tw_max_nan_##T(T x, T y) { const T r = x > y ? x : y; return x != x ? x : r; }
TW_EXTREMES(i32) TW_EXTREMES(u32) TW_EXTREMES(i64) TW_EXTREMES(u64)
TW_FLOAT_EXTREMES(f32, f) TW_FLOAT_EXTREMES(f64, )
#endif
