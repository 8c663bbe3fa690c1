# Pointers that change places in loops: what they may point to is a set.
import triton
import triton.language as tl

@triton.jit
def small(x):
    return (x.to(tl.int32) & 3).to(tl.float16)

@triton.jit
def kernel(m0, m1, m2, x3, n0, n1):
    r = tl.arange(0, 64)
    o = r[:, None] * 64 + r[None, :]
    w = tl.load(x3 + o)
    a = m0
    b = m1
    c = m2
    for k in range(n0):
        tl.store(b + o, small(tl.dot(tl.load(a + o), w)))
        a, b, c = b, c, a
    i = 0
    while i < n1:
        if i != 1:
            a, b = b, a
        tl.store(b + r, tl.load(a + (63 - r)) + 1.0)
        i += 1
    tl.store(tl.where(n1 > 2, a, c) + o, tl.load(b + o))

# arguments: m0=f16[4096] whole 3 0 m1=f16[4096] whole 3 0 m2=f16[4096] whole 3 0 x3=f16[4096] whole 2 0 n0=4 n1=3 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
