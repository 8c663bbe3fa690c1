/* SPDX-License-Identifier: Apache-2.0 */
/* dot.h: c += a b on row-major tiles, a (M, K), b (K, N), c (M, N), for emitted CPU kernels.
 *
 * Every element of c is one chain of fused multiply-adds in the order of k that starts from c itself, whatever the blocking,
 * the vector width and the machine: so bits depend on none of them, and dot([A1 A2], [B1; B2], c) equals
 * dot(A2, B2, dot(A1, B1, c)). Fusing is written out (an instruction, or fma of the compiler), because compilers contract
 * as they please.
 *
 * A block of TW_MR rows and TW_NV vectors of c stays in registers for all of k; its elements are variables of their own,
 * which both compilers keep in registers at any level of optimisation. b is read in panels of TW_NR_<T> columns, in place
 * or packed. Blocks: 6 x 64 f32 with AVX-512, 6 x 16 with AVX2, 8 x 12 with NEON.
 *
 * Where AVX-512 BF16 is there (and not -DTW_BF16_WIDE: --set bf16_pairs=off), products of bf16 in loops (gemm.h) go two steps of
 * k at a time instead, in the order and with the rounding of vdpbf16ps, or of AMX (tiles.h).
 *
 * What is TW_APART here and in gemm.h knows nothing of the kernel that calls it, and takes a compiler ten times as long as the
 * kernel does. With TW_PRODUCTS_APART it is only declared, for a kernel that is linked with it; with TW_PRODUCTS_HERE a text
 * defines it for such kernels. Otherwise a text has its own. */
#ifndef TILEWRIGHT_DOT_H
#define TILEWRIGHT_DOT_H
#include "cpu.h"

/* Compiled once, whoever calls: copies for known arguments are hardly faster and double the time of the compiler. */
#if defined(TW_PRODUCTS_HERE)
#define TW_APART __attribute__((noinline, noclone, visibility("hidden")))
#elif defined(TW_PRODUCTS_APART)
#define TW_APART extern __attribute__((visibility("hidden")))
#else
#define TW_APART static __attribute__((noinline, noclone, unused))
#endif

#if defined(__AVX512F__) || defined(TW_AMX_TWIN) /* tests want the panels that tiles have */
#define TW_MR 6
#define TW_NV 4
#define TW_BYTES 64
#define TW_VECTORS(X, i) X(i, 0) X(i, 1) X(i, 2) X(i, 3)
#elif defined(__AVX__) && defined(__FMA__)
#define TW_MR 6
#define TW_NV 2
#define TW_BYTES 32
#define TW_VECTORS(X, i) X(i, 0) X(i, 1)
#elif defined(__aarch64__)
#define TW_MR 8
#define TW_NV 3
#define TW_BYTES 16
#define TW_VECTORS(X, i) X(i, 0) X(i, 1) X(i, 2)
#else
#define TW_MR 2
#define TW_NV 2
#define TW_BYTES 16
#define TW_VECTORS(X, i) X(i, 0) X(i, 1)
#endif
#define TW_ROWS_1(X) X(0)
#define TW_ROWS_2(X) TW_ROWS_1(X) X(1)
#define TW_ROWS_3(X) TW_ROWS_2(X) X(2)
#define TW_ROWS_4(X) TW_ROWS_3(X) X(3)
#define TW_ROWS_5(X) TW_ROWS_4(X) X(4)
#define TW_ROWS_6(X) TW_ROWS_5(X) X(5)
#define TW_ROWS_7(X) TW_ROWS_6(X) X(6)
#define TW_ROWS_8(X) TW_ROWS_7(X) X(7)

/* Vectors of a register's width and their unaligned twins for memory. */
#define TW_VEC(T)                                                                                  \
    typedef T T##_vec __attribute__((vector_size(TW_BYTES)));                                      \
    typedef T T##_memory __attribute__((vector_size(TW_BYTES), aligned(sizeof(T)), may_alias));    \
    enum { TW_LANES_##T = TW_BYTES / sizeof(T), TW_NR_##T = TW_NV * TW_LANES_##T };
TW_VEC(f32)
TW_VEC(f64)
/* r += x * y per lane, rounded once. gcc moves the operands of an asm about, so it gets builtins. */
#if defined(__AVX512F__) && defined(__clang__)
#define TW_FMA_f32(r, x, y) __asm__("vfmadd231ps %2, %1, %0" : "+v"(r) : "v"(x), "v"(y))
#define TW_FMA_f64(r, x, y) __asm__("vfmadd231pd %2, %1, %0" : "+v"(r) : "v"(x), "v"(y))
#elif defined(__AVX512F__)
#define TW_FMA_f32(r, x, y) (r = __builtin_ia32_vfmaddps512_mask(x, y, r, -1, 4))
#define TW_FMA_f64(r, x, y) (r = __builtin_ia32_vfmaddpd512_mask(x, y, r, -1, 4))
#elif defined(__AVX__) && defined(__FMA__) && !defined(TW_AMX_TWIN)
#define TW_FMA_f32(r, x, y) (r = __builtin_ia32_vfmaddps256(x, y, r))
#define TW_FMA_f64(r, x, y) (r = __builtin_ia32_vfmaddpd256(x, y, r))
#elif defined(__aarch64__)
#define TW_FMA_f32(r, x, y) __asm__("fmla %0.4s, %1.4s, %2.4s" : "+w"(r) : "w"(x), "w"(y))
#define TW_FMA_f64(r, x, y) __asm__("fmla %0.2d, %1.2d, %2.2d" : "+w"(r) : "w"(x), "w"(y))
#else
#define TW_FMA_f32(r, x, y) do for (int e = 0; e < TW_LANES_f32; e++) r[e] = tw_fma_f32(x[e], y[e], r[e]); while (0)
#define TW_FMA_f64(r, x, y) do for (int e = 0; e < TW_LANES_f64; e++) r[e] = tw_fma_f64(x[e], y[e], r[e]); while (0)
#endif

enum { TW_KC = 256 };

/* Pairs of bf16 along k as one u32. */
#if defined(__AVX512BF16__) && !defined(TW_BF16_WIDE)
#define TW_PAIRS
#endif
#ifdef TW_PAIRS
TW_VEC(u32)
typedef u32 tw_pair __attribute__((aligned(2), may_alias));
#if defined(__AVX512BF16__)
#define TW_FMA_pair(r, x, y) __asm__("vdpbf16ps %2, %1, %0" : "+v"(r) : "v"(x), "v"(y))
#else /* for tests of all but the instruction itself */
#define TW_FMA_pair(r, x, y)                                                                       \
    do {                                                                                           \
        const f32_vec odd = (f32_vec)(x & 0xffff0000u), its = (f32_vec)(y & 0xffff0000u);          \
        const f32_vec even = (f32_vec)(x << 16), other = (f32_vec)(y << 16);                       \
        TW_FMA_f32(r, odd, its);                                                                   \
        TW_FMA_f32(r, even, other);                                                                \
    } while (0)
#endif
#endif

/* ---- blocks: tw_block_<T>_<rows>(K, a, lda, b, ldb, c, ldc, start): c = (start ? c : 0) + a b ----
 * TW_A, TW_B, TW_T are what a, b, c point to, TW_BVEC, TW_TVEC (in memory TW_BMEM, TW_TMEM) vectors of the latter two,
 * TW_X(i) is step k of row i of a. */
#define TW_ROW(i)     const TW_A *const a##i = a + i * lda;
#define TW_ZERO1(i, v) TW_C(i, v) = (TW_TVEC){0};
#define TW_ZERO(i)    TW_VECTORS(TW_ZERO1, i)
#define TW_C(i, v)    c##i##_##v
#define TW_DECL1(i, v) TW_TVEC TW_C(i, v);
#define TW_DECL(i)    TW_VECTORS(TW_DECL1, i)
#define TW_LOAD1(i, v) TW_C(i, v) = *(const TW_TMEM *)(c + i * ldc + v * TW_L);
#define TW_LOAD(i)    TW_VECTORS(TW_LOAD1, i)
#define TW_STORE1(i, v) *(TW_TMEM *)(c + i * ldc + v * TW_L) = TW_C(i, v);
#define TW_STORE(i)   TW_VECTORS(TW_STORE1, i)
#define TW_B1(i, v)   const TW_BVEC b##v = *(const TW_BMEM *)(b + v * TW_L);
#define TW_STEP1(i, v) TW_MADD(TW_C(i, v), x##i, b##v);
#define TW_STEP(i)                                                                                 \
    const TW_BVEC x##i = TW_X(i) - (TW_BVEC){0};                                                   \
    TW_VECTORS(TW_STEP1, i)
/* The block that follows begins where no stream of the hardware's has been: the next rows of a and c. Short ones are in the
 * first-level cache already. */
#define TW_AHEAD(i)                                                                                \
    __builtin_prefetch(c + (i + TW_MR) * ldc), __builtin_prefetch(c + (i + TW_MR) * ldc + TW_L * TW_NV - 1); \
    __builtin_prefetch(a + (i + TW_MR) * lda), __builtin_prefetch(a + (i + TW_MR) * lda + 64 / sizeof *a);
#define TW_BLOCK(T, n)                                                                             \
    TW_KIND void tw_block_##T##_##n(i64 K, const TW_A *a, i64 lda, const TW_B *b, i64 ldb,         \
                                    TW_T *c, i64 ldc, i32 start) TW_BODY({                         \
        TW_ROWS_##n(TW_ROW) TW_ROWS_##n(TW_DECL)                                                   \
        if (K >= TW_KC) { TW_ROWS_##n(TW_AHEAD) }                                                  \
        if (start) { TW_ROWS_##n(TW_LOAD) } else { TW_ROWS_##n(TW_ZERO) }                          \
        TW_UNROLL for (i64 k = 0; k < K; k++, b += ldb) {                                          \
            TW_VECTORS(TW_B1, 0)                                                                   \
            TW_ROWS_##n(TW_STEP)                                                                   \
        }                                                                                          \
        TW_ROWS_##n(TW_STORE)                                                                      \
    })
#if defined(__clang__)
#define TW_UNROLL _Pragma("clang loop unroll_count(4)")
#else
#define TW_UNROLL _Pragma("GCC unroll 4")
#endif
#if TW_MR == 2
#define TW_BLOCKS(T) TW_BLOCK(T, 1) TW_BLOCK(T, 2)
#define TW_CASES(X)  X(1) X(2)
#elif TW_MR == 6
#define TW_BLOCKS(T) TW_BLOCK(T, 1) TW_BLOCK(T, 2) TW_BLOCK(T, 3) TW_BLOCK(T, 4) TW_BLOCK(T, 5) TW_BLOCK(T, 6)
#define TW_CASES(X)  X(1) X(2) X(3) X(4) X(5) X(6)
#else
#define TW_BLOCKS(T)                                                                               \
    TW_BLOCK(T, 1) TW_BLOCK(T, 2) TW_BLOCK(T, 3) TW_BLOCK(T, 4) TW_BLOCK(T, 5) TW_BLOCK(T, 6)      \
    TW_BLOCK(T, 7) TW_BLOCK(T, 8)
#define TW_CASES(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8)
#endif

/* How many of `left` rows the next block takes: blocks of few rows have too few chains to keep the units busy, so what is
 * left over is shared by the last two. */
TW_FN i64 tw_rows_next(i64 left) {
    if (left <= TW_MR) return left;
    return left - TW_MR == 0 || left - TW_MR >= TW_MR / 2 ? TW_MR : (left + 1) / 2;
}

/* ---- panels: all M rows of a by the TW_NR columns of one panel of b, of which n count ---- */
#define TW_CASE(n) case n: TW_PASTE(tw_block_, TW_NAME, n)(K, x, lda, b, ldb, z, ldz, start); break;
#define TW_PASTE(a, b, c)  TW_PASTE_(a, b, c)
#define TW_PASTE_(a, b, c) a##b##_##c
#define TW_PANEL(T, C)                                                                             \
    static __attribute__((unused)) void tw_panel_##T(i64 M, i64 n, i64 K, const TW_A *a, i64 lda,  \
                                                     const TW_B *b, i64 ldb, C *c, i64 ldc, i32 start) { \
        C edge[TW_MR * TW_NR_##C];                                                                 \
        for (i64 i = 0, rows; i < M; i += rows) {                                                  \
            rows = tw_rows_next(M - i);                                                            \
            const TW_A *const x = a + i * lda;                                                     \
            C *z = c + i * ldc;                                                                    \
            i64 ldz = ldc;                                                                         \
            if (n < TW_NR_##C) {                                                                   \
                for (i64 r = 0; r < rows && start; r++)                                            \
                    for (i64 j = 0; j < TW_NR_##C; j++) edge[r * TW_NR_##C + j] = j < n ? z[r * ldc + j] : 0; \
                z = edge, ldz = TW_NR_##C;                                                         \
            }                                                                                      \
            switch (rows) { TW_CASES(TW_CASE) }                                                    \
            if (n < TW_NR_##C)                                                                     \
                for (i64 r = 0; r < rows; r++)                                                     \
                    for (i64 j = 0; j < n; j++) c[(i + r) * ldc + j] = edge[r * TW_NR_##C + j];    \
        }                                                                                          \
    }
/* c = (start ? c : 0) + a b. `room` holds a panel of TW_KC rows. Panels whose rows lie far apart are packed if it pays; the
 * last one, if it is not whole, always, with zeros. */
#define TW_DOT(T)                                                                                  \
    static __attribute__((unused)) void tw_dot_##T(i64 M, i64 N, i64 K, const T *a, i64 lda, const T *b, \
                                                   i64 ldb, T *c, i64 ldc, i32 start, T *room) {   \
        for (i64 j = 0; j < N; j += TW_NR_##T) {                                                   \
            const i64 n = tw_min_i64(N - j, TW_NR_##T);                                            \
            const i32 whole = n == TW_NR_##T;                                                      \
            if (whole && (M < 4 * TW_MR || K * ldb <= 8192)) {                                     \
                tw_panel_##T(M, n, K, a, lda, b + j, ldb, c + j, ldc, start);                      \
                continue;                                                                          \
            }                                                                                      \
            for (i64 k0 = 0; k0 < K; k0 += TW_KC) {                                                \
                const i64 kc = tw_min_i64(K - k0, TW_KC);                                          \
                for (i64 k = 0; k < kc; k++)                                                       \
                    for (i64 i = 0; i < TW_NR_##T; i++)                                            \
                        room[k * TW_NR_##T + i] = i < n ? b[(k0 + k) * ldb + j + i] : 0;           \
                tw_panel_##T(M, n, kc, a + k0, lda, room, TW_NR_##T, c + j, ldc, start || k0);     \
            }                                                                                      \
        }                                                                                          \
    }

#define TW_A    TW_T
#define TW_B    TW_T
#define TW_BVEC TW_TVEC
#define TW_BMEM TW_TMEM
#define TW_X(i) a##i[k]
#define TW_KIND static __attribute__((noinline, unused))
#define TW_BODY(...) __VA_ARGS__
#define TW_NAME f64
#define TW_T    f64
#define TW_TVEC f64_vec
#define TW_TMEM f64_memory
#define TW_L    TW_LANES_f64
#define TW_MADD TW_FMA_f64
TW_BLOCKS(f64) TW_PANEL(f64, f64) TW_DOT(f64)
#undef TW_NAME
#undef TW_T
#undef TW_TVEC
#undef TW_TMEM
#undef TW_L
#undef TW_MADD
#undef TW_KIND
#define TW_KIND TW_APART
#ifdef TW_PRODUCTS_APART
#undef TW_BODY
#define TW_BODY(...) ;
#endif
#define TW_NAME f32
#define TW_T    f32
#define TW_TVEC f32_vec
#define TW_TMEM f32_memory
#define TW_L    TW_LANES_f32
#define TW_MADD TW_FMA_f32
TW_BLOCKS(f32) TW_PANEL(f32, f32) TW_DOT(f32)
#ifdef TW_PAIRS /* rows of a are bf16, K counts pairs */
#undef TW_NAME
#undef TW_A
#undef TW_B
#undef TW_BVEC
#undef TW_BMEM
#undef TW_X
#undef TW_MADD
#define TW_NAME pair
#define TW_A    bf16
#define TW_B    u32
#define TW_BVEC u32_vec
#define TW_BMEM u32_memory
#define TW_X(i) *(const tw_pair *)(a##i + 2 * k)
#define TW_MADD TW_FMA_pair
TW_BLOCKS(pair) TW_PANEL(pair, f32)
#endif

/* Integers wrap, so order does not matter. */
#define TW_DOT_INT(T)                                                                              \
    static __attribute__((unused, noinline)) void tw_dot_##T(i64 M, i64 N, i64 K, const T *a,      \
                                                             i64 lda, const T *b, i64 ldb, T *c,   \
                                                             i64 ldc, i32 start, T *room) {        \
        (void)room;                                                                                \
        for (i64 i = 0; i < M && !start; i++)                                                      \
            for (i64 j = 0; j < N; j++) c[i * ldc + j] = 0;                                        \
        for (i64 i = 0; i < M; i++)                                                                \
            for (i64 k = 0; k < K; k++) {                                                          \
                const T x = a[i * lda + k];                                                        \
                TW_VECTOR for (i64 j = 0; j < N; j++) c[i * ldc + j] += x * b[k * ldb + j];        \
            }                                                                                      \
    }
TW_DOT_INT(i32)
TW_DOT_INT(u32)
TW_DOT_INT(i64)
TW_DOT_INT(u64)
#endif
