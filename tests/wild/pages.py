"""Loops without products whose loads find their places in memory: the way to memory is twice as long there."""
import triton
import triton.language as tl


# check: pool=randn:f32[9,16,64] table=randint(9):i32[2,6] out=zeros:f32[2,64] lengths=randint(7):i32[2] PAGE=16 D=64 MOST=6 --grid 2
# check: pool=randn:f16[9,32,128] table=randint(9):i32[3,6] out=zeros:f32[3,128] lengths=zeros:i32[3] PAGE=32 D=128 MOST=6 --grid 3 --set num_stages=4
# explain: execution: skew
@triton.jit
def sum_of_pages(pool, table, out, lengths, PAGE: tl.constexpr, D: tl.constexpr, MOST: tl.constexpr):
    s = tl.program_id(0)
    rp = tl.arange(0, PAGE)
    rd = tl.arange(0, D)
    acc = tl.zeros((D,), tl.float32)
    for i in range(tl.load(lengths + s)):
        page = tl.load(table + s * MOST + i)
        tile = tl.load(pool + page * PAGE * D + rp[:, None] * D + rd[None, :])
        acc += tl.sum(tile.to(tl.float32), 0)
    tl.store(out + s * D + rd, acc)


# check: pool=randn:f32[12,1024] following=randint(12):i32[12] out=zeros:f32[2,1024] n=7 --grid 2
# check: pool=randn:f32[12,1024] following=randint(12):i32[12] out=zeros:f32[2,1024] n=0 --grid 2 --set num_warps=8
# explain: execution: skew
@triton.jit
def chain_of_pages(pool, following, out, n):
    s = tl.program_id(0)
    r = tl.arange(0, 1024)
    acc = tl.zeros((1024,), tl.float32)
    at = s
    for _ in range(n):
        acc = acc * 0.5 + tl.load(pool + at * 1024 + r)
        at = tl.load(following + at)
    tl.store(out + s * 1024 + r, acc)


# check: a=randn:f32[12,512] b=randn:f32[8,512] ids=randint(12):i32[8] out=zeros:f32[8,512] n=8 --grid 1
# explain: execution: skew
@triton.jit
def rows_by_number(a, b, ids, out, n):
    r = tl.arange(0, 512)
    for t in range(n):
        i = tl.load(ids + t)
        x = tl.load(a + i * 512 + r)
        y = tl.load(b + t * 512 + r)
        if i % 3 != 0:
            y += tl.load(b + i % 8 * 512 + r)
        tl.store(out + t * 512 + r, x * y)


# check: q=randn:f16[2,4,64] k=randn:f16[20,16,64] v=randn:f16[20,16,64] o=zeros:f32[2,4,64] table=randint(20):i32[2,8] lengths=randint(128):i32[2] scale=0.18 --grid 2,4 --tolerance 0.004
# check: q=randn:f16[2,4,64] k=randn:f16[20,16,64] v=randn:f16[20,16,64] o=zeros:f32[2,4,64] table=randint(20):i32[2,8] lengths=full(16):i32[2] scale=0.18 --grid 2,4 --set num_stages=2 --tolerance 0.004
# explain: execution: skew
@triton.jit
def decode_page_by_page(q, k, v, o, table, lengths, scale):
    s = tl.program_id(0)
    h = tl.program_id(1)
    length = tl.load(lengths + s)
    rp = tl.arange(0, 16)
    rd = tl.arange(0, 64)
    one = tl.load(q + (s * 4 + h) * 64 + rd).to(tl.float32)
    peak = -1.0e30
    total = 0.0
    acc = tl.zeros((64,), tl.float32)
    for i in range(tl.cdiv(length, 16)):
        page = tl.load(table + s * 8 + i)
        kt = tl.load(k + page * 1024 + rp[:, None] * 64 + rd[None, :])
        vt = tl.load(v + page * 1024 + rp[:, None] * 64 + rd[None, :])
        score = tl.sum(kt.to(tl.float32) * one[None, :], 1) * scale
        score = tl.where(i * 16 + rp < length, score, -1.0e30)
        now = tl.maximum(peak, tl.max(score, 0))
        weight = tl.exp(score - now)
        alpha = tl.exp(peak - now)
        total = total * alpha + tl.sum(weight, 0)
        acc = acc * alpha + tl.sum(weight[:, None] * vt.to(tl.float32), 0)
        peak = now
    tl.store(o + (s * 4 + h) * 64 + rd, acc / total)
# SPDX-License-Identifier: Apache-2.0
