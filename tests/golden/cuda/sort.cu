// sort of tests/golden/cuda/axes.py: flat, 128 threads, 1024 bytes of shared memory
#include "tilewright.cuh"

extern "C" __global__ void __launch_bounds__(128) sort_kernel(f32 *x_ptr, f32 *out_ptr, i32 n) {
    const i32 lane = tw_lane(), warp = tw_thread() >> 5;
    // along each axis of a tile: the first place that this thread holds
    const i32 at0 = tw_thread() * 2;
    // 23: i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    const i32 i_program_id = tw_block_x();
    // first element of what is read in x_ptr; first element of what is stored in out_ptr
    const i32 i_mul = tw_mul(i_program_id, 256);
    // 24: tl.store(out_ptr + i, tl.sort(tl.load(x_ptr + i)))
    // the tile from x_ptr, 2 elements at a time: each thread's element (i0)
    f32 load[2];
    {
        const i64 i0 = (i64)i_mul + at0;
        tw_ldg(2, load, x_ptr + i0);
    }
    f32 sort[2];
    {
        u32 key[2];
#pragma unroll
        for (int r = 0; r < 2; r++) key[r] = tw_key((f32)load[r], false);
        // runs of 2: elements 1 apart in order, both of this thread
#pragma unroll
        for (int r = 0; r < 2; r++) {
            if (r & 1) continue;
            const u32 low = key[r], high = key[r + 1];
            const bool swap = (low > high) == !(lane & 1);
            key[r] = swap ? high : low;
            key[r + 1] = swap ? low : high;
        }
        // runs of 4: elements 2 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 1);
            key[r] = (!(lane & 1) == !(lane & 2)) == (other < key[r]) ? other : key[r];
        }
        // runs of 4: elements 1 apart in order, both of this thread
#pragma unroll
        for (int r = 0; r < 2; r++) {
            if (r & 1) continue;
            const u32 low = key[r], high = key[r + 1];
            const bool swap = (low > high) == !(lane & 2);
            key[r] = swap ? high : low;
            key[r + 1] = swap ? low : high;
        }
        // runs of 8: elements 4 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 2);
            key[r] = (!(lane & 2) == !(lane & 4)) == (other < key[r]) ? other : key[r];
        }
        // runs of 8: elements 2 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 1);
            key[r] = (!(lane & 1) == !(lane & 4)) == (other < key[r]) ? other : key[r];
        }
        // runs of 8: elements 1 apart in order, both of this thread
#pragma unroll
        for (int r = 0; r < 2; r++) {
            if (r & 1) continue;
            const u32 low = key[r], high = key[r + 1];
            const bool swap = (low > high) == !(lane & 4);
            key[r] = swap ? high : low;
            key[r + 1] = swap ? low : high;
        }
        // runs of 16: elements 8 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 4);
            key[r] = (!(lane & 4) == !(lane & 8)) == (other < key[r]) ? other : key[r];
        }
        // runs of 16: elements 4 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 2);
            key[r] = (!(lane & 2) == !(lane & 8)) == (other < key[r]) ? other : key[r];
        }
        // runs of 16: elements 2 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 1);
            key[r] = (!(lane & 1) == !(lane & 8)) == (other < key[r]) ? other : key[r];
        }
        // runs of 16: elements 1 apart in order, both of this thread
#pragma unroll
        for (int r = 0; r < 2; r++) {
            if (r & 1) continue;
            const u32 low = key[r], high = key[r + 1];
            const bool swap = (low > high) == !(lane & 8);
            key[r] = swap ? high : low;
            key[r + 1] = swap ? low : high;
        }
        // runs of 32: elements 16 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 8);
            key[r] = (!(lane & 8) == !(lane & 16)) == (other < key[r]) ? other : key[r];
        }
        // runs of 32: elements 8 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 4);
            key[r] = (!(lane & 4) == !(lane & 16)) == (other < key[r]) ? other : key[r];
        }
        // runs of 32: elements 4 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 2);
            key[r] = (!(lane & 2) == !(lane & 16)) == (other < key[r]) ? other : key[r];
        }
        // runs of 32: elements 2 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 1);
            key[r] = (!(lane & 1) == !(lane & 16)) == (other < key[r]) ? other : key[r];
        }
        // runs of 32: elements 1 apart in order, both of this thread
#pragma unroll
        for (int r = 0; r < 2; r++) {
            if (r & 1) continue;
            const u32 low = key[r], high = key[r + 1];
            const bool swap = (low > high) == !(lane & 16);
            key[r] = swap ? high : low;
            key[r + 1] = swap ? low : high;
        }
        // runs of 64: elements 32 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 16);
            key[r] = (!(lane & 16) == !(warp & 1)) == (other < key[r]) ? other : key[r];
        }
        // runs of 64: elements 16 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 8);
            key[r] = (!(lane & 8) == !(warp & 1)) == (other < key[r]) ? other : key[r];
        }
        // runs of 64: elements 8 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 4);
            key[r] = (!(lane & 4) == !(warp & 1)) == (other < key[r]) ? other : key[r];
        }
        // runs of 64: elements 4 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 2);
            key[r] = (!(lane & 2) == !(warp & 1)) == (other < key[r]) ? other : key[r];
        }
        // runs of 64: elements 2 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 1);
            key[r] = (!(lane & 1) == !(warp & 1)) == (other < key[r]) ? other : key[r];
        }
        // runs of 64: elements 1 apart in order, both of this thread
#pragma unroll
        for (int r = 0; r < 2; r++) {
            if (r & 1) continue;
            const u32 low = key[r], high = key[r + 1];
            const bool swap = (low > high) == !(warp & 1);
            key[r] = swap ? high : low;
            key[r + 1] = swap ? low : high;
        }
        // runs of 128: elements 64 apart in order, of two warps, through shared memory
#pragma unroll
        for (int r = 0; r < 2; r++) tw_sts(1, r * 512 + (warp * 32 + lane) * 4, key + r);
        tw_sync();
#pragma unroll
        for (int r = 0; r < 2; r++) {
            u32 other;
            tw_lds(1, &other, r * 512 + ((warp ^ 1) * 32 + lane) * 4);
            key[r] = (!(warp & 1) == !(warp & 2)) == (other < key[r]) ? other : key[r];
        }
        // runs of 128: elements 32 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 16);
            key[r] = (!(lane & 16) == !(warp & 2)) == (other < key[r]) ? other : key[r];
        }
        // runs of 128: elements 16 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 8);
            key[r] = (!(lane & 8) == !(warp & 2)) == (other < key[r]) ? other : key[r];
        }
        // runs of 128: elements 8 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 4);
            key[r] = (!(lane & 4) == !(warp & 2)) == (other < key[r]) ? other : key[r];
        }
        // runs of 128: elements 4 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 2);
            key[r] = (!(lane & 2) == !(warp & 2)) == (other < key[r]) ? other : key[r];
        }
        // runs of 128: elements 2 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 1);
            key[r] = (!(lane & 1) == !(warp & 2)) == (other < key[r]) ? other : key[r];
        }
        // runs of 128: elements 1 apart in order, both of this thread
#pragma unroll
        for (int r = 0; r < 2; r++) {
            if (r & 1) continue;
            const u32 low = key[r], high = key[r + 1];
            const bool swap = (low > high) == !(warp & 2);
            key[r] = swap ? high : low;
            key[r + 1] = swap ? low : high;
        }
        // runs of 256: elements 128 apart in order, of two warps, through shared memory
        tw_sync();
#pragma unroll
        for (int r = 0; r < 2; r++) tw_sts(1, r * 512 + (warp * 32 + lane) * 4, key + r);
        tw_sync();
#pragma unroll
        for (int r = 0; r < 2; r++) {
            u32 other;
            tw_lds(1, &other, r * 512 + ((warp ^ 2) * 32 + lane) * 4);
            key[r] = (!(warp & 2) == true) == (other < key[r]) ? other : key[r];
        }
        // runs of 256: elements 64 apart in order, of two warps, through shared memory
        tw_sync();
#pragma unroll
        for (int r = 0; r < 2; r++) tw_sts(1, r * 512 + (warp * 32 + lane) * 4, key + r);
        tw_sync();
#pragma unroll
        for (int r = 0; r < 2; r++) {
            u32 other;
            tw_lds(1, &other, r * 512 + ((warp ^ 1) * 32 + lane) * 4);
            key[r] = (!(warp & 1) == true) == (other < key[r]) ? other : key[r];
        }
        // runs of 256: elements 32 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 16);
            key[r] = (!(lane & 16) == true) == (other < key[r]) ? other : key[r];
        }
        // runs of 256: elements 16 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 8);
            key[r] = (!(lane & 8) == true) == (other < key[r]) ? other : key[r];
        }
        // runs of 256: elements 8 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 4);
            key[r] = (!(lane & 4) == true) == (other < key[r]) ? other : key[r];
        }
        // runs of 256: elements 4 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 2);
            key[r] = (!(lane & 2) == true) == (other < key[r]) ? other : key[r];
        }
        // runs of 256: elements 2 apart in order, of two lanes
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const u32 other = tw_shfl_xor(key[r], 1);
            key[r] = (!(lane & 1) == true) == (other < key[r]) ? other : key[r];
        }
        // runs of 256: elements 1 apart in order, both of this thread
#pragma unroll
        for (int r = 0; r < 2; r++) {
            if (r & 1) continue;
            const u32 low = key[r], high = key[r + 1];
            const bool swap = (low > high) == true;
            key[r] = swap ? high : low;
            key[r + 1] = swap ? low : high;
        }
#pragma unroll
        for (int r = 0; r < 2; r++) {
            f32 number;
            tw_unkey(key[r], false, &number);
            sort[r] = number;
        }
    }
    // the tile to out_ptr, 2 elements at a time: each thread's element (i0)
    {
        const i64 i0 = (i64)i_mul + at0;
        tw_stg_if(2, true, out_ptr + i0, sort);
    }
}
TW_KERNEL(sort_kernel)
