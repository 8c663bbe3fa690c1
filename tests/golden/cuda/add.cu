// add_kernel of kernels/triton/add.py: flat, 128 threads, 0 bytes of shared memory
#include "tilewright.cuh"

extern "C" __global__ void __launch_bounds__(128) add_kernel(f32 *x_ptr, f32 *y_ptr, f32 *output_ptr,
        i32 n_elements) {
    // along each axis of a tile: the first place that this thread holds
    const i32 at0 = tw_thread() * 4;
    // 14: pid = tl.program_id(axis=0)
    const i32 pid = tw_block_x();
    // 17: block_start = pid * BLOCK_SIZE
    // first element of x in x_ptr; first element of y in y_ptr; first element of output in output_ptr
    const i32 block_start = tw_mul(pid, 1024);
    // 24: x = tl.load(x_ptr + offsets, mask=mask)
    // x from x_ptr, 4 elements at a time: each thread's element (i0)
    f32 x[8];
#pragma unroll
    for (int r = 0; r < 8; r += 4) {
        const i64 i0 = (i64)block_start + (at0 + (r >> 2) * 512);
        tw_ldg_or(4, (u64)i0 < (u64)n_elements, x + r, x_ptr + i0, (f32)0.0f);
    }
    // 25: y = tl.load(y_ptr + offsets, mask=mask)
    // y from y_ptr, 4 elements at a time: each thread's element (i0)
    f32 y[8];
#pragma unroll
    for (int r = 0; r < 8; r += 4) {
        const i64 i0 = (i64)block_start + (at0 + (r >> 2) * 512);
        tw_ldg_or(4, (u64)i0 < (u64)n_elements, y + r, y_ptr + i0, (f32)0.0f);
    }
    // 28: output = x + y
    f32 output[8];
#pragma unroll
    for (int r = 0; r < 8; r++) output[r] = x[r] + y[r];
    // 31: tl.store(output_ptr + offsets, output, mask=mask)
    // output to output_ptr, 4 elements at a time: each thread's element (i0)
#pragma unroll
    for (int r = 0; r < 8; r += 4) {
        const i64 i0 = (i64)block_start + (at0 + (r >> 2) * 512);
        tw_stg_if(4, (u64)i0 < (u64)n_elements, output_ptr + i0, output + r);
    }
}
TW_KERNEL(add_kernel)
