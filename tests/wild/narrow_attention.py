"""Attention whose products take numbers of 8 bits: the left operand of the second is made of the first's sum, in other lanes."""
import triton
import triton.language as tl


@triton.jit
def walk(acc, l, m, q, k_ptr, v_ptr, rm, n, pitch, lo, hi, scale, D: tl.constexpr, BN: tl.constexpr, MASKED: tl.constexpr):
    rd = tl.arange(0, D)
    for start in range(lo, hi, BN):
        start = tl.multiple_of(start, BN)
        rn = start + tl.arange(0, BN)
        k = tl.load(k_ptr + rn[:, None] * D + rd[None, :], mask=rn[:, None] < n, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale
        if MASKED:
            s = tl.where(rm[:, None] >= rn[None, :], s, -float("inf"))
        s = tl.where(rn[None, :] < n, s, -float("inf"))
        peak = tl.maximum(m, tl.max(s, 1))
        p = tl.math.exp2(s - peak[:, None])
        alpha = tl.math.exp2(m - peak)
        l = l * alpha + tl.sum(p, 1)
        v = tl.load(v_ptr + rd[:, None] * pitch + rn[None, :], mask=rn[None, :] < n, other=0.0)
        acc = tl.dot(p.to(v.dtype), tl.trans(v), acc * alpha[:, None])
        m = peak
    return acc, l, m


# On a device the products of 8-bit floats are added with fewer bits than f32 has: a weight that lies between two numbers of 8 bits
# may come out as the one or the other.
# Whole blocks first, none of them for the first program; lengths that end inside a block; infinite and undefined scores.
# check: q=randn:f8e5m2[2,256,64] k=randn:f8e5m2[2,256,64] v=randn:f8e5m2[2,64,256] o=zeros:f32[2,256,64] n=256 pitch=256 scale=0.18 D=64 BM=128 BN=64 --grid 2,2
# check: q=randn:f8e4m3[2,200,128] k=randn:f8e4m3[2,200,128] v=randn:f8e4m3[2,128,208] o=zeros:f32[2,200,128] n=200 pitch=208 scale=0.13 D=128 BM=128 BN=128 --grid 2,2
# check: q=randn:f8e5m2[1,150,64] k=randn:f8e5m2[1,150,64] v=randn:f8e5m2[1,64,160] o=zeros:f32[1,150,64] n=150 pitch=160 scale=0.18 D=64 BM=64 BN=32 --grid 3,1
# check: q=randn:f8e4m3[1,130,64] k=randn:f8e4m3[1,130,64] v=randn:f8e4m3[1,64,131] o=zeros:f32[1,130,64] n=130 pitch=131 scale=0.18 D=64 BM=64 BN=64 --grid 3,1
# check: q=randn:f8e5m2[1,128,64] k=randn:f8e5m2[1,128,64] v=randn:f8e5m2[1,64,128] o=zeros:f32[1,128,64] n=128 pitch=128 scale=inf D=64 BM=64 BN=64 --grid 2,1
# explain: stays in flight under the next trip's arithmetic
# explain: of four bytes each
# device: --tolerance 0.05
@triton.jit
def small_floats(q, k, v, o, n, pitch, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    block = tl.program_id(0)
    head = tl.program_id(1)
    rm = block * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    base = head * n * D
    Q = tl.load(q + base + rm[:, None] * D + rd[None, :], mask=rm[:, None] < n, other=0.0)
    m = tl.full((BM,), -float("inf"), tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    acc, l, m = walk(acc, l, m, Q, k + base, v + head * D * pitch, rm, n, pitch, 0, block * BM, scale, D, BN, False)
    acc, l, m = walk(acc, l, m, Q, k + base, v + head * D * pitch, rm, n, pitch, block * BM, tl.minimum((block + 1) * BM, n), scale, D, BN, True)
    tl.store(o + base + rm[:, None] * D + rd[None, :], acc / l[:, None], mask=rm[:, None] < n)


# Scores in whole numbers, a scale a block of keys, heads that share their keys. A weight between two numbers of 16 bits may come out as either.
# check: q=randint(40):i8[4,256,64] k=randint(40):i8[2,256,64] v=randn:f16[2,256,64] o=zeros:f32[4,256,64] scales=rand:f32[2,4] n=256 G=2 D=64 BM=128 BN=64 --grid 2,4 --tolerance 5e-4
# check: q=randint(40):i8[1,330,64] k=randint(40):i8[1,330,64] v=randn:f16[1,330,64] o=zeros:f32[1,330,64] scales=rand:f32[1,6] n=330 G=1 D=64 BM=128 BN=64 --grid 3,1 --tolerance 5e-4
# check: q=randint(40):i8[4,100,64] k=randint(40):i8[2,100,64] v=randn:bf16[2,100,64] o=zeros:f32[4,100,64] scales=rand:f32[2,4] n=100 G=2 D=64 BM=64 BN=32 --grid 2,4 --tolerance 5e-4
# check: q=randint(40):i8[2,200,128] k=randint(40):i8[2,200,128] v=randn:f16[2,200,128] o=zeros:f32[2,200,128] scales=rand:f32[2,2] n=200 G=1 D=128 BM=128 BN=128 --grid 2,2 --tolerance 5e-4
# explain: stays in flight under the next trip's arithmetic
# explain: fetched a trip ahead
@triton.jit
def whole_scores(q, k, v, o, scales, n, G: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    block = tl.program_id(0)
    head = tl.program_id(1).to(tl.int64)
    rm = block * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    keys = head // G * n * D
    Q = tl.load(q + head * n * D + rm[:, None] * D + rd[None, :], mask=rm[:, None] < n, other=0)
    m = tl.full((BM,), -float("inf"), tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, n, BN):
        rn = start + tl.arange(0, BN)
        K = tl.load(k + keys + rn[:, None] * D + rd[None, :], mask=rn[:, None] < n, other=0)
        s = tl.dot(Q, tl.trans(K)).to(tl.float32) * (0.001 * tl.load(scales + head // G * tl.cdiv(n, BN) + start // BN))
        s = tl.where(rn[None, :] < n, s, -float("inf"))
        peak = tl.maximum(m, tl.max(s, 1))
        p = tl.math.exp2(s - peak[:, None])
        alpha = tl.math.exp2(m - peak)
        V = tl.load(v + keys + rn[:, None] * D + rd[None, :], mask=rn[:, None] < n, other=0.0)
        acc = tl.dot(p.to(V.dtype), V, acc * alpha[:, None])
        l = l * alpha + tl.sum(p, 1)
        m = peak
    tl.store(o + head * n * D + rm[:, None] * D + rd[None, :], acc / l[:, None], mask=rm[:, None] < n)


@triton.jit
def add_rounded(acc, l, m, Q, k, v, rm, rn, lo, hi, n, scale, D: tl.constexpr, BN: tl.constexpr, MASKED: tl.constexpr, SCALED: tl.constexpr):
    rd = tl.arange(0, D)
    for start in range(lo, hi, BN):
        at = start + rn
        K = tl.load(k + at[:, None] * D + rd[None, :], mask=at[:, None] < n, other=0.0)
        s = tl.dot(Q, tl.trans(K)).to(tl.float32) * scale
        s = tl.where(at[None, :] < n, s, -float("inf"))
        if MASKED:
            s = tl.where(rm[:, None] >= at[None, :], s, -float("inf"))
        peak = tl.maximum(m, tl.max(s, 1)) if SCALED else m
        p = tl.math.exp2(s - peak[:, None])
        alpha = tl.math.exp2(m - peak)
        V = tl.load(v + at[:, None] * D + rd[None, :], mask=at[:, None] < n, other=0.0)
        product = tl.dot(p.to(V.dtype), V, out_dtype=tl.float16).to(tl.float32)
        acc = tl.fma(acc, alpha[:, None], product) if SCALED else acc + product
        l = l * alpha + tl.sum(p, 1)
        m = peak
    return acc, l, m


# Sums that are rounded before they are added: each is added in the trip behind its own. No trip at all, one, several; infinities.
# check: q=randn:f16[2,256,64] k=randn:f16[2,256,64] v=randn:f16[2,256,64] o=zeros:f32[2,256,64] n=256 scale=0.18 D=64 BM=64 BN=64 SCALED=True --grid 4,2 --tolerance 2e-3
# check: q=randint(40):i8[1,150,64] k=randint(40):i8[1,150,64] v=randn:f16[1,150,64] o=zeros:f32[1,150,64] n=150 scale=0.001 D=64 BM=64 BN=32 SCALED=True --grid 3,1 --tolerance 2e-3
# check: q=randn:f16[1,128,64] k=randn:f16[1,128,64] v=randn:f16[1,128,64] o=zeros:f32[1,128,64] n=128 scale=inf D=64 BM=64 BN=64 SCALED=True --grid 2,1 --tolerance 2e-3
# check: q=randn:f16[1,192,64] k=randn:f16[1,192,64] v=randn:f16[1,192,64] o=zeros:f32[1,192,64] n=192 scale=0.1 D=64 BM=64 BN=64 SCALED=False --grid 3,1 --tolerance 2e-3 --set fuse=off
# explain: stays in flight under the next trip's arithmetic
@triton.jit
def rounded_sums(q, k, v, o, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, SCALED: tl.constexpr):
    block = tl.program_id(0)
    head = tl.program_id(1) * n * D
    rm = block * BM + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rd = tl.arange(0, D)
    Q = tl.load(q + head + rm[:, None] * D + rd[None, :], mask=rm[:, None] < n, other=0.0)
    m = tl.full((BM,), -float("inf") if SCALED else 0.0, tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    acc, l, m = add_rounded(acc, l, m, Q, k + head, v + head, rm, rn, 0, block * BM, n, scale, D, BN, False, SCALED)
    acc, l, m = add_rounded(acc, l, m, Q, k + head, v + head, rm, rn, block * BM, tl.minimum((block + 1) * BM, n), n, scale, D, BN, True, SCALED)
    tl.store(o + head + rm[:, None] * D + rd[None, :], acc / l[:, None], mask=rm[:, None] < n)


@triton.jit
def blocks_of_scales(q, k, v, qs, ks, o, n, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr, ROUNDED: tl.constexpr):
    block = tl.program_id(0)
    head = tl.program_id(1) * n * D
    rm = block * BM + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rd = tl.arange(0, D)
    Q = tl.load(q + head + rm[:, None] * D + rd[None, :], mask=rm[:, None] < n, other=0)
    scale = tl.load(qs + tl.program_id(1) * tl.cdiv(n, BM) + block) * 0.002
    scales = ks + tl.program_id(1) * tl.cdiv(n, BN)
    m = tl.full((BM,), -1.0e6, tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, tl.minimum((block + 1) * BM, n) if CAUSAL else n, BN):
        at = start + rn
        K = tl.load(k + head + at[None, :] * D + rd[:, None], mask=at[None, :] < n, other=0)
        s = tl.dot(Q, K).to(tl.float32) * (scale * tl.load(scales + start // BN))
        s += tl.where(at[None, :] < n, 0.0, -1.0e6)
        if CAUSAL:
            s = tl.where(rm[:, None] >= at[None, :], s, -1.0e6)
        peak = tl.maximum(m, tl.max(s, 1))
        p = tl.math.exp2(s - peak[:, None])
        alpha = tl.math.exp2(m - peak)
        l = l * alpha + tl.sum(p, 1)
        V = tl.load(v + head + at[:, None] * D + rd[None, :], mask=at[:, None] < n, other=0.0)
        if ROUNDED:
            acc = tl.fma(acc, alpha[:, None], tl.dot(p.to(tl.float16), V, out_dtype=tl.float16).to(tl.float32))
        else:
            acc = acc * alpha[:, None]
            acc += tl.dot(p.to(tl.float16), V, out_dtype=tl.float16)
        m = peak
    tl.store(o + head + rm[:, None] * D + rd[None, :], (acc / l[:, None]).to(tl.float16), mask=rm[:, None] < n)


# The same with scales of blocks, in tiles of which a turned loop would hold too much: two blocks share a multiprocessor instead. Rows and
# columns at the edge, loops of one trip and of several, one after the other.
# check: q=randint(40):i8[2,256,64] k=randint(40):i8[2,256,64] v=randn:f16[2,256,64] qs=rand:f32[2,2] ks=rand:f32[2,4] o=zeros:f16[2,256,64] n=256 D=64 BM=128 BN=64 CAUSAL=False --grid 2,2 --tolerance 2e-3
# check: q=randint(40):i8[1,200,64] k=randint(40):i8[1,200,64] v=randn:f16[1,200,64] qs=rand:f32[1,2] ks=rand:f32[1,4] o=zeros:f16[1,200,64] n=200 D=64 BM=128 BN=64 CAUSAL=True --grid 2,1 --tolerance 2e-3
# explain: two blocks share a multiprocessor, and no product stays in flight
@triton.jit
def rounded_sums_of_blocks(q, k, v, qs, ks, o, n, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    blocks_of_scales(q, k, v, qs, ks, o, n, D, BM, BN, CAUSAL, True)


# A product of 16 bits that is added as it is needs no rounding in between. The largest score is found among whole numbers where a scale is
# above 0 and finite: not with negative, infinite or no numbers as scales.
# check: q=randint(40):i8[2,256,64] k=randint(40):i8[2,256,64] v=randn:f16[2,256,64] qs=rand:f32[2,2] ks=rand:f32[2,4] o=zeros:f16[2,256,64] n=256 D=64 BM=128 BN=64 CAUSAL=False --grid 2,2 --tolerance 2e-3
# check: q=randint(40):i8[1,200,64] k=randint(40):i8[1,200,64] v=randn:f16[1,200,64] qs=rand:f32[1,2] ks=randn:f32[1,4] o=zeros:f16[1,200,64] n=200 D=64 BM=128 BN=64 CAUSAL=True --grid 2,1 --tolerance 2e-3
# check: q=randint(40):i8[1,256,64] k=randint(40):i8[1,256,64] v=randn:f16[1,256,64] qs=rand:f32[1,2] ks=randn:f32[1,4] o=zeros:f16[1,256,64] n=256 D=64 BM=128 BN=64 CAUSAL=False --grid 2,1 --tolerance 2e-3
# check: q=randint(40):i8[1,128,64] k=randint(40):i8[1,128,64] v=randn:f16[1,128,64] qs=rand:f32[1,1] ks=full(inf):f32[1,2] o=zeros:f16[1,128,64] n=128 D=64 BM=128 BN=64 CAUSAL=False --grid 1,1 --tolerance 2e-3
# check: q=randint(40):i8[1,128,64] k=randint(40):i8[1,128,64] v=randn:f16[1,128,64] qs=rand:f32[1,1] ks=full(nan):f32[1,2] o=zeros:f16[1,128,64] n=128 D=64 BM=128 BN=64 CAUSAL=False --grid 1,1 --tolerance 2e-3
# explain: stays in flight under the next trip's arithmetic
# explain: the largest is found before the scale
@triton.jit
def added_products_of_blocks(q, k, v, qs, ks, o, n, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    blocks_of_scales(q, k, v, qs, ks, o, n, D, BM, BN, CAUSAL, False)


# A number of each program (a scale) does not keep programs from running side by side.
# check: q=randn:f16[2,192,64] k=randn:f16[2,256,64] v=randn:f16[2,256,64] qs=rand:f32[2,3] o=zeros:f32[2,192,64] m=192 n=256 D=64 BM=64 BN=64 --grid 3,2 --tolerance 2e-3
# explain: neighbouring programs run side by side
@triton.jit
def scaled_programs(q, k, v, qs, o, m, n, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    block = tl.program_id(0)
    head = tl.program_id(1)
    rm = block * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    Q = tl.load(q + head * m * D + rm[:, None] * D + rd[None, :], mask=rm[:, None] < m, other=0.0)
    scale = tl.load(qs + head * tl.cdiv(m, BM) + block) * 0.2
    peak = tl.full((BM,), -1.0e6, tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, n, BN):
        at = start + tl.arange(0, BN)
        K = tl.load(k + head * n * D + at[:, None] * D + rd[None, :], mask=at[:, None] < n, other=0.0)
        s = tl.dot(Q, tl.trans(K)) * scale
        s = tl.where(at[None, :] < n, s, -1.0e6)
        above = tl.maximum(peak, tl.max(s, 1))
        p = tl.math.exp2(s - above[:, None])
        alpha = tl.math.exp2(peak - above)
        l = l * alpha + tl.sum(p, 1)
        V = tl.load(v + head * n * D + at[:, None] * D + rd[None, :], mask=at[:, None] < n, other=0.0)
        acc = tl.dot(p.to(tl.float16), V, acc * alpha[:, None])
        peak = above
    tl.store(o + head * m * D + rm[:, None] * D + rd[None, :], acc / l[:, None], mask=rm[:, None] < m)


# Weights as whole numbers: of the second product all are.
# check: q=randn:f16[2,192,64] k=randn:f16[2,192,64] v=randint(40):i8[2,64,192] o=zeros:f32[2,192,64] n=192 D=64 BM=128 BN=64 --grid 2,2
# check: q=randn:f16[1,96,64] k=randn:f16[1,96,64] v=randint(40):i8[1,64,96] o=zeros:f32[1,96,64] n=96 D=64 BM=64 BN=32 --grid 2,1
# explain: of four bytes each
@triton.jit
def whole_weights(q, k, v, o, n, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(1) * n * D
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    Q = tl.load(q + head + rm[:, None] * D + rd[None, :], mask=rm[:, None] < n, other=0.0)
    acc = tl.zeros((BM, D), tl.int32)
    for start in range(0, n, BN):
        rn = start + tl.arange(0, BN)
        K = tl.load(k + head + rn[:, None] * D + rd[None, :], mask=rn[:, None] < n, other=0.0)
        s = tl.dot(Q, tl.trans(K))
        p = (tl.minimum(tl.maximum(s, -3.0), 3.0) * 40.0).to(tl.int8)
        V = tl.load(v + head + rd[:, None] * n + rn[None, :], mask=rn[None, :] < n, other=0)
        acc = tl.dot(p, tl.trans(V), acc)
    tl.store(o + head + rm[:, None] * D + rd[None, :], acc.to(tl.float32), mask=rm[:, None] < n)


# Weights that are stored as well as multiplied; no row of 32 of them in the second: that goes through shared memory.
# check: q=randn:f8e5m2[128,64] k=randn:f8e5m2[128,64] v=randn:f8e5m2[64,128] w=zeros:f8e5m2[128,128] o=zeros:f32[128,64] D=64 BN=64 --grid 1
# check: q=randn:f8e5m2[128,64] k=randn:f8e5m2[128,64] v=randn:f8e5m2[64,128] w=zeros:f8e5m2[128,128] o=zeros:f32[128,64] D=64 BN=16 --grid 1
# device: --tolerance 0.1
@triton.jit
def kept_weights(q, k, v, w, o, D: tl.constexpr, BN: tl.constexpr):
    rm = tl.arange(0, 128)
    rd = tl.arange(0, D)
    Q = tl.load(q + rm[:, None] * D + rd[None, :])
    acc = tl.zeros((128, D), tl.float32)
    for start in range(0, 128, BN):
        rn = start + tl.arange(0, BN)
        K = tl.load(k + rn[:, None] * D + rd[None, :])
        p = (tl.dot(Q, tl.trans(K)) * 0.1).to(tl.float8e5)
        tl.store(w + rm[:, None] * 128 + rn[None, :], p)
        V = tl.load(v + rd[:, None] * 128 + rn[None, :])
        acc = tl.dot(p, tl.trans(V), acc)
    tl.store(o + rm[:, None] * D + rd[None, :], acc)
# SPDX-License-Identifier: Apache-2.0
