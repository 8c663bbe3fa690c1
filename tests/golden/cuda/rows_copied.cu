// embedding_kernel of kernels/triton/rows.py: flat, 128 threads, 0 bytes of shared memory
#include "tilewright.cuh"

extern "C" __global__ void __launch_bounds__(128) embedding_kernel(bf16 *table_ptr, i32 *index_ptr,
        bf16 *out_ptr, i32 n, i32 width_1, i32 stride_t, i32 stride_o) {
    const i32 lane = tw_lane(), warp = tw_thread() >> 5;
    // along each axis of a tile: the first place that this thread holds
    const i32 at0 = warp;
    const i32 at1 = lane * 8;
    // 9: rows = tl.program_id(0) * BM + tl.arange(0, BM)
    const i32 rows_program_id = tw_block_x();
    // first element of chosen in index_ptr; first row of x in out_ptr; rows of x in table_ptr
    const i32 rows_mul = tw_mul(rows_program_id, 16);
    // rows of x in table_ptr
    i32 rows[4];
#pragma unroll
    for (int r = 0; r < 4; r++) rows[r] = tw_add(rows_mul, at0 + r * 4);
    // 10: cols = tl.program_id(1) * BC + tl.arange(0, BC)
    const i32 cols_program_id = tw_block_y();
    // first column of x in table_ptr; first column of x in out_ptr
    const i32 cols_mul = tw_mul(cols_program_id, 256);
    // 11: chosen = tl.load(index_ptr + rows, mask=rows < n, other=0)
    // rows of x in table_ptr
    bool chosen_cmp[4];
#pragma unroll
    for (int r = 0; r < 4; r++) chosen_cmp[r] = rows[r] < n;
    // chosen from index_ptr: each thread's element (i0)
    i32 chosen[4];
#pragma unroll
    for (int r = 0; r < 4; r++) {
        const i64 i0 = (i64)rows_mul + (at0 + r * 4);
        tw_ldg_or(1, (u64)i0 < (u64)n, chosen + r, index_ptr + i0, (i32)0);
    }
    // 13: x = tl.load(table_ptr + chosen[:, None] * stride_t + cols[None, :], mask=inside)
    // rows of x in table_ptr
    i64 x_select[4];
#pragma unroll
    for (int r = 0; r < 4; r++) x_select[r] = chosen_cmp[r] ? (i64)chosen[r] : (-9223372036854775807LL - 1);
    // x from table_ptr, 8 elements at a time: each thread's row (i0) and column (i1)
    u32 x[16];
#pragma unroll
    for (int r = 0; r < 32; r += 8) {
        const i64 i0 = (i64)x_select[r >> 3];
        const i64 i1 = (i64)cols_mul + at1;
        tw_ldg_pairs(4, i0 != TW_OUTSIDE && (u64)i1 < (u64)width_1, x + r / 2, table_ptr + i0 * stride_t + i1,
                0x00000000u);
    }
    // 14: tl.store(out_ptr + rows[:, None] * stride_o + cols[None, :], x, mask=inside)
    // x to out_ptr, 8 elements at a time: each thread's row (i0) and column (i1)
#pragma unroll
    for (int r = 0; r < 32; r += 8) {
        const i32 i0 = tw_add(rows_mul, at0 + (r >> 3) * 4);
        const i64 i1 = (i64)cols_mul + at1;
        tw_stg_if(4, (u32)i0 < (u32)n && (u64)i1 < (u64)width_1,
                out_ptr + ((i64)rows_mul + at0) * stride_o + (i64)((r >> 3) * 4) * stride_o + i1, x + r / 2);
    }
}
TW_KERNEL(embedding_kernel)
