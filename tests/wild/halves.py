"""Rows of narrow numbers: parts of a tile beyond every row, numbers stored as wider ones, 16-bit sums and products, single bits."""
import triton
import triton.language as tl


# check: a=randn:bf16[3,688] b=randn:bf16[3,688] c=empty:bf16[3,688] N=688 stride=688 BLOCK=2048 --grid 3
# check: a=randn:bf16[3,40] b=randn:bf16[3,40] c=empty:bf16[3,40] N=40 stride=40 BLOCK=1024 --grid 3
@triton.jit
def gated(a, b, c, stride, N: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * stride
    cols = tl.arange(0, BLOCK)
    x = tl.load(a + row + cols, mask=cols < N, other=0).to(tl.float32)
    y = tl.load(b + row + cols, mask=cols < N, other=2)
    tl.store(c + row + cols, (x * tl.sigmoid(x)).to(y.dtype) * y, mask=cols < N)


# check: x=randn:f8e4m3[100,144] s=rand:f32[2,2] y=empty:f32[100,144] M=100 N=144 B=64 --grid 2,3
# check: x=randn:bf16[100,141] s=rand:f32[2,2] y=empty:f32[100,141] M=100 N=141 B=64 --grid 2,3
# check: x=randint(100):i8[70,128] s=rand:f32[2,2] y=empty:f32[70,128] M=70 N=128 B=64 --grid 2,2
@triton.jit
def widened(x, s, y, M, N, B: tl.constexpr):
    rows = tl.program_id(0) * B + tl.arange(0, B)
    cols = tl.program_id(1) * B + tl.arange(0, B)
    at = rows[:, None] * N + cols[None, :]
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    scale = tl.load(s + tl.program_id(0) * 2)
    tl.store(y + at, tl.load(x + at, mask=inside).to(tl.float32) * scale, mask=inside)


# check: x=randn:bf16[3,500] y=empty:bf16[3,500] s=empty:bf16[3] N=500 BLOCK=512 --grid 3
@triton.jit
def powers(x, y, s, N, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * N + cols, mask=cols < N, other=0.0)
    square = v * v
    tl.store(y + tl.program_id(0) * N + cols, square * v, mask=cols < N)
    tl.store(s + tl.program_id(0), tl.max(square * square, axis=0))


# check: x=randint(127):u8[600] y=empty:i32[600] N=600 BLOCK=512 --grid 2
# check: x=randint(127):i8[600] y=empty:i32[600] N=600 BLOCK=512 --grid 2
# check: x=randint(2147483647):i32[600] y=empty:i32[600] N=600 BLOCK=512 --grid 2
@triton.jit
def bits(x, y, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < N)
    found = tl.where((v & 4) == 4, 1, 0) + tl.where((v & 2) != 0, 2, 0) + tl.where((v & 8) == 0, 4, 0)
    found += tl.where((v & 16) != 16, 8, 0) + tl.where((v & 6) == 2, 16, 0) + tl.where((v & 64) == 64, 32, 0)
    tl.store(y + at, found, mask=at < N)
# SPDX-License-Identifier: Apache-2.0
