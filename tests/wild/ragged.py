"""Products whose trips, blocks and branches come from data: ragged batches, sparse blocks, splits, loops in branches."""
import triton
import triton.language as tl


# check: a=randn:f16[64,256] b=randn:f16[256,64] flags=randint(3):i32[8] c=zeros:f32[64,64] n=8 cut=1 --grid 1
# check: a=randn:f16[64,256] b=randn:f16[256,64] flags=zeros:i32[8] c=zeros:f32[64,64] n=0 cut=0 --grid 1 --set num_stages=4
@triton.jit
def nested(a, b, flags, c, n, cut):
    r = tl.arange(0, 64)
    rk = tl.arange(0, 32)
    acc = tl.zeros((64, 64), tl.float32)
    for k in range(n):
        f = tl.load(flags + k)
        if f > 0:
            x = tl.load(a + r[:, None] * 256 + (k * 32 + rk)[None, :])
            if f > cut:
                y = tl.load(b + (k * 32 + rk)[:, None] * 64 + r[None, :])
                acc = tl.dot(x, y, acc)
            else:
                acc += tl.sum(x.to(tl.float32), 1)[:, None]
    tl.store(c + r[:, None] * 64 + r[None, :], acc)


# check: a=randn:f16[300,64] b=randn:f16[3,64,64] starts=arange:i32[5] c=zeros:f16[300,64] each=70 --grid 5,3
# check: a=randn:f16[300,64] b=randn:f16[3,64,64] starts=zeros:i32[5] c=zeros:f16[300,64] each=70 --grid 5,3 --set num_warps=8
@triton.jit
def ragged(a, b, starts, c, each):
    e = tl.program_id(1)
    lo = tl.load(starts + e) * each
    hi = tl.load(starts + e + 1) * each
    m = tl.program_id(0)
    if lo + m * 64 < hi:
        r = tl.arange(0, 64)
        rk = tl.arange(0, 32)
        rows = lo + m * 64 + r
        acc = tl.zeros((64, 64), tl.float32)
        for k in range(0, 64, 32):
            x = tl.load(a + rows[:, None] * 64 + (k + rk)[None, :], mask=rows[:, None] < hi, other=0.0)
            y = tl.load(b + e * 4096 + (k + rk)[:, None] * 64 + r[None, :])
            acc = tl.dot(x, y, acc)
        tl.store(c + rows[:, None] * 64 + r[None, :], acc.to(tl.float16), mask=rows[:, None] < hi)


# check: a=randn:f16[32,512] b=randn:f16[512,32] bounds=arange:i32[5] c=zeros:f32[4,32,32] each=96 --grid 4
# check: a=randn:f16[32,512] b=randn:f16[512,32] bounds=zeros:i32[5] c=zeros:f32[4,32,32] each=96 --grid 4
@triton.jit
def split_k(a, b, bounds, c, each):
    s = tl.program_id(0)
    lo = tl.load(bounds + s) * each
    hi = tl.load(bounds + s + 1) * each
    r = tl.arange(0, 32)
    rk = tl.arange(0, 32)
    acc = tl.zeros((32, 32), tl.float32)
    for k in range(lo, hi, 32):
        x = tl.load(a + r[:, None] * 512 + (k + rk)[None, :], mask=(k + rk)[None, :] < hi, other=0.0)
        y = tl.load(b + (k + rk)[:, None] * 32 + r[None, :], mask=(k + rk)[:, None] < hi, other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(c + s * 1024 + r[:, None] * 32 + r[None, :], acc)


# check: a=randn:f16[64,256] b=randn:f16[256,64] rowptr=arange:i32[3] cols=randint(8):i32[8] c=zeros:f32[64,64] scale=3 --grid 2
@triton.jit
def block_sparse(a, b, rowptr, cols, c, scale):
    m = tl.program_id(0)
    r = tl.arange(0, 32)
    rn = tl.arange(0, 64)
    lo = tl.load(rowptr + m) * scale
    hi = tl.load(rowptr + m + 1) * scale
    acc = tl.zeros((32, 64), tl.float32)
    for i in range(lo, hi):
        j = tl.load(cols + i)
        x = tl.load(a + (m * 32 + r)[:, None] * 256 + (j * 32 + r)[None, :])
        y = tl.load(b + (j * 32 + r)[:, None] * 64 + rn[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + (m * 32 + r)[:, None] * 64 + rn[None, :], acc)


# check: a=randn:f16[64,128] b=randn:f16[128,64] c=zeros:f32[64,64] n=4 m=0 go=1 --grid 1
# check: a=randn:f16[64,128] b=randn:f16[128,64] c=zeros:f32[64,64] n=0 m=4 go=0 --grid 1
# check: a=randn:f16[64,128] b=randn:f16[128,64] c=zeros:f32[64,64] n=2 m=3 go=1 --grid 1 --set num_stages=2
@triton.jit
def loop_in_branch_then_loop(a, b, c, n, m, go):
    r = tl.arange(0, 64)
    rk = tl.arange(0, 32)
    acc = tl.zeros((64, 64), tl.float32)
    if go > 0:
        for k in range(n):
            acc = tl.dot(tl.load(a + r[:, None] * 128 + (k * 32 + rk)[None, :]), tl.load(b + (k * 32 + rk)[:, None] * 64 + r[None, :]), acc)
    else:
        for k in range(m):
            acc = tl.dot(tl.load(a + r[:, None] * 128 + (k * 32 + rk)[None, :]), tl.load(b + (k * 32 + rk)[:, None] * 64 + r[None, :]), acc * 0.5)
    for k in range(m):
        acc = tl.dot(tl.load(a + r[:, None] * 128 + (k * 32 + rk)[None, :]), tl.load(b + (k * 32 + rk)[:, None] * 64 + r[None, :]), acc)
    tl.store(c + r[:, None] * 64 + r[None, :], acc)


# check: a=randn:f16[4,32,64] b=randn:f16[64,32] flags=randint(2):i32[4] counts=randint(3):i32[4] c=zeros:f32[32,32] n=4 --grid 1
# check: a=randn:f16[4,32,64] b=randn:f16[64,32] flags=ones:i32[4] counts=zeros:i32[4] c=zeros:f32[32,32] n=4 --grid 1 --set num_warps=1
@triton.jit
def loop_in_branch_in_loop(a, b, flags, counts, c, n):
    r = tl.arange(0, 32)
    acc = tl.zeros((32, 32), tl.float32)
    for t in range(n):
        base = t * 2048
        if tl.load(flags + t) > 0:
            for k in range(tl.load(counts + t)):
                x = tl.load(a + base + r[:, None] * 64 + (k * 32 + r)[None, :])
                y = tl.load(b + (k * 32 + r)[:, None] * 32 + r[None, :])
                acc = tl.dot(x, y, acc)
        else:
            acc += 1.0
    tl.store(c + r[:, None] * 32 + r[None, :], acc)
# SPDX-License-Identifier: Apache-2.0
