# A condition of no axis beside bounds of an axis that wraps around: the mask stays, and says all of it.
import triton
import triton.language as tl

@triton.jit
def kernel(x0, e1, e2, s3, n0, n1, n2):
    pid = tl.program_id(0) + tl.num_programs(0) * tl.program_id(1)
    x0 = x0 + 40000
    e0 = e1
    f0 = e2
    flag = tl.load(e0 + 200 + pid) & 7
    acc = tl.zeros((4,16,16,), tl.float32)
    w2 = tl.arange(0, 4)
    i2 = w2
    w3 = tl.arange(0, 16)
    i3 = (5 + w3) % n0
    w4 = tl.arange(0, 16)
    i4 = w4
    p1 = x0
    p1 += (i2)[:, None, None]
    p1 += (i3 * n1)[None, :, None]
    p1 += (i4 * n1)[None, None, :]
    acc += tl.load(p1, mask=(flag > 0) & (w3 < n2)[None, :, None] & (w2 < n2)[:, None, None], other=0).to(acc.dtype)
    w5 = tl.arange(0, 4)
    i5 = w5
    w6 = tl.arange(0, 16)
    i6 = w6
    w7 = tl.arange(0, 16)
    i7 = w7
    tl.store(s3 + pid * 1024 + i5[:, None, None] * 256 + i6[None, :, None] * 16 + i7[None, None, :] * 1, acc.to(s3.dtype.element_ty))

# arguments: x0=f16[80000] whole 1 0 e1=i32[256] plain 1 0 e2=i64[256] plain 1 0 s3=f32[2048] plain 1 0 n0=1 n1=96 n2=0 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
