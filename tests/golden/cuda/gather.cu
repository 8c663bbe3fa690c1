// gather of tests/golden/cuda/axes.py: flat, 128 threads, 0 bytes of shared memory
#include "tilewright.cuh"

extern "C" __global__ void __launch_bounds__(128) gather_kernel(f32 *x_ptr, i32 *index_ptr, f32 *out_ptr,
        i32 n) {
    // along each axis of a tile: the first place that this thread holds
    const i32 at0 = tw_thread() * 2;
    // 8: i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    const i32 i_program_id = tw_block_x();
    // first element of at in index_ptr; first element of what is stored in out_ptr; which elements are read
    const i32 i_mul = tw_mul(i_program_id, 256);
    // which elements are read
    bool at_cmp[2];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        // 9: at = tl.load(index_ptr + i, mask=i < n, other=0)
        at_cmp[r] = tw_add(i_mul, at0) < n;
    }
    // at from index_ptr, 2 elements at a time: each thread's element (i0)
    i32 at_1[2];
    {
        const i32 i0 = tw_add(i_mul, at0);
        tw_ldg_or(2, (u32)i0 < (u32)n, at_1, index_ptr + i0, (i32)0);
    }
    // 10: tl.store(out_ptr + i, tl.load(x_ptr + at, mask=i < n, other=0.0), mask=i < n)
    // addresses of what is read in x_ptr
    f32 * ptr_add[2];
#pragma unroll
    for (int r = 0; r < 2; r++) ptr_add[r] = x_ptr + (i64)at_1[r];
    f32 load[2];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        f32 raw = 0.0f;
        tw_ldg_if(1, at_cmp[r], &raw, ptr_add[r]);
        load[r] = raw;
    }
    // the tile to out_ptr, 2 elements at a time: each thread's element (i0)
    {
        const i32 i0 = tw_add(i_mul, at0);
        tw_stg_if(2, (u32)i0 < (u32)n, out_ptr + i0, load);
    }
}
TW_KERNEL(gather_kernel)
