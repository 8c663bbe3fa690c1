# A mask that no box can stand for, in a loop whose loads run ahead: it is computed before the loop and in it.
import triton
import triton.language as tl


@triton.jit
def kernel(a, b, y, n, m):
    rm = tl.arange(0, 16)
    acc = tl.zeros((16, 16), tl.float32)
    for k in range(0, n, 16):
        rk = k + rm
        la = tl.load(a + rm[:, None] * n + rk[None, :], mask=rk[None, :] < n, other=0.0)
        lb = tl.load(b + rk[:, None] * 16 + rm[None, :], mask=(rk[:, None] < n) | (rm[None, :] < m), other=0.0)
        acc = tl.dot(la, lb, acc)
    tl.store(y + rm[:, None] * 16 + rm[None, :], acc)

# arguments: a=f32[900] whole 3 0 b=f32[1100] whole 1 0 y=f32[256] plain 4 0 n=50 m=7 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
