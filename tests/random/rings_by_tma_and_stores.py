# One load role fills two rings, the first by TMA alone, the second by stores too: all its threads arrive at both.
import triton
import triton.language as tl


@triton.jit
def kernel(m2, m3, m4, y5, K):
    rm = tl.arange(0, 64)
    rn = tl.arange(0, 64)
    rk = tl.arange(0, 32)
    acc = tl.zeros((64, 64), tl.float32)
    for k in range(0, K, 32):
        a = tl.load(m2 + rm[:, None] * 256 + (k + rk)[None, :], mask=(k + rk)[None, :] < K, other=0.0)
        b = tl.load(m3 + (k + rk)[:, None] * 64 + rn[None, :], mask=(k + rk)[:, None] < K, other=0.0)
        acc = tl.dot(a, b, acc)
    for k in range(0, K, 32):
        a = tl.load(m4 + rm[:, None] * 256 + (k + rk)[None, :], mask=(rm % 3 == 1)[:, None], other=1.0)
        b = tl.load(m3 + (k + rk)[:, None] * 64 + rn[None, :], mask=(k + rk)[:, None] < K, other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(y5 + rm[:, None] * 64 + rn[None, :], acc)

# arguments: m2=f16[65536] whole 3 0 m3=f16[65536] whole 1 0 m4=f16[65536] whole 1 0 y5=f32[16384] plain 1 0 K=96 grid=1,1,1 --set fuse=off
# SPDX-License-Identifier: Apache-2.0
