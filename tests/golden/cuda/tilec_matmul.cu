// matmul of kernels/tilec/matmul.tile.c: roles, 384 threads, 213040 bytes of shared memory
#include "tilewright.cuh"

TW_WGMMA_SS(256, bf16, 0, 1)

extern "C" __global__ void __launch_bounds__(384, 1) matmul_kernel(bf16 *g_A, i64 g_A_n0, i64 g_A_n1,
        i64 g_A_s0, i64 g_A_s1, bf16 *g_B, i64 g_B_n0, i64 g_B_n1, i64 g_B_s0, i64 g_B_s1, bf16 *g_C,
        i64 g_C_n0, i64 g_C_n1, i64 g_C_s0, i64 g_C_s1, const __grid_constant__ TensorMap map_g_C,
        const __grid_constant__ TensorMap map_g_A, const __grid_constant__ TensorMap map_g_B, i32 grid0,
        i32 grid1, i32 grid2) {
    // 63: int rows = cdiv(a->globals->C.rows, 64 * MB), cols = cdiv(a->globals->C.cols, 64 * NB);
    // how many programs there are
    const i32 rows = tw_cdiv((i32)(i64)g_C_n0, 128);
    const i32 cols = tw_cdiv((i32)(i64)g_C_n1, 256);
    // 74: a->num_iters = cdiv(a->globals->A.cols, K_BLOCK);
    // trips of the loop over iter
    const i32 num_iters = tw_cdiv((i32)(i64)g_A_n1, 64);
    // 118: lcf_kernel(matmul,
    // where tiles and barriers (a slot is full, is empty) of the rings lie in shared memory; bytes of a slot
    const u32 in_a = 0, in_b = 16384, in_bytes = 49152, in_full = 212992, in_empty = 213016; // ring in, 3 slots
    const u32 out_acc = 147456; // ring out, 1 slot
    // how many arrivals complete each barrier
    if (tw_thread() == 0) {
        for (int i = 0; i < 3; i++) {
            tw_mbar_init(in_full + i * 8, 1);
            tw_mbar_init(in_empty + i * 8, 8);
        }
        tw_fence_mbar_init();
    }
    tw_sync();
    const i32 tasks = rows * cols;
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
            const i32 group = task / (8 * cols);
            const i32 in_group = task % (8 * cols);
            const i32 group_rows = tw_min(rows - group * 8, 8);
            const i32 v = group * 8 + in_group % group_rows;
            const i32 v_1 = in_group / group_rows;
            // 85: tma_load_async(&a->input->a[i], a->globals->A, at(a->common->row + i, a->iter), a->inputs_ ..
            // first row of a in g.A; first row of acc in g.C
            const i32 mul = tw_mul(v, 128);
            // 87: tma_load_async(&a->input->b[i], a->globals->B, NT ? at(a->common->col + i, a->iter) : at(a ..
            // first column of b in g.B; first column of acc in g.C
            const i32 mul_1 = tw_mul(v_1, 256);
            // 94: warpgroup_zero(&a->state->acc);
            // 97: static void consumer_compute(lcf_compute_args *a) {
            f32 acc[128] = {};
            if (0 < num_iters) {
                i32 held = -1;
#pragma unroll 1
                for (i32 iter = 0; iter < num_iters; iter++) {
                    // 85: tma_load_async(&a->input->a[i], a->globals->A, at(a->common->row + i, a->iter), a->inputs_ ..
                    // the next slot of in, when it is full
                    const u32 in_slot = in_next;
                    tw_mbar_wait(in_full + in_slot * 8, in_phase);
                    if (++in_next == 3) {
                        in_next = 0;
                        in_phase ^= 1;
                    }
                    // 87: tma_load_async(&a->input->b[i], a->globals->B, NT ? at(a->common->col + i, a->iter) : at(a ..
                    // 99: warpgroup_mma_AB(&a->state->acc, &a->input->a[warpgroup_groupid()], tile_view(b_tiles, a-> ..
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
                    // 85: tma_load_async(&a->input->a[i], a->globals->A, at(a->common->row + i, a->iter), a->inputs_ ..
                    tw_wgmma_wait(1);
                    if (held >= 0 && lane == 0) tw_mbar_arrive(in_empty + held * 8);
                    held = (i32)in_slot;
                }
                tw_wgmma_wait(0);
                tw_wgmma_settle(acc);
                if (held >= 0 && lane == 0) tw_mbar_arrive(in_empty + held * 8);
            }
            // 109: warpgroup_store(tile_view(c_tiles, a->finish->c[id]), &a->state->acc);
            bf16 cast[128];
#pragma unroll
            for (int r = 0; r < 128; r++) cast[r] = tw_bf16(acc[r]);
            // 113: tma_store_async(a->globals->C, &a->finish->c[id][i], at(a->common->row + id, a->common->co ..
            if (warp == 0 && lane == 0) tw_bulk_wait_read(0);
            tw_bar_sync(1, 256);
            // acc to shared memory, rows of 128 bytes: each thread's elements to their rows and columns
#pragma unroll
            for (int r = 0; r < 128; r += 2) {
                tw_sts(2, tw_tile_at(out_acc, at0 + ((r >> 1) & 1) * 8, at1 + (r >> 2) * 8, 16384, 128, 2),
                        cast + r);
            }
            tw_fence_async();
            tw_bar_sync(1, 256);
            // acc to g.C; where it begins: column, row; 4 boxes of 64 columns, 16384 bytes apart in shared memory
            if (warp == 0 && lane == 0) {
                tw_tma_store_2d(&map_g_C, mul_1, mul, out_acc);
                tw_tma_store_2d(&map_g_C, mul_1 + 64, mul, out_acc + 16384);
                tw_tma_store_2d(&map_g_C, mul_1 + 128, mul, out_acc + 32768);
                tw_tma_store_2d(&map_g_C, mul_1 + 192, mul, out_acc + 49152);
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
                const i32 group = task / (8 * cols);
                const i32 in_group = task % (8 * cols);
                const i32 group_rows = tw_min(rows - group * 8, 8);
                const i32 v = group * 8 + in_group % group_rows;
                const i32 v_1 = in_group / group_rows;
                // 85: tma_load_async(&a->input->a[i], a->globals->A, at(a->common->row + i, a->iter), a->inputs_ ..
                // first row of a in g.A; first row of acc in g.C
                const i32 mul = tw_mul(v, 128);
                // 87: tma_load_async(&a->input->b[i], a->globals->B, NT ? at(a->common->col + i, a->iter) : at(a ..
                // first column of b in g.B; first column of acc in g.C
                const i32 mul_1 = tw_mul(v_1, 256);
                // 97: static void consumer_compute(lcf_compute_args *a) {
                for (i32 iter_1 = 0; iter_1 < num_iters; iter_1++) {
                    // 85: tma_load_async(&a->input->a[i], a->globals->A, at(a->common->row + i, a->iter), a->inputs_ ..
                    // first column of a in g.A; first row of b in g.B
                    const i32 mul_2 = tw_mul(iter_1, 64);
                    // 87: tma_load_async(&a->input->b[i], a->globals->B, NT ? at(a->common->col + i, a->iter) : at(a ..
                    // the next slot of in, when it is empty
                    const u32 in_slot_1 = in_next;
                    tw_mbar_wait(in_empty + in_slot_1 * 8, in_phase ^ 1);
                    tw_mbar_arrive_expect(in_full + in_slot_1 * 8, 49152);
                    if (++in_next == 3) {
                        in_next = 0;
                        in_phase ^= 1;
                    }
                    // 85: tma_load_async(&a->input->a[i], a->globals->A, at(a->common->row + i, a->iter), a->inputs_ ..
                    // a from g.A; where it begins: column, row
                    tw_tma_load_2d(in_a + in_slot_1 * in_bytes, &map_g_A, mul_2, mul,
                            in_full + in_slot_1 * 8);
                    // 87: tma_load_async(&a->input->b[i], a->globals->B, NT ? at(a->common->col + i, a->iter) : at(a ..
                    // b from g.B; where it begins: column, row; 4 boxes of 64 columns, 8192 bytes apart in shared memory
                    tw_tma_load_2d(in_b + in_slot_1 * in_bytes, &map_g_B, mul_1, mul_2,
                            in_full + in_slot_1 * 8);
                    tw_tma_load_2d(in_b + in_slot_1 * in_bytes + 8192, &map_g_B, mul_1 + 64, mul_2,
                            in_full + in_slot_1 * 8);
                    tw_tma_load_2d(in_b + in_slot_1 * in_bytes + 16384, &map_g_B, mul_1 + 128, mul_2,
                            in_full + in_slot_1 * 8);
                    tw_tma_load_2d(in_b + in_slot_1 * in_bytes + 24576, &map_g_B, mul_1 + 192, mul_2,
                            in_full + in_slot_1 * 8);
                }
            }
        }
    }
}
TW_KERNEL(matmul_kernel)
