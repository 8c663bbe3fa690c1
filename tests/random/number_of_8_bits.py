# A scalar of 8 bits is compared with a number: the number was taken for an unknown, of which nothing is known.
import triton
import triton.language as tl


@triton.jit
def kernel(x, y):
    small = tl.load(x)
    five = tl.full((), 5, tl.int8)
    tl.store(y, tl.load(x + 1, mask=five <= small, other=0))

# arguments: x=i8[16] plain 2 0 y=i8[16] plain 1 0 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
