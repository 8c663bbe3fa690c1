/* ring_matmul.cu: c = a b^T in bf16, 64x64 tiles; a producer warp fills a ring of 3 slots by TMA, a warpgroup empties it
 * with wgmma, and the result leaves through shared memory and a TMA store. a is [M][K], b is [N][K], c is [M][N]. */
namespace ring {
enum { SLOTS = 3, TILE = 8192, A = 0, B = A + SLOTS * TILE, C = B + SLOTS * TILE, FULL = C + TILE,
       EMPTY = FULL + 8 * SLOTS, SHARED = EMPTY + 8 * SLOTS };
}
TW_WGMMA_SS(64, bf16, 0, 0)

extern "C" __global__ void __launch_bounds__(256, 1)
ring_matmul(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap c,
            i32 nk, i32 mutant) {
    using namespace ring;
    i32 m = tw_block_y() * 64, n = tw_block_x() * 64;
    if (tw_thread() == 0) {
        for (int s = 0; s < SLOTS; s++) {
            tw_mbar_init(FULL + 8 * s, 1);
            tw_mbar_init(EMPTY + 8 * s, 1);
        }
        if (mutant != 1) tw_fence_mbar_init();
    }
    if (mutant != 2) tw_sync();

    if (tw_warp() >= 4) { /* load */
        if (tw_warp() == 4 && tw_elect()) {
            for (i32 k = 0; k < nk; k++) {
                u32 s = (u32)k % SLOTS, phase = (u32)k / SLOTS & 1, full = FULL + 8 * s;
                tw_mbar_wait(EMPTY + 8 * s, phase ^ 1);
                tw_mbar_arrive_expect(full, mutant == 3 ? 2 * TILE + 16 : mutant == 4 ? TILE : 2 * TILE);
                tw_tma_load_2d(A + s * TILE, &a, k * 64, m, full);
                tw_tma_load_2d(B + s * TILE, &b, k * 64, n, full);
            }
        }
    } else { /* compute */
        f32 d[32];
        if (nk == 0)
            for (int i = 0; i < 32; i++) d[i] = 0;
        for (i32 k = 0; k < nk; k++) {
            u32 s = (u32)k % SLOTS, phase = (u32)k / SLOTS & 1;
            tw_mbar_wait(FULL + 8 * s, mutant == 6 ? phase ^ 1 : phase);
            if (mutant != 12) tw_wgmma_fence();
            u64 da = tw_desc_k(A + s * TILE + (mutant == 15 ? 128 : 0), 128), db = tw_desc_k(B + s * TILE, 128);
            if (mutant == 7 && tw_thread() == 0) tw_mbar_arrive(EMPTY + 8 * s);
            for (int j = 0; j < 4; j++)
                tw_wgmma_ss_64_bf16_00(d, tw_desc_step(da, 32 * j), tw_desc_step(db, 32 * j), k > 0 || j > 0);
            if (mutant != 11 && mutant != 16) tw_wgmma_commit();
            if (mutant == 13) d[3] = 0;
            tw_wgmma_wait(0);
            if (mutant != 11 && mutant != 17) tw_wgmma_settle(d);
            if (mutant != 5 && mutant != 7 && tw_thread() == 0) tw_mbar_arrive(EMPTY + 8 * s);
            if (mutant == 14 && tw_thread() == 32) tw_mbar_arrive(EMPTY + 8 * s);
        }
        i32 lane = tw_lane(), row = tw_warp() * 16 + lane % 16;
        for (int j = 0; j < 4; j++) {
            u32 r[4];
            for (int i = 0; i < 4; i++) r[i] = tw_pack_bf16(d[8 * j + 2 * i], d[8 * j + 2 * i + 1]);
            tw_stmatrix_x4(C + tw_swizzle((u32)(row * 128 + 32 * j + lane / 16 * 16), 128), r);
        }
        if (mutant != 8) tw_fence_async();
        if (mutant != 9) tw_bar_sync(1, 128);
        if (tw_thread() == 0) {
            tw_tma_store_2d(&c, n, m, C);
            tw_bulk_commit();
            if (mutant != 10) tw_bulk_wait_read(0);
        }
    }
}
TW_KERNEL(ring_matmul)
