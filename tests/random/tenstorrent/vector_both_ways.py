# A vector along rows and along columns of one tile, as it is and computed first: for one of them its pages are transposed.
import triton
import triton.language as tl


@triton.jit
def kernel(x, g, y, n):
    r = tl.program_id(0) * 64 + tl.arange(0, 64)
    c = tl.arange(0, 64)
    at = r[:, None] * 64 + c[None, :]
    inside = (r < n)[:, None] & (c < 64)[None, :]
    v = tl.load(x + at, mask=inside, other=0.0)
    w = tl.load(g + c, mask=c < 64, other=0.0)
    h = tl.exp(w)
    s = tl.sum(v, axis=1)
    tl.store(y + at, v * (w[:, None] - w[None, :]) + h[None, :] * h[:, None] + s[:, None] * s[None, :], mask=inside)

# arguments: x=f32[6400] whole 1 0 g=f32[64] whole 1 0 y=f32[6400] whole 0 0 n=100 grid=2,1,1
# SPDX-License-Identifier: Apache-2.0
