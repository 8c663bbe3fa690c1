/* gather_matmul.cu: c = a[index] b^T in f16, one 64x64 tile: rows of a are gathered by the lanes of four producer warps
 * with cp.async that arrive on the mbarrier themselves; TMA could not. a is [rows][K], b is [64][K], c is f32 [64][64]. */
namespace gather {
enum { SLOTS = 2, TILE = 8192, A = 0, B = A + SLOTS * TILE, FULL = B + SLOTS * TILE, EMPTY = FULL + 8 * SLOTS,
       SHARED = EMPTY + 8 * SLOTS };
}
TW_WGMMA_SS(64, f16, 0, 0)

extern "C" __global__ void __launch_bounds__(256, 1)
gather_matmul(const f16 *a, const i32 *index, const f16 *b, f32 *c, i32 K, i32 mutant) {
    using namespace gather;
    i32 nk = K / 64, t = tw_thread() % 128;
    if (tw_thread() == 0) {
        for (int s = 0; s < SLOTS; s++) {
            tw_mbar_init(FULL + 8 * s, 128);
            tw_mbar_init(EMPTY + 8 * s, 1);
        }
        tw_fence_mbar_init();
    }
    tw_sync();
    if (tw_warp() >= 4) {
        i32 row = t / 2, from;
        tw_ldg(1, &from, index + row);
        for (i32 k = 0; k < nk; k++) {
            u32 s = (u32)k % SLOTS, phase = (u32)k / SLOTS & 1;
            tw_mbar_wait(EMPTY + 8 * s, phase ^ 1);
            for (int i = 0; i < 4; i++) {
                i32 chunk = t % 2 * 4 + i;
                u32 at = s * TILE + tw_swizzle((u32)(row * 128 + chunk * 16), 128);
                tw_cp_async(16, A + at, a + (i64)from * K + k * 64 + chunk * 8);
                tw_cp_async(16, B + at, b + (i64)row * K + k * 64 + chunk * 8);
            }
            if (mutant == 2) tw_mbar_arrive(FULL + 8 * s); /* does not wait for the copies */
            else tw_cp_async_arrive(FULL + 8 * s);
        }
        tw_cp_async_commit();
        tw_cp_async_wait(0);
    } else {
        f32 d[32];
        for (i32 k = 0; k < nk; k++) {
            u32 s = (u32)k % SLOTS, phase = (u32)k / SLOTS & 1;
            tw_mbar_wait(FULL + 8 * s, phase);
            if (mutant != 1) tw_fence_async(); /* the copies went through the generic proxy */
            tw_wgmma_fence();
            for (int j = 0; j < 4; j++)
                tw_wgmma_ss_64_f16_00(d, tw_desc_step(tw_desc_k(A + s * TILE, 128), 32 * j),
                                      tw_desc_step(tw_desc_k(B + s * TILE, 128), 32 * j), k > 0 || j > 0);
            tw_wgmma_commit();
            tw_wgmma_wait(0);
            tw_wgmma_settle(d);
            if (t == 0) tw_mbar_arrive(EMPTY + 8 * s);
        }
        i32 row = tw_warp() * 16 + tw_lane() / 4, column = 2 * (tw_lane() % 4);
        for (int i = 0; i < 32; i += 2) tw_stg(2, c + (row + 8 * (i / 2 % 2)) * 64 + column + 8 * (i / 4), &d[i]);
    }
}
TW_KERNEL(gather_matmul)
