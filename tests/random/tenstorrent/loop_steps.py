# Steps that are negative or not known, and a variable that would run over its end.
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, C, n):
    B: tl.constexpr = 32
    r = tl.arange(0, B)
    at = r[:, None] * C + r[None, :]
    s = tl.zeros((B, B), tl.float32)
    for i in range(2, n, n):
        s += tl.load(x + at + i * B, mask=i * B + r[None, :] < C, other=0.0)
    for i in range(2147483640, 2147483647, 4 - n):
        s += tl.load(x + at, mask=r[None, :] < C, other=0.0)
    tl.store(y + at, s, mask=r[None, :] < C)

# arguments: x=f32[4000] whole 3 0 y=f32[4000] whole 3 0 C=100 n=-1 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
