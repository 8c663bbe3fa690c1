/* SPDX-License-Identifier: Apache-2.0 */
/* tilewright.cuh: what emitted CUDA kernels are written in.
 *
 * An emitted .cu includes this file and nothing else. nvcc and NVRTC (sm_90a) get the device version (device.cuh,
 * wgmma.cuh: small inline functions around PTX); a host C++17 compiler gets the emulator's (emulated.cuh), same names
 * and signatures, so the very same text runs on a machine without a GPU. For that, emitted code touches shared and
 * global memory only through the functions below; everything else in it is plain C on registers and local arrays.
 * Local arrays must be indexed by constants after unrolling (they are registers).
 *
 *     extern "C" __global__ void __launch_bounds__(256) add(const f32 *x, const f32 *y, f32 *z, i32 n) {
 *         i32 i = 4 * (tw_block_x() * 256 + tw_thread());
 *         f32 a[4], b[4];
 *         if (i + 4 <= n) {
 *             tw_ldg(4, a, x + i); tw_ldg(4, b, y + i);
 *             for (int j = 0; j < 4; j++) a[j] = a[j] + b[j];
 *             tw_stg(4, z + i, a);
 *         }
 *     }
 *     TW_KERNEL(add)                       after each kernel; how the emulator finds and calls it
 *
 * Compile with contraction off (--fmad=false, -ffp-contract=off). Blocks are one-dimensional, whole warps.
 *
 * LEGEND. T: any scalar type below; s: byte offset into the block's dynamic shared memory (u32, the memory starts
 * 1024-aligned; a kernel declares no shared memory of its own); bar: s of an mbarrier (8 bytes, 8-aligned); V, n
 * and the number of bytes: literals. "collective": all 32 lanes of the warp, from one place in the code.
 *
 *  types     i8 i16 i32 i64 u8 u16 u32 u64 f32 f64; structs of raw bits: f16 bf16 e4m3 e5m2; TensorMap (128 bytes)
 *  place     tw_thread() tw_lane() tw_warp() (uniform)  tw_block_x/y/z()  tw_blocks_x/y/z()  tw_threads()
 *            tw_uniform(x) value of lane 0 (collective)  tw_elect() true in one lane (collective)
 *  convert   tw_f32(f16|bf16|e4m3|e5m2)   tw_f16 tw_bf16 tw_e4m3 tw_e5m2(f32): nearest even; fp8 saturates
 *            tw_tf32(f32): bits rounded for mma, nearest even to away   tw_i32 tw_u32 tw_i64 tw_u64(f32|f64): to zero,
 *            saturating, NaN 0   tw_pack_f16 tw_pack_bf16(lo, hi) -> u32   tw_pack(f16|bf16|u16 lo, hi) -> u32
 *            tw_pack_e4m3 tw_pack_e5m2(f32 x0, .., x3) -> u32   tw_pack(x0, .., x3) -> u32: four of 8 bits
 *            the first two also of two e4m3 (and others of 8 bits, convert.cuh)
 *            tw_lo_f16 tw_hi_f16 tw_lo_bf16 tw_hi_bf16(u32) -> f32
 *            tw_add_bf16x2 tw_sub_bf16x2 tw_add_f16x2 tw_sub_f16x2 tw_mul_f16x2(u32, u32): of both halves, rounded once
 *            tw_mul_bf16x2(u32, u32): rounded to f32 first   tw_sum_bf16(f32, f32): of two numbers that bf16 holds, rounded to it
 *            tw_prmt(u32 x, u32 y, which) -> u32: byte i is that of x (0 to 3) or y (4 to 7) that hex digit i of `which` says
 *            tw_as_f32(u32) tw_as_u32(f32) tw_as_f64(u64) tw_as_u64(f64) tw_as_f16(u16) tw_as_bf16(u16) ..: same bits
 *  integers  wrapping tw_add tw_sub tw_mul; tw_div tw_rem (to zero; x div 0 = 0, x rem 0 = x) tw_floordiv tw_mod
 *            tw_cdiv tw_shl tw_shr (any amount) tw_mulhi tw_popc tw_clz tw_abs tw_min tw_max: i32 u32 i64 u64
 *            tw_mul_wide(i32 x, i32 y) -> i64
 *            tw_trips_on(i64 x, i64 step, i32 n) -> i64: x + n step, or the last number in that direction
 *  floats    f32 and f64: tw_fma tw_abs tw_floor tw_ceil tw_trunc tw_round (half away) tw_rint (half even) tw_isnan
 *            tw_min tw_max (NaN loses) tw_min_nan tw_max_nan (NaN wins) tw_div (IEEE) tw_sqrt (IEEE)
 *            tw_exp tw_exp2 tw_log tw_log2 tw_rsqrt tw_sin tw_cos tw_tanh tw_erf: at most 2 ulp; and the long tail
 *            (TW_MATH_TAIL) at CUDA's documented bounds
 *            f32 only, approximate: the error is stated at each of tw_exp_fast tw_exp2_fast tw_log_fast tw_log2_fast
 *            tw_sqrt_fast tw_rsqrt_fast tw_rcp_fast tw_div_fast tw_sin_fast tw_cos_fast tw_tanh_fast
 *            tw_div_over(x, tw_over(y)): tw_div_fast(x, y), bit by bit, for a y that divides many
 *  global    tw_ldg(V, T *to, p)  tw_stg(V, p, const T *from): V elements, V * sizeof(T) = 1..16 bytes, aligned to
 *            their size   tw_ldg_if(V, bool, to, p) tw_stg_if(V, bool, p, from): nothing where false
 *            tw_ldg_or(V, bool, to, p, T fill): fill in all V where false
 *            tw_ldg_singly(bool, to, p, T fill): of 16 bits, one by one; none waits for the one before
 *            tw_ldg_pairs(words, bool, u32 *to, p, u32 fill): the same for 16-bit elements, kept two a word;
 *            tw_bf16_at(words, i) tw_f16_at(words, i): element i of them, as f32   tw_round_two(f16|bf16 *to, lo, hi)
 *            tw_zero(): 0, but no compiler knows   tw_own(p): p, which a compiler takes for the thread's own
 *            tw_ldg_volatile(V, bool, to, p): read from memory each time it is met, nothing where false
 *            tw_ldg_nc: data that nobody writes during the kernel, not kept in L1   tw_stg_cs: streamed out
 *            name_hinted(.., hint) of loads and stores (tile.cuh), tw_cp_async, tw_tma_load, _multicast, _store: TW_CA TW_CG TW_CS TW_CV
 *            (loads), TW_WB TW_CG TW_CS TW_WT (stores) are PTX's operators for L1; TW_EVICT_FIRST TW_EVICT_LAST say what leaves L1 and
 *            L2 first, or last: copies past the registers know those alone
 *            tw_atomic_add: i32 u32 i64 u64 f32 f64 f16 bf16   tw_atomic_min tw_atomic_max: i32 u32 i64 u64 f32 f64
 *            tw_atomic_and or xor xchg: 32 and 64 bits   tw_atomic_cas(p, expect, v): all return the old value; name_system: the same for
 *            all that share the memory, not this GPU alone (tw_red_add too)
 *            TW_ATOM(reach, order, op, PTX's type, T old, p, v)  TW_ATOM_RANK(reach, order, min|max, the other, f32 old, p, v) (TW_ATOM_RANK_f64)
 *            TW_ATOM_CAS(reach, order, bits, T old, p, expect, v): one thread's, with its order (gpu, acq_rel)
 *            tw_red_add(V, bool, T *p, const T *v): f32 f16 bf16, 8 or 16 bytes (16-bit floats also 4): each added by itself (sm_90)
 *            tw_fence_block() tw_fence_device() tw_fence_system()   tw_ld_acquire(p) tw_st_release(p, v): u32, device scope
 *  shared    tw_lds(V, T *to, s)  tw_sts(V, s, const T *from)  tw_lds_if tw_sts_if: as for global
 *            tw_atomic_add_shared(s, i32)  tw_atomic_max_shared(s, i32)
 *            tw_lds_tree_2|4|8(add|min|max, f32 x, s, offsets ..): x = what lies there, combined in pairs of neighbours
 *  warp      tw_shfl_xor(x, mask) tw_shfl_idx(x, lane) tw_shfl_up(x, n) tw_shfl_down(x, n) tw_ballot(b) tw_any(b)
 *            tw_lanes_add|min|max_up|down(f32): of all lanes, in every lane; up: neighbours first
 *            tw_lanes_add|min|max|and|or|xor(i32 or u32): the same of whole numbers, by one instruction
 *            tw_all(b) tw_sync_warp(): collective; shuffles order no memory, tw_sync_warp does
 *  block     tw_sync()   tw_bar_sync(id, threads)  tw_bar_arrive(id, threads): id 1..15, whole warps
 *            tw_setmaxnreg_inc(n)  tw_setmaxnreg_dec(n): by all warps of a warpgroup
 *  cluster   blocks that run side by side, as the launch says: tw_cluster_rank()  tw_cluster_blocks(): 1 or more
 *            tw_cluster_sync(): all their threads
 *            tw_mbar_arrive_at(bar, rank): at the mbarrier of the same place in that block
 *            tw_tma_multicast_1d .. _5d(s, &map, c0, .., bar, mask): to place s of every block of the mask, completing
 *            on its own mbarrier; no block may end while others may still arrive in it: tw_cluster_sync() at the end
 *  mbarrier  tw_mbar_init(bar, count) by one thread, then tw_fence_mbar_init() by it, then tw_sync() or tw_cluster_sync()
 *            tw_mbar_arrive(bar)  tw_mbar_arrive_expect(bar, bytes)  tw_mbar_expect(bar, bytes): no arrival
 *            tw_mbar_wait(bar, parity): until the phase of that parity is complete (fresh barrier: parity 1 passes)
 *            tw_fence_async(): after writing shared memory that TMA or wgmma will touch, before the barrier
 *            tw_fence_async_global(): after writing global memory that a TMA store will write again, before the barrier
 *  TMA       one thread: tw_tma_load_1d .. _5d(s, &map, c0, .., bar)   tw_tma_store_1d .. _5d(&map, c0, .., s)
 *            tw_tma_add_1d .. _5d(&map, c0, .., s): adds into global   tw_tma_prefetch(&map)
 *            tw_bulk_load(s, p, bytes, bar) tw_bulk_store(p, s, bytes): 1-D, 16-byte multiples
 *            tw_bulk_commit() tw_bulk_wait_read(n) (source may be reused) tw_bulk_wait(n) (stores are done)
 *            maps are parameters `const __grid_constant__ TensorMap a`; coordinates c0 first = contiguous dimension;
 *            c0 in bytes a multiple of 16; loads may begin before the tensor (negative), stores may not (the chip
 *            traps); past the end both are clipped: loads give 0, stores drop
 *            a map in global memory, made by one thread (map.cuh): tw_map_base(s, p)  tw_map_extent(s, d, n)
 *            tw_map_stride(s, d, bytes), of dimension d + 1: in the map at place s of shared memory (128 bytes, multiple of
 *            128); tw_map_fence(&map): what was written there, by this thread, is seen by its copies from now on
 *  cp.async  tw_cp_async(4|8|16, s, p, ok = true): zeros where not ok   tw_cp_async_commit() tw_cp_async_wait(n)
 *            tw_cp_async_part(4|8|16, s, p, n): the first n bytes, then zeros
 *            tw_cp_async_arrive(bar): one arrival of this thread once its copies so far have landed (noinc)
 *  matrix    tw_ldmatrix_x1|x2|x4(u32 *r, s), .._trans; tw_stmatrix_x1|x2|x4(s, const u32 *r), .._trans: collective,
 *            lane l gives the row address of matrix l / 8
 *            tw_mma_f16 tw_mma_bf16(f32 *d, const u32 *a, const u32 *b): d[4] += a[4] b[2], m16n8k16
 *            tw_mma_tf32: m16n8k8   tw_mma_e4m3 tw_mma_e5m2: m16n8k32   tw_mma_s8 tw_mma_u8: the same on i32 sums
 *  wgmma     at file scope, one line per form used (t: f16 bf16 tf32 e4m3 e5m2, s8 u8 with i32 sums;
 *            ta, tb: 1 = MN-major, 16-bit only):
 *              TW_WGMMA_SS(N, t, ta, tb)   defines tw_wgmma_ss_N_t_tatb(f32 d[N/2], u64 a, u64 b, accumulate)
 *              TW_WGMMA_RS(N, t, tb)       defines tw_wgmma_rs_N_t_tb(f32 d[N/2], const u32 *a, u64 b, accumulate)
 *            d = a b + (accumulate ? d : 0), m64nNk(32 bytes), a warpgroup; N 8..256 step 8
 *            tw_wgmma_fence() before a batch; tw_wgmma_commit(); tw_wgmma_wait(n): at most n groups stay pending;
 *            then tw_wgmma_settle(d) for each accumulator (a local array) that is read
 *            tw_wgmma_take(left, next, zero): a left operand in registers (local arrays of words, zero: tw_zero()) of the
 *            product that was waited for gives way to the next one   tw_wgmma_rest(left, zero): 0, behind the last one
 *            descriptors: tw_desc(s, lbo, sbo, swizzle bytes 128|64|32|0)  tw_desc_k(s, W)  tw_desc_mn(s, W, panel)
 *            tw_desc_step(desc, bytes)   tw_swizzle(s, W): where the chunk at plain offset s really lies
 *  other     tw_assert(c, "text")  tw_trap("text")  tw_trap_silent("text"): beside wgmmas  tw_printf(..)   tw_pdl_wait() tw_pdl_launch()
 */
#ifndef TILEWRIGHT_CUH
#define TILEWRIGHT_CUH

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define TW_ON_DEVICE
#define TW_FN static __device__ __forceinline__
#else
#define TW_FN static inline
#include <math.h>
#include <string.h>
#endif

#include "numbers.cuh"
#include "floats.cuh"
struct alignas(64) TensorMap { u64 opaque[16]; };

/* What wgmma adds up in, for operands of each type. */
#define TW_D_f16  f32
#define TW_D_bf16 f32
#define TW_D_tf32 f32
#define TW_D_e4m3 f32
#define TW_D_e5m2 f32
#define TW_D_s8   i32
#define TW_D_u8   i32
#ifdef TW_ON_DEVICE
#include "device.cuh"
#include "wgmma.cuh"
#else
#include "emulated.cuh"
#endif

/* ---- shared memory descriptors: start, leading and stride byte offsets over 16, swizzle mode ---- */
TW_FN u64 tw_desc(u32 s, u32 lbo, u32 sbo, u32 swizzle) {
    u64 mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
    return mode << 62 | (u64)(sbo >> 4 & 0x3fff) << 32 | (u64)(lbo >> 4 & 0x3fff) << 16 |
           (tw_shared(s) & 0x3ffff) >> 4;
}
/* A K-major panel: lines of W bytes along K. */
TW_FN u64 tw_desc_k(u32 s, u32 width) { return tw_desc(s, 16, 8 * width, width); }
/* MN-major panels: lines (one k each) of W bytes along M or N, `panel` bytes from one panel to the next. */
TW_FN u64 tw_desc_mn(u32 s, u32 width, u32 panel) { return tw_desc(s, panel, 8 * width, width); }
TW_FN u64 tw_desc_step(u64 desc, u32 bytes) { return desc + (bytes >> 4); }
/* ptxas does not see that a product in flight reads its left operand's registers beyond the trip that issued it, and
 * would keep something else there: so they are read once more behind the wait, for nothing (zero is no constant). */
TW_FN void tw_wgmma_take_all(u32 *left, const u32 *next, u32 zero, int count) {
#pragma unroll
    for (int i = 0; i < count; i++) left[i] = next[i] | (left[i] & zero);
}
TW_FN u32 tw_wgmma_rest_all(const u32 *left, u32 zero, int count) {
    u32 rest = 0;
#pragma unroll
    for (int i = 0; i < count; i++) rest |= left[i] & zero;
    return rest;
}
#define tw_wgmma_take(left, next, zero) tw_wgmma_take_all(left, next, zero, (int)(sizeof(left) / sizeof *(left)))
#define tw_wgmma_rest(left, zero)       tw_wgmma_rest_all(left, zero, (int)(sizeof(left) / sizeof *(left)))
#include "convert.cuh"
#include "bits.cuh"
#include "tile.cuh"
#include "copy.cuh"
#include "map.cuh"
#include "sort.cuh"
#ifndef TW_ON_DEVICE
#include "turns.cuh"
#endif
#endif
