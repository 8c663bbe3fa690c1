# seed 1000735: not compiled cuda-emulated: loads of a dot's loop stood in a branch, where the merged loop did not follow
import triton
import triton.language as tl

@triton.jit
def kernel(m0, m1, y2, n0):
    pid = tl.program_id(0)
    if pid > 0:
        return
    rm = tl.arange(0, 16)
    rn = tl.arange(0, 17)
    rk = tl.arange(0, 16)
    pa = m0 + rm[:, None] * n0 + rk[None, :]
    pb = m1 + rk[:, None] * 17 + rn[None, :]
    acc = tl.zeros((16, 17), tl.float32)
    for k in range(0, triton.cdiv(n0, 16)):
        la = tl.load(pa, mask=rk[None, :] < n0 - k * 16, other=0.0)
        lb = tl.load(pb, mask=rk[:, None] < n0 - k * 16, other=0.0)
        acc = tl.dot(la, lb, acc)
        pa += 16
        pb += 272
    tl.store(y2 + rm[:, None] * 17 + rn[None, :], acc)

# arguments: m0=f16[801] whole 4 0 m1=f16[851] whole 4 0 y2=f32[272] plain 3 0 n0=50 grid=3,1,1
# SPDX-License-Identifier: Apache-2.0
