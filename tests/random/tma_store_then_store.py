# Stores by TMA and from registers to the same memory, in a loop and behind it.
import triton
import triton.language as tl

@triton.jit
def small(x):
    return (x.to(tl.int32) & 3).to(tl.float16)

@triton.jit
def kernel(x0, x1, m2, n0):
    r = tl.arange(0, 64)
    w = tl.arange(0, 32)
    o = r[:, None] * 64 + r[None, :]
    acc = tl.zeros((64, 64), tl.float32)
    for k in range(n0):
        acc = tl.dot(tl.load(x0 + r[:, None] * 128 + (k * 32 + w)[None, :]), tl.load(x1 + (k * 32 + w)[:, None] * 64 + r[None, :]), acc)
        tl.store(m2 + k * 512 + o, small(acc))
    tl.store(m2 + o, small(acc + 1.0), mask=acc > 0)
    tl.store(m2 + o + 640, small(acc + 2.0))
    tl.store(m2 + o + 1280, small(acc + 3.0))

# arguments: x0=f16[8192] whole 3 0 x1=f16[8192] whole 3 0 m2=f16[8192] whole 3 0 n0=4 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
