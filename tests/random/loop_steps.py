# Steps that are negative or not known: of plain loops, and of loops of products whose loads run ahead.
import triton
import triton.language as tl


@triton.jit
def kernel(a, b, y, z, C, n, back):
    B: tl.constexpr = 32
    r = tl.arange(0, B)
    s = tl.zeros((B, B), tl.float32)
    for k in range(n, 0, -1):
        la = tl.load(a + r[:, None] * C + (k - 1) * B + r[None, :])
        lb = tl.load(b + ((k - 1) * B + r)[:, None] * B + r[None, :])
        s = tl.dot(la, lb, s)
    for k in range(n - 1, back, back):
        la = tl.load(a + r[:, None] * C + k * B + r[None, :])
        lb = tl.load(b + (k * B + r)[:, None] * B + r[None, :])
        s = tl.dot(la, lb, s)
    tl.store(y + r[:, None] * B + r[None, :], s)
    t = tl.zeros((B,), tl.float32)
    for k in range(2147483640, 2147483647, 3 - back):
        t += tl.load(z + r)
    for k in range(n, back, back):
        t += tl.load(z + k * B + r)
    tl.store(z + r, t)

# arguments: a=f16[4096] whole 1 0 b=f16[4096] whole 1 0 y=f32[1024] whole 1 0 z=f32[256] whole 3 0 C=128 n=4 back=-1 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
