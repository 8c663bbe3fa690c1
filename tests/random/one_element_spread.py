# A range of one element, spread over an axis, stays where it is.
import triton
import triton.language as tl


@triton.jit
def kernel(x0, y1, y2, y3, n):
    one, all = tl.arange(3, 4), tl.arange(0, 32)
    tl.store(y1 + all, tl.load(x0 + one + all))
    tl.store(y2 + all[:, None] * 8 + tl.arange(0, 8)[None, :], tl.load(x0 + one[:, None] * n + tl.arange(0, 8)[None, :] + all[:, None] * 0))
    tl.store(y3 + all, tl.load(x0 + (one % n + all), mask=one + all * 0 < n, other=7.0))

# arguments: x0=f32[256] plain 1 0 y1=f32[32] plain 1 0 y2=f32[256] plain 1 0 y3=f32[32] plain 1 0 n=5 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
