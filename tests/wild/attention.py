"""Attention in the forms that models have."""
import triton
import triton.language as tl


# check: q=randn:bf16[2,330,64] k=randn:bf16[2,330,64] v=randn:bf16[2,330,64] o=zeros:bf16[2,330,64] N=330 W=100 scale=0.125 D=64 BM=64 BN=64 --grid 6,2
@triton.jit
def window(q, k, v, o, N, W, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    pm = tl.program_id(0)
    h = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    base = h * N * D
    Q = tl.load(q + base + rm[:, None] * D + d[None, :], mask=rm[:, None] < N, other=0.)
    m = tl.full((BM,), -float('inf'), tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    lo = tl.maximum(0, (pm * BM - W) // BN * BN)
    hi = tl.minimum(N, (pm + 1) * BM)
    for n in range(lo, hi, BN):
        rn = n + tl.arange(0, BN)
        K = tl.load(k + base + rn[None, :] * D + d[:, None], mask=rn[None, :] < N, other=0.)
        s = tl.dot(Q, K) * scale
        ok = (rn[None, :] <= rm[:, None]) & (rn[None, :] > rm[:, None] - W) & (rn[None, :] < N)
        s = tl.where(ok, s, -1e30)
        mn = tl.maximum(m, tl.max(s, 1))
        p = tl.exp(s - mn[:, None])
        a = tl.exp(m - mn)
        V = tl.load(v + base + rn[:, None] * D + d[None, :], mask=rn[:, None] < N, other=0.)
        acc = acc * a[:, None] + tl.dot(p.to(V.dtype), V)
        l = l * a + tl.sum(p, 1)
        m = mn
    tl.store(o + base + rm[:, None] * D + d[None, :], (acc / l[:, None]).to(o.dtype.element_ty), mask=rm[:, None] < N)


# check: q=randn:bf16[4,200,64] k=randn:bf16[2,200,64] v=randn:bf16[2,200,64] o=zeros:bf16[4,200,64] lse=zeros:f32[4,200] N=200 G=2 scale=0.125 D=64 BM=64 BN=64 --grid 4,4
@triton.jit
def gqa(q, k, v, o, lse, N, G, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    h = tl.program_id(0)
    pm = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    qb = h * N * D
    kb = (h // G) * N * D
    Q = tl.load(q + qb + rm[:, None] * D + d[None, :], mask=rm[:, None] < N, other=0.)
    m = tl.full((BM,), -float('inf'), tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for n in range(0, N, BN):
        rn = n + tl.arange(0, BN)
        K = tl.load(k + kb + rn[None, :] * D + d[:, None], mask=rn[None, :] < N, other=0.)
        s = tl.dot(Q, K) * scale
        s = tl.where(rn[None, :] < N, s, -float('inf'))
        mn = tl.maximum(m, tl.max(s, 1))
        p = tl.exp(s - mn[:, None])
        a = tl.exp(m - mn)
        V = tl.load(v + kb + rn[:, None] * D + d[None, :], mask=rn[:, None] < N, other=0.)
        acc = acc * a[:, None]
        acc = tl.dot(p.to(V.dtype), V, acc)
        l = l * a + tl.sum(p, 1)
        m = mn
    tl.store(o + qb + rm[:, None] * D + d[None, :], (acc / l[:, None]).to(o.dtype.element_ty), mask=rm[:, None] < N)
    tl.store(lse + h * N + rm, m + tl.log(l), mask=rm < N)


# check: q=randn:bf16[300,2,64] k=randn:bf16[300,2,64] v=randn:bf16[300,2,64] o=zeros:bf16[300,2,64] starts=arange:i32[4] H=2 scale=0.125 D=64 BM=64 BN=64 CAUSAL=True --grid 3,2,3
@triton.jit
def varlen(q, k, v, o, starts, scale, H, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    pm = tl.program_id(0)
    h = tl.program_id(1)
    b = tl.program_id(2)
    s0 = tl.load(starts + b) * 100
    n = tl.load(starts + b + 1) * 100 - s0 - b
    if pm * BM >= n:
        return
    rm = pm * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    Q = tl.load(q + (s0 + rm)[:, None] * H * D + h * D + d[None, :], mask=rm[:, None] < n, other=0.)
    m = tl.full((BM,), -float('inf'), tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    end = tl.minimum(n, (pm + 1) * BM) if CAUSAL else n
    for t in range(0, end, BN):
        rn = t + tl.arange(0, BN)
        K = tl.load(k + (s0 + rn)[None, :] * H * D + h * D + d[:, None], mask=rn[None, :] < n, other=0.)
        s = tl.dot(Q, K) * scale
        s = tl.where((rn[None, :] < n) & ((rn[None, :] <= rm[:, None]) | (not CAUSAL)), s, -float('inf'))
        mn = tl.maximum(m, tl.max(s, 1))
        p = tl.exp(s - mn[:, None])
        a = tl.exp(m - mn)
        V = tl.load(v + (s0 + rn)[:, None] * H * D + h * D + d[None, :], mask=rn[:, None] < n, other=0.)
        acc = acc * a[:, None] + tl.dot(p.to(V.dtype), V)
        l = l * a + tl.sum(p, 1)
        m = mn
    tl.store(o + (s0 + rm)[:, None] * H * D + h * D + d[None, :], (acc / l[:, None]).to(o.dtype.element_ty), mask=rm[:, None] < n)


# check: q=randn:bf16[2,200,64] k=randn:bf16[2,200,64] v=randn:bf16[2,200,64] bias=randn:bf16[200,200] o=zeros:bf16[2,200,64] N=200 scale=0.125 D=64 BM=64 BN=64 --grid 4,2
@triton.jit
def biased(q, k, v, bias, o, N, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    # additive bias loaded in the loop (depends on the row block), dropout by philox
    pm = tl.program_id(0)
    h = tl.program_id(1)
    Qp = tl.make_block_ptr(q + h * N * D, (N, D), (D, 1), (pm * BM, 0), (BM, D), (1, 0))
    Kp = tl.make_block_ptr(k + h * N * D, (D, N), (1, D), (0, 0), (D, BN), (0, 1))
    Vp = tl.make_block_ptr(v + h * N * D, (N, D), (D, 1), (0, 0), (BN, D), (1, 0))
    Bp = tl.make_block_ptr(bias, (N, N), (N, 1), (pm * BM, 0), (BM, BN), (1, 0))
    Op = tl.make_block_ptr(o + h * N * D, (N, D), (D, 1), (pm * BM, 0), (BM, D), (1, 0))
    rm = pm * BM + tl.arange(0, BM)
    Q = tl.load(Qp, boundary_check=(0,), padding_option="zero")
    m = tl.full((BM,), -float('inf'), tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for t in range(0, N, BN):
        rn = t + tl.arange(0, BN)
        s = tl.dot(Q, tl.load(Kp, boundary_check=(1,), padding_option="zero")) * scale
        s += tl.load(Bp, boundary_check=(0, 1), padding_option="zero")
        s = tl.where(rn[None, :] < N, s, -float('inf'))
        mn = tl.maximum(m, tl.max(s, 1))
        p = tl.exp(s - mn[:, None])
        a = tl.exp(m - mn)
        l = l * a + tl.sum(p, 1)
        keep = tl.rand(3, rm[:, None] * N + rn[None, :]) > 0.1
        p = tl.where(keep, p / 0.9, 0.)
        V = tl.load(Vp, boundary_check=(0,), padding_option="zero")
        acc = acc * a[:, None] + tl.dot(p.to(V.dtype), V)
        m = mn
        Kp = tl.advance(Kp, (0, BN))
        Vp = tl.advance(Vp, (BN, 0))
        Bp = tl.advance(Bp, (0, BN))
    tl.store(Op, (acc / l[:, None]).to(o.dtype.element_ty), boundary_check=(0,))


# A tile that goes through scratch at the end: programs side by side would use the same.
# check: q=randn:bf16[2,200,64] k=randn:bf16[2,200,64] v=randn:bf16[2,200,64] o=zeros:bf16[2,200,64] N=200 D=64 B=64 --grid 4,2
# check: q=randn:bf16[2,300,64] k=randn:bf16[2,300,64] v=randn:bf16[2,300,64] o=zeros:bf16[2,300,64] N=300 D=64 B=64 --grid 5,2 --set gang=3
@triton.jit
def upside_down(q, k, v, o, N, D: tl.constexpr, B: tl.constexpr):
    head = tl.program_id(1) * N * D
    first = tl.program_id(0) * B
    rows = first + tl.arange(0, B)
    rd = tl.arange(0, D)
    x = tl.load(q + head + rows[:, None] * D + rd[None, :], mask=rows[:, None] < N, other=0.0)
    acc = tl.zeros((B, D), tl.float32)
    for start in range(0, tl.minimum(first + B, N), B):
        at = start + tl.arange(0, B)
        inside = at[:, None] < N
        y = tl.load(k + head + at[:, None] * D + rd[None, :], mask=inside, other=0.0)
        z = tl.load(v + head + at[:, None] * D + rd[None, :], mask=inside, other=0.0)
        s = tl.dot(x, tl.trans(y)) * 0.125
        acc = tl.dot(s.to(z.dtype), z, acc)
    tl.store(o + head + rows[:, None] * D + rd[None, :], tl.flip(acc, 0).to(o.dtype.element_ty), mask=rows[:, None] < N)


# explain: stays in flight under the next trip
# check: q=randn:bf16[2,330,64] qr=randn:bf16[2,330,32] k=randn:bf16[2,330,64] kr=randn:bf16[330,32] v=randn:bf16[2,330,64] o=zeros:bf16[2,330,64] N=330 scale=0.1 D=64 R=32 BM=64 BN=64 --grid 6,2
@triton.jit
def parts(q, qr, k, kr, v, o, N, scale, D: tl.constexpr, R: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Scores of two parts, one of which turns with the place and is the same for all heads."""
    pm = tl.program_id(0)
    h = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    r = tl.arange(0, R)
    base = h * N
    Q = tl.load(q + (base + rm[:, None]) * D + d[None, :], mask=rm[:, None] < N, other=0.)
    QR = tl.load(qr + (base + rm[:, None]) * R + r[None, :], mask=rm[:, None] < N, other=0.)
    m = tl.full((BM,), -float('inf'), tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for n in range(0, N, BN):
        rn = n + tl.arange(0, BN)
        K = tl.load(k + (base + rn[None, :]) * D + d[:, None], mask=rn[None, :] < N, other=0.)
        KR = tl.load(kr + rn[None, :] * R + r[:, None], mask=rn[None, :] < N, other=0.)
        s = tl.dot(Q, K)
        s += tl.dot(QR, KR)
        s = tl.where(rn[None, :] < N, s * scale, -float('inf'))
        mn = tl.maximum(m, tl.max(s, 1))
        p = tl.exp(s - mn[:, None])
        a = tl.exp(m - mn)
        V = tl.load(v + (base + rn[:, None]) * D + d[None, :], mask=rn[:, None] < N, other=0.)
        acc = acc * a[:, None] + tl.dot(p.to(V.dtype), V)
        l = l * a + tl.sum(p, 1)
        m = mn
    tl.store(o + (base + rm[:, None]) * D + d[None, :], (acc / l[:, None]).to(o.dtype.element_ty), mask=rm[:, None] < N)


@triton.jit
def whole_blocks(acc, l, m, q, k, v, rm, lo, hi, scale, D: tl.constexpr, BN: tl.constexpr, MASKED: tl.constexpr):
    d = tl.arange(0, D)
    for n in range(lo, hi, BN):
        rn = n + tl.arange(0, BN)
        s = tl.dot(q, tl.trans(tl.load(k + rn[:, None] * D + d[None, :])))
        if MASKED:
            s = s * scale + tl.where(rm[:, None] >= rn[None, :], 0, -1.0e6)
            peak = tl.maximum(m, tl.max(s, 1))
            s -= peak[:, None]
        else:
            peak = tl.maximum(m, tl.max(s, 1) * scale)
            s = s * scale - peak[:, None]
        p = tl.math.exp2(s)
        a = tl.math.exp2(m - peak)
        acc = tl.dot(p.to(v.dtype.element_ty), tl.load(v + rn[:, None] * D + d[None, :]), acc * a[:, None])
        l = l * a + tl.sum(p, 1)
        m = peak
    return acc, l, m


# No mask has a branch: the first product of a trip is issued in the one before. One trip, two, more; programs side by side, and
# blocks by themselves, of which the first has no trip of the first loop. A weight
# between two numbers of 16 bits may come out as either.
# check: q=randn:f16[2,64,64] k=randn:f16[2,64,64] v=randn:f16[2,64,64] o=zeros:f32[2,64,64] N=64 scale=0.18 D=64 BM=64 BN=64 CAUSAL=False --grid 1,2 --tolerance 5e-4
# check: q=randn:f16[2,256,64] k=randn:f16[2,256,64] v=randn:f16[2,256,64] o=zeros:f32[2,256,64] N=256 scale=0.18 D=64 BM=64 BN=64 CAUSAL=False --grid 4,2 --tolerance 5e-4
# check: q=randn:bf16[1,192,64] k=randn:bf16[1,192,64] v=randn:bf16[1,192,64] o=zeros:f32[1,192,64] N=192 scale=0.18 D=64 BM=64 BN=32 CAUSAL=True --grid 3,1 --tolerance 5e-4
# check: q=randn:f16[2,320,64] k=randn:f16[2,320,64] v=randn:f16[2,320,64] o=zeros:f32[2,320,64] N=320 scale=0.18 D=64 BM=64 BN=64 CAUSAL=True --grid 5,2 --tolerance 5e-4
# explain: is issued a trip early
@triton.jit
def unmasked(q, k, v, o, N, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    block = tl.program_id(0)
    base = tl.program_id(1) * N * D
    rm = block * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    Q = tl.load(q + base + rm[:, None] * D + d[None, :])
    m = tl.full((BM,), -float("inf"), tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    if CAUSAL:
        acc, l, m = whole_blocks(acc, l, m, Q, k + base, v + base, rm, 0, block * BM, scale, D, BN, False)
        acc, l, m = whole_blocks(acc, l, m, Q, k + base, v + base, rm, block * BM, (block + 1) * BM, scale, D, BN, True)
    else:
        acc, l, m = whole_blocks(acc, l, m, Q, k + base, v + base, rm, 0, N, scale, D, BN, False)
    tl.store(o + base + rm[:, None] * D + d[None, :], acc / l[:, None])
# SPDX-License-Identifier: Apache-2.0
