# A convert that is written twice: the barrier that its second place asked for stands at the first one too, and shows what is hidden there.
import triton
import triton.language as tl

@triton.jit
def small(x):
    return (x.to(tl.int32) & 3).to(tl.float16)

@triton.jit
def kernel(x0, x1, x2, e3, s4, n0, n1, n2):
    pid = tl.program_id(0) + tl.num_programs(0) * tl.program_id(1)
    pid = tl.program_id(0)
    x0 = x0
    x1 = x1
    x2 = x2
    e0 = e3
    flag = tl.load(e0 + 200 + pid) & 7
    r = tl.arange(0, 128)
    c = tl.arange(0, 128)
    h = tl.arange(0, 64)
    picked_r = tl.load(e0 + r) & 63
    picked_h = tl.load(e0 + h) & 31
    acc = tl.zeros((128, 128), tl.float32)
    w0 = tl.arange(0, 32)
    for k0 in range(0, 2):
        t1 = tl.load(x2 + (pid * 16 + r)[:, None] * 96 + (k0 * 32 + w0)[None, :])
        t2 = tl.load(x2 + (k0 * 32 + w0)[:, None] + c[None, :] * 104)
        acc = tl.dot(t1, t2, acc)
    acc = small(acc).to(tl.float32)
    w3 = tl.arange(0, 128)
    if flag > 3:
        t4 = tl.load(x2 + picked_r[:, None] * 200 + (0 * 64 + h)[None, :])
    else:
        t4 = tl.full((128, 64), 1.0, tl.float16)
    for k3 in tl.range(0, n2, num_stages=1):
        t5 = tl.zeros((64, 128), tl.float16)
        if n0 > 1:
            t5 = tl.load(x0 + picked_h[:, None] * 385 + (k3 * 128 + w3)[None, :])
        t6 = tl.load(x0 + (k3 * 128 + w3)[:, None] * 128 + c[None, :])
        p3 = small(tl.dot(t4, t5))
        acc = tl.dot(p3, t6, small(acc).to(tl.float32))
    acc = small(acc).to(tl.float32)
    tl.store(s4 + (r + pid * 128)[:, None] * 128 + c[None, :], acc)

# arguments: x0=f16[180000] whole 3 0 x1=f16[180000] whole 2 0 x2=f16[180000] whole 3 0 e3=i32[256] plain 4 0 s4=f32[32768] plain 1 0 n0=1 n1=5 n2=0 grid=2,1,1 --set slots=2
# SPDX-License-Identifier: Apache-2.0
