"""Small loads beside products: scales, tables, decays; what may come a trip ahead, and what must not."""
import triton
import triton.language as tl


# check: a=randn:bf16[150,192] b=randn:bf16[100,192] sa=rand:f32[150,3] sb=rand:f32[3] c=zeros:bf16[150,100] M=150 N=100 K=192 BM=64 BN=128 BK=64 --grid 3,1
# check: a=randn:f8e4m3[64,384] b=randn:f8e4m3[128,384] sa=rand:f32[64,3] sb=rand:f32[3] c=zeros:bf16[64,128] M=64 N=128 K=384 BM=64 BN=128 BK=128 --grid 1,1
# check: a=randn:f16[16,40] b=randn:f16[24,40] sa=rand:f32[16,2] sb=rand:f32[2] c=zeros:f16[16,24] M=16 N=24 K=40 BM=16 BN=32 BK=32 --grid 1,1
# check: a=randn:f16[16,0] b=randn:f16[24,0] sa=rand:f32[16,0] sb=rand:f32[0] c=ones:f16[16,24] M=16 N=24 K=0 BM=16 BN=32 BK=32 --grid 1,1
# explain: fetched a trip ahead
# scales of rows and of groups: the arrays end with the last trip's
@triton.jit
def scaled(a, b, sa, sb, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    groups = tl.cdiv(K, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for g in range(groups):
        kk = g * BK + rk
        x = tl.load(a + rm[:, None] * K + kk[None, :], mask=(rm[:, None] < M) & (kk[None, :] < K), other=0.)
        y = tl.load(b + rn[None, :] * K + kk[:, None], mask=(rn[None, :] < N) & (kk[:, None] < K), other=0.)
        rows = tl.load(sa + rm * groups + g, mask=rm < M, other=0.)
        one = tl.load(sb + g)
        acc += tl.dot(x, y) * rows[:, None] * one
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


# check: a=randn:f16[64,96] b=randn:f16[96,64] order=randint(3):i32[7] scale=rand:f32[20] c=zeros:f32[64,64] first=1 last=7 BK=32 --grid 1,1
# check: a=randn:f16[64,96] b=randn:f16[96,64] order=randint(3):i32[7] scale=rand:f32[20] c=zeros:f32[64,64] first=5 last=5 BK=32 --grid 1,1
# check: a=randn:f16[64,96] b=randn:f16[96,64] order=randint(3):i32[7] scale=rand:f32[20] c=zeros:f32[64,64] first=6 last=2 BK=32 --grid 1,1
# explain: fetched a trip ahead
# trips of 2 that end beyond the last one, a number that is read from a table and leads to the tiles, one that leads on to the next load
@triton.jit
def led(a, b, order, scale, c, first, last, BK: tl.constexpr):
    r = tl.arange(0, 64)
    rk = tl.arange(0, BK)
    acc = tl.zeros((64, 64), tl.float32)
    for i in range(first, last, 2):
        k = tl.load(order + i) * BK
        s = tl.load(scale + k // 32 + i)
        x = tl.load(a + r[:, None] * 96 + (k + rk)[None, :])
        y = tl.load(b + (k + rk)[:, None] * 64 + r[None, :])
        acc += tl.dot(x, y) * s
    tl.store(c + r[:, None] * 64 + r[None, :], acc)


# check: a=randn:f16[64,128] b=randn:f16[128,64] s=rand:f32[5] c=zeros:f32[64,64] --grid 1,1
# explain: no fetched a trip ahead
# every trip writes what the next one reads
@triton.jit
def handed_on(a, b, s, c):
    r = tl.arange(0, 64)
    rk = tl.arange(0, 32)
    acc = tl.zeros((64, 64), tl.float32)
    for i in range(4):
        x = tl.load(a + r[:, None] * 128 + (i * 32 + rk)[None, :])
        y = tl.load(b + (i * 32 + rk)[:, None] * 64 + r[None, :])
        now = tl.load(s + i)
        acc += tl.dot(x, y) * now
        tl.debug_barrier()
        tl.store(s + i + 1, now * 0.5 + 1)
        tl.debug_barrier()
    tl.store(c + r[:, None] * 64 + r[None, :], acc)


# check: a=randn:f16[3,64,96] b=randn:f16[96,64] s=rand:f32[3,3] d=rand:f32[64] c=zeros:f32[64,64] n=2 m=3 --grid 1,1
# check: a=randn:f16[3,64,96] b=randn:f16[96,64] s=rand:f32[3,3] d=rand:f32[64] c=zeros:f32[64,64] n=0 m=3 --grid 1,1
# check: a=randn:f16[3,64,96] b=randn:f16[96,64] s=rand:f32[3,3] d=rand:f32[64] c=zeros:f32[64,64] n=3 m=0 --grid 1,1
# explain: fetched a trip ahead
# a loop in a loop: its first number lies behind the last one of the trip around it; a row that no trip changes
@triton.jit
def nested(a, b, s, d, c, n, m):
    r = tl.arange(0, 64)
    rk = tl.arange(0, 32)
    acc = tl.zeros((64, 64), tl.float32)
    for i in range(n):
        for j in range(m):
            x = tl.load(a + i * 64 * 96 + r[:, None] * 96 + (j * 32 + rk)[None, :])
            y = tl.load(b + (j * 32 + rk)[:, None] * 64 + r[None, :])
            acc += tl.dot(x, y) * tl.load(s + i * 3 + j) + tl.load(d + r)[:, None]
    tl.store(c + r[:, None] * 64 + r[None, :], acc)


# check: a=randn:f16[64,96] b=randn:f16[96,64] s=rand:f32[64,3] c=zeros:f32[64,64] n=3 last=50 --grid 1,1
# check: a=randn:f16[64,96] b=randn:f16[96,64] s=rand:f32[64,3] c=zeros:f32[64,64] n=0 last=50 --grid 1,1
# explain: fetched a trip ahead
# what fills a masked row follows from the trip too
@triton.jit
def filled(a, b, s, c, n, last):
    r = tl.arange(0, 64)
    rk = tl.arange(0, 32)
    acc = tl.zeros((64, 64), tl.float32)
    for i in range(n):
        x = tl.load(a + r[:, None] * 96 + (i * 32 + rk)[None, :])
        y = tl.load(b + (i * 32 + rk)[:, None] * 64 + r[None, :])
        rows = tl.load(s + r * 3 + i, mask=r < last, other=(i * 2 + 1).to(tl.float32))
        acc += tl.dot(x, y) * rows[:, None]
    tl.store(c + r[:, None] * 64 + r[None, :], acc)


# check: a=randn:f16[16,64] b=randn:f16[300,64] s=randn:f64[300] c=zeros:f32[16,64] n=300 BM=16 BN=128 --grid 1
# check: a=randn:f16[16,64] b=randn:f16[1,64] s=randn:f64[1] c=zeros:f32[16,64] n=1 BM=16 BN=128 --grid 1
# check: a=randn:f16[64,64] b=randn:f16[1,64] s=randn:f64[1] c=ones:f32[64,64] n=0 BM=64 BN=64 --grid 1
# a row that is large enough for a ring of its own is copied there, not carried by threads
@triton.jit
def wide_row(a, b, s, c, n, BM: tl.constexpr, BN: tl.constexpr):
    rm, rd = tl.arange(0, BM), tl.arange(0, 64)
    x = tl.load(a + rm[:, None] * 64 + rd[None, :])
    acc = tl.zeros((BM, 64), tl.float32)
    for at in range(0, n, BN):
        rn = at + tl.arange(0, BN)
        shift = tl.load(s + rn, mask=rn < n, other=0.)
        y = tl.load(b + rn[:, None] * 64 + rd[None, :], mask=rn[:, None] < n, other=0.)
        p = tl.where(rn[None, :] < n, tl.dot(x, y.T) - shift[None, :], 0.)
        acc = tl.dot(p.to(tl.float16), y, acc)
    tl.store(c + rm[:, None] * 64 + rd[None, :], acc)


# check: a=randn:f16[64,128] b=randn:f16[128,64] s=rand:f32[5] c=zeros:f32[256,64] --grid 1,1
# explain: fetched a trip ahead
# every trip is stored, to an array that is not the one of the scales: a launch with the same one runs another variant
@triton.jit
def stored(a, b, s, c):
    r = tl.arange(0, 64)
    rk = tl.arange(0, 32)
    acc = tl.zeros((64, 64), tl.float32)
    for i in range(4):
        x = tl.load(a + r[:, None] * 128 + (i * 32 + rk)[None, :])
        y = tl.load(b + (i * 32 + rk)[:, None] * 64 + r[None, :])
        now = tl.load(s + i)
        acc += tl.dot(x, y) * now
        tl.store(c + (i * 64 + r)[:, None] * 64 + r[None, :], acc)
# SPDX-License-Identifier: Apache-2.0
