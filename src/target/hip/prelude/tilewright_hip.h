/* SPDX-License-Identifier: Apache-2.0 */
/* tilewright_hip.h: what emitted kernels for AMD's GPUs are written in.
 *
 * The words are those of every machine with lanes, and mean the same as on CUDA (legend in tilewright.cuh): types, place,
 * convert, integers, floats, global, shared, warp, block. A warp is a wave: 64 lanes on CDNA, 32 on RDNA, TW_LANES of them.
 * Shared memory is the LDS. Blocks are one-dimensional, whole waves. There are no clusters, mbarriers, TMA, named
 * barriers, and no printf: the vendor's device library may be absent. Compile with contraction off:
 *
 *     clang++ -x hip --cuda-device-only -nogpulib -nogpuinc --offload-arch=gfx942 -O3 -std=c++17 -ffp-contract=off kernel.hip
 *
 *  matrix    tw_mfma_32x32_T tw_mfma_16x16_T(sum *d, const u32 *a, const u32 *b), tw_wmma_16x16_T: hip_matrix.h
 *  global    tw_ldg_bounded(V, on, to, base, at): V elements from base + at bytes, zeros where not on; base is the same in all lanes
 *            tw_ldg_bounded_or(.., fill): fill where not on   tw_stg_bounded(V, on, base, at, from): nothing where not on
 *            tw_near(i, first, extent): is i + first inside of the extent; first and extent are the same in all lanes
 *            tw_at_edge(): nothing; here is what only blocks at the edge of a tensor do
 *            tw_anew(x): the same number, but no compiler knows
 *  waits     tw_sync_shared(): tw_sync that says nothing of global memory
 *            tw_load_row_anywhere(V, to, row, i, n, on, fill): tw_load_row of 16 bytes that lie on no multiple of anything
 *  copies    tw_copy_wave(s, p, on): a word of each lane straight to shared memory, side by side from the first lane's s on; zeros
 *            where not on; tw_copy_wave_bounded(s, on, base, at): from base + at bytes. tw_copies_wait(n): all copies of the wave but the last n have landed (CDNA)
 *  lanes     hip_lanes.h says which instruction trades what
 *  math      hip_math.h, hip_special.h: our own, errors stated there */
#ifndef TILEWRIGHT_HIP_H
#define TILEWRIGHT_HIP_H

#if defined(__HIP__) || defined(__HIPCC_RTC__)
#define TW_ON_DEVICE
#define TW_FN static __attribute__((device)) __attribute__((always_inline)) inline
#define TW_CONSTANT static __attribute__((constant)) const
#define TW_LINE_HERE
#define TW_LINE_ON
typedef __SIZE_TYPE__ size_t;
#define memcpy(...) __builtin_memcpy(__VA_ARGS__)
#else
#define TW_FN static inline
#define TW_CONSTANT static const
/* The line of the caller, for what the emulator reports: as a last parameter, and handed on. */
#define TW_LINE_HERE , int line = __builtin_LINE()
#define TW_LINE_ON , line
#include <string.h>
#endif

#define TW_LIBM(fn) tw_m_##fn
#define TW_NO_SPECIAL
#define TW_VMATH_ALONE
#define TW_FUSED

#include "numbers.cuh"
#include "vmath.h"
#include "hip_math.h"
#include "floats.cuh"
#include "hip_special.h"
#ifdef TW_ON_DEVICE
#include "hip_device.h"
#else
#include "emulated_hip.h"
#endif
#include "hip_numbers.h"
#include "hip_lanes.h"
#include "convert.cuh"
TW_FN f16 tw_f16(f64 x) { return tw_f16(tw_odd(x)); }
#include "bits.cuh"
#include "tile.cuh"
#include "sort.cuh"
#include "hip_loose.h"
#include "hip_matrix.h"
#ifndef TW_ON_DEVICE
#include "turns.cuh"
#endif
#endif
