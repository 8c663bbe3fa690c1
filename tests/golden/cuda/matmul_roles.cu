// matmul_kernel of kernels/triton/matmul.py: roles, 384 threads, 213040 bytes of shared memory
#include "tilewright.cuh"

TW_WGMMA_SS(256, bf16, 0, 1)

extern "C" __global__ void __launch_bounds__(384, 1) matmul_kernel(bf16 *a_ptr, bf16 *b_ptr, bf16 *c_ptr,
        i32 M, i32 N, i32 K, i32 stride_am, i32 stride_ak, i32 stride_bk, i32 stride_bn, i32 stride_cm,
        i32 stride_cn, const __grid_constant__ TensorMap map_c_ptr,
        const __grid_constant__ TensorMap map_a_ptr, const __grid_constant__ TensorMap map_b_ptr, i32 grid0,
        i32 grid1, i32 grid2) {
    // 9: tiles_m = tl.cdiv(M, BM)
    // how many programs there are
    const i32 tiles_m = tw_cdiv(M, 128);
    // 10: tiles_n = tl.cdiv(N, BN)
    const i32 tiles_n = tw_cdiv(N, 256);
    // 11: per_group = GROUP * tiles_n
    // 36: for k in range(0, tl.cdiv(K, BK)):
    // trips of the loop over k
    const i32 cdiv = tw_cdiv(K, 64);
    // where tiles and barriers (a slot is full, is empty) of the rings lie in shared memory; bytes of a slot
    const u32 in_a = 0, in_b = 16384, in_bytes = 49152, in_full = 212992, in_empty = 213016; // ring in, 3 slots
    const u32 out_c = 147456; // ring out, 1 slot
    // how many arrivals complete each barrier
    if (tw_thread() == 0) {
        for (int i = 0; i < 3; i++) {
            tw_mbar_init(in_full + i * 8, 1);
            tw_mbar_init(in_empty + i * 8, 8);
        }
        tw_fence_mbar_init();
    }
    tw_sync();
    const i32 tasks = tiles_m * tiles_n;
    if (tw_warp() < 8) {
        // role compute
        tw_setmaxnreg_inc(240);
        const i32 lane = tw_lane(), warp = tw_warp();
        // along each axis of a tile: the first place that this thread holds
        const i32 at1 = (lane & 3) * 2;
        const i32 at0 = (lane >> 2) + warp * 16;
        // of each ring: the slot that comes next, and the phase of its barriers, which turns where slots begin anew
        u32 in_next = 0, in_phase = 0;
        for (i32 task = tw_block_x(); task < tasks; task += tw_blocks_x()) {
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
            const i32 rn_mul = tw_mul(pid_n, 256);
            // 35: acc = tl.zeros((BM, BN), dtype=tl.float32)
            // 36: for k in range(0, tl.cdiv(K, BK)):
            f32 acc[128] = {};
            if (0 < cdiv) {
                i32 held = -1;
#pragma unroll 1
                for (i32 k = 0; k < cdiv; k++) {
                    // 38: a = tl.load(a_ptrs, mask=(rm[:, None] < M) & (rk[None, :] < left), other=0.0)
                    // the next slot of in, when it is full
                    const u32 in_slot = in_next;
                    tw_mbar_wait(in_full + in_slot * 8, in_phase);
                    if (++in_next == 3) {
                        in_next = 0;
                        in_phase ^= 1;
                    }
                    // 39: b = tl.load(b_ptrs, mask=(rk[:, None] < left) & (rn[None, :] < N), other=0.0)
                    // 40: acc = tl.dot(a, b, acc)
                    // a times b, each warpgroup its own rows, 16 along K a step: where step kk of both begins in shared memory
                    tw_wgmma_fence();
#pragma unroll
                    for (int kk = 0; kk < 4; kk++) {
                        tw_wgmma_ss_256_bf16_01(acc,
                                tw_desc_step(tw_desc_k((in_a + in_slot * in_bytes) + (warp >> 2 & 1) * 64 * 128,
                                        128), kk * 32),
                                tw_desc_step(tw_desc_mn(in_b + in_slot * in_bytes, 128, 8192), kk * 2048),
                                true);
                    }
                    tw_wgmma_commit();
                    // 38: a = tl.load(a_ptrs, mask=(rm[:, None] < M) & (rk[None, :] < left), other=0.0)
                    tw_wgmma_wait(1);
                    if (held >= 0 && lane == 0) tw_mbar_arrive(in_empty + held * 8);
                    held = (i32)in_slot;
                }
                tw_wgmma_wait(0);
                tw_wgmma_settle(acc);
                if (held >= 0 && lane == 0) tw_mbar_arrive(in_empty + held * 8);
            }
            // 43: c = acc.to(c_ptr.dtype.element_ty)
            bf16 c[128];
#pragma unroll
            for (int r = 0; r < 128; r++) c[r] = tw_bf16(acc[r]);
            // 45: tl.store(c_ptrs, c, mask=(rm[:, None] < M) & (rn[None, :] < N))
            if (warp == 0 && lane == 0) tw_bulk_wait_read(0);
            tw_bar_sync(1, 256);
            // c to shared memory, rows of 128 bytes: each thread's elements to their rows and columns
#pragma unroll
            for (int r = 0; r < 128; r += 2) {
                tw_sts(2, tw_tile_at(out_c, at0 + ((r >> 1) & 1) * 8, at1 + (r >> 2) * 8, 16384, 128, 2),
                        c + r);
            }
            tw_fence_async();
            tw_bar_sync(1, 256);
            // c to c_ptr; where it begins: column, row; 4 boxes of 64 columns, 16384 bytes apart in shared memory
            if (warp == 0 && lane == 0) {
                tw_tma_store_2d(&map_c_ptr, rn_mul, rm_mul, out_c);
                tw_tma_store_2d(&map_c_ptr, rn_mul + 64, rm_mul, out_c + 16384);
                tw_tma_store_2d(&map_c_ptr, rn_mul + 128, rm_mul, out_c + 32768);
                tw_tma_store_2d(&map_c_ptr, rn_mul + 192, rm_mul, out_c + 49152);
                tw_bulk_commit();
            }
        }
        if (warp == 0 && lane == 0) tw_bulk_wait(0);
    } else if (tw_warp() < 12) {
        // role load
        tw_setmaxnreg_dec(24);
        const i32 lane = tw_lane(), warp = tw_warp() - 8;
        if (warp == 0 && tw_elect()) {
            // of each ring: the slot that comes next, and the phase of its barriers, which turns where slots begin anew
            u32 in_next = 0, in_phase = 0;
            for (i32 task = tw_block_x(); task < tasks; task += tw_blocks_x()) {
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
                const i32 rn_mul = tw_mul(pid_n, 256);
                // 36: for k in range(0, tl.cdiv(K, BK)):
                for (i32 k_1 = 0; k_1 < cdiv; k_1++) {
                    // 37: left = K - k * BK
                    // first column of a in a_ptr; first row of b in b_ptr
                    const i32 left_mul = tw_mul(k_1, 64);
                    // 39: b = tl.load(b_ptrs, mask=(rk[:, None] < left) & (rn[None, :] < N), other=0.0)
                    // the next slot of in, when it is empty
                    const u32 in_slot_1 = in_next;
                    tw_mbar_wait(in_empty + in_slot_1 * 8, in_phase ^ 1);
                    tw_mbar_arrive_expect(in_full + in_slot_1 * 8, 49152);
                    if (++in_next == 3) {
                        in_next = 0;
                        in_phase ^= 1;
                    }
                    // 38: a = tl.load(a_ptrs, mask=(rm[:, None] < M) & (rk[None, :] < left), other=0.0)
                    // a from a_ptr; where it begins: column, row
                    tw_tma_load_2d(in_a + in_slot_1 * in_bytes, &map_a_ptr, left_mul, rm_mul,
                            in_full + in_slot_1 * 8);
                    // 39: b = tl.load(b_ptrs, mask=(rk[:, None] < left) & (rn[None, :] < N), other=0.0)
                    // b from b_ptr; where it begins: column, row; 4 boxes of 64 columns, 8192 bytes apart in shared memory
                    tw_tma_load_2d(in_b + in_slot_1 * in_bytes, &map_b_ptr, rn_mul, left_mul,
                            in_full + in_slot_1 * 8);
                    tw_tma_load_2d(in_b + in_slot_1 * in_bytes + 8192, &map_b_ptr, rn_mul + 64, left_mul,
                            in_full + in_slot_1 * 8);
                    tw_tma_load_2d(in_b + in_slot_1 * in_bytes + 16384, &map_b_ptr, rn_mul + 128, left_mul,
                            in_full + in_slot_1 * 8);
                    tw_tma_load_2d(in_b + in_slot_1 * in_bytes + 24576, &map_b_ptr, rn_mul + 192, left_mul,
                            in_full + in_slot_1 * 8);
                }
            }
        }
    }
}
TW_KERNEL(matmul_kernel)
