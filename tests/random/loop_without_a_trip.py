# A loop that makes no trip holds the barrier that the store behind it needs: there is another one.
import triton
import triton.language as tl


@triton.jit
def kernel(m0, m1, s2, y3, n):
    rm = tl.arange(0, 8)
    rk = tl.arange(0, 16)
    pa = m0 + rm[:, None] * n + rk[None, :]
    pb = m1 + rk[:, None] * 16 + rk[None, :]
    acc = tl.zeros((8, 16), tl.float32)
    for k in range(0, triton.cdiv(n, 16)):
        a = tl.load(pa, mask=rk[None, :] < n - k * 16, other=0.0)
        b = tl.load(pb, mask=rk[:, None] < n - k * 16, other=0.0)
        acc = tl.dot(a, b, acc)
        pa += 16
        pb += 256
    at = rm[:, None] * 16 + rk[None, :]
    for i in range(0):
        tl.store(s2 + at, acc)
    tl.store(y3 + at, acc)

# arguments: m0=f16[97] whole 1 0 m1=f16[193] whole 1 0 s2=f32[400] plain 2 0 y3=f32[400] plain 3 0 n=12 grid=1,1,1 --set fuse=off
# SPDX-License-Identifier: Apache-2.0
