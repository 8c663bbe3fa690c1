# Rows that wrap around are stored one trip later, where the first row is another one.
import triton
import triton.language as tl


@triton.jit
def kernel(x0, x1, y2, n, M):
    i = tl.arange(0, 32)
    last = tl.zeros((32,), tl.float32)
    for t in range(n):
        m = tl.load(x0 + t) & 63
        tl.store(y2 + t * 32 + i, last, mask=m + i < M)
        last = tl.load(x1 + (m + i) % M)

# arguments: x0=i32[16] plain 1 0 x1=f32[64] plain 1 0 y2=f32[256] plain 1 0 n=8 M=40 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
