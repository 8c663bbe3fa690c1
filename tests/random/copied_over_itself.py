# Copies whose source and destination overlap: forwards, backwards, turned round, through one parameter and through two.
import triton
import triton.language as tl

@triton.jit
def kernel(m0, m1, m2, n0, n1):
    r = tl.arange(0, 256)
    q = tl.arange(0, 32)
    c = tl.arange(0, 8)
    tl.store(m1 + r, tl.load(m0 + r))
    tl.store(m0 + r, tl.load(m1 + r))
    tl.store(m0 + r + 3, tl.load(m0 + r))
    tl.store(m0 + r, tl.load(m0 + r + 5))
    tl.store(m2 + r, tl.load(m0 + r, mask=r < n0, other=7), mask=r < n1)
    tl.store(m0 + r, tl.load(m2 + (255 - r)))
    tl.store(m1 + q[:, None] * 8 + c[None, :], tl.load(m0 + q[:, None] + c[None, :] * 32))
    tl.store(m0 + q[:, None] * 16 + c[None, :], tl.load(m2 + q[:, None] * 16 + c[None, :] + 8))
    tl.store(m0 + q[:, None] * 16 + c[None, :] + 1, tl.load(m0 + q[:, None] * 16 + c[None, :], mask=q[:, None] < n1, other=1))
    for k in range(3):
        tl.store(m1 + r + k, tl.load(m0 + r + 1) + k)

# arguments: m0=i32[700] plain 4 0 m1@1+1=i32[699] plain 4 0 m2@1+64=i32[636] plain 4 0 n0=200 n1=130 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
