// softmax_kernel of kernels/triton/softmax.py: flat, 256 threads, 1056 bytes of shared memory
#include "tilewright.cuh"

extern "C" __global__ void __launch_bounds__(256) softmax_kernel(bf16 *out_ptr, bf16 *in_ptr, i32 in_stride,
        i32 out_stride, i32 n_cols) {
    const i32 lane = tw_lane(), warp = tw_thread() >> 5;
    // along each axis of a tile: the first place that this thread holds
    const i32 at0 = tw_thread() * 8;
    // 9: row = tl.program_id(0)
    const i32 row = tw_block_x();
    // 12: x = tl.load(in_ptr + row * in_stride + cols, mask=inside, other=-float("inf"))
    // x from in_ptr, 8 elements at a time: each thread's row (i0) and column (i1)
    u32 x[8];
#pragma unroll
    for (int r = 0; r < 16; r += 8) {
        const i64 i0 = (i64)row;
        const i64 i1 = (i64)(at0 + (r >> 3) * 2048);
        tw_ldg_pairs(4, (u64)i1 < (u64)n_cols, x + r / 2, in_ptr + i0 * in_stride + i1, 0xff80ff80u);
    }
    // 13: shifted = x.to(tl.float32) - tl.max(x, axis=0)
    f32 shifted_cast[16];
#pragma unroll
    for (int r = 0; r < 16; r++) shifted_cast[r] = tw_bf16_at(x, r);
    f32 shifted_best;
    {
        const f32 part_1 = tw_max(tw_max(shifted_cast[0], shifted_cast[1]),
                tw_max(shifted_cast[2], shifted_cast[3]));
        const f32 part_2 = tw_max(tw_max(shifted_cast[4], shifted_cast[5]),
                tw_max(shifted_cast[6], shifted_cast[7]));
        const f32 part_3 = tw_max(tw_max(shifted_cast[8], shifted_cast[9]),
                tw_max(shifted_cast[10], shifted_cast[11]));
        const f32 part_4 = tw_max(tw_max(shifted_cast[12], shifted_cast[13]),
                tw_max(shifted_cast[14], shifted_cast[15]));
        f32 part_5 = tw_max(tw_max(part_1, part_2), tw_max(part_3, part_4));
        part_5 = tw_lanes_max_up(part_5);
        // those of warps, through shared memory: each leaves its own, and reads those that it combines
        tw_sts_if(1, lane == 0, warp * 4, &part_5);
        tw_sync();
        tw_lds_tree_8(max, part_5, 0, 0, 4, 8, 12, 16, 20, 24, 28);
        shifted_best = part_5;
    }
    f32 numerator[16];
#pragma unroll
    for (int r = 0; r < 16; r++) {
        const f32 shifted = shifted_cast[r] - shifted_best;
        // 14: numerator = tl.exp(shifted)
        numerator[r] = tw_exp_fast(shifted);
    }
    // 15: y = numerator / tl.sum(numerator, axis=0)
    f32 y_sum;
    {
        const f32 part_6 = (numerator[0] + numerator[1]) + (numerator[2] + numerator[3]);
        const f32 part_7 = (numerator[4] + numerator[5]) + (numerator[6] + numerator[7]);
        const f32 part_8 = (numerator[8] + numerator[9]) + (numerator[10] + numerator[11]);
        const f32 part_9 = (numerator[12] + numerator[13]) + (numerator[14] + numerator[15]);
        f32 part_10 = (part_6 + part_7) + (part_8 + part_9);
        // those of warps, through shared memory: each leaves its own, and reads those that it combines
        tw_sts(1, 32 + tw_thread() * 4, &part_10);
        tw_sync();
        tw_lds_tree_8(add, part_10, 32 + lane * 4, 0, 512, 256, 768, 128, 640, 384, 896);
        part_10 = tw_lanes_add_down(part_10);
        y_sum = part_10;
    }
    f32 cast[16];
    const TwOver over = tw_over(y_sum);
#pragma unroll
    for (int r = 0; r < 16; r++) {
        const f32 y = tw_div_over(numerator[r], over);
        // 16: tl.store(out_ptr + row * out_stride + cols, y, mask=inside)
        cast[r] = y;
    }
    // y to out_ptr, 8 elements at a time: each thread's row (i0) and column (i1)
#pragma unroll
    for (int r = 0; r < 16; r += 8) {
        const i64 i0 = (i64)row;
        const i64 i1 = (i64)(at0 + (r >> 3) * 2048);
        u32 word[4];
        word[0] = tw_pack_bf16(cast[r], cast[r + 1]);
        word[1] = tw_pack_bf16(cast[r + 2], cast[r + 3]);
        word[2] = tw_pack_bf16(cast[r + 4], cast[r + 5]);
        word[3] = tw_pack_bf16(cast[r + 6], cast[r + 7]);
        tw_stg_if(4, (u64)i1 < (u64)n_cols, out_ptr + i0 * out_stride + i1, word);
    }
}
TW_KERNEL(softmax_kernel)
