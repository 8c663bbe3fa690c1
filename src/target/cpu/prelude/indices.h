/* SPDX-License-Identifier: Apache-2.0 */
/* indices.h: index vectors of emitted CPU kernels.
 *
 *     tw_inside_i32(v, n, begin, end, &lo, &hi)  are all n indices in begin .. end? lo, hi: the least and largest of those that
 *                                                are, 0 if none is
 *     tw_span_i32(v, n, &lo, &hi)                the least and largest of all
 *     tw_lines_i32(at, v, n, begin, end)         the indices for gemm.h: those outside are TW_NOWHERE
 *     TW_FIRST, TW_BEHIND                        begin and end of a tensor without an extent: the least i64 is outside of it */
#ifndef TILEWRIGHT_INDICES_H
#define TILEWRIGHT_INDICES_H
#include "cpu.h"

#define TW_BEHIND ((i64)0x7fffffffffffffff)
#define TW_FIRST (-TW_BEHIND)

#define TW_INDICES(T)                                                                              \
    TW_FN i32 tw_inside_##T(const T *v, i64 n, i64 begin, i64 end, i64 *lo, i64 *hi) {             \
        i64 least = end, most = begin - 1, inside = 0;                                             \
        for (i64 i = 0; i < n; i++) {                                                              \
            const i64 at = (i64)v[i];                                                              \
            const i32 on = (at >= begin) & (at < end);                                             \
            inside += on;                                                                          \
            least = on & (at < least) ? at : least;                                                \
            most = on & (at > most) ? at : most;                                                   \
        }                                                                                          \
        *lo = inside ? least : 0, *hi = inside ? most : 0;                                         \
        return inside == n;                                                                        \
    }                                                                                              \
    TW_FN void tw_span_##T(const T *v, i64 n, i64 *lo, i64 *hi) {                                  \
        *lo = *hi = (i64)v[0];                                                                     \
        for (i64 i = 1; i < n; i++) *lo = tw_min_i64(*lo, (i64)v[i]), *hi = tw_max_i64(*hi, (i64)v[i]); \
    }                                                                                              \
    TW_FN void tw_lines_##T(i64 *at, const T *v, i64 n, i64 begin, i64 end) {                      \
        for (i64 i = 0; i < n; i++)                                                                \
            at[i] = (i64)v[i] >= begin && (i64)v[i] < end ? (i64)v[i] : TW_NOWHERE;                \
    }
TW_INDICES(i8)
TW_INDICES(u8)
TW_INDICES(i16)
TW_INDICES(u16)
TW_INDICES(i32)
TW_INDICES(u32)
TW_INDICES(i64)
TW_INDICES(u64)
#endif
