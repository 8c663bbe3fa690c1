/* SPDX-License-Identifier: Apache-2.0 */
/* emulated.cuh: the functions of tilewright.cuh (legend there) for a host compiler: those that any SIMT machine has
 * (emulated_simt.cuh), and CUDA's own, calls of its part of the emulator's table (cuda_table.h). */
#ifndef TILEWRIGHT_EMULATED_CUH
#define TILEWRIGHT_EMULATED_CUH
#include "emulated_simt.cuh"
#include "emulated_numbers.cuh"
#include "cuda_table.h"

#define TW_CUDA(function, ...) ((const CudaTable *)tw_emu->call)->function(tw_emu->emu, line, ##__VA_ARGS__)

/* ---- cluster, registers ---- */
TW_FN i32 tw_cluster_rank() { return tw_emu->now.rank; }
TW_FN i32 tw_cluster_blocks() { return tw_emu->now.cluster; }
TW_FN void tw_cluster_sync(TW_LINE) { TW_CUDA(cluster_sync); }
TW_FN void tw_setmaxnreg_inc(i32 n, TW_LINE) { TW_CUDA(setmaxnreg, n, 1); }
TW_FN void tw_setmaxnreg_dec(i32 n, TW_LINE) { TW_CUDA(setmaxnreg, n, 0); }

/* ---- mbarriers ---- */
TW_FN void tw_mbar_init(u32 bar, u32 count, TW_LINE) { TW_CUDA(mbar_init, bar, count); }
TW_FN void tw_fence_mbar_init(TW_LINE) { TW_CUDA(fence_mbar_init); }
TW_FN void tw_mbar_arrive(u32 bar, TW_LINE) { TW_CUDA(mbar_arrive, bar, 0, 1); }
TW_FN void tw_mbar_arrive_at(u32 bar, u32 rank, TW_LINE) { TW_CUDA(mbar_arrive_at, bar, rank); }
TW_FN void tw_mbar_arrive_expect(u32 bar, u32 bytes, TW_LINE) { TW_CUDA(mbar_arrive, bar, bytes, 1); }
TW_FN void tw_mbar_expect(u32 bar, u32 bytes, TW_LINE) { TW_CUDA(mbar_arrive, bar, bytes, 0); }
TW_FN void tw_mbar_wait(u32 bar, u32 parity, TW_LINE) { TW_CUDA(mbar_wait, bar, parity); }
TW_FN void tw_fence_async(TW_LINE) { TW_CUDA(fence_async); }
TW_FN void tw_fence_async_global() {} /* global memory is the same for TMA here, once there is a barrier */

/* ---- TMA ---- */
#define TW_ARGS(...) __VA_ARGS__
#define TW_TMA(rank, coordinates, ...)                                                             \
    TW_FN void tw_tma_load_##rank##d_hinted(u32 s, const TensorMap *map, TW_ARGS coordinates, u32 bar, int, TW_LINE) { \
        int at[] = {__VA_ARGS__};                                                                  \
        TW_CUDA(tma, EMU_LOAD, rank, map, at, s, bar, 0);                                          \
    }                                                                                              \
    TW_FN void tw_tma_multicast_##rank##d_hinted(u32 s, const TensorMap *map, TW_ARGS coordinates, u32 bar, u32 mask, int, TW_LINE) { \
        int at[] = {__VA_ARGS__};                                                                  \
        TW_CUDA(tma, EMU_LOAD, rank, map, at, s, bar, mask);                                       \
    }                                                                                              \
    TW_FN void tw_tma_store_##rank##d_hinted(const TensorMap *map, TW_ARGS coordinates, u32 s, int, TW_LINE) { \
        int at[] = {__VA_ARGS__};                                                                  \
        TW_CUDA(tma, EMU_STORE, rank, map, at, s, 0, 0);                                           \
    }                                                                                              \
    TW_FN void tw_tma_load_##rank##d(u32 s, const TensorMap *map, TW_ARGS coordinates, u32 bar, TW_LINE) { \
        int at[] = {__VA_ARGS__};                                                                  \
        TW_CUDA(tma, EMU_LOAD, rank, map, at, s, bar, 0);                                          \
    }                                                                                              \
    TW_FN void tw_tma_multicast_##rank##d(u32 s, const TensorMap *map, TW_ARGS coordinates, u32 bar, u32 mask, TW_LINE) { \
        int at[] = {__VA_ARGS__};                                                                  \
        TW_CUDA(tma, EMU_LOAD, rank, map, at, s, bar, mask);                                       \
    }                                                                                              \
    TW_FN void tw_tma_store_##rank##d(const TensorMap *map, TW_ARGS coordinates, u32 s, TW_LINE) { \
        int at[] = {__VA_ARGS__};                                                                  \
        TW_CUDA(tma, EMU_STORE, rank, map, at, s, 0, 0);                                           \
    }                                                                                              \
    TW_FN void tw_tma_add_##rank##d(const TensorMap *map, TW_ARGS coordinates, u32 s, TW_LINE) {   \
        int at[] = {__VA_ARGS__};                                                                  \
        TW_CUDA(tma, EMU_STORE_ADD, rank, map, at, s, 0, 0);                                       \
    }
TW_TMA(1, (i32 c0), c0)
TW_TMA(2, (i32 c0, i32 c1), c0, c1)
TW_TMA(3, (i32 c0, i32 c1, i32 c2), c0, c1, c2)
TW_TMA(4, (i32 c0, i32 c1, i32 c2, i32 c3), c0, c1, c2, c3)
TW_TMA(5, (i32 c0, i32 c1, i32 c2, i32 c3, i32 c4), c0, c1, c2, c3, c4)
TW_FN void tw_tma_prefetch(const TensorMap *) {}
TW_FN void tw_map_base(u32 s, const void *p, TW_LINE) { TW_CUDA(map_set, s, EMU_MAP_BASE, 0, (unsigned long long)p); }
TW_FN void tw_map_extent(u32 s, i32 d, u32 n, TW_LINE) { TW_CUDA(map_set, s, EMU_MAP_EXTENT, d, n); }
TW_FN void tw_map_stride(u32 s, i32 d, u64 bytes, TW_LINE) { TW_CUDA(map_set, s, EMU_MAP_STRIDE, d, bytes); }
TW_FN void tw_map_fence(const TensorMap *map, TW_LINE) { TW_CUDA(map_fence, map); }
TW_FN void tw_bulk_load(u32 s, const void *p, u32 bytes, u32 bar, TW_LINE) {
    TW_CUDA(bulk, EMU_LOAD, s, const_cast<void *>(p), bytes, bar);
}
TW_FN void tw_bulk_store(void *p, u32 s, u32 bytes, TW_LINE) { TW_CUDA(bulk, EMU_STORE, s, p, bytes, 0); }
TW_FN void tw_bulk_commit(TW_LINE) { TW_CUDA(bulk_commit); }
TW_FN void tw_bulk_wait_read(i32 n, TW_LINE) { TW_CUDA(bulk_wait, n, 1); }
TW_FN void tw_bulk_wait(i32 n, TW_LINE) { TW_CUDA(bulk_wait, n, 0); }

/* ---- cp.async ---- */
TW_FN void tw_cp_async(int bytes, u32 s, const void *p, bool ok = true, TW_LINE) {
    TW_CUDA(cp_async, s, p, bytes, ok ? bytes : 0);
}
TW_FN void tw_cp_async_part(int bytes, u32 s, const void *p, int taken, TW_LINE) { TW_CUDA(cp_async, s, p, bytes, taken); }
TW_FN void tw_cp_async_hinted(int bytes, u32 s, const void *p, bool ok, int, TW_LINE) { TW_CUDA(cp_async, s, p, bytes, ok ? bytes : 0); }
TW_FN void tw_cp_async_part_hinted(int bytes, u32 s, const void *p, int taken, int, TW_LINE) { TW_CUDA(cp_async, s, p, bytes, taken); }
TW_FN void tw_cp_async_commit(TW_LINE) { TW_CUDA(cp_async_commit); }
TW_FN void tw_cp_async_wait(i32 n, TW_LINE) { TW_CUDA(cp_async_wait, n); }
TW_FN void tw_cp_async_arrive(u32 bar, TW_LINE) { TW_CUDA(cp_async_arrive, bar); }

/* ---- matrices ---- */
#define TW_MATRIX_MOVES(count)                                                                     \
    TW_FN void tw_ldmatrix_x##count(u32 *r, u32 s, TW_LINE) { TW_CUDA(ldmatrix, r, s, count, 0); } \
    TW_FN void tw_ldmatrix_x##count##_trans(u32 *r, u32 s, TW_LINE) { TW_CUDA(ldmatrix, r, s, count, 1); } \
    TW_FN void tw_stmatrix_x##count(u32 s, const u32 *r, TW_LINE) { TW_CUDA(stmatrix, s, r, count, 0); } \
    TW_FN void tw_stmatrix_x##count##_trans(u32 s, const u32 *r, TW_LINE) { TW_CUDA(stmatrix, s, r, count, 1); }
TW_MATRIX_MOVES(1)
TW_MATRIX_MOVES(2)
TW_MATRIX_MOVES(4)
#define TW_MMA(name, type)                                                                         \
    TW_FN void name(f32 *d, const u32 *a, const u32 *b, TW_LINE) { TW_CUDA(mma, type, d, a, b); }
TW_MMA(tw_mma_f16, EMU_F16)
TW_MMA(tw_mma_bf16, EMU_BF16)
TW_MMA(tw_mma_tf32, EMU_TF32)
TW_MMA(tw_mma_e4m3, EMU_E4M3)
TW_MMA(tw_mma_e5m2, EMU_E5M2)
#define TW_MMA_INTEGER(name, type)                                                                 \
    TW_FN void name(i32 *d, const u32 *a, const u32 *b, TW_LINE) { TW_CUDA(mma, type, (float *)d, a, b); }
TW_MMA_INTEGER(tw_mma_s8, EMU_I8)
TW_MMA_INTEGER(tw_mma_u8, EMU_U8)
#define TW_EMU_f16  EMU_F16
#define TW_EMU_bf16 EMU_BF16
#define TW_EMU_tf32 EMU_TF32
#define TW_EMU_e4m3 EMU_E4M3
#define TW_EMU_e5m2 EMU_E5M2
#define TW_EMU_s8   EMU_I8
#define TW_EMU_u8   EMU_U8
#define TW_WGMMA_SS(N, t, ta, tb)                                                                  \
    TW_FN void tw_wgmma_ss_##N##_##t##_##ta##tb(TW_D_##t *d, u64 a, u64 b, bool accumulate, TW_LINE) { \
        EmuWgmma op = {N, TW_EMU_##t, ta, tb, (float *)d, 0, a, b, accumulate};                             \
        TW_CUDA(wgmma, &op);                                                                       \
    }
#define TW_WGMMA_RS(N, t, tb)                                                                      \
    TW_FN void tw_wgmma_rs_##N##_##t##_##tb(TW_D_##t *d, const u32 *a, u64 b, bool accumulate, TW_LINE) { \
        EmuWgmma op = {N, TW_EMU_##t, 0, tb, (float *)d, a, 0, b, accumulate};                              \
        TW_CUDA(wgmma, &op);                                                                       \
    }
TW_FN void tw_wgmma_fence(TW_LINE) { TW_CUDA(wgmma_fence); }
TW_FN void tw_wgmma_commit(TW_LINE) { TW_CUDA(wgmma_commit); }
TW_FN void tw_wgmma_wait(i32 n, TW_LINE) { TW_CUDA(wgmma_wait, n); }
#define tw_wgmma_settle(d) tw_wgmma_settle_all((float *)(d), (int)(sizeof(d) / sizeof *(d)))
TW_FN void tw_wgmma_settle_all(float *d, i32 count, TW_LINE) { TW_CUDA(wgmma_settle, d, count); }
#define tw_trap_silent tw_trap
TW_FN void tw_pdl_wait() {}
TW_FN void tw_pdl_launch() {}
#endif
