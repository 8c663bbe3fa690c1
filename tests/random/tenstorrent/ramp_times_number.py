# A ramp of indices, times a number that only compute needs.
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, C, n0):
    B: tl.constexpr = 32
    r = tl.arange(0, B)
    t = tl.load(x + r[:, None] * C + r[None, :], mask=r[None, :] < C, other=0.0)
    t += r[None, :].to(tl.float32) * n0.to(tl.float32)
    tl.store(y + r[:, None] * C + r[None, :], t, mask=r[None, :] < C)

# arguments: x=f32[3200] whole 3 0 y=f32[3200] whole 3 0 C=100 n0=-3 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
