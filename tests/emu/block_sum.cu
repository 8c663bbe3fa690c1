/* block_sum.cu: each block sums a row: shuffles within warps, shared memory across them. */
extern "C" __global__ void __launch_bounds__(128) block_sum(const f32 *x, f32 *sums, i32 n, i32 mutant) {
    i32 row = tw_block_x(), t = tw_thread();
    f32 sum = 0;
    for (i32 i = t; i < n; i += 128) {
        f32 v;
        tw_ldg(1, &v, x + (i64)row * n + i);
        sum = sum + v;
    }
    if (mutant == 2 && tw_lane() < 16) sum = sum + tw_shfl_xor(sum, 1);
    for (i32 m = 16; m >= 1; m /= 2) sum = sum + tw_shfl_xor(sum, m);
    u32 at = 4 * (u32)tw_warp() + (mutant == 4 ? 16 : mutant == 5 ? 2 : 0);
    if (tw_lane() == 0) tw_sts(1, at, &sum);
    if (mutant == 3 && t >= 64) return;
    if (mutant != 1) tw_sync();
    if (mutant == 6) tw_bar_sync(1, tw_warp() == 0 ? 64 : 128);
    f32 all[4];
    tw_lds(4, all, 0u);
    sum = (all[0] + all[1]) + (all[2] + all[3]);
    if (t == 0) tw_atomic_add(sums + row, sum);
}
TW_KERNEL(block_sum)
