# A bound below 0 masks everything.
import triton
import triton.language as tl


@triton.jit
def kernel(x0, y1, n):
    i = tl.program_id(0) * 64 + tl.arange(0, 64)
    tl.store(y1 + i, tl.load(x0 + i, mask=i < n), mask=i < n)

# arguments: x0=f32[128] plain 1 0 y1=f32[128] plain 1 0 n=-1 grid=2,1,1
# SPDX-License-Identifier: Apache-2.0
