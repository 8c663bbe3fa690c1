# Boxes of one array through descriptors, block pointers and plain pointers, stored and loaded in turn.
import triton
import triton.language as tl

@triton.jit
def small(x):
    return (x.to(tl.int32) & 3).to(tl.float16)

@triton.jit
def kernel(m0, m1, x2, s3, n0):
    r = tl.arange(0, 64)
    o = r[:, None] * 64 + r[None, :]
    d = tl.make_tensor_descriptor(m0, shape=[192, 64], strides=[64, 1], block_shape=[64, 64])
    e = tl.make_tensor_descriptor(m1, shape=[150, 64], strides=[64, 1], block_shape=[64, 64])
    w = tl.make_tensor_descriptor(x2, shape=[64, 64], strides=[64, 1], block_shape=[64, 64])
    b = tl.make_block_ptr(m0, shape=(192, 64), strides=(64, 1), offsets=(0, 0), block_shape=(64, 64), order=(1, 0))
    acc = tl.zeros((64, 64), tl.float32)
    for k in range(n0):
        acc = small(tl.dot(d.load([k * 16, 0]), w.load([0, 0]), acc)).to(tl.float32)
        e.store([k * 8 + 90, 0], small(acc))
    d.store([16, 0], small(acc + 1.0))
    acc = small(tl.dot(tl.load(b, boundary_check=(0, 1)), w.load([0, 0]), acc)).to(tl.float32)
    b = tl.advance(b, (40, 0))
    for k in range(n0):
        tl.store(b, small(acc + 2.0), boundary_check=(0, 1))
        acc = small(tl.dot(e.load([k * 16 + 64, 0]), tl.load(m0 + o + k * 64), acc)).to(tl.float32)
        b = tl.advance(b, (8, 0))
    e.store([0, 0], small(acc))
    d.store([32, 0], small(acc * 3.0))
    tl.store(m1 + o + 640, small(acc + 3.0), mask=acc > 1)
    tl.store(s3 + o, acc)

# arguments: m0=f16[12288] whole 3 0 m1@1+512=f16[11776] whole 3 0 x2=f16[4096] whole 2 0 s3=f32[4096] whole 1 0 n0=3 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
