/* dot.h: c += a b on dense row-major tiles, a (M, K), b (K, N), c (M, N), for emitted CPU kernels.
 *
 * Every element of c is one chain of fused multiply-adds in the order of k that starts from c itself, whatever the blocking,
 * the vector width and the machine: so bits depend on none of them, and dot([A1 A2], [B1; B2], c) equals
 * dot(A2, B2, dot(A1, B1, c)). Vectors run along n; a block of rows x vectors of c stays in registers for all of k.
 * Fusing is written out (an instruction, or fma of the compiler), because compilers contract as they please. */
#ifndef TILEWRIGHT_DOT_H
#define TILEWRIGHT_DOT_H
#include "cpu.h"

/* TW_VEC(T, n): T##x##n, n lanes of T, its unaligned twin for memory, and r + x * y per lane. */
#define TW_VEC_TYPES(T, n)                                                                         \
    typedef T T##x##n __attribute__((vector_size(n * sizeof(T))));                                 \
    typedef T T##x##n##_memory __attribute__((vector_size(n * sizeof(T)), aligned(sizeof(T)), may_alias));
#if defined(__FMA__)
#define TW_VEC(T, n, instruction)                                                                  \
    TW_VEC_TYPES(T, n)                                                                             \
    TW_FN T##x##n tw_fma_##T##x##n(T##x##n x, T##x##n y, T##x##n r) {                              \
        __asm__(instruction " %2, %1, %0" : "+v"(r) : "v"(x), "v"(y));                             \
        return r;                                                                                  \
    }
#elif defined(__aarch64__)
#define TW_VEC(T, n, instruction)                                                                  \
    TW_VEC_TYPES(T, n)                                                                             \
    TW_FN T##x##n tw_fma_##T##x##n(T##x##n x, T##x##n y, T##x##n r) {                              \
        __asm__(instruction : "+w"(r) : "w"(x), "w"(y));                                           \
        return r;                                                                                  \
    }
#else
#define TW_VEC(T, n, instruction)                                                                  \
    TW_VEC_TYPES(T, n)                                                                             \
    TW_FN T##x##n tw_fma_##T##x##n(T##x##n x, T##x##n y, T##x##n r) {                              \
        for (int i = 0; i < n; i++) r[i] = tw_fma_##T(x[i], y[i], r[i]);                           \
        return r;                                                                                  \
    }
#endif

#if defined(__AVX512F__)
TW_VEC(f32, 16, "vfmadd231ps")
TW_VEC(f64, 8, "vfmadd231pd")
#endif
#if defined(__FMA__)
TW_VEC(f32, 8, "vfmadd231ps")
TW_VEC(f32, 4, "vfmadd231ps")
TW_VEC(f64, 4, "vfmadd231pd")
TW_VEC(f64, 2, "vfmadd231pd")
#else
TW_VEC(f32, 4, "fmla %0.4s, %1.4s, %2.4s")
TW_VEC(f64, 2, "fmla %0.2d, %1.2d, %2.2d")
#endif

/* A block of R rows and V vectors (both constant where it is inlined). */
enum { TW_ROWS = 6, TW_VECTORS = 4 };
#define TW_DOT_BLOCK(T, n)                                                                         \
    TW_FN void tw_dot_block_##T##x##n(const int R, const int V, i64 K, const T *a, i64 lda,        \
                                      const T *b, i64 ldb, T *c, i64 ldc) {                        \
        T##x##n acc[TW_ROWS][TW_VECTORS];                                                          \
        for (int i = 0; i < R; i++)                                                                \
            for (int v = 0; v < V; v++)                                                            \
                acc[i][v] = *(const T##x##n##_memory *)(c + i * ldc + v * n);                      \
        for (i64 k = 0; k < K; k++) {                                                              \
            T##x##n y[TW_VECTORS];                                                                 \
            for (int v = 0; v < V; v++) y[v] = *(const T##x##n##_memory *)(b + k * ldb + v * n);   \
            for (int i = 0; i < R; i++) {                                                          \
                T##x##n x = a[i * lda + k] - (T##x##n){0};                                         \
                for (int v = 0; v < V; v++) acc[i][v] = tw_fma_##T##x##n(x, y[v], acc[i][v]);      \
            }                                                                                      \
        }                                                                                          \
        for (int i = 0; i < R; i++)                                                                \
            for (int v = 0; v < V; v++)                                                            \
                *(T##x##n##_memory *)(c + i * ldc + v * n) = acc[i][v];                            \
    }                                                                                              \
    TW_FN void tw_dot_rows_##T##x##n(const int V, i64 M, i64 K, const T *a, i64 lda, const T *b,   \
                                     i64 ldb, T *c, i64 ldc) {                                     \
        i64 i = 0;                                                                                 \
        for (; i + TW_ROWS <= M; i += TW_ROWS)                                                     \
            tw_dot_block_##T##x##n(TW_ROWS, V, K, a + i * lda, lda, b, ldb, c + i * ldc, ldc);     \
        for (; i + 2 <= M; i += 2)                                                                 \
            tw_dot_block_##T##x##n(2, V, K, a + i * lda, lda, b, ldb, c + i * ldc, ldc);           \
        for (; i < M; i++)                                                                         \
            tw_dot_block_##T##x##n(1, V, K, a + i * lda, lda, b, ldb, c + i * ldc, ldc);           \
    }

/* Columns from j on, in steps of V vectors of n lanes, as long as they fit. */
#define TW_DOT_COLUMNS(T, n, V)                                                                    \
    for (; j + V * n <= N; j += V * n)                                                             \
        tw_dot_rows_##T##x##n(V, M, K, a, lda, b + j, ldb, c + j, ldc);
#define TW_DOT_LAST(T)                                                                             \
    for (; j < N; j++)                                                                             \
        for (i64 i = 0; i < M; i++) {                                                              \
            T s = c[i * ldc + j];                                                                  \
            for (i64 k = 0; k < K; k++) s = tw_fma_##T(a[i * lda + k], b[k * ldb + j], s);         \
            c[i * ldc + j] = s;                                                                    \
        }
#define TW_DOT(T, ...)                                                                             \
    static __attribute__((unused, noinline)) void tw_dot_##T(i64 M, i64 N, i64 K, const T *a,      \
                                                             i64 lda, const T *b, i64 ldb, T *c,   \
                                                             i64 ldc) {                            \
        i64 j = 0;                                                                                 \
        __VA_ARGS__                                                                                \
        TW_DOT_LAST(T)                                                                             \
    }

#if defined(__AVX512F__)
#define TW_NEED_512(x) x
TW_DOT_BLOCK(f32, 16)
TW_DOT_BLOCK(f64, 8)
#else
#define TW_NEED_512(x)
#endif
#if defined(__FMA__)
#define TW_NEED_256(x) x
TW_DOT_BLOCK(f32, 8)
TW_DOT_BLOCK(f64, 4)
#else
#define TW_NEED_256(x)
#endif
TW_DOT_BLOCK(f32, 4)
TW_DOT_BLOCK(f64, 2)

TW_DOT(f32, TW_NEED_512(TW_DOT_COLUMNS(f32, 16, 4) TW_DOT_COLUMNS(f32, 16, 1))
       TW_NEED_256(TW_DOT_COLUMNS(f32, 8, 2) TW_DOT_COLUMNS(f32, 8, 1)) TW_DOT_COLUMNS(f32, 4, 1))
TW_DOT(f64, TW_NEED_512(TW_DOT_COLUMNS(f64, 8, 4) TW_DOT_COLUMNS(f64, 8, 1))
       TW_NEED_256(TW_DOT_COLUMNS(f64, 4, 2) TW_DOT_COLUMNS(f64, 4, 1)) TW_DOT_COLUMNS(f64, 2, 1))

/* Integers wrap, so order does not matter. */
#define TW_DOT_INT(T)                                                                              \
    static __attribute__((unused, noinline)) void tw_dot_##T(i64 M, i64 N, i64 K, const T *a,      \
                                                             i64 lda, const T *b, i64 ldb, T *c,   \
                                                             i64 ldc) {                            \
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
