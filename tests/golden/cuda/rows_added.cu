// scatter_add_kernel of kernels/triton/rows.py: flat, 128 threads, 0 bytes of shared memory
#include "tilewright.cuh"

extern "C" __global__ void __launch_bounds__(128) scatter_add_kernel(f32 *x_ptr, i32 *index_ptr, f32 *out_ptr,
        i32 n, i32 width_1, i32 stride_x, i32 stride_o) {
    const i32 lane = tw_lane(), warp = tw_thread() >> 5;
    // along each axis of a tile: the first place that this thread holds
    const i32 at0 = warp >> 1;
    const i32 at1 = lane * 4 + (warp & 1) * 128;
    // 25: rows = tl.program_id(0) * BM + tl.arange(0, BM)
    const i32 rows_program_id = tw_block_x();
    // first element of chosen in index_ptr; first row of x in x_ptr; rows of x in out_ptr
    const i32 rows_mul = tw_mul(rows_program_id, 16);
    // rows of x in out_ptr
    i32 rows[8];
#pragma unroll
    for (int r = 0; r < 8; r++) rows[r] = tw_add(rows_mul, at0 + r * 2);
    // 26: cols = tl.program_id(1) * BC + tl.arange(0, BC)
    const i32 cols_program_id = tw_block_y();
    // first column of x in x_ptr; first column of x in out_ptr
    const i32 cols_mul = tw_mul(cols_program_id, 256);
    // 27: chosen = tl.load(index_ptr + rows, mask=rows < n, other=0)
    // rows of x in out_ptr
    bool chosen_cmp[8];
#pragma unroll
    for (int r = 0; r < 8; r++) chosen_cmp[r] = rows[r] < n;
    // chosen from index_ptr: each thread's element (i0)
    i32 chosen[8];
#pragma unroll
    for (int r = 0; r < 8; r++) {
        const i64 i0 = (i64)rows_mul + (at0 + r * 2);
        tw_ldg_or(1, (u64)i0 < (u64)n, chosen + r, index_ptr + i0, (i32)0);
    }
    // 30: tl.atomic_add(out_ptr + chosen[:, None] * stride_o + cols[None, :], x, mask=inside, sem="r ..
    // rows of x in out_ptr
    i64 select[8];
#pragma unroll
    for (int r = 0; r < 8; r++) select[r] = chosen_cmp[r] ? (i64)chosen[r] : (-9223372036854775807LL - 1);
    // 29: x = tl.load(x_ptr + rows[:, None] * stride_x + cols[None, :], mask=inside)
    // x from x_ptr, 4 elements at a time: each thread's row (i0) and column (i1)
    f32 x[32];
#pragma unroll
    for (int r = 0; r < 32; r += 4) {
        const i32 i0 = tw_add(rows_mul, at0 + (r >> 2) * 2);
        const i64 i1 = (i64)cols_mul + at1;
        tw_ldg_or(4, (u32)i0 < (u32)n && (u64)i1 < (u64)width_1, x + r,
                x_ptr + ((i64)rows_mul + at0) * stride_x + (i64)((r >> 2) * 2) * stride_x + i1, (f32)0.0f);
    }
    // 30: tl.atomic_add(out_ptr + chosen[:, None] * stride_o + cols[None, :], x, mask=inside, sem="r ..
    // x into out_ptr, 4 elements at a time: each thread's row (i0) and column (i1)
#pragma unroll
    for (int r = 0; r < 32; r += 4) {
        const i64 i0 = (i64)select[r >> 2];
        const i64 i1 = (i64)cols_mul + at1;
        tw_red_add(4, i0 != TW_OUTSIDE && (u64)i1 < (u64)width_1, out_ptr + i0 * stride_o + i1, x + r);
    }
}
TW_KERNEL(scatter_add_kernel)
