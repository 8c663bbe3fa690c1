# Tiles for products and stores by TMA through parameters that are views of one array.
import triton
import triton.language as tl

@triton.jit
def small(x):
    return (x.to(tl.int32) & 3).to(tl.float16)

@triton.jit
def kernel(m0, m1, m2, x3, n0):
    r = tl.arange(0, 64)
    o = r[:, None] * 64 + r[None, :]
    w = tl.load(x3 + o)
    acc = tl.zeros((64, 64), tl.float32)
    for k in range(n0):
        acc = small(tl.dot(tl.load(m0 + k * 2048 + o), w, acc)).to(tl.float32)
        tl.store(m1 + k * 1024 + o, small(acc + 1.0))
    tl.store(m2 + o, small(acc))
    tl.store(m0 + o + 64, small(acc * 3.0))
    tl.store(m1 + o, small(acc + 2.0), mask=acc > 1)

# arguments: m0=f16[16384] whole 3 0 m1@1+8=f16[16376] whole 3 0 m2@1+512=f16[15872] whole 3 0 x3=f16[4096] whole 2 0 n0=3 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
