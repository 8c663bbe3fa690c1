// scan of tests/golden/cuda/axes.py: flat, 128 threads, 1024 bytes of shared memory
#include "tilewright.cuh"

extern "C" __global__ void __launch_bounds__(128) scan_kernel(f32 *x_ptr, f32 *out_ptr, i32 n) {
    const i32 lane = tw_lane(), warp = tw_thread() >> 5;
    // along each axis of a tile: the first place that this thread holds
    const i32 at0 = tw_thread() * 4;
    // 15: row = tl.program_id(0)
    const i32 row = tw_block_x();
    // 17: x = tl.load(x_ptr + row * n + i, mask=i < n, other=0.0)
    // x from x_ptr, 4 elements at a time: each thread's row (i0) and column (i1)
    f32 x[8];
#pragma unroll
    for (int r = 0; r < 8; r += 4) {
        const i64 i0 = (i64)row;
        const i64 i1 = (i64)(at0 + (r >> 2) * 512);
        tw_ldg_or(4, (u64)i1 < (u64)n, x + r, x_ptr + i0 * n + i1, (f32)0.0f);
    }
    // 18: tl.store(out_ptr + row * n + i, tl.cumsum(x, axis=0), mask=i < n)
    f32 scan[8];
    {
        f32 part_1[8];
#pragma unroll
        for (int r = 0; r < 8; r++) part_1[r] = x[r];
        // blocks of 2 elements: the upper halves take in the last of the others
        {
            f32 got[8];
#pragma unroll
            for (int r = 0; r < 8; r += 2) got[r] = part_1[r];
#pragma unroll
            for (int r = 0; r < 8; r++) {
                if (!(r & 1)) continue;
                part_1[r] = got[r & ~1] + part_1[r];
            }
        }
        // blocks of 4 elements: the upper halves take in the last of the others
        {
            f32 got_1[8];
#pragma unroll
            for (int r = 0; r < 8; r += 4) got_1[r] = part_1[r + 1];
#pragma unroll
            for (int r = 0; r < 8; r++) {
                if (!(r & 2)) continue;
                part_1[r] = got_1[r & ~3] + part_1[r];
            }
        }
        // blocks of 8 elements: the upper halves take in the last of the others
        {
            f32 got_2[8];
#pragma unroll
            for (int r = 0; r < 8; r += 4) got_2[r] = tw_move_idx(part_1[r + 3], lane & ~1);
#pragma unroll
            for (int r = 0; r < 8; r++) {
                if (lane & 1) {
                    part_1[r] = got_2[r & ~3] + part_1[r];
                }
            }
        }
        // blocks of 16 elements: the upper halves take in the last of the others
        {
            f32 got_3[8];
#pragma unroll
            for (int r = 0; r < 8; r += 4) got_3[r] = tw_move_idx(part_1[r + 3], lane & ~2 | 1);
#pragma unroll
            for (int r = 0; r < 8; r++) {
                if (lane & 2) {
                    part_1[r] = got_3[r & ~3] + part_1[r];
                }
            }
        }
        // blocks of 32 elements: the upper halves take in the last of the others
        {
            f32 got_4[8];
#pragma unroll
            for (int r = 0; r < 8; r += 4) got_4[r] = tw_move_idx(part_1[r + 3], lane & ~4 | 3);
#pragma unroll
            for (int r = 0; r < 8; r++) {
                if (lane & 4) {
                    part_1[r] = got_4[r & ~3] + part_1[r];
                }
            }
        }
        // blocks of 64 elements: the upper halves take in the last of the others
        {
            f32 got_5[8];
#pragma unroll
            for (int r = 0; r < 8; r += 4) got_5[r] = tw_move_idx(part_1[r + 3], lane & ~8 | 7);
#pragma unroll
            for (int r = 0; r < 8; r++) {
                if (lane & 8) {
                    part_1[r] = got_5[r & ~3] + part_1[r];
                }
            }
        }
        // blocks of 128 elements: the upper halves take in the last of the others
        {
            f32 got_6[8];
#pragma unroll
            for (int r = 0; r < 8; r += 4) got_6[r] = tw_move_idx(part_1[r + 3], lane & ~16 | 15);
#pragma unroll
            for (int r = 0; r < 8; r++) {
                if (lane & 16) {
                    part_1[r] = got_6[r & ~3] + part_1[r];
                }
            }
        }
        // blocks of 256 elements: the upper halves take in the last of the others
        {
            f32 got_7[8];
#pragma unroll
            for (int r = 0; r < 8; r += 4) {
                tw_sts(1, (r >> 2) * 512 + (warp * 32 + lane) * 4, part_1 + r + 3);
            }
            tw_sync();
#pragma unroll
            for (int r = 0; r < 8; r += 4) {
                tw_lds(1, got_7 + r, (r >> 2) * 512 + ((warp & ~1) * 32 + (lane & ~0 | 31)) * 4);
            }
#pragma unroll
            for (int r = 0; r < 8; r++) {
                if (warp & 1) {
                    part_1[r] = got_7[r & ~3] + part_1[r];
                }
            }
        }
        // blocks of 512 elements: the upper halves take in the last of the others
        {
            f32 got_8[8];
            tw_sync();
#pragma unroll
            for (int r = 0; r < 8; r += 4) {
                tw_sts(1, (r >> 2) * 512 + (warp * 32 + lane) * 4, part_1 + r + 3);
            }
            tw_sync();
#pragma unroll
            for (int r = 0; r < 8; r += 4) {
                tw_lds(1, got_8 + r, (r >> 2) * 512 + ((warp & ~2 | 1) * 32 + (lane & ~0 | 31)) * 4);
            }
#pragma unroll
            for (int r = 0; r < 8; r++) {
                if (warp & 2) {
                    part_1[r] = got_8[r & ~3] + part_1[r];
                }
            }
        }
        // blocks of 1024 elements: the upper halves take in the last of the others
        {
            f32 got_9[8];
            tw_sync();
            tw_sts(1, (warp * 32 + lane) * 4, part_1 + 3);
            tw_sync();
            tw_lds(1, got_9, ((warp & ~0 | 3) * 32 + (lane & ~0 | 31)) * 4);
#pragma unroll
            for (int r = 0; r < 8; r++) {
                if (!(r & 4)) continue;
                part_1[r] = got_9[r & ~7] + part_1[r];
            }
        }
#pragma unroll
        for (int r = 0; r < 8; r++) scan[r] = part_1[r];
    }
    // the tile to out_ptr, 4 elements at a time: each thread's row (i0) and column (i1)
#pragma unroll
    for (int r = 0; r < 8; r += 4) {
        const i64 i0 = (i64)row;
        const i64 i1 = (i64)(at0 + (r >> 2) * 512);
        tw_stg_if(4, (u64)i1 < (u64)n, out_ptr + i0 * n + i1, scan + r);
    }
}
TW_KERNEL(scan_kernel)
