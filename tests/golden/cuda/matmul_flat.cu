// matmul_kernel of kernels/triton/matmul.py: skew 2, 256 threads, 131072 bytes of shared memory
#include "tilewright.cuh"

TW_WGMMA_SS(128, f16, 0, 1)

extern "C" __global__ void __launch_bounds__(256, 1) matmul_kernel(f16 *a_ptr, f16 *b_ptr, f16 *c_ptr, i32 M,
        i32 N, i32 K, i32 stride_am, i32 stride_ak, i32 stride_bk, i32 stride_bn, i32 stride_cm,
        i32 stride_cn, const __grid_constant__ TensorMap map_c_ptr) {
    // 9: tiles_m = tl.cdiv(M, BM)
    // how many programs there are
    const i32 tiles_m = tw_cdiv(M, 128);
    // 10: tiles_n = tl.cdiv(N, BN)
    const i32 tiles_n = tw_cdiv(N, 128);
    // 11: per_group = GROUP * tiles_n
    // 36: for k in range(0, tl.cdiv(K, BK)):
    // trips of the loop over k
    const i32 cdiv = tw_cdiv(K, 64);
    // where tiles and barriers (a slot is full, is empty) of the rings lie in shared memory; bytes of a slot
    const u32 in_a = 0, in_b = 16384, in_bytes = 32768; // ring in, 3 slots
    const u32 out_c = 98304; // ring out, 1 slot
    const i32 tasks = tiles_m * tiles_n;
    const i32 lane = tw_lane(), warp = tw_warp();
    // along each axis of a tile: the first place that this thread holds
    const i32 at0 = (lane >> 3) + warp * 4;
    const i32 at1 = (lane & 7) * 8;
    const i32 at0_1 = (lane >> 4) + warp * 2;
    const i32 at1_1 = (lane & 15) * 8;
    const i32 at1_2 = (lane & 3) * 2;
    const i32 at0_2 = (lane >> 2) + warp * 16;
    // of each ring: the slot that is filled next, and the one that is read next
    u32 in_put = 0, in_get = 0;
    const i32 task = tw_block_x() + tw_blocks_x() * (tw_block_y() + tw_blocks_y() * tw_block_z());
    if (task < tasks) {
        // which tile: groups of rows of tiles, each down its columns, so that the L2 holds what they share
        const i32 group = task / (8 * tiles_n);
        const i32 in_group = task % (8 * tiles_n);
        const i32 group_rows = tw_min(tiles_m - group * 8, 8);
        const i32 pid_m = group * 8 + in_group % group_rows;
        const i32 pid_n = in_group / group_rows;
        // 30: rm = pid_m * BM + tl.arange(0, BM)
        // first row of a in a_ptr; first row of c in c_ptr
        const i32 rm_mul = tw_mul(pid_m, 128);
        // 31: rn = pid_n * BN + tl.arange(0, BN)
        // first column of b in b_ptr; first column of c in c_ptr
        const i32 rn_mul = tw_mul(pid_n, 128);
        // 35: acc = tl.zeros((BM, BN), dtype=tl.float32)
        // 36: for k in range(0, tl.cdiv(K, BK)):
        f32 acc[64] = {};
        tw_sync();
        // tiles of the first 2 trips, before the loop
        for (int turn_1 = 0; turn_1 < 2; turn_1++) {
            const i64 first_1_wide = (i64)turn_1;
            if (first_1_wide < cdiv) {
                // the trip whose tiles are loaded now
                const i32 first_1 = (i32)first_1_wide;
                // 37: left = K - k * BK
                // first column of a in a_ptr; first row of b in b_ptr
                const i32 left_mul = tw_mul(first_1, 64);
                // the next slot of in to be filled
                const u32 in_slot = in_put;
                in_put = in_put == 2 ? 0 : in_put + 1;
                // a from a_ptr, 8 elements at a time: each thread's row (i0) and column (i1)
#pragma unroll
                for (int r = 0; r < 32; r += 8) {
                    const i64 i0 = (i64)rm_mul + (at0 + (r >> 3) * 32);
                    const i64 i1 = (i64)left_mul + at1;
                    tw_cp_async(16,
                            in_a + in_slot * in_bytes + tw_tile_at(0, at0, at1, 16384, 128,
                                2) + ((r >> 3) * 32) * 128, a_ptr + i0 * stride_am + i1, (u64)i0 < (u64)M
                            && (u64)i1 < (u64)K);
                }
                // b from b_ptr, 8 elements at a time: each thread's row (i0) and column (i1)
#pragma unroll
                for (int r = 0; r < 32; r += 8) {
                    const i64 i0 = (i64)left_mul + (at0_1 + (r >> 3) * 16);
                    const i64 i1 = (i64)rn_mul + at1_1;
                    tw_cp_async(16,
                            in_b + in_slot * in_bytes + tw_tile_at(0, at0_1, at1_1, 8192, 128,
                                2) + ((r >> 3) * 16) * 128, b_ptr + i0 * stride_bk + i1, (u64)i0 < (u64)K
                            && (u64)i1 < (u64)N);
                }
            }
            tw_cp_async_commit();
        }
#pragma unroll 1
        for (i32 k = 0; k < cdiv; k++) {
            tw_cp_async_wait(1);
            tw_fence_async();
            tw_sync();
            // 38: a = tl.load(a_ptrs, mask=(rm[:, None] < M) & (rk[None, :] < left), other=0.0)
            // the next slot of in to be read
            const u32 in_slot_1 = in_get;
            in_get = in_get == 2 ? 0 : in_get + 1;
            // 39: b = tl.load(b_ptrs, mask=(rk[:, None] < left) & (rn[None, :] < N), other=0.0)
            // 40: acc = tl.dot(a, b, acc)
            {
                // a times b, each warpgroup its own rows, 16 along K a step: where step kk of both begins in shared memory
                tw_wgmma_fence();
#pragma unroll
                for (int kk = 0; kk < 4; kk++) {
                    tw_wgmma_ss_128_f16_01(acc,
                            tw_desc_step(tw_desc_k((in_a + in_slot_1 * in_bytes) + (warp >> 2 & 1) * 64 * 128,
                                    128), kk * 32),
                            tw_desc_step(tw_desc_mn(in_b + in_slot_1 * in_bytes, 128, 8192), kk * 2048),
                            true);
                }
                tw_wgmma_commit();
                // tiles of the trip 2 later, if there is one
                const i64 next_wide = (i64)k + (i64)2;
                if (next_wide < cdiv) {
                    // the trip whose tiles are loaded now
                    const i32 next = (i32)next_wide;
                    // 37: left = K - k * BK
                    // first column of a in a_ptr; first row of b in b_ptr
                    const i32 left_mul = tw_mul(next, 64);
                    // the next slot of in to be filled
                    const u32 in_slot_2 = in_put;
                    in_put = in_put == 2 ? 0 : in_put + 1;
                    // a from a_ptr, 8 elements at a time: each thread's row (i0) and column (i1)
#pragma unroll
                    for (int r = 0; r < 32; r += 8) {
                        const i64 i0 = (i64)rm_mul + (at0 + (r >> 3) * 32);
                        const i64 i1 = (i64)left_mul + at1;
                        tw_cp_async(16,
                                in_a + in_slot_2 * in_bytes + tw_tile_at(0, at0, at1, 16384, 128,
                                    2) + ((r >> 3) * 32) * 128, a_ptr + i0 * stride_am + i1, (u64)i0 < (u64)M
                                && (u64)i1 < (u64)K);
                    }
                    // b from b_ptr, 8 elements at a time: each thread's row (i0) and column (i1)
#pragma unroll
                    for (int r = 0; r < 32; r += 8) {
                        const i64 i0 = (i64)left_mul + (at0_1 + (r >> 3) * 16);
                        const i64 i1 = (i64)rn_mul + at1_1;
                        tw_cp_async(16,
                                in_b + in_slot_2 * in_bytes + tw_tile_at(0, at0_1, at1_1, 8192, 128,
                                    2) + ((r >> 3) * 16) * 128, b_ptr + i0 * stride_bk + i1, (u64)i0 < (u64)K
                                && (u64)i1 < (u64)N);
                    }
                }
                tw_cp_async_commit();
                tw_wgmma_wait(0);
                tw_wgmma_settle(acc);
            }
        }
        // 43: c = acc.to(c_ptr.dtype.element_ty)
        f16 c[64];
#pragma unroll
        for (int r = 0; r < 64; r++) c[r] = tw_f16(acc[r]);
        // 45: tl.store(c_ptrs, c, mask=(rm[:, None] < M) & (rn[None, :] < N))
        tw_sync();
        // c to shared memory, rows of 128 bytes: each thread's elements to their rows and columns
#pragma unroll
        for (int r = 0; r < 64; r += 2) {
            tw_sts(2, tw_tile_at(out_c, at0_2 + ((r >> 1) & 1) * 8, at1_2 + (r >> 2) * 8, 16384, 128, 2),
                    c + r);
        }
        tw_fence_async();
        tw_sync();
        // c to c_ptr; where it begins: column, row; 2 boxes of 64 columns, 16384 bytes apart in shared memory
        if (warp == 0 && lane == 0) {
            tw_tma_store_2d(&map_c_ptr, rn_mul, rm_mul, out_c);
            tw_tma_store_2d(&map_c_ptr, rn_mul + 64, rm_mul, out_c + 16384);
            tw_bulk_commit();
        }
    }
    if (warp == 0 && lane == 0) tw_bulk_wait(0);
}
TW_KERNEL(matmul_kernel)
