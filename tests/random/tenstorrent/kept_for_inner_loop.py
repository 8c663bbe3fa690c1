# Tiles loaded before a loop are used in a loop inside of it, behind the end of their item.
import triton
import triton.language as tl


@triton.jit
def kernel(x, w, v, y, C, n0, n1):
    B: tl.constexpr = 32
    r = tl.arange(0, B)
    a = tl.load(w + r[:, None] * C + r[None, :], mask=r[None, :] < C, other=0.0)
    b = tl.load(v + r[:, None] * C + r[None, :], mask=r[None, :] < C, other=0.0)
    for i in range(n0):
        for j in range(n1):
            t = tl.load(x + (i * B + r)[:, None] * C + j * B + r[None, :], mask=j * B + r[None, :] < C, other=0.0)
            u = tl.dot(t.to(tl.bfloat16), tl.trans(b).to(tl.bfloat16)) + t * a
            tl.store(y + (i * B + r)[:, None] * C + j * B + r[None, :], u, mask=j * B + r[None, :] < C)

# arguments: x=f32[6400] whole 2 0 w=bf16[6400] whole 2 0 v=f32[6400] whole 2 0 y=f32[6400] whole 2 0 C=100 n0=2 n1=3 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
