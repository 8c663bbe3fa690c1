# A product of two arguments wraps around in 32 bits: in the mask of a value, and in those of accesses.
import triton
import triton.language as tl


@triton.jit
def kernel(x0, y1, y2, n, p, q, r):
    rm, rn = tl.arange(0, 32), tl.arange(0, 64)
    acc = tl.zeros((32,), tl.float32)
    for t in range(n):
        v = tl.load(x0 + t * 32 * 64 + rm[:, None] * 64 + rn[None, :]) * 2.0
        acc += tl.sum(tl.where(rn[None, :] < p * q, v, 100.0), 1)
    tl.store(y1 + rm, acc)
    tl.store(y2 + rn, tl.load(x0 + rn, mask=r + rn < p * q, other=5.0), mask=rn + r < p * q + 40)

# arguments: x0=f32[6144] whole 3 0 y1=f32[32] plain 1 0 y2=f32[64] plain 1 0 n=3 p=65536 q=65536 r=3 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
