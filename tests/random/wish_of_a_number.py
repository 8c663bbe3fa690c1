# What a hint asks to be a multiple, another wish makes the number 1: the report named the parameter of a number.
# seed 71500086: crashed : wait status 0xb
import triton
import triton.language as tl

@triton.jit
def kernel(x0, e1, e2, a3, s4, n0, n1):
    pid = tl.program_id(0) + tl.num_programs(0) * tl.program_id(1)
    x0 = x0 + 40000
    e0 = e1
    f0 = e2
    flag = tl.load(e0 + 200 + pid) & 7
    acc = tl.zeros((4,16,16,), tl.float32)
    w2 = tl.arange(0, 4)
    i2 = w2
    w3 = tl.arange(0, 16)
    i3 = w3
    w4 = tl.arange(0, 16)
    i4 = w4
    p1 = x0
    p1 += (i2 * n0)[:, None, None]
    p1 += (i3 * n0)[None, :, None]
    p1 += (i4)[None, None, :]
    acc += tl.load(p1).to(acc.dtype)
    y0 = a3 + 40000
    w6 = tl.arange(0, 4)
    i6 = tl.max_contiguous(tl.multiple_of((pid * 64 + w6) % n1, 4), 4)
    w7 = tl.arange(0, 16)
    i7 = tl.load(e0 + 5 + w7) & 31
    w8 = tl.arange(0, 16)
    i8 = tl.load(e0 + 5 + w8) & 31
    p5 = y0
    p5 += (i6 * n1)[:, None, None]
    p5 += (i7 * n0)[None, :, None]
    p5 += (i8)[None, None, :]
    tl.atomic_add(p5, acc.to(y0.dtype.element_ty))
    w9 = tl.arange(0, 4)
    i9 = w9
    w10 = tl.arange(0, 16)
    i10 = w10
    w11 = tl.arange(0, 16)
    i11 = w11
    tl.store(s4 + pid * 1024 + i9[:, None, None] * 256 + i10[None, :, None] * 16 + i11[None, None, :] * 1, acc.to(s4.dtype.element_ty))

# arguments: x0=f16[80000] whole 1 0 e1=i32[256] plain 1 0 e2=i64[256] plain 1 0 a3=i32[80000] whole 1 0 s4=f32[2048] plain 1 0 n0=96 n1=64 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
