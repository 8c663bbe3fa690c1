# A lower bound so far below 0 that what is left of an index leaves 32 bits, and so does the address it moves.
import triton
import triton.language as tl


@triton.jit
def kernel(x0, y1, y2, n, p):
    r = tl.arange(0, 16)
    o = r + 3
    tl.store(y1 + r, tl.load(x0 + o, mask=(o >= n) & (o < 12), other=7))
    tl.store(y2 + r[:, None] * 4 + tl.arange(0, 4)[None, :], 1.0, mask=(n * p * n < r)[:, None])

# arguments: x0=i32[32] plain 1 0 y1=i32[16] plain 1 0 y2=f32[64] plain 1 0 n=-2147483648 p=1 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
