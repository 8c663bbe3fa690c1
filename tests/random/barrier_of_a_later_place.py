# A load under a condition that is written before its loop and in it: where one place needs a barrier the other one has
# it too, and shows what threads wrote for the matrix units.
import triton
import triton.language as tl


@triton.jit
def small(x):
    return (x.to(tl.int32) & 3).to(tl.float16)


@triton.jit
def kernel(x, e, s, n):
    flag = tl.load(e + 200 + tl.program_id(0)) & 7
    r = tl.arange(0, 64)
    c = tl.arange(0, 32)
    h = tl.arange(0, 64)
    picked = tl.load(e + h) & 31
    acc = tl.zeros((64, 32), tl.float32)
    w = tl.arange(0, 64)
    a = tl.zeros((64, 64), tl.float16)
    if flag > 3:
        a = tl.load(x + r[:, None] * 200 + (tl.load(e) % 3 * 64 + h)[None, :])
    for k in tl.range(0, n, num_stages=2):
        b = tl.zeros((64, 64), tl.float16)
        if n > 1:
            b = tl.load(x + picked[:, None] * 200 + (k * 64 + w)[None, :])
        d = tl.load(x + (k * 64 + w)[:, None] * 32 + c[None, :])
        p = small(tl.dot(a, b))
        acc = tl.dot(p, d, small(acc).to(tl.float32))
    tl.store(s + (r + tl.program_id(0) * 64)[:, None] * 32 + c[None, :], acc)

# arguments: x=f16[40000] whole 3 0 e=i32[256] plain 4 0 s=f32[4096] plain 1 0 n=2 grid=2,1,1
# SPDX-License-Identifier: Apache-2.0
