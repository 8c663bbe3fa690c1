"""Sums that are added to memory: rows that an index picks, parts of a product; nobody reads what was there."""
import triton
import triton.language as tl


# check: x=randn:f32[100,72] out=zeros:f32[30,72] rows=randint(30):i32[100] n=100 C=72 BM=32 BC=128 --grid 4 --tolerance 1e-5
# check: x=randn:f32[64,256] out=zeros:f32[8,256] rows=randint(8):i32[64] n=64 C=256 BM=64 BC=256 --grid 1 --tolerance 1e-5
# explain: atomic: vectors of 16 bytes
@triton.jit
def add_rows(x, out, rows, n, C, BM: tl.constexpr, BC: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.arange(0, BC)
    to = tl.load(rows + row, mask=row < n, other=0)
    seen = (row < n)[:, None] & (column < C)[None, :]
    value = tl.load(x + row[:, None] * C + column[None, :], mask=seen, other=0.0)
    tl.atomic_add(out + to[:, None] * C + column[None, :], value, mask=seen)


# check: x=randn:f16[32,64] out=zeros:f16[40,64] rows=arange:i32[32] C=64 BM=32 BC=64 --grid 1
# check: x=randn:bf16[32,128] out=zeros:bf16[40,128] rows=arange:i32[32] C=128 BM=32 BC=128 --grid 1 --set num_warps=8
# explain: atomic: vectors of 16 bytes
@triton.jit
def add_short_rows(x, out, rows, C: tl.constexpr, BM: tl.constexpr, BC: tl.constexpr):
    row = tl.arange(0, BM)
    column = tl.arange(0, BC)
    value = tl.load(x + row[:, None] * C + column[None, :])
    tl.atomic_add(out + tl.load(rows + row)[:, None] * C + column[None, :], value, sem="relaxed")


# check: a=randn:f16[128,256] b=randn:f16[256,64] c=zeros:f32[128,64] M=128 N=64 K=256 BM=64 BN=64 BK=32 PARTS=4 --grid 2,4 --tolerance 1e-4
# check: a=randn:bf16[100,128] b=randn:bf16[128,72] c=zeros:f32[100,72] M=100 N=72 K=128 BM=64 BN=128 BK=64 PARTS=2 --grid 2,2 --tolerance 1e-4
# explain: atomic: vectors of
@triton.jit
def split_product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PARTS: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rk = tl.arange(0, BK)
    each = K // PARTS
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(tl.program_id(1) * each, tl.program_id(1) * each + each, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :], mask=rm[:, None] < M, other=0.0)
        y = tl.load(b + (k + rk)[:, None] * N + rn[None, :], mask=rn[None, :] < N, other=0.0)
        acc = tl.dot(x, y, acc)
    tl.atomic_add(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))
# SPDX-License-Identifier: Apache-2.0
