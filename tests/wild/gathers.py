"""Tiles whose rows, columns or both are picked by numbers from memory: experts, paged caches, embeddings."""
import triton
import triton.language as tl


# check: a=randn:bf16[40,128] b=randn:bf16[4,96,128] c=zeros:bf16[80,96] weights=rand:f32[80] token_ids=arange:i32[192] expert_ids=randint(4):i32[3] padded=full(150):i32[1] N=96 K=128 valid=80 stride_am=128 stride_be=12288 stride_bn=128 stride_cm=96 BM=64 BN=64 BK=32 GROUP=2 top_k=2 MUL=True --grid 6
# check: a=randn:bf16[80,256] b=randn:bf16[3,128,256] c=zeros:bf16[80,128] weights=rand:f32[80] token_ids=arange:i32[256] expert_ids=randint(3):i32[2] padded=full(256):i32[1] N=128 K=256 valid=80 stride_am=256 stride_be=32768 stride_bn=256 stride_cm=128 BM=128 BN=128 BK=64 GROUP=8 top_k=1 MUL=False --grid 2 --set num_warps=8
# check: a=randn:f16[40,100] b=randn:f16[3,70,100] c=zeros:f16[80,70] weights=rand:f32[80] token_ids=arange:i32[64] expert_ids=randint(3):i32[4] padded=full(33):i32[1] N=70 K=100 valid=80 stride_am=100 stride_be=7000 stride_bn=100 stride_cm=70 BM=16 BN=64 BK=64 GROUP=1 top_k=2 MUL=True --grid 8
# explain: no : index:
# explain: is indexed by numbers from token_ids, where its mask holds; outside 0; contiguous
@triton.jit
def experts(a, b, c, weights, token_ids, expert_ids, padded, N, K, valid, stride_am, stride_be, stride_bn, stride_cm, BM: tl.constexpr, BN: tl.constexpr,
            BK: tl.constexpr, GROUP: tl.constexpr, MUL: tl.constexpr, top_k: tl.constexpr):
    pid = tl.program_id(0)
    total = tl.load(padded)
    rows = tl.cdiv(total, BM)
    columns = tl.cdiv(N, BN)
    in_group = GROUP * columns
    first = pid // in_group * GROUP
    size = min(rows - first, GROUP)
    pm = first + (pid % in_group) % size
    pn = (pid % in_group) // size
    if pm * BM >= total:
        return
    place = pm * BM + tl.arange(0, BM).to(tl.int64)
    token = tl.load(token_ids + place)
    real = token < valid
    rn = (pn * BN + tl.arange(0, BN).to(tl.int64)) % N
    rk = tl.arange(0, BK)
    a_at = a + (token[:, None] // top_k * stride_am + rk[None, :])
    expert = tl.load(expert_ids + pm).to(tl.int64)
    b_at = b + expert * stride_be + (rk[:, None] + rn[None, :] * stride_bn)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(a_at, mask=real[:, None] & (rk[None, :] < K - k * BK), other=0.0)
        y = tl.load(b_at, mask=rk[:, None] < K - k * BK, other=0.0)
        acc += tl.dot(x, y)
        a_at += BK
        b_at += BK
    if MUL:
        weight = tl.load(weights + token, mask=real, other=0)
        acc = acc * weight[:, None]
    rc = pn * BN + tl.arange(0, BN)
    at = c + stride_cm * token[:, None] + rc[None, :]
    tl.store(at, acc.to(c.dtype.element_ty), mask=real[:, None] & (rc[None, :] < N))


# check: q=randn:bf16[100,4,64] k=randn:bf16[12,16,2,64] v=randn:bf16[12,16,2,64] o=zeros:bf16[100,4,64] table=randint(12):i32[2,8] starts=arange:i32[3] lengths=full(97):i32[2] scale=0.18 H=4 G=2 PAGE=16 D=64 BM=64 BN=32 EACH=50 --grid 2,4,1
# check: q=randn:f16[200,2,128] k=randn:f16[5,64,1,128] v=randn:f16[5,64,1,128] o=zeros:f16[200,2,128] table=randint(5):i32[2,8] starts=arange:i32[3] lengths=full(300):i32[2] scale=0.13 H=2 G=2 PAGE=64 D=128 BM=128 BN=64 EACH=100 --grid 2,2,1 --set num_warps=8
# explain: no : index:
# explain: is indexed by numbers from table, where its mask holds; outside 0; transposed; contiguous
@triton.jit
def paged_prefill(q, k, v, o, table, starts, lengths, scale, H, G, PAGE: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
                  EACH: tl.constexpr):
    sequence = tl.program_id(0)
    head = tl.program_id(1)
    block = tl.program_id(2)
    start = tl.load(starts + sequence) * EACH
    queries = tl.load(starts + sequence + 1) * EACH - start
    length = tl.load(lengths + sequence)
    before = length - queries
    if block * BM >= queries:
        return
    rm = block * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    tile = tl.load(q + (start + rm)[:, None] * H * D + head * D + rd[None, :], mask=rm[:, None] < queries, other=0.0)
    heads = H // G
    kv = head // G
    m = tl.zeros([BM], tl.float32) - float("inf")
    l = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    last = tl.minimum(length, before + (block + 1) * BM)
    for n in range(0, last, BN):
        rn = n + tl.arange(0, BN)
        page = tl.load(table + sequence * 8 + rn // PAGE, mask=rn < length, other=0).to(tl.int64)
        slot = page * PAGE + rn % PAGE
        kt = tl.load(k + slot[None, :] * heads * D + kv * D + rd[:, None], mask=rn[None, :] < length, other=0.0)
        s = tl.dot(tile, kt) * scale
        s = tl.where((before + rm[:, None] >= rn[None, :]) & (rn[None, :] < length), s, -1.0e30)
        peak = tl.maximum(m, tl.max(s, 1))
        p = tl.math.exp2(s - peak[:, None])
        alpha = tl.math.exp2(m - peak)
        l = l * alpha + tl.sum(p, 1)
        vt = tl.load(v + slot[:, None] * heads * D + kv * D + rd[None, :], mask=rn[:, None] < length, other=0.0)
        acc = acc * alpha[:, None] + tl.dot(p.to(vt.dtype), vt)
        m = peak
    tl.store(o + (start + rm)[:, None] * H * D + head * D + rd[None, :], (acc / l[:, None]).to(o.dtype.element_ty), mask=rm[:, None] < queries)


# check: q=randn:f16[2,32,128] k=randn:f16[9,16,2,128] v=randn:f16[9,16,2,128] part=zeros:f32[2,32,2,128] peaks=zeros:f32[2,32,2] sums=zeros:f32[2,32,2] table=randint(9):i32[2,8] lengths=randint(128):i32[2] scale=0.1 HEADS=2 SPLITS=2 PAGE=16 D=128 BH=16 BN=32 --grid 2,2,2 --tolerance 0.004
# check: q=randn:bf16[2,16,64] k=randn:bf16[9,64,1,64] v=randn:bf16[9,64,1,64] part=zeros:f32[2,16,4,64] peaks=zeros:f32[2,16,4] sums=zeros:f32[2,16,4] table=randint(9):i32[2,8] lengths=randint(400):i32[2] scale=0.2 HEADS=1 SPLITS=4 PAGE=64 D=64 BH=16 BN=64 --grid 2,1,4 --set num_stages=4 --tolerance 0.004
# explain: no : index:
# explain: is indexed by numbers from table
@triton.jit
def paged_decode(q, k, v, part, peaks, sums, table, lengths, scale, HEADS: tl.constexpr, SPLITS: tl.constexpr, PAGE: tl.constexpr, D: tl.constexpr,
                 BH: tl.constexpr, BN: tl.constexpr):
    sequence = tl.program_id(0)
    kv = tl.program_id(1)
    split = tl.program_id(2)
    length = tl.load(lengths + sequence)
    each = tl.cdiv(tl.cdiv(length, SPLITS), BN) * BN
    first = each * split
    last = tl.minimum(first + each, length)
    rh = kv * BH + tl.arange(0, BH)
    rd = tl.arange(0, D)
    tile = tl.load(q + sequence * HEADS * BH * D + rh[:, None] * D + rd[None, :])
    m = tl.zeros([BH], tl.float32) - 1.0e30
    l = tl.zeros([BH], tl.float32)
    acc = tl.zeros([BH, D], tl.float32)
    for n in range(first, last, BN):
        rn = n + tl.arange(0, BN)
        page = tl.load(table + sequence * 8 + rn // PAGE, mask=rn < last, other=0)
        slot = page * PAGE + rn % PAGE
        kt = tl.load(k + slot[None, :] * HEADS * D + kv * D + rd[:, None], mask=rn[None, :] < last, other=0.0)
        s = tl.dot(tile, kt) * scale
        s = tl.where(rn[None, :] < last, s, -1.0e30)
        vt = tl.load(v + slot[:, None] * HEADS * D + kv * D + rd[None, :], mask=rn[:, None] < last, other=0.0)
        peak = tl.maximum(m, tl.max(s, 1))
        p = tl.exp(s - peak[:, None])
        alpha = tl.exp(m - peak)
        acc = acc * alpha[:, None] + tl.dot(p.to(vt.dtype), vt)
        l = l * alpha + tl.sum(p, 1)
        m = peak
    row = (sequence * HEADS * BH + rh) * SPLITS + split
    tl.store(part + row[:, None] * D + rd[None, :], acc)
    tl.store(peaks + row, m)
    tl.store(sums + row, l)


# check: a=randn:bf16[128,64] b=randn:bf16[64,256] to=arange:i64[128] c=zeros:bf16[128,256] n=256 K=64 BM=128 BN=256 BK=32 --grid 1,1 --set num_warps=8
# check: a=randn:bf16[256,96] b=randn:bf16[96,512] to=arange:i64[256] c=zeros:bf16[256,512] n=512 K=96 BM=128 BN=256 BK=32 --grid 2,2
# check: a=randn:f16[64,96] b=randn:f16[96,64] to=arange:i32[64] c=zeros:f16[64,64] n=64 K=96 BM=64 BN=64 BK=32 --grid 1,1 --set num_warps=1
# explain: no : index:
# explain: store: box
# explain: is indexed by numbers from to; contiguous
@triton.jit
def gathered_tile(a, b, to, c, n, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :])
        y = tl.load(b + (k + rk)[:, None] * n + rn[None, :])
        acc = tl.dot(x, y, acc)
    row = tl.load(to + rm).to(tl.int64)
    tl.store(c + row[:, None] * n + rn[None, :], acc.to(c.dtype.element_ty))


# check: a=randn:bf16[300,128] b=randn:bf16[128,128] rows=randint(300):i32[256] c=zeros:bf16[256,128] N=128 K=128 BM=128 BN=128 BK=64 --grid 2,1 --set num_warps=8
# check: a=randn:f16[50,96] b=randn:f16[96,64] rows=randint(60):i64[100] c=zeros:f16[100,64] N=64 K=96 BM=64 BN=64 BK=32 --grid 2,1
# check: a=randn:f32[50,70] b=randn:f32[70,50] rows=randint(60):i32[100] c=zeros:f32[100,50] N=50 K=70 BM=32 BN=32 BK=32 --grid 4,2 --set num_stages=2
# explain: no : index:
@triton.jit
def picked_rows(a, b, rows, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    row = tl.load(rows + rm, mask=rm < 100, other=0)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + row[:, None] * K + (k + rk)[None, :], mask=(row[:, None] < 50) & ((k + rk)[None, :] < K), other=0.0)
        y = tl.load(b + (k + rk)[:, None] * N + rn[None, :], mask=((k + rk)[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty), mask=(rm[:, None] < 100) & (rn[None, :] < N))


# check: x=randn:f32[64,128] places=randint(500):i32[64,128] out=zeros:f32[64,128] table=randn:f32[500] n=128 BM=32 BN=64 --grid 2,2
# check: x=randn:f16[64,128] places=randint(500):i64[64,128] out=zeros:f16[64,128] table=randn:f16[500] n=128 BM=64 BN=128 --grid 1,1 --set num_warps=8
# explain: no : index:
@triton.jit
def picked_elements(x, places, out, table, n, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    at = rm[:, None] * n + rn[None, :]
    place = tl.load(places + at)
    value = tl.load(x + at)
    far = tl.load(table + place, mask=place > 10, other=0.0)
    tl.store(out + (rm[:, None] // 2 * 2 + 1 - rm[:, None] % 2) * n + rn[None, :], value + far)


# check: x=randn:f16[300,200] rows=randint(300):i32[128] columns=randint(200):i32[64] w=randn:f16[64,32] out=zeros:f32[128,32] stride=200 BM=64 BK=16 --grid 2
# check: x=randn:f16[300,200] rows=randint(300):i64[128] columns=randint(200):i64[64] w=randn:f16[64,32] out=zeros:f32[128,32] stride=200 BM=128 BK=64 --grid 1 --set num_warps=8
# explain: no : index:
# explain: dimension 1 is indexed by numbers from columns
@triton.jit
def both_picked(x, rows, columns, w, out, stride, BM: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rk = tl.arange(0, BK)
    rn = tl.arange(0, 32)
    row = tl.load(rows + rm)
    acc = tl.zeros((BM, 32), dtype=tl.float32)
    for k in range(0, 64, BK):
        column = tl.load(columns + k + rk)
        a = tl.load(x + row[:, None] * stride + column[None, :], mask=(row[:, None] + column[None, :]) % 7 != 3, other=1.0)
        b = tl.load(w + (k + rk)[:, None] * 32 + rn[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(out + rm[:, None] * 32 + rn[None, :], acc)


# check: x=randn:f16[100,64] steps=randint(3):i32[4,64] w=randn:f16[256,32] out=zeros:f32[64,32] BM=64 --grid 1
# check: x=randn:f16[100,64] steps=randint(3):i32[4,64] w=randn:f16[256,32] out=zeros:f32[64,32] BM=64 --grid 1 --set num_warps=8
# explain: no : index:
@triton.jit
def rows_that_wander(x, steps, w, out, BM: tl.constexpr):
    rm = tl.arange(0, BM)
    rk = tl.arange(0, 64)
    rn = tl.arange(0, 32)
    at = x + rm[:, None] * 64 + rk[None, :]
    acc = tl.zeros((BM, 32), dtype=tl.float32)
    for k in range(4):
        a = tl.load(at)
        b = tl.load(w + (k * 64 + rk)[:, None] * 32 + rn[None, :])
        acc = tl.dot(a, b, acc)
        at += tl.load(steps + k * BM + rm)[:, None] * 64
    tl.store(out + rm[:, None] * 32 + rn[None, :], acc)


# check: a=randn:f16[64,64] b=randn:f16[64,64] places=arange:i32[64,64] out=zeros:f16[4096] BM=64 --grid 1
# check: a=randn:f16[64,64] b=randn:f16[64,64] places=arange:i64[64,64] out=zeros:f32[4096] BM=32 --grid 2 --set num_warps=8
# explain: no : index:
@triton.jit
def scattered_product(a, b, places, out, BM: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    r = tl.arange(0, 64)
    x = tl.load(a + rm[:, None] * 64 + r[None, :])
    y = tl.load(b + r[:, None] * 64 + r[None, :])
    place = tl.load(places + rm[:, None] * 64 + r[None, :])
    tl.store(out + place, tl.dot(x, y).to(out.dtype.element_ty), mask=place % 3 != 1)


# check: x=randn:f32[64,128] y=randn:f16[64,128] out=zeros:f16[64,128] n=128 BM=32 BN=64 --grid 2,2
# explain: : index: a tile of masks is moved between threads
@triton.jit
def kept_elements(x, y, out, n, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    at = rm[:, None] * n + rn[None, :]
    kept = tl.load(x + at) > 0
    tl.store(out + at, tl.load(y + at, mask=kept, other=2.0))


# check: x=randint(9):i32[40,96] index=randint(7):i32[40] out=zeros:i32[7,96] n=40 c=96 BM=16 BC=64 --grid 3,2
# check: x=randn:f32[40,96] index=randint(7):i32[40] out=zeros:f32[7,96] n=40 c=96 BM=16 BC=64 --grid 3,2 --set num_warps=8 --tolerance 1e-5
# explain: : atomic: box
@triton.jit
def chosen_added(x, index, out, n, c, BM: tl.constexpr, BC: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BC + tl.arange(0, BC)
    inside = (rows < n)[:, None] & (cols < c)[None, :]
    v = tl.load(x + rows[:, None] * c + cols[None, :], mask=inside, other=0)
    to = tl.load(index + rows, mask=rows < n, other=0)
    tl.atomic_add(out + to[:, None] * c + cols[None, :], v, mask=inside & (v > 2))
# SPDX-License-Identifier: Apache-2.0


# check: x=randn:f16[2,64,8] codes=randint(64):i32[48,13,2] y=zeros:f32[48,13,8] last=randn:f32[700,8] width=8 GROUPS=13 ROUNDED=16 BOOKS=2 SIZE=64 --grid 48
# check: x=randn:f16[4,32,16] codes=randint(32):i32[20,8,4] y=zeros:f32[20,8,16] last=randn:f32[300,16] width=16 GROUPS=8 ROUNDED=8 BOOKS=4 SIZE=32 --grid 20
# explain: load: box f16[
# explain: store: box f32[
# explain: no stays a gather
@triton.jit
def books(x, codes, y, last, width, GROUPS: tl.constexpr, ROUNDED: tl.constexpr, BOOKS: tl.constexpr, SIZE: tl.constexpr):
    """Sums of a row of each of several tables; and rows that are written where numbers of two axes say."""
    pid = tl.program_id(0)
    groups = tl.arange(0, ROUNDED)
    book = tl.arange(0, BOOKS)[None, :]
    there = groups < GROUPS
    code = tl.load(codes + pid * GROUPS * BOOKS + groups[:, None] * BOOKS + book, mask=there[:, None], other=0) + book * SIZE
    W: tl.constexpr = 8 if BOOKS == 2 else 16
    columns = tl.arange(0, W)
    rows = tl.load(x + code[:, :, None] * W + columns[None, None, :], mask=there[:, None, None], other=0)
    tl.store(y + pid * GROUPS * W + groups[:, None] * W + columns[None, :], tl.sum(rows.to(tl.float32), 1), mask=there[:, None])
    if pid == 0:
        tl.store(last + code[:, :, None] * width + columns[None, None, :], code[:, :, None].to(tl.float32) + columns[None, None, :], mask=there[:, None, None])
