/* wide_matmul.cu: c = a b in f16 with f32 sums, 128x256 tiles, two consumer warpgroups (m64n256 each), one wgmma group
 * left in flight. a is [M][K], b is [K][N] (so b's panels are MN-major), c is f32 [M][N]; ragged edges by TMA and masks. */
namespace wide {
enum { SLOTS = 3, A_BYTES = 16384, PANEL = 8192, B_BYTES = 4 * PANEL, A = 0, B = A + SLOTS * A_BYTES,
       FULL = B + SLOTS * B_BYTES, EMPTY = FULL + 8 * SLOTS, SHARED = EMPTY + 8 * SLOTS };
}
TW_WGMMA_SS(256, f16, 0, 1)

extern "C" __global__ void __launch_bounds__(384, 1)
wide_matmul(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, f32 *c, i32 rows, i32 columns,
            i32 nk, i32 mutant) {
    using namespace wide;
    i32 m = tw_block_y() * 128, n = tw_block_x() * 256;
    if (tw_thread() == 0) {
        for (int s = 0; s < SLOTS; s++) {
            tw_mbar_init(FULL + 8 * s, 1);
            tw_mbar_init(EMPTY + 8 * s, 2);
        }
        tw_fence_mbar_init();
    }
    tw_sync();
    i32 group = tw_warp() / 4;
    if (group == 2) { /* load */
        if (mutant != 1) tw_setmaxnreg_dec(40);
        if (tw_warp() == 8 && tw_elect()) {
            for (i32 k = 0; k < nk; k++) {
                u32 s = (u32)k % SLOTS, phase = (u32)k / SLOTS & 1, full = FULL + 8 * s;
                tw_mbar_wait(EMPTY + 8 * s, phase ^ 1);
                tw_mbar_arrive_expect(full, A_BYTES + B_BYTES);
                tw_tma_load_2d(A + s * A_BYTES, &a, k * 64, m, full);
                for (int p = 0; p < 4; p++) tw_tma_load_2d(B + s * B_BYTES + p * PANEL, &b, n + 64 * p, k * 64, full);
            }
        }
    } else { /* compute */
        tw_setmaxnreg_inc(232);
        f32 d[128];
        if (nk == 0)
            for (int i = 0; i < 128; i++) d[i] = 0;
        bool elected = tw_thread() % 128 == 0;
        for (i32 k = 0; k < nk; k++) {
            u32 s = (u32)k % SLOTS, phase = (u32)k / SLOTS & 1;
            tw_mbar_wait(FULL + 8 * s, phase);
            tw_wgmma_fence();
            u64 da = tw_desc_k(A + s * A_BYTES + (u32)group * 8192, 128);
            u64 db = tw_desc_mn(B + s * B_BYTES, 128, PANEL);
            for (int j = 0; j < 4; j++)
                tw_wgmma_ss_256_f16_01(d, tw_desc_step(da, 32 * j), tw_desc_step(db, 2048 * j), k > 0 || j > 0);
            tw_wgmma_commit();
            tw_wgmma_wait(1);
            /* the slot of the item before: its wgmmas are complete */
            if ((k > 0 || mutant == 2) && elected) tw_mbar_arrive(EMPTY + 8 * ((u32)(mutant == 2 ? k : k - 1) % SLOTS));
        }
        tw_wgmma_wait(0);
        tw_wgmma_settle(d);
        i32 lane = tw_lane(), row = m + group * 64 + tw_warp() % 4 * 16 + lane / 4;
        for (int i = 0; i < 128; i += 2) {
            i32 r = row + 8 * (i / 2 % 2), q = n + 8 * (i / 4) + 2 * (lane % 4);
            tw_stg_if(2, r < rows && q + 1 < columns, c + (i64)r * columns + q, &d[i]);
        }
    }
}
TW_KERNEL(wide_matmul)
