# A sum in a loop that also stores: no running sum over a column.
import triton
import triton.language as tl


@triton.jit
def kernel(x0, s1, y2, n):
    v = tl.load(x0 + tl.arange(0, 4))
    w = v
    for i in range(n):
        tl.store(s1 + tl.arange(0, 4), v)
        t = tl.load(s1 + (3 - tl.arange(0, 4)))
        w = w + t
    tl.store(y2 + tl.arange(0, 4), w)

# arguments: x0=i32[16] whole 3 0 s1=i32[16] plain 1 0 y2=i32[16] plain 1 0 n=3 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
