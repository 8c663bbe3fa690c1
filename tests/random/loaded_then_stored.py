# A tile that is loaded and stored as it is beside a dot's loop: both on the threads of compute, with no barrier that TMA
# could arrive at.
import triton
import triton.language as tl


@triton.jit
def kernel(x, a, b, y, z, n):
    copied = tl.load(x + tl.arange(0, 7)[:, None] * 128 + tl.arange(0, 128)[None, :])
    rm = tl.arange(0, 32)
    rn = tl.arange(0, 8)
    rk = tl.arange(0, 16)
    acc = tl.zeros((32, 8), tl.float32)
    for k in range(0, n, 16):
        la = tl.load(a + rm[:, None] * n + rk[None, :] + k, mask=rk[None, :] + k < n, other=0.0)
        lb = tl.load(b + (rk[:, None] + k) * 8 + rn[None, :], mask=rk[:, None] + k < n, other=0.0)
        acc = tl.dot(la, lb, acc)
    tl.store(y + rm[:, None] * 8 + rn[None, :], acc)
    tl.store(z + tl.arange(0, 7)[:, None] * 128 + tl.arange(0, 128)[None, :], copied)

# arguments: x=f8e5m2[1024] plain 4 0 a=f32[1857] whole 3 0 b=f32[465] whole 1 0 y=f32[528] plain 4 0 z=f8e5m2[1024] plain 1 0 n=58 grid=1,1,1 --set fuse=off
# SPDX-License-Identifier: Apache-2.0
