import triton
import triton.language as tl

@triton.jit
def kernel(m0, m1, y2, e3):
    r = tl.arange(0, 256)
    tl.atomic_add(e3 + r, 1)
    s = tl.sum(tl.load(e3 + 255 - r))
    tl.store(m0 + 255 - r, r + s)
    t = tl.load(m1 + r)
    tl.store(y2 + r, t + tl.load(m0 + r))

# arguments: m0=i32[256] plain 1 0 m1@1+0=i32[256] plain 1 0 y2=i32[256] plain 1 0 e3=i32[256] plain 1 0 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
