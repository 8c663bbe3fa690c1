# the first product of a turned loop reads rows that threads have picked: these must have arrived
import triton
import triton.language as tl

@triton.jit
def small(x):
    return (x.to(tl.int32) & 3).to(tl.float16)

@triton.jit
def kernel(x0, x1, e3, s4, n0):
    r = tl.arange(0, 64)
    c = tl.arange(0, 64)
    h = tl.arange(0, 64)
    picked_h = tl.load(e3 + h) & 31
    acc = tl.zeros((64, 64), tl.float32)
    w3 = tl.arange(0, 128)
    t4 = tl.load(x1 + r[:, None] * 200 + h[None, :])
    for k3 in range(0, n0):
        t5 = tl.load(x1 + picked_h[:, None] * 392 + (k3 * 128 + w3)[None, :])
        t6 = tl.load(x0 + (k3 * 128 + w3)[:, None] * 64 + c[None, :])
        p3 = small(tl.dot(t4, t5))
        acc = tl.dot(p3, t6, small(acc).to(tl.float32))
    acc = small(acc).to(tl.float32)
    tl.store(s4 + r[:, None] * 64 + c[None, :], acc)

# arguments: x0=f16[180000] whole 4 0 x1=f16[180000] whole 4 0 e3=i32[256] plain 3 0 s4=f32[4096] plain 1 0 n0=3 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
