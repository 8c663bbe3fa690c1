"""Rows picked by data in loops whose loads run ahead: which of them may, and that they bring what the loop would have read."""
import triton
import triton.language as tl


# check: a=randn:f16[40,128] b=randn:f16[128,64] c=zeros:f32[64,64] rows=randint(40):i32[64] K=128 BM=64 BN=64 BK=32 --grid 1
# check: a=randn:f16[40,128] b=randn:f16[128,64] c=zeros:f32[64,64] rows=randint(40):i32[64] K=0 BM=64 BN=64 BK=32 --grid 1
# check: a=randn:bf16[40,136] b=randn:bf16[136,64] c=zeros:f32[128,64] rows=randint(40):i32[128] K=136 BM=128 BN=64 BK=64 --grid 1 --set num_warps=8
# explain: by cp.async
@triton.jit
def chosen_twice(a, b, c, rows, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The same row may be picked many times; and there may be no trip."""
    row = tl.load(rows + tl.arange(0, BM))
    rn = tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + row[:, None] * K + (k + rk)[None, :], mask=(k + rk)[None, :] < K, other=0.0)
        y = tl.load(b + (k + rk)[:, None] * BN + rn[None, :], mask=(k + rk)[:, None] < K, other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(c + tl.arange(0, BM)[:, None] * BN + rn[None, :], acc)


# check: a=randn:f16[64,64] b=randn:f16[64,64] c=zeros:f32[64,64] rows=arange:i32[64] trips=4 --grid 1
# explain: stays in compute: its place, or whether it happens, is computed from data, or read where the kernel writes
@triton.jit
def order_that_changes(a, b, c, rows, trips):
    """The rows are moved on by the loop itself: nobody can read them ahead."""
    r = tl.arange(0, 64)
    acc = tl.zeros((64, 64), dtype=tl.float32)
    for _ in range(trips):
        row = tl.load(rows + r)
        x = tl.load(a + row[:, None] * 64 + r[None, :])
        y = tl.load(b + r[:, None] * 64 + r[None, :])
        acc = tl.dot(x, y, acc)
        tl.debug_barrier()
        tl.store(rows + r, (row + 7) % 64)
        tl.debug_barrier()
    tl.store(c + r[:, None] * 64 + r[None, :], acc)


# check: a=randn:f16[300,64] b=randn:f16[64,64] c=zeros:f32[64,64] table=randint(18):i32[16] first=1 last=9 --grid 1
# check: a=randn:f16[300,64] b=randn:f16[64,64] c=zeros:f32[64,64] table=randint(18):i32[16] first=5 last=5 --grid 1
# explain: by cp.async
@triton.jit
def pages(a, b, c, table, first, last):
    """Pages of 16 rows by a table that is read in the loop; those behind the last are not there."""
    r = tl.arange(0, 64)
    acc = tl.zeros((64, 64), dtype=tl.float32)
    y = tl.load(b + r[:, None] * 64 + r[None, :])
    for n in range(first, last, 4):
        at = n + r // 16
        page = tl.load(table + at, mask=at < last, other=0)
        x = tl.load(a + (page * 16 + r % 16)[:, None] * 64 + r[None, :], mask=(at < last)[:, None], other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(c + r[:, None] * 64 + r[None, :], acc)


# check: a=randn:f16[70,64] b=randn:f16[64,64] c=zeros:f32[64,64] rows=randint(70):i32[128] n=2 --grid 1
# check: a=randn:f16[70,64] b=randn:f16[64,64] c=zeros:f32[64,64] rows=randint(70):i32[128] n=0 --grid 1
@triton.jit
def two_kinds(a, b, c, rows, n):
    """Rows by numbers first, then rows in a row: two loops over the same arrays."""
    r = tl.arange(0, 64)
    acc = tl.zeros((64, 64), dtype=tl.float32)
    for i in range(n):
        row = tl.load(rows + i * 64 + r)
        x = tl.load(a + row[:, None] * 64 + r[None, :])
        y = tl.load(b + r[:, None] * 64 + r[None, :])
        acc = tl.dot(x, y, acc)
    for i in range(3):
        x = tl.load(a + (i + r)[:, None] * 64 + r[None, :])
        y = tl.load(b + r[:, None] * 64 + r[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + r[:, None] * 64 + r[None, :], acc)


# check: a=randn:f16[70,64] b=randn:f16[64,64] c=zeros:f16[64,64] rows=randint(70):i32[64] flag=1 n=3 --grid 1
# check: a=randn:f16[70,64] b=randn:f16[64,64] c=zeros:f16[64,64] rows=randint(70):i32[64] flag=0 n=3 --grid 1
@triton.jit
def rows_of_results(a, b, c, rows, flag, n):
    """The next trip's rows follow from a product: they stay where it is."""
    r = tl.arange(0, 64)
    row = tl.load(rows + r)
    acc = tl.zeros((64, 64), dtype=tl.float32)
    for i in range(n):
        x = tl.load(a + row[:, None] * 64 + r[None, :])
        y = tl.load(b + r[:, None] * 64 + r[None, :])
        acc = tl.dot(x, y, acc)
        if flag:
            row = (tl.max(acc, axis=1) > 0).to(tl.int32) + i
    tl.store(c + r[:, None] * 64 + r[None, :], acc.to(tl.float16))
# SPDX-License-Identifier: Apache-2.0
