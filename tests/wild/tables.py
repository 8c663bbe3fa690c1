"""Products of matrices that descriptors made in the kernel describe, whose addresses, sizes and strides are read from tables."""
import triton
import triton.language as tl


# check: memory=randn:f16[60000] starts=arange:i32[4] sizes=randint(150):i32[12] c=zeros:f32[4,256,256] problems=4 --grid 2
# check: memory=randn:f16[60000] starts=arange:i32[4] sizes=zeros:i32[12] c=zeros:f32[4,256,256] problems=4 --grid 1
# check: memory=randn:f16[60000] starts=arange:i32[4] sizes=full(64):i32[12] c=zeros:f32[4,256,256] problems=0 --grid 1
# explain: by TMA, 1 box of 128 bytes a row
@triton.jit
def grouped(memory, starts, sizes, c, problems):
    tile = tl.program_id(0)
    before = 0
    for p in range(problems):
        M, N, K = tl.load(sizes + p * 3), tl.load(sizes + p * 3 + 1), tl.load(sizes + p * 3 + 2)
        columns = tl.cdiv(N, 64)
        tiles = tl.cdiv(M, 64) * columns
        if tile < before + tiles:
            a = memory + tl.load(starts + p) * 8
            stride = tl.cdiv(K, 8) * 8 + 8
            da = tl.make_tensor_descriptor(a, [M, K], [stride, 1], [64, 64])
            db = tl.make_tensor_descriptor(a + 16 * tl.load(starts + p), [N, K], [stride, 1], [64, 64])
            while tile < before + tiles:
                m = (tile - before) // columns * 64
                n = (tile - before) % columns * 64
                acc = tl.zeros((64, 64), tl.float32)
                for k in range(0, K, 64):
                    acc = tl.dot(da.load([m, k]), db.load([n, k]).T, acc)
                dc = tl.make_tensor_descriptor(c + p * 65536, [M, N], [256, 1], [64, 64])
                dc.store([m, n], acc)
                tile += tl.num_programs(0)
        before += tiles


# check: memory=randn:f16[40000] starts=arange:i32[5] sizes=randint(200):i32[5] c=zeros:f32[5,64,64] --grid 5
# explain: by TMA
@triton.jit
def one_each(memory, starts, sizes, c):
    p = tl.program_id(0)
    start, K = tl.load(starts + p), tl.load(sizes + p)
    da = tl.make_tensor_descriptor(memory + start * 64, [40 + start, K], [264, 1], [64, 32])
    db = tl.make_tensor_descriptor(memory + start * 96, [K, 60], [72 + start * 8, 1], [32, 64])
    acc = tl.zeros((64, 64), tl.float32)
    for k in range(0, K, 32):
        acc = tl.dot(da.load([0, k]), db.load([k, 0]), acc)
    r = tl.arange(0, 64)
    tl.store(c + p * 4096 + r[:, None] * 64 + r[None, :], acc)


# check: memory=randn:f16[40000] sizes=randint(4):i32[9] b=randn:f16[96,64] c=zeros:f32[64,64] problems=9 --grid 1
# check: memory=randn:f16[40000] sizes=zeros:i32[9] b=randn:f16[96,64] c=zeros:f32[64,64] problems=9 --grid 1
# explain: by TMA
@triton.jit
def made_again(memory, sizes, b, c, problems):
    # maps that are made one after the other, some of them for no trip; the right operand has one of the launch
    db = tl.make_tensor_descriptor(b, [96, 64], [64, 1], [32, 64])
    acc = tl.zeros((64, 64), tl.float32)
    for p in range(problems):
        K = tl.load(sizes + p) * 32
        da = tl.make_tensor_descriptor(memory + p * 160, [64 - p, K], [128 + p * 8, 1], [64, 32])
        for k in range(0, K, 32):
            acc = tl.dot(da.load([0, k]), db.load([k, 0]), acc)
    r = tl.arange(0, 64)
    tl.store(c + r[:, None] * 64 + r[None, :], acc)


# check: memory=randn:f16[40000] sizes=randint(200):i32[3] b=randn:f16[200,67] c=zeros:f32[3,64,64] stride=67 --grid 3
# explain: by TMA
@triton.jit
def beside_threads(memory, sizes, b, c, stride):
    # the rows of the right operand are aligned to nothing: threads of the same role bring them
    p = tl.program_id(0)
    K = tl.load(sizes + p)
    da = tl.make_tensor_descriptor(memory + p * 800, [64, K], [208, 1], [64, 32])
    r, rk = tl.arange(0, 64), tl.arange(0, 32)
    acc = tl.zeros((64, 64), tl.float32)
    for k in range(0, K, 32):
        y = tl.load(b + (k + rk)[:, None] * stride + r[None, :], mask=(k + rk)[:, None] < K, other=0.0)
        acc = tl.dot(da.load([0, k]), y, acc)
    tl.store(c + p * 4096 + r[:, None] * 64 + r[None, :], acc)
# SPDX-License-Identifier: Apache-2.0
