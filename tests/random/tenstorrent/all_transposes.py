# Products of what was loaded, with every transpose.
import triton
import triton.language as tl


@triton.jit
def kernel(a, b, y, C):
    B: tl.constexpr = 32
    r = tl.arange(0, B)
    la = tl.load(a + r[:, None] * C + r[None, :], mask=r[None, :] < C, other=0.0)
    lb = tl.load(b + r[:, None] * C + r[None, :], mask=r[None, :] < C, other=0.0)
    tl.store(y + r[:, None] * C + r[None, :], tl.dot(la, lb), mask=r[None, :] < C)
    tl.store(y + r[:, None] * C + (B + r)[None, :], tl.dot(la, tl.trans(lb)), mask=(B + r)[None, :] < C)
    tl.store(y + r[:, None] * C + (2 * B + r)[None, :], tl.dot(tl.trans(la), lb), mask=(2 * B + r)[None, :] < C)
    tl.store(y + r[:, None] * C + (3 * B + r)[None, :], tl.dot(tl.trans(la), tl.trans(lb)), mask=(3 * B + r)[None, :] < C)

# arguments: a=bf16[4096] whole 2 0 b=bf16[4096] whole 2 0 y=f32[4096] whole 0 0 C=128 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
