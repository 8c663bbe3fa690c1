// histogram of tests/golden/cuda/axes.py: flat, 128 threads, 128 bytes of shared memory
#include "tilewright.cuh"

extern "C" __global__ void __launch_bounds__(128) histogram_kernel(i32 *x_ptr, i32 *count_ptr, i32 n) {
    const i32 lane = tw_lane(), warp = tw_thread() >> 5;
    // along each axis of a tile: the first place that this thread holds
    const i32 at0 = tw_thread() * 2;
    const i32 at0_1 = lane;
    // 29: i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    const i32 i_program_id = tw_block_x();
    // first element of x in x_ptr
    const i32 i_mul = tw_mul(i_program_id, 256);
    bool x_cmp[2];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        // 30: x = tl.load(x_ptr + i, mask=i < n, other=0)
        x_cmp[r] = tw_add(i_mul, at0) < n;
    }
    // x from x_ptr, 2 elements at a time: each thread's element (i0)
    i32 x[2];
    {
        const i32 i0 = tw_add(i_mul, at0);
        tw_ldg_or(2, (u32)i0 < (u32)n, x, x_ptr + i0, (i32)0);
    }
    // 31: tl.atomic_add(count_ptr + tl.arange(0, BINS), tl.histogram(x, BINS, mask=i < n))
    i32 select[2];
#pragma unroll
    for (int r = 0; r < 2; r++) select[r] = x_cmp[r] ? x[r] : (-1);
    // counts in shared memory, from 0 on
    for (int j = warp * 32 + lane; j < 32; j += 128) {
        const i32 zero = 0;
        tw_sts(1, j * 4, &zero);
    }
    tw_sync();
    // each element of the tile adds one to its bin
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const i64 bin = (i64)select[r];
        if ((u64)bin < 32ull) tw_atomic_add_shared((i32)bin * 4, 1);
    }
    tw_sync();
    i32 histogram[1];
    // bins that this thread holds
    tw_lds_if(1, true, histogram, at0_1 * 4);
    tw_fence_device();
    // the tile into count_ptr: each thread's element (i0)
    {
        const i64 i0 = (i64)at0_1;
        if ((warp & 3) == 0) {
            tw_atomic_add(count_ptr + i0, histogram[0]);
        }
    }
}
TW_KERNEL(histogram_kernel)
