# A masked load in short nested loops: gcc 12 mixes up the masks when it unrolls the innermost one.
import triton
import triton.language as tl

@triton.jit
def kernel(x0, y1, y2):
    pid = tl.program_id(0) + tl.num_programs(0) * tl.program_id(1)
    o0 = pid * 0 + tl.arange(0, 4) * 1 + 0
    v1 = tl.load(x0 + o0)
    o2 = pid * 0 + tl.arange(0, 4)[:, None, None] * 16 + tl.arange(0, 4)[None, :, None] * 4 + tl.arange(0, 4)[None, None, :]
    v3 = tl.load(x0 + o2)
    v4 = (v3 + v3).to(tl.int32)
    v5 = v3 < v4
    o6 = pid * 0 + tl.arange(0, 4)[:, None, None] * 16 + tl.arange(0, 4)[None, :, None] * 4 + tl.arange(0, 4)[None, None, :]
    v7 = tl.load(x0 + o6, mask=v5)
    v8 = tl.where(v5, v4, v7)
    tl.store(y1 + pid * 64 + tl.arange(0, 4)[:, None, None] * 16 + tl.arange(0, 4)[None, :, None] * 4 + tl.arange(0, 4)[None, None, :], v8)
    tl.store(y2 + pid * 64 + tl.arange(0, 4)[:, None, None] * 16 + tl.arange(0, 4)[None, :, None] * 4 + tl.arange(0, 4)[None, None, :], v7)

# arguments: x0=i32[4096] whole 1 0 y1=i32[80] plain 1 0 y2=i32[80] plain 1 0 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
