# One mask, made before both loops, is used in each of them.
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, N, n0, n1):
    B: tl.constexpr = 32
    r = tl.arange(0, B)
    keep = r[:, None] >= r[None, :]
    inside = r[None, :] < N
    s = tl.zeros((B, B), tl.float32)
    for j in range(n0):
        v = tl.load(x + r[:, None] * N + j * B + r[None, :], mask=j * B + r[None, :] < N, other=0.0)
        s += tl.where(keep, v, 0.0)
    t = tl.zeros((B, B), tl.float32)
    for j in range(n1):
        v = tl.load(x + r[:, None] * N + j * B + r[None, :], mask=j * B + r[None, :] < N, other=0.0)
        t += tl.where(keep, 0.0, v) + tl.where(keep & (v > 0.0), 1.0, 0.0)
    tl.store(y + r[:, None] * N + r[None, :], s, mask=inside)
    tl.store(y + r[:, None] * N + B + r[None, :], t, mask=B + r[None, :] < N)

# arguments: x=f32[3200] whole 3 0 y=f32[3200] whole 3 0 N=100 n0=3 n1=0 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
