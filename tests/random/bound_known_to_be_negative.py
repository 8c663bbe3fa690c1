# A bound that folds to a number below 0 masks everything.
import triton
import triton.language as tl


@triton.jit
def kernel(y0, y1, n):
    r = tl.arange(0, 128)
    tl.store(y0 + r, 5, mask=r + 3 <= n % 1)
    tl.store(y1 + r, 5, mask=(r + 3 <= n % 1) | (r > 100))

# arguments: y0=i32[128] plain 1 0 y1=i32[128] plain 1 0 n=-8589934592 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
