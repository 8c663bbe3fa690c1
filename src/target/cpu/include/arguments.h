/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.h: how the entry of a kernel that was built ahead of time checks its arguments, whichever target it is for, and
 * what its results are called. Behind cpu.h and base/scalar_ops.h. */
#ifndef BUILT_ARGUMENTS
#define BUILT_ARGUMENTS
#include <stddef.h>
#include <stdint.h>

#include "built.h"

typedef struct BuiltSpan { /* of an array's elements; empty: it has none */
    const char *low, *high;
} BuiltSpan;

static __attribute__((unused)) i32 built_array(const void *data, size_t count, size_t bytes, BuiltSpan *span, u64 *word) {
    if (!data && count) return TW_BUILT_NULL;
    if ((uintptr_t)data % bytes) return TW_BUILT_UNALIGNED;
    if (count > PTRDIFF_MAX / bytes) return TW_BUILT_EXTENT;
    *span = (BuiltSpan){data, data ? (const char *)data + count * bytes : 0};
    *word = (u64)(uintptr_t)data;
    return TW_BUILT_OK;
}

/* Does an array of so many elements hold these extents? Strides in elements; NULL: row-major without gaps. Those that
 * hold are written down; `strides_to` may be NULL. */
static __attribute__((unused)) i32 built_shape(size_t count, i32 rank, const i64 *extents, const int64_t *strides,
                                               i64 *strides_to) {
    i64 dense = 1, last = 0;
    i32 empty = 0;
    for (i32 d = 0; d < rank; d++) {
        if (extents[d] < 0 || (strides && strides[d] < 0)) return TW_BUILT_EXTENT;
        empty |= extents[d] == 0;
    }
    for (i32 d = rank - 1; d >= 0; d--) {
        const i64 stride = strides ? strides[d] : dense;
        i64 reach;
        if (strides_to) strides_to[d] = stride;
        if (__builtin_mul_overflow(dense, extents[d] ? extents[d] : 1, &dense)) return TW_BUILT_EXTENT;
        if (empty) continue;
        if (__builtin_mul_overflow(extents[d] - 1, stride, &reach) || __builtin_add_overflow(last, reach, &last))
            return TW_BUILT_EXTENT;
    }
    return !empty && (u64)last >= count ? TW_BUILT_SMALL : TW_BUILT_OK;
}

static __attribute__((unused)) i32 built_apart(BuiltSpan a, BuiltSpan b) {
    return !(a.low < b.high && b.low < a.high);
}

static __attribute__((unused)) i32 built_grid(const i64 *grid) {
    double programs = 1;
    for (i32 d = 0; d < 3; d++) {
        if (grid[d] < 0 || grid[d] > INT32_MAX) return TW_BUILT_GRID;
        programs *= (double)grid[d];
    }
    return programs > 9e18 ? TW_BUILT_GRID : TW_BUILT_OK;
}

static __attribute__((unused)) const char *built_error(i32 code) {
    static const char *const texts[] = {
        "success",
        "an array is NULL and has elements",
        "an array has fewer elements than its extents and strides need",
        "an extent or a stride is negative, or they go beyond the address space",
        "an array does not begin at a multiple of its element's size",
        "an extent of the grid does not lie in 0 .. 2^31-1, or there are 2^63 programs or more",
        "the arguments do not keep what the kernel's source requires of them",
        "no memory for what a thread works in",
        "the processor or the GPU runs nothing that the kernel was built for",
        "struct_size of the options is not set",
        "the GPU's driver is not here (libcuda.so.1, libamdhip64.so), or lacks functions of CUDA 12 or ROCm 6",
        "workers of a program wait for each other for ever",
        "`parallel` came back, and had not begun each part once",
    };
    return code >= 0 && code < (i32)(sizeof texts / sizeof *texts) ? texts[code] : "unknown";
}
#endif
