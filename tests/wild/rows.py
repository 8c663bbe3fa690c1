"""Rows, scans, gathers, locks and counters."""
import triton
import triton.language as tl


# check: inp=randn:f32[37,200] out=zeros:f32[37,200] stride=200 n_rows=37 n_cols=200 BLOCK=256 num_stages=3 --grid 5
@triton.jit
def softmax_persist(out, inp, stride, n_rows, n_cols, BLOCK: tl.constexpr, num_stages: tl.constexpr):
    row_start = tl.program_id(0)
    row_step = tl.num_programs(0)
    for row in tl.range(row_start, n_rows, row_step, num_stages=num_stages):
        p = inp + row * stride
        offs = tl.arange(0, BLOCK)
        m = offs < n_cols
        x = tl.load(p + offs, mask=m, other=-float('inf'))
        x = x - tl.max(x, axis=0)
        e = tl.exp(x)
        y = e / tl.sum(e, axis=0)
        tl.store(out + row * stride + offs, y, mask=m)


# check: q=randn:f16[2,4,64] kc=randn:f16[8,16,4,64] vc=randn:f16[8,16,4,64] table=randint(8):i32[2,4] lens=full(50):i32[2] o=zeros:f16[2,4,64] scale=0.125 H=4 PAGE=16 D=64 MAXP=4 --grid 2,4
@triton.jit
def paged(q, kc, vc, table, lens, o, scale, H, PAGE: tl.constexpr, D: tl.constexpr, MAXP: tl.constexpr):
    b = tl.program_id(0)
    h = tl.program_id(1)
    n = tl.load(lens + b)
    d = tl.arange(0, D)
    qv = tl.load(q + (b * H + h) * D + d).to(tl.float32)
    m = -float('inf')
    l = 0.0
    acc = tl.zeros((D,), tl.float32)
    pages = tl.cdiv(n, PAGE)
    for p in range(pages):
        blk = tl.load(table + b * MAXP + p)
        t = tl.arange(0, PAGE)
        ok = p * PAGE + t < n
        base = (blk * PAGE + t)[:, None] * H * D + h * D + d[None, :]
        kk = tl.load(kc + base, mask=ok[:, None], other=0.).to(tl.float32)
        s = tl.sum(kk * qv[None, :], 1) * scale
        s = tl.where(ok, s, -float('inf'))
        mn = tl.maximum(m, tl.max(s, 0))
        al = tl.exp(m - mn)
        pr = tl.exp(s - mn)
        vv = tl.load(vc + base, mask=ok[:, None], other=0.).to(tl.float32)
        acc = acc * al + tl.sum(pr[:, None] * vv, 0)
        l = l * al + tl.sum(pr, 0)
        m = mn
    tl.store(o + (b * H + h) * D + d, (acc / l).to(o.dtype.element_ty))


@triton.jit
def lin(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


# check: a=rand:f32[50,40] b=randn:f32[50,40] y=zeros:f32[50,40] T=50 D=40 BT=16 BD=32 --grid 2
@triton.jit
def mamba(a, b, y, T, D, BT: tl.constexpr, BD: tl.constexpr):
    pd = tl.program_id(0)
    rd = pd * BD + tl.arange(0, BD)
    rt = tl.arange(0, BT)
    h = tl.zeros((BD,), tl.float32)
    for t in range(0, T, BT):
        off = (t + rt)[:, None] * D + rd[None, :]
        m = ((t + rt)[:, None] < T) & (rd[None, :] < D)
        av = tl.load(a + off, mask=m, other=1.)
        bv = tl.load(b + off, mask=m, other=0.)
        pa, pb = tl.associative_scan((av, bv), 0, lin)
        out = pa * h[None, :] + pb
        tl.store(y + off, out, mask=m)
        last = tl.where((rt == BT - 1)[:, None], out, 0.)
        h = tl.sum(last, 0)


# check: q=randn:f32[9,3,64] cos=randn:f32[9,32] sin=randn:f32[9,32] o=zeros:f32[9,3,64] S=9 H=3 D=64 --grid 9
@triton.jit
def rope(q, cos, sin, o, S, H, D: tl.constexpr):
    s = tl.program_id(0)
    h = tl.arange(0, 4)
    half = tl.arange(0, D // 2)
    c = tl.load(cos + s * (D // 2) + half)
    sn = tl.load(sin + s * (D // 2) + half)
    p = q + s * H * D + h[:, None] * D
    x1 = tl.load(p + half[None, :], mask=h[:, None] < H, other=0.)
    x2 = tl.load(p + half[None, :] + D // 2, mask=h[:, None] < H, other=0.)
    po = o + s * H * D + h[:, None] * D
    tl.store(po + half[None, :], x1 * c - x2 * sn, mask=h[:, None] < H)
    tl.store(po + half[None, :] + D // 2, x2 * c + x1 * sn, mask=h[:, None] < H)


# check: dx=zeros:f16[20,100] dy=randn:f16[20,100] dw=zeros:f32[4,100] db=zeros:f32[4,100] x=randn:f16[20,100] w=randn:f16[100] mean=randn:f32[20] rstd=rand:f32[20] lock=zeros:i32[8] stride=100 N=100 GROUP=4 BLOCK=128 --grid 20
@triton.jit
def lnbwd(dx, dy, dw, db, x, w, mean, rstd, lock, stride, N, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    m = c < N
    x += row * stride
    dy += row * stride
    dx += row * stride
    lid = row % GROUP
    lock += lid
    cnt = lock + GROUP
    dw = dw + lid * N + c
    db = db + lid * N + c
    xv = tl.load(x + c, mask=m, other=0).to(tl.float32)
    dyv = tl.load(dy + c, mask=m, other=0).to(tl.float32)
    wv = tl.load(w + c, mask=m).to(tl.float32)
    mu = tl.load(mean + row)
    rs = tl.load(rstd + row)
    xh = (xv - mu) * rs
    wdy = wv * dyv
    xh = tl.where(m, xh, 0.)
    wdy = tl.where(m, wdy, 0.)
    c1 = tl.sum(xh * wdy, axis=0) / N
    c2 = tl.sum(wdy, axis=0) / N
    tl.store(dx + c, (wdy - (xh * c1 + c2)) * rs, mask=m)
    pw = (dyv * xh).to(wv.dtype)
    pb = dyv.to(wv.dtype)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    count = tl.load(cnt)
    if count == 0:
        tl.atomic_xchg(cnt, 1)
    else:
        pw += tl.load(dw, mask=m)
        pb += tl.load(db, mask=m)
    tl.store(dw, pw, mask=m)
    tl.store(db, pb, mask=m)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


# check: x=randn:f32[1000] o=zeros:f32[1000] n=1000 p=0.3 seed=7 BLOCK=256 --grid 4
@triton.jit
def dropout_gelu(x, o, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    r = tl.rand(seed, i)
    g = 0.5 * v * (1 + tl.erf(v * 0.70710678))
    tl.store(o + i, tl.where(r > p, g / (1 - p), 0.), mask=i < n)


# check: x=randn:f32[9,100] v=zeros:f32[9,8] N=100 K=8 BLOCK=128 --grid 9
@triton.jit
def topk_rows(x, v, N, K: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    t = tl.load(x + r * N + c, mask=c < N, other=-float('inf'))
    tl.store(v + r * K + tl.arange(0, K), tl.topk(t, K))


# check: logits=randn:bf16[9,300] labels=randint(300):i32[9] loss=zeros:f32[9] V=300 BLOCK=128 --grid 9
@triton.jit
def xent(logits, labels, loss, V, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    m = -float('inf')
    s = 0.0
    off = 0
    while off < V:
        c = off + tl.arange(0, BLOCK)
        x = tl.load(logits + r * V + c, mask=c < V, other=-float('inf')).to(tl.float32)
        mn = tl.maximum(m, tl.max(x, 0))
        s = s * tl.exp(m - mn) + tl.sum(tl.exp(x - mn), 0)
        m = mn
        off += BLOCK
    y = tl.load(labels + r)
    tl.store(loss + r, tl.log(s) + m - tl.load(logits + r * V + y).to(tl.float32))


# check: x=randn:f16[100,70] y=zeros:f16[70,100] M=100 N=70 B=32 --grid 4,3
@triton.jit
def transpose(x, y, M, N, B: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    X = tl.make_block_ptr(x, (M, N), (N, 1), (pm * B, pn * B), (B, B), (1, 0))
    Y = tl.make_block_ptr(y, (N, M), (M, 1), (pn * B, pm * B), (B, B), (1, 0))
    tl.store(Y, tl.trans(tl.load(X, boundary_check=(0, 1))), boundary_check=(0, 1))


# check: x=randint(32):i32[1000] h=zeros:i32[32] n=1000 BLOCK=256 BINS=32 --grid 4
@triton.jit
def hist(x, h, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    t = tl.histogram(v, BINS, mask=i < n)
    tl.atomic_add(h + tl.arange(0, BINS), t)


# check: x=randn:f32[9,300] idx=zeros:i32[9] val=zeros:f32[9] N=300 BLOCK=128 --grid 9
@triton.jit
def argbest(x, idx, val, N, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    bv = -float('inf')
    bi = -1
    for s in range(0, N, BLOCK):
        c = s + tl.arange(0, BLOCK)
        t = tl.load(x + r * N + c, mask=c < N, other=-float('inf'))
        v, i = tl.max(t, 0, return_indices=True)
        if v > bv:
            bv = v
            bi = i + s
    tl.store(idx + r, bi)
    tl.store(val + r, bv)


# check: out=zeros:f32[9,512] inp=randn:f32[9,512] n_rows=9 n_cols=509 stride=512 --grid 2
# check: out=zeros:f32[9,509] inp=randn:f32[9,509] n_rows=9 n_cols=509 stride=509 --grid 3
# check: out=zeros:bf16[9,512] inp=randn:bf16[9,512] n_rows=9 n_cols=504 stride=512 --grid 2
# check: out=zeros:f16[9,511] inp=randn:f16[9,511] n_rows=9 n_cols=511 stride=511 --grid 2
# check: out=zeros:f32[9,512] inp=randn:f32[9,512] n_rows=0 n_cols=512 stride=512 --grid 2
# check: out=zeros:f32[9,512] inp=randn:f32[9,512] n_rows=1 n_cols=0 stride=512 --grid 2
# explain: ring: 3 slots
@triton.jit
def fills_of_its_own(out, inp, n_rows, n_cols, stride):
    """A row in each trip, loaded, reduced and stored: it comes ahead without being asked to, and what lies outside is no zero."""
    cols = tl.arange(0, 512)
    for row in range(tl.program_id(0), n_rows, tl.num_programs(0)):
        x = tl.load(inp + row * stride + cols, mask=cols < n_cols, other=3.0).to(tl.float32)
        y = x - tl.sum(x, axis=0) / 512
        tl.store(out + row * stride + cols, y, mask=cols < n_cols)


# check: x=randn:f32[12,512] w=randn:f32[512] r=rand:f32[12] y=zeros:f32[12,512] s=zeros:f32[2,512] n=12 --grid 2
# check: x=randn:bf16[12,512] w=randn:bf16[512] r=rand:f32[12] y=zeros:bf16[12,512] s=zeros:f32[2,512] n=12 --grid 2 --set num_stages=2
# explain: by cp.async
@triton.jit
def sums_beside_rows(x, w, r, y, s, n):
    """What is summed over rows stays in registers; numbers of each row are loaded beside it."""
    cols = tl.arange(0, 512)
    by = tl.load(w + cols).to(tl.float32)
    total = tl.zeros((512,), dtype=tl.float32)
    for row in range(tl.program_id(0), n, 2):
        a = tl.load(x + row * 512 + cols).to(tl.float32) * tl.load(r + row)
        total += a
        tl.store(y + row * 512 + cols, a * by - tl.sum(a * by, axis=0) / 512)
    tl.store(s + tl.program_id(0) * 512 + cols, total)


# check: x=randn:f32[12,512] n=12 --grid 1
# explain: may concern its memory
@triton.jit
def row_of_the_trip_before(x, n):
    """The next row is made from this one: nobody can load it ahead."""
    cols = tl.arange(0, 512)
    for row in range(0, n - 1):
        a = tl.load(x + row * 512 + cols)
        tl.store(x + (row + 1) * 512 + cols, a - tl.sum(a, axis=0) / 512)


# A step of a state that is kept in place: what the decay takes is loaded first, and both sides of a where are computed.
# check: state=randn:f32[3,40,16] x=randn:f32[3,40] dt=randn:f32[3,40] rate=randn:f32[40,16] out=zeros:f32[3,40] rows=40 width=16 stride=640 line=16 BM=8 BN=16 --grid 5,3
# check: state=randn:bf16[3,40,24] x=randn:f32[3,40] dt=randn:f32[3,40] rate=randn:f32[40,24] out=zeros:f32[3,40] rows=40 width=24 stride=960 line=24 BM=4 BN=32 --grid 10,3
# check: state=randn:f32[3,40,16] x=randn:f32[3,40] dt=randn:f32[3,40] rate=randn:f32[40,16] out=zeros:f32[3,40] rows=40 width=12 stride=640 line=16 BM=64 BN=16 --grid 1,3
@triton.jit
def state_step(state, x, dt, rate, out, rows, width, stride, line, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    b = tl.program_id(1)
    inside = (m[:, None] < rows) & (n[None, :] < width)
    at = state + b * stride + m[:, None] * line + n[None, :]
    d = tl.load(dt + b * rows + m, mask=m < rows, other=0.0)
    d = tl.where(d <= 20.0, tl.log(tl.exp(d) + 1), d)
    s = tl.load(at, mask=inside, other=0.0).to(tl.float32)
    a = tl.load(rate + m[:, None] * line + n[None, :], mask=inside, other=0.0)
    v = tl.load(x + b * rows + m, mask=m < rows, other=0.0)
    s = s * tl.exp(-tl.abs(a) * d[:, None]) + (d * v)[:, None]
    tl.store(at, s, mask=inside)
    tl.store(out + b * rows + m, tl.sum(s, axis=1), mask=m < rows)


# Rows of the state that overlap (`line` less than `width`): all are loaded before one is stored.
# check: x=randn:f32[64] o=zeros:f32[8] line=1 BM=8 BN=16 --grid 1
# check: x=randn:f32[64] o=zeros:f32[8] line=3 BM=8 BN=16 --grid 1
# check: x=randn:f32[128] o=zeros:f32[8] line=16 BM=8 BN=16 --grid 1
@triton.jit
def overlapping_rows(x, o, line, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.arange(0, BM)
    n = tl.arange(0, BN)
    at = x + m[:, None] * line + n[None, :]
    v = tl.load(at)
    tl.store(at, v * 0)
    tl.store(o + m, tl.sum(v, axis=1))
# SPDX-License-Identifier: Apache-2.0
