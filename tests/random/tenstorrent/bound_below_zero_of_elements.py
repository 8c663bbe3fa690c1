# a bound that is negative keeps everything out, also where elements are moved one by one (the pages' launch requires it not to be)
import triton
import triton.language as tl


@triton.jit
def kernel(x0, y0, C, R, n0):
    am = tl.arange(0, 32)
    v0 = tl.load(x0 + am[:, None] * C + am[None, :], mask=am[None, :] < C, other=0.0)
    tl.store(y0 + am[:, None] * C + am[None, :], v0, mask=(am[:, None] < R) & (am[None, :] < n0))

# arguments: x0=f32[18000] whole 3 0 y0=f32[18000] whole 3 0 C=77 R=100 n0=-1 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
