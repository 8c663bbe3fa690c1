// layernorm_kernel of kernels/triton/layernorm.py: flat, 128 threads, 1024 bytes of shared memory
#include "tilewright.cuh"

extern "C" __global__ void __launch_bounds__(128) layernorm_kernel(f32 *x_ptr, f32 *y_ptr, f32 *w_ptr,
        f32 *b_ptr, i32 stride, i32 n_cols, f32 eps) {
    const i32 lane = tw_lane();
    // along each axis of a tile: the first place that this thread holds
    const i32 at0 = tw_thread() * 4;
    // 9: row = tl.program_id(0)
    const i32 row = tw_block_x();
    // 10: cols = tl.arange(0, BLOCK)
    // which elements of centred are kept
    bool inside[8];
#pragma unroll
    for (int r = 0; r < 8; r++) {
        // 11: inside = cols < n_cols
        inside[r] = at0 + (r >> 2) * 512 < n_cols;
    }
    // 12: x = tl.load(x_ptr + row * stride + cols, mask=inside, other=0.0).to(tl.float32)
    // x from x_ptr, 4 elements at a time: each thread's row (i0) and column (i1)
    f32 x[8];
#pragma unroll
    for (int r = 0; r < 8; r += 4) {
        const i64 i0 = (i64)row;
        const i64 i1 = (i64)(at0 + (r >> 2) * 512);
        tw_ldg_or(4, (u64)i1 < (u64)n_cols, x + r, x_ptr + i0 * stride + i1, (f32)0.0f);
    }
    // 13: mean = tl.sum(x, axis=0) / n_cols
    f32 mean_sum;
    {
        const f32 part_1 = (x[0] + x[1]) + (x[2] + x[3]);
        const f32 part_2 = (x[4] + x[5]) + (x[6] + x[7]);
        f32 part_3 = part_1 + part_2;
        // those of warps, through shared memory: each leaves its own, and reads those that it combines
        tw_sts(1, tw_thread() * 4, &part_3);
        tw_sync();
        tw_lds_tree_4(add, part_3, lane * 4, 0, 256, 128, 384);
        part_3 = tw_lanes_add_down(part_3);
        mean_sum = part_3;
    }
    const f32 mean_cast = (f32)n_cols;
    const f32 mean = tw_div_fast(mean_sum, mean_cast);
    // 14: centred = tl.where(inside, x - mean, 0.0)
    f32 centred[8];
    f32 var_mul[8];
#pragma unroll
    for (int r = 0; r < 8; r++) {
        centred[r] = inside[r] ? x[r] - mean : 0.0f;
        // 15: var = tl.sum(centred * centred, axis=0) / n_cols
        var_mul[r] = centred[r] * centred[r];
    }
    f32 var_sum;
    {
        f32 part_4[8];
#pragma unroll
        for (int r = 0; r < 8; r++) part_4[r] = var_mul[r];
        // this thread's values, two by two; those that are combined already are passed over
#pragma unroll
        for (int r = 0; r < 8; r += 2) part_4[r] = part_4[r] + part_4[r + 1];
#pragma unroll
        for (int r = 0; r < 8; r += 4) part_4[r] = part_4[r] + part_4[r + 2];
        // those of lanes, two by two
#pragma unroll
        for (int r = 0; r < 8; r += 4) part_4[r] = part_4[r] + tw_shfl_xor(part_4[r], 1);
#pragma unroll
        for (int r = 0; r < 8; r += 4) part_4[r] = part_4[r] + tw_shfl_xor(part_4[r], 2);
        part_4[0] = part_4[0] + part_4[4];
        // those of warps, through shared memory: each leaves its own, and reads those that it combines
        tw_sts(1, 512 + tw_thread() * 4, &part_4[0]);
        tw_sync();
        tw_lds_tree_4(add, part_4[0], 512 + lane * 4, 0, 256, 128, 384);
        part_4[0] = part_4[0] + tw_shfl_xor(part_4[0], 16);
        part_4[0] = part_4[0] + tw_shfl_xor(part_4[0], 8);
        part_4[0] = part_4[0] + tw_shfl_xor(part_4[0], 4);
        var_sum = part_4[0];
    }
    const f32 var = tw_div_fast(var_sum, mean_cast);
    // 16: rstd = 1 / tl.sqrt(var + eps)
    const f32 rstd = tw_div_fast(1.0f, tw_sqrt_fast(var + eps));
    // 17: w = tl.load(w_ptr + cols, mask=inside)
    // w from w_ptr, 4 elements at a time: each thread's element (i0)
    f32 w[8];
#pragma unroll
    for (int r = 0; r < 8; r += 4) {
        const i64 i0 = (i64)(at0 + (r >> 2) * 512);
        tw_ldg_or(4, (u64)i0 < (u64)n_cols, w + r, w_ptr + i0, (f32)0.0f);
    }
    // 18: b = tl.load(b_ptr + cols, mask=inside)
    // b from b_ptr, 4 elements at a time: each thread's element (i0)
    f32 b_1[8];
#pragma unroll
    for (int r = 0; r < 8; r += 4) {
        const i64 i0 = (i64)(at0 + (r >> 2) * 512);
        tw_ldg_or(4, (u64)i0 < (u64)n_cols, b_1 + r, b_ptr + i0, (f32)0.0f);
    }
    // 19: y = centred * rstd * w + b
    f32 y[8];
#pragma unroll
    for (int r = 0; r < 8; r++) y[r] = tw_fma(centred[r] * rstd, w[r], b_1[r]);
    // 20: tl.store(y_ptr + row * stride + cols, y, mask=inside)
    // y to y_ptr, 4 elements at a time: each thread's row (i0) and column (i1)
#pragma unroll
    for (int r = 0; r < 8; r += 4) {
        const i64 i0 = (i64)row;
        const i64 i1 = (i64)(at0 + (r >> 2) * 512);
        tw_stg_if(4, (u64)i1 < (u64)n_cols, y_ptr + i0 * stride + i1, y + r);
    }
}
TW_KERNEL(layernorm_kernel)
