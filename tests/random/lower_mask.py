# A mask that bounds the index of a reversed access only: elements below 0 are outside.
import triton
import triton.language as tl


@triton.jit
def kernel(x0, y1, y2, n):
    o = 3 - tl.arange(0, 4)
    tl.store(y1 + tl.arange(0, 4), tl.load(x0 + o, mask=o < 0))
    p = tl.arange(0, 8)
    tl.store(y2 + p, tl.load(x0 + p, mask=p >= n, other=7), mask=p > 2)

# arguments: x0=i32[16] whole 3 0 y1=i32[16] plain 1 0 y2=i32[16] plain 1 0 n=5 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
