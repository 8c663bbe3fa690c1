/* sort.h: sorting a line of n elements for emitted CPU kernels: stable, NaN last in either direction.
 * `spare` has room for n elements. Runs of 8 by insertion, then merges from one buffer to the other. */
#ifndef TILEWRIGHT_SORT_H
#define TILEWRIGHT_SORT_H
#include "cpu.h"

/* Is x less than y, -0 less than 0? */
#define TW_LESS_INT(x, y)   ((x) < (y))
#define TW_LESS_FLOAT(x, y) ((x) < (y) || ((x) == (y) && __builtin_signbit(x) && !__builtin_signbit(y)))

#define TW_SORT(T, LESS)                                                                           \
    /* Must y stand before x? */                                                                   \
    TW_FN i32 tw_before_##T(T y, T x, i32 descending) {                                            \
        return (descending ? LESS(x, y) : LESS(y, x)) || (x != x && y == y);                       \
    }                                                                                              \
    static __attribute__((unused)) void tw_sort_##T(T *line, T *spare, i64 n, i32 descending) {    \
        for (i64 run = 0; run < n; run += 8)                                                       \
            for (i64 i = run + 1; i < run + 8 && i < n; i++) {                                     \
                const T x = line[i];                                                               \
                i64 to = i;                                                                        \
                for (; to > run && tw_before_##T(x, line[to - 1], descending); to--)               \
                    line[to] = line[to - 1];                                                       \
                line[to] = x;                                                                      \
            }                                                                                      \
        T *from = line, *into = spare;                                                             \
        for (i64 width = 8; width < n; width *= 2) {                                               \
            for (i64 start = 0; start < n; start += 2 * width) {                                   \
                i64 middle = tw_min_i64(start + width, n), end = tw_min_i64(start + 2 * width, n); \
                i64 a = start, b = middle;                                                         \
                for (i64 i = start; i < end; i++) {                                                \
                    const i32 second = b < end && (a == middle || tw_before_##T(from[b], from[a], descending)); \
                    into[i] = second ? from[b++] : from[a++];                                      \
                }                                                                                  \
            }                                                                                      \
            T *other = from;                                                                       \
            from = into, into = other;                                                             \
        }                                                                                          \
        if (from != line) __builtin_memcpy(line, from, (u64)n * sizeof(T));                        \
    }
TW_SORT(i8, TW_LESS_INT) TW_SORT(i16, TW_LESS_INT) TW_SORT(i32, TW_LESS_INT) TW_SORT(i64, TW_LESS_INT)
TW_SORT(u8, TW_LESS_INT) TW_SORT(u16, TW_LESS_INT) TW_SORT(u32, TW_LESS_INT) TW_SORT(u64, TW_LESS_INT)
TW_SORT(f32, TW_LESS_FLOAT) TW_SORT(f64, TW_LESS_FLOAT)
#endif
