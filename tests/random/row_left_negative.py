# What a mask leaves of a row is below 0 for later programs: nothing is read.
import triton
import triton.language as tl

@triton.jit
def kernel(x0, x1, y2, y3, n0):
    pid = tl.program_id(0) + tl.num_programs(0) * tl.program_id(1)
    rm0 = tl.arange(0, 2)
    rn0 = tl.arange(0, 1)
    o0 = pid * 0 + rm0[:, None] * n0 + rn0[None, :] * 2 + 12
    v1 = tl.load(x0 + o0)
    o2 = pid * 39 + tl.arange(0, 16) * 1 + 0
    v3 = tl.load(x1 + o2, mask=o2 < 8, other=0)
    tl.store(y2 + pid * 16 + tl.arange(0, 16), v3)
    tl.store(y3 + pid * 2 + tl.arange(0, 2)[:, None] * 1 + tl.arange(0, 1)[None, :], v1)

# arguments: x0=u32[4096] wild 3 0 x1=u16[4096] whole 1 0 y2=u16[48] plain 1 0 y3=u32[20] plain 1 0 n0=1 grid=1,2,1
# SPDX-License-Identifier: Apache-2.0
