# Bounds at both ends of 64 bits: what is left of them must not wrap around to the other side.
import triton
import triton.language as tl


@triton.jit
def kernel(x0, y1, y2, y3, y4, least, most, five):
    pid = tl.program_id(0)
    r = pid * 16 + tl.arange(0, 16)
    w = r.to(tl.int64)
    tl.store(y1 + r, tl.load(x0 + r, mask=r < least, other=7))
    tl.store(y2 + r, tl.load(x0 + r, mask=w >= least, other=7), mask=w <= most)
    tl.store(y3 + r, tl.load(x0 + r, mask=w + five < most, other=7), mask=w - five > least)
    tl.store(y4 + r, tl.load(x0 + r, mask=(w >= most) | (w < least), other=7), mask=five * 2 + w >= most)

# arguments: x0=i32[64] plain 1 0 y1=i32[64] plain 1 0 y2=i32[64] plain 1 0 y3=i32[64] plain 1 0 y4=i32[64] plain 1 0 least=-9223372036854775808 most=9223372036854775807 five=5 grid=3,1,1
# SPDX-License-Identifier: Apache-2.0
