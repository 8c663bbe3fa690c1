/* pipelined_matmul.cu: c = a b in f16 with f32 sums, 64x64x32 tiles, two buffers filled by cp.async (zeros outside),
 * ldmatrix and mma.sync by four warps of 32x32. a is [M][K], b is [K][N], K and N multiples of 8; c is f32. */
namespace pipelined {
enum { A_BYTES = 64 * 64, B_BYTES = 32 * 128, A = 0, B = 2 * A_BYTES, SHARED = 2 * (A_BYTES + B_BYTES) };

TW_FN void load(u32 buffer, const f16 *a, const f16 *b, i32 m, i32 n, i32 k, i32 M, i32 N, i32 K) {
    i32 t = tw_thread();
    for (int i = 0; i < 2; i++) { /* 256 chunks each of a (4 a row) and b (8 a row) */
        i32 chunk = t + 128 * i, row = chunk / 4, column = chunk % 4;
        bool in = m + row < M && k + 8 * column < K;
        tw_cp_async(16, A + buffer * A_BYTES + tw_swizzle((u32)chunk * 16, 64), a + (i64)(m + row) * K + k + 8 * column, in);
        row = chunk / 8, column = chunk % 8;
        in = k + row < K && n + 8 * column < N;
        tw_cp_async(16, B + buffer * B_BYTES + tw_swizzle((u32)chunk * 16, 128), b + (i64)(k + row) * N + n + 8 * column, in);
    }
}
}

extern "C" __global__ void __launch_bounds__(128)
pipelined_matmul(const f16 *a, const f16 *b, f32 *c, i32 M, i32 N, i32 K, i32 mutant) {
    using namespace pipelined;
    i32 m = tw_block_y() * 64, n = tw_block_x() * 64, lane = tw_lane(), warp = tw_warp();
    i32 wm = warp / 2 * 32, wn = warp % 2 * 32, nk = tw_cdiv(K, 32);
    f32 d[2][4][4];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int e = 0; e < 4; e++) d[i][j][e] = 0;
    load(0, a, b, m, n, 0, M, N, K);
    tw_cp_async_commit();
    for (i32 k = 0; k < nk; k++) {
        u32 buffer = (u32)k % 2;
        if (k + 1 < nk) load(buffer ^ 1, a, b, m, n, (k + 1) * 32, M, N, K);
        if (mutant != 3) tw_cp_async_commit();
        if (mutant != 1) tw_cp_async_wait(1);
        if (mutant != 2) tw_sync();
        for (int kk = 0; kk < 32; kk += 16) {
            u32 fa[2][4], fb[4][2];
            for (int i = 0; i < 2; i++) {
                i32 row = wm + 16 * i + lane % 16, column = kk + lane / 16 * 8;
                tw_ldmatrix_x4(fa[i], A + buffer * A_BYTES + tw_swizzle((u32)(row * 64 + column * 2), 64));
            }
            for (int j = 0; j < 4; j += 2) {
                i32 row = kk + lane % 16, column = wn + 8 * j + lane / 16 * 8;
                tw_ldmatrix_x4_trans(fb[j], B + buffer * B_BYTES + tw_swizzle((u32)(row * 128 + column * 2), 128));
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 4; j++) tw_mma_f16(d[i][j], fa[i], fb[j]);
        }
        if (mutant != 4) tw_sync();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int e = 0; e < 4; e += 2) {
                i32 row = m + wm + 16 * i + lane / 4 + 4 * e, column = n + wn + 8 * j + 2 * (lane % 4);
                tw_stg_if(2, row < M && column + 1 < N, c + (i64)row * N + column, &d[i][j][e]);
            }
}
TW_KERNEL(pipelined_matmul)
