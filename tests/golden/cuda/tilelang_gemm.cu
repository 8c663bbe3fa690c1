// matmul of kernels/tilelang/gemm.py: roles, 256 threads, 106592 bytes of shared memory
#include "tilewright.cuh"

TW_WGMMA_SS(64, f16, 0, 1)

extern "C" __global__ void __launch_bounds__(256, 1) matmul_kernel(f16 *A, f16 *B, f16 *C,
        const __grid_constant__ TensorMap map_C, const __grid_constant__ TensorMap map_A,
        const __grid_constant__ TensorMap map_B, i32 grid0, i32 grid1, i32 grid2) {
    // 9: def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype ..
    const i32 np1 = grid1;
    const i32 np = grid0;
    // where tiles and barriers (a slot is full, is empty) of the rings lie in shared memory; bytes of a slot
    const u32 in_A_shared = 0, in_B_shared = 8192, in_bytes = 16384, in_full = 106496, in_empty = 106544; // ring in, 6 slots
    const u32 out_C_local = 98304; // ring out, 1 slot
    // blocks that share tiles: how many, which of them this one is, how many such pairs the axis has
    const i32 blocks = tw_cluster_blocks(), rank = tw_cluster_rank();
    const i32 across = tw_cdiv(np1, blocks);
    const i32 strip = tw_cdiv(8, blocks);
    // how many arrivals complete each barrier
    if (tw_thread() == 0) {
        for (int i = 0; i < 6; i++) {
            tw_mbar_init(in_full + i * 8, 1);
            tw_mbar_init(in_empty + i * 8, 4 * blocks);
        }
        tw_fence_mbar_init();
    }
    if (blocks > 1) tw_cluster_sync();
    else tw_sync();
    const i32 pairs = across * np;
    if (tw_warp() < 4) {
        // role compute
        const i32 lane = tw_lane(), warp = tw_warp();
        // along each axis of a tile: the first place that this thread holds
        const i32 at1 = (lane & 3) * 2;
        const i32 at0 = (lane >> 2) + warp * 16;
        // of each ring: the slot that comes next, and the phase of its barriers, which turns where slots begin anew
        u32 in_next = 0, in_phase = 0;
        for (i32 pair = tw_block_x() / blocks; pair < pairs; pair += tw_blocks_x() / blocks) {
            // which tile: groups of rows of tiles, each down its columns, so that the L2 holds what they share
            const i32 group = pair / (strip * np);
            const i32 in_group = pair % (strip * np);
            const i32 group_rows = tw_min(across - group * strip, strip);
            const i32 by = tw_min(blocks * (group * strip + in_group % group_rows) + rank, np1 - 1);
            const i32 bx = in_group / group_rows;
            // 17: T.copy(A[by * block_M, k * block_K], A_shared)
            // first row of A_shared in A; first row of C_local in C
            const i32 mul = tw_mul(by, 64);
            // 18: T.copy(B[k * block_K, bx * block_N], B_shared)
            // first column of B_shared in B; first column of C_local in C
            const i32 mul_1 = tw_mul(bx, 64);
            // 15: T.clear(C_local)
            // 16: for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
            f32 C_local[32] = {};
            if (0 < 4) {
                i32 held = -1;
#pragma unroll 1
                for (i32 k = 0; k < 4; k++) {
                    // 17: T.copy(A[by * block_M, k * block_K], A_shared)
                    // the next slot of in, when it is full
                    const u32 in_slot = in_next;
                    tw_mbar_wait(in_full + in_slot * 8, in_phase);
                    if (++in_next == 6) {
                        in_next = 0;
                        in_phase ^= 1;
                    }
                    // 18: T.copy(B[k * block_K, bx * block_N], B_shared)
                    // 19: T.gemm(A_shared, B_shared, C_local)
                    // A_shared times B_shared, 16 along K a step: where step kk of both begins in shared memory
                    tw_wgmma_fence();
#pragma unroll
                    for (int kk = 0; kk < 4; kk++) {
                        tw_wgmma_ss_64_f16_01(C_local,
                                tw_desc_step(tw_desc_k(in_A_shared + in_slot * in_bytes, 128), kk * 32),
                                tw_desc_step(tw_desc_mn(in_B_shared + in_slot * in_bytes, 128, 8192),
                                    kk * 2048), true);
                    }
                    tw_wgmma_commit();
                    // 17: T.copy(A[by * block_M, k * block_K], A_shared)
                    tw_wgmma_wait(1);
                    if (held >= 0 && lane < blocks) tw_mbar_arrive_at(in_empty + held * 8, lane);
                    held = (i32)in_slot;
                }
                tw_wgmma_wait(0);
                tw_wgmma_settle(C_local);
                if (held >= 0 && lane < blocks) tw_mbar_arrive_at(in_empty + held * 8, lane);
            }
            // 22: C_local[i, j] = T.max(C_local[i, j], 0)
            f16 cast[32];
#pragma unroll
            for (int r = 0; r < 32; r++) {
                const f32 C_local_1 = tw_max(C_local[r], 0.0f);
                // 23: T.copy(C_local, C[by * block_M, bx * block_N])
                cast[r] = tw_f16(C_local_1);
            }
            if (warp == 0 && lane == 0) tw_bulk_wait_read(0);
            tw_bar_sync(1, 128);
            // C_local to shared memory, rows of 128 bytes: each thread's elements to their rows and columns
#pragma unroll
            for (int r = 0; r < 32; r += 2) {
                tw_sts(2, tw_tile_at(out_C_local, at0 + ((r >> 1) & 1) * 8, at1 + (r >> 2) * 8, 8192, 128, 2),
                        cast + r);
            }
            tw_fence_async();
            tw_bar_sync(1, 128);
            // C_local to C; where it begins: column, row
            if (warp == 0 && lane == 0) {
                tw_tma_store_2d(&map_C, mul_1, mul, out_C_local);
                tw_bulk_commit();
            }
        }
        if (warp == 0 && lane == 0) tw_bulk_wait(0);
    } else if (tw_warp() < 8) {
        // role load
        const i32 lane = tw_lane(), warp = tw_warp() - 4;
        if (warp == 0 && tw_elect()) {
            // of each ring: the slot that comes next, and the phase of its barriers, which turns where slots begin anew
            u32 in_next = 0, in_phase = 0;
            for (i32 pair = tw_block_x() / blocks; pair < pairs; pair += tw_blocks_x() / blocks) {
                // which tile: groups of rows of tiles, each down its columns, so that the L2 holds what they share
                const i32 group = pair / (strip * np);
                const i32 in_group = pair % (strip * np);
                const i32 group_rows = tw_min(across - group * strip, strip);
                const i32 by = tw_min(blocks * (group * strip + in_group % group_rows) + rank, np1 - 1);
                const i32 bx = in_group / group_rows;
                // 17: T.copy(A[by * block_M, k * block_K], A_shared)
                // first row of A_shared in A; first row of C_local in C
                const i32 mul = tw_mul(by, 64);
                // 18: T.copy(B[k * block_K, bx * block_N], B_shared)
                // first column of B_shared in B; first column of C_local in C
                const i32 mul_1 = tw_mul(bx, 64);
                // 16: for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                for (i32 k_1 = 0; k_1 < 4; k_1++) {
                    // 17: T.copy(A[by * block_M, k * block_K], A_shared)
                    // first column of A_shared in A; first row of B_shared in B
                    const i32 mul_2 = tw_mul(k_1, 64);
                    // 18: T.copy(B[k * block_K, bx * block_N], B_shared)
                    // the next slot of in, when it is empty
                    const u32 in_slot_1 = in_next;
                    tw_mbar_wait(in_empty + in_slot_1 * 8, in_phase ^ 1);
                    tw_mbar_arrive_expect(in_full + in_slot_1 * 8, 16384);
                    if (++in_next == 6) {
                        in_next = 0;
                        in_phase ^= 1;
                    }
                    // 17: T.copy(A[by * block_M, k * block_K], A_shared)
                    // A_shared from A; where it begins: column, row
                    tw_tma_load_2d(in_A_shared + in_slot_1 * in_bytes, &map_A, mul_2, mul,
                            in_full + in_slot_1 * 8);
                    // 18: T.copy(B[k * block_K, bx * block_N], B_shared)
                    if (blocks == 2) {
                        // B_shared from B; where it begins: column, row
                        tw_tma_multicast_2d(in_B_shared + in_slot_1 * in_bytes + rank * 4096, &map_B, mul_1,
                                mul_2 + rank * 32, in_full + in_slot_1 * 8, 3);
                    } else {
                        // B_shared from B; where it begins: column, row
                        tw_tma_load_2d(in_B_shared + in_slot_1 * in_bytes, &map_B, mul_1, mul_2,
                                in_full + in_slot_1 * 8);
                        tw_tma_load_2d(in_B_shared + in_slot_1 * in_bytes + 4096, &map_B, mul_1, mul_2 + 32,
                                in_full + in_slot_1 * 8);
                    }
                }
            }
        }
    }
    if (blocks > 1) tw_cluster_sync(); // the other block may still arrive here
}
TW_KERNEL(matmul_kernel)
