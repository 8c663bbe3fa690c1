# A name that is first assigned inside a loop is gone behind it, also when the loop comes again in an unrolled one.
import triton
import triton.language as tl


@triton.jit
def kernel(x0, y1):
    v = tl.load(x0 + tl.arange(0, 4))
    w = v
    for i in tl.static_range(3):
        s = v
        for k in range(2):
            t = (k + k).to(tl.int32)
            s = s + v + t
        j = 0
        while j < 2:
            u = j + j
            s = s + u
            j += 1
        w = w + s
    tl.store(y1 + tl.arange(0, 4), w)

# arguments: x0=i32[16] whole 3 0 y1=i32[16] plain 1 0 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
