# Stores through one parameter, where other threads still load through others that are views of the same array.
import triton
import triton.language as tl

@triton.jit
def kernel(m0, m1, m2, s3):
    pid = tl.program_id(0)
    r = tl.arange(0, 512)
    a = tl.load(m0 + pid * 1024 + r)
    tl.store(m1 + pid * 1024 + (511 - r), a + 1)
    b = tl.load(m2 + pid * 1024 + r)
    tl.store(m0 + pid * 1024 + r, b * 3)
    tl.store(m1 + pid * 1024 + r + 3, a)
    tl.atomic_add(m2 + pid * 1024 + r, 5)
    tl.store(s3 + pid * 512 + r, tl.load(m1 + pid * 1024 + r) + b)

# arguments: m0=i32[3200] whole 4 0 m1@1+0=i32[3200] whole 4 0 m2@1+9=i32[3191] whole 4 0 s3=i32[1536] whole 1 0 grid=3,1,1
# SPDX-License-Identifier: Apache-2.0
