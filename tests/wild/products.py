"""Loops of tl.dot that are no plain matmul."""
import triton
import triton.language as tl


# check: a=randn:f16[70,128] q=randint(2147483647):i32[16,100] s=rand:f16[4,100] z=rand:f16[4,100] c=zeros:f16[70,100] M=70 N=100 K=128 BM=64 BN=64 BK=64 G=32 --grid 2,2
# explain: is indexed by a vector that `div` makes
@triton.jit
def dequant(a, q, s, z, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr):
    # int4 packed along K: q [K//8, N] int32, s,z [K//G, N]
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K // BK):
        kk = k * BK + rk
        x = tl.load(a + rm[:, None] * K + kk[None, :], mask=rm[:, None] < M, other=0.)
        w = tl.load(q + (kk[:, None] // 8) * N + rn[None, :], mask=rn[None, :] < N, other=0)
        w = (w >> ((kk[:, None] % 8) * 4)) & 15
        sc = tl.load(s + (kk[:, None] // G) * N + rn[None, :], mask=rn[None, :] < N, other=0.)
        zp = tl.load(z + (kk[:, None] // G) * N + rn[None, :], mask=rn[None, :] < N, other=0.)
        wf = (w.to(tl.float32) - zp.to(tl.float32)) * sc.to(tl.float32)
        acc = tl.dot(x, wf.to(x.dtype), acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


# check: x=randn:f16[5,12,14] w=randn:f16[20,45] y=zeros:f16[20,120] C=5 H=12 W=14 O=20 KH=3 KW=3 BM=64 BN=32 BK=32 --grid 2,1
# explain: dimension 0 is indexed by a vector that `div` makes, where its mask holds; dimension 1 is indexed
@triton.jit
def conv2d(x, w, y, C, H, W, O, KH: tl.constexpr, KW: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    OH = H - KH + 1
    OW = W - KW + 1
    rm = pm * BM + tl.arange(0, BM)
    ro = pn * BN + tl.arange(0, BN)
    oh = rm // OW
    ow = rm % OW
    acc = tl.zeros((BM, BN), tl.float32)
    Kt = C * KH * KW
    for k in range(0, Kt, BK):
        rk = k + tl.arange(0, BK)
        c = rk // (KH * KW)
        kh = rk % (KH * KW) // KW
        kw = rk % KW
        xp = x + c[None, :] * H * W + (oh[:, None] + kh[None, :]) * W + ow[:, None] + kw[None, :]
        a = tl.load(xp, mask=(rm[:, None] < OH * OW) & (rk[None, :] < Kt), other=0.)
        b = tl.load(w + ro[None, :] * Kt + rk[:, None], mask=(ro[None, :] < O) & (rk[:, None] < Kt), other=0.)
        acc = tl.dot(a, b, acc)
    tl.store(y + ro[None, :] * OH * OW + rm[:, None], acc.to(y.dtype.element_ty), mask=(rm[:, None] < OH * OW) & (ro[None, :] < O))


# check: a=randn:f16[150,136] b=randn:f16[136,64] d=randn:f16[64,136] o=zeros:f16[150,136] M=150 N=64 K=136 BM=64 BN=64 BK=32 BP=32 --grid 3
@triton.jit
def chain(a, b, d, o, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, BP: tl.constexpr):
    # (A B) D with N <= BN, then loop over columns of D with stores inside
    pm = tl.program_id(0)
    rm = pm * BM + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        kk = k * BK + rk
        x = tl.load(a + rm[:, None] * K + kk[None, :], mask=(rm[:, None] < M) & (kk[None, :] < K), other=0.)
        y = tl.load(b + kk[:, None] * N + rn[None, :], mask=(kk[:, None] < K) & (rn[None, :] < N), other=0.)
        acc = tl.dot(x, y, acc)
    t = acc.to(tl.float16)
    for p in range(0, tl.cdiv(K, BP)):
        rp = p * BP + tl.arange(0, BP)
        z = tl.load(d + rn[:, None] * K + rp[None, :], mask=(rn[:, None] < N) & (rp[None, :] < K), other=0.)
        q = tl.dot(t, z)
        tl.store(o + rm[:, None] * K + rp[None, :], q.to(tl.float16), mask=(rm[:, None] < M) & (rp[None, :] < K))


# check: a=randn:bf16[150,136] b=randn:bf16[136,100] c=zeros:f32[150,100] M=150 N=100 K=136 BM=64 BN=64 BK=32 SK=2 --grid 6,2
@triton.jit
def splitk(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SK: tl.constexpr):
    pid = tl.program_id(0)
    pk = tl.program_id(1)
    nn = tl.cdiv(N, BN)
    pm = pid // nn
    pn = pid % nn
    rm = (pm * BM + tl.arange(0, BM)) % M
    rn = (pn * BN + tl.arange(0, BN)) % N
    rk = pk * BK + tl.arange(0, BK)
    ap = a + rm[:, None] * K + rk[None, :]
    bp = b + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK * SK)):
        left = K - k * BK * SK
        x = tl.load(ap, mask=rk[None, :] < left, other=0.)
        y = tl.load(bp, mask=rk[:, None] < left, other=0.)
        acc += tl.dot(x, y)
        ap += BK * SK
        bp += BK * SK * N
    om = pm * BM + tl.arange(0, BM)
    on = pn * BN + tl.arange(0, BN)
    tl.atomic_add(c + om[:, None] * N + on[None, :], acc, mask=(om[:, None] < M) & (on[None, :] < N), sem='relaxed')


# check: a=randint(127):i8[70,96] b=randint(127):i8[50,96] sa=rand:f32[70] sb=rand:f32[50] c=zeros:f32[70,50] M=70 N=50 K=96 BM=64 BN=64 BK=32 --grid 2,1
@triton.jit
def i8gemm(a, b, sa, sb, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.int32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + k + rk[None, :], mask=(rm[:, None] < M) & (k + rk[None, :] < K), other=0)
        y = tl.load(b + rn[None, :] * K + k + rk[:, None], mask=(rn[None, :] < N) & (k + rk[:, None] < K), other=0)
        acc = tl.dot(x, y, acc)
    s1 = tl.load(sa + rm, mask=rm < M)
    s2 = tl.load(sb + rn, mask=rn < N)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.float32) * s1[:, None] * s2[None, :], mask=(rm[:, None] < M) & (rn[None, :] < N))


# check: a=randn:f16[3,150,136] b=randn:f16[3,136,100] c=zeros:f16[3,150,100] B=3 M=150 N=100 K=136 BM=64 BN=64 BK=32 --grid 3,2
@triton.jit
def batched(a, b, c, B, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # loop over batches inside program
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    for i in range(B):
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            x = tl.load(a + i * M * K + rm[:, None] * K + (k + rk)[None, :], mask=(rm[:, None] < M) & ((k + rk)[None, :] < K), other=0.)
            y = tl.load(b + i * K * N + (k + rk)[:, None] * N + rn[None, :], mask=((k + rk)[:, None] < K) & (rn[None, :] < N), other=0.)
            acc = tl.dot(x, y, acc)
        tl.store(c + i * M * N + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))
        if i % 2 == 1:
            tl.store(c + i * M * N + rm[:, None] * N + rn[None, :], (acc * 2).to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


# check: a=randn:bf16[150,136] b=randn:bf16[136,100] c=zeros:f32[150,100] lock=zeros:i32[6] M=150 N=100 K=136 BM=64 BN=64 BK=32 --grid 12
@triton.jit
def streamk_fix(a, b, c, lock, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # groups of 2 programs share a tile; second adds after first through a lock
    pid = tl.program_id(0)
    tile = pid // 2
    half = pid % 2
    nn = tl.cdiv(N, BN)
    pm = tile // nn
    pn = tile % nn
    kt = tl.cdiv(K, BK)
    lo = half * (kt // 2)
    hi = kt if half == 1 else kt // 2
    A = tl.make_block_ptr(a, (M, K), (K, 1), (pm * BM, lo * BK), (BM, BK), (1, 0))
    B = tl.make_block_ptr(b, (K, N), (N, 1), (lo * BK, pn * BN), (BK, BN), (1, 0))
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(lo, hi):
        acc = tl.dot(tl.load(A, boundary_check=(0, 1), padding_option="zero"), tl.load(B, boundary_check=(0, 1), padding_option="zero"), acc)
        A = tl.advance(A, (0, BK))
        B = tl.advance(B, (BK, 0))
    om = pm * BM + tl.arange(0, BM)
    on = pn * BN + tl.arange(0, BN)
    m = (om[:, None] < M) & (on[None, :] < N)
    cp = c + om[:, None] * N + on[None, :]
    if half == 0:
        tl.store(cp, acc, mask=m)
        tl.debug_barrier()
        tl.atomic_xchg(lock + tile, 1)
    else:
        while tl.atomic_cas(lock + tile, 1, 1) != 1:
            pass
        tl.store(cp, acc + tl.load(cp, mask=m, other=0.), mask=m)


# check: q=randn:bf16[2,100,64] k=randn:bf16[2,100,64] v=randn:bf16[2,100,64] o=zeros:bf16[2,100,64] T=100 D=64 C=32 --grid 2
@triton.jit
def ssd(q, k, v, o, T, D: tl.constexpr, C: tl.constexpr):
    # linear attention by chunks: state carried, dot chain, store in loop
    h = tl.program_id(0)
    d = tl.arange(0, D)
    c = tl.arange(0, C)
    base = h * T * D
    S = tl.zeros((D, D), tl.float32)
    for t in range(0, T, C):
        off = base + (t + c)[:, None] * D + d[None, :]
        m = (t + c)[:, None] < T
        Q = tl.load(q + off, mask=m, other=0.)
        Kk = tl.load(k + off, mask=m, other=0.)
        V = tl.load(v + off, mask=m, other=0.)
        A = tl.dot(Q, tl.trans(Kk))
        A = tl.where(c[:, None] >= c[None, :], A, 0.)
        O = tl.dot(A.to(V.dtype), V) + tl.dot(Q, S.to(Q.dtype))
        S += tl.dot(tl.trans(Kk), V)
        tl.store(o + off, O.to(o.dtype.element_ty), mask=m)


# check: x=randn:f16[150,64] w1=randn:f16[64,136] w2=randn:f16[136,64] o=zeros:f16[150,64] M=150 D=64 H=136 BM=64 BD=64 BH=32 --grid 3
@triton.jit
def mlp(x, w1, w2, o, M, D, H, BM: tl.constexpr, BD: tl.constexpr, BH: tl.constexpr):
    # fused two-layer: o = relu(x w1) w2, D <= BD
    pm = tl.program_id(0)
    rm = pm * BM + tl.arange(0, BM)
    rd = tl.arange(0, BD)
    rh = tl.arange(0, BH)
    xt = tl.load(x + rm[:, None] * D + rd[None, :], mask=(rm[:, None] < M) & (rd[None, :] < D), other=0.)
    acc = tl.zeros((BM, BD), tl.float32)
    for h in range(0, H, BH):
        hh = h + rh
        a = tl.load(w1 + rd[:, None] * H + hh[None, :], mask=(rd[:, None] < D) & (hh[None, :] < H), other=0.)
        b = tl.load(w2 + hh[:, None] * D + rd[None, :], mask=(hh[:, None] < H) & (rd[None, :] < D), other=0.)
        y = tl.maximum(tl.dot(xt, a), 0.)
        acc += tl.dot(y.to(b.dtype), b)
    tl.store(o + rm[:, None] * D + rd[None, :], acc.to(o.dtype.element_ty), mask=(rm[:, None] < M) & (rd[None, :] < D))


# check: a=randn:f32[150,136] b=randn:f32[136,100] c=zeros:f32[150,100] M=150 N=100 K=136 BM=64 BN=64 BK=32 --grid 3,2
@triton.jit
def cast_in_loop(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        kk = k * BK + rk
        x = tl.load(a + rm[:, None] * K + kk[None, :], mask=(rm[:, None] < M) & (kk[None, :] < K), other=0.)
        y = tl.load(b + kk[:, None] * N + rn[None, :], mask=(kk[:, None] < K) & (rn[None, :] < N), other=0.)
        acc = tl.dot((x * 0.5).to(tl.float16), (y + 1).to(tl.float16), acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


# check: a=randn:bf16[150,136] b=randn:bf16[136,100] c=zeros:bf16[150,100] s=zeros:f32[150] M=150 N=100 K=136 BM=64 BN=64 BK=32 --grid 3
@triton.jit
def rows_out(a, b, c, s, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # one program a row of tiles; loop over n with carried output pointers; row sums of everything behind
    pm = tl.program_id(0)
    rm = pm * BM + tl.arange(0, BM)
    rk = tl.arange(0, BK)
    cp = c + rm[:, None] * N + tl.arange(0, BN)[None, :]
    tot = tl.zeros((BM,), tl.float32)
    for n in range(0, tl.cdiv(N, BN)):
        rn = n * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            kk = k * BK + rk
            x = tl.load(a + rm[:, None] * K + kk[None, :], mask=(rm[:, None] < M) & (kk[None, :] < K), other=0.)
            y = tl.load(b + kk[:, None] * N + rn[None, :], mask=(kk[:, None] < K) & (rn[None, :] < N), other=0.)
            acc = tl.dot(x, y, acc)
        tl.store(cp, acc.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))
        cp += BN
        tot += tl.sum(acc, 1)
    tl.store(s + rm, tot, mask=rm < M)


# check: a=randn:bf16[150,136] b=randn:bf16[136,100] bias=randn:bf16[100] c=zeros:bf16[150,100] d=zeros:f32[150] M=150 N=100 K=136 BM=64 BN=64 BK=32 --grid 6
@triton.jit
def gemm_bias_two_outputs(a, b, bias, c, d, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    nn = tl.cdiv(N, BN)
    pm = pid // nn
    pn = pid % nn
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    ap = a + rm[:, None] * K + rk[None, :]
    bp = b + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    am = tl.zeros((BM,), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(ap, mask=(rm[:, None] < M) & (rk[None, :] < K - k * BK), other=0.)
        y = tl.load(bp, mask=(rk[:, None] < K - k * BK) & (rn[None, :] < N), other=0.)
        acc = tl.dot(x, y, acc)
        am = tl.maximum(am, tl.max(tl.abs(x).to(tl.float32), 1))
        ap += BK
        bp += BK * N
    bb = tl.load(bias + rn, mask=rn < N, other=0.)
    r = acc + bb[None, :].to(tl.float32)
    r = r * tl.sigmoid(r)
    tl.store(c + rm[:, None] * N + rn[None, :], r.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))
    tl.store(d + rm, am, mask=(rm < M) & (pn == 0))


# check: a=randn:bf16[150,136] b=randn:bf16[136,100] d=randn:bf16[136,100] c=zeros:bf16[150,100] e=zeros:bf16[150,100] M=150 N=100 K=136 BM=64 BN=64 BK=32 --grid 4,2
@triton.jit
def two_gemms(a, b, d, c, e, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # gate and up: shared A, two B, silu(gate) * up, both stored; early return
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    if pm * BM >= M:
        return
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    g = tl.zeros((BM, BN), tl.float32)
    u = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        kk = k * BK + rk
        x = tl.load(a + rm[:, None] * K + kk[None, :], mask=(rm[:, None] < M) & (kk[None, :] < K), other=0.)
        y = tl.load(b + kk[:, None] * N + rn[None, :], mask=(kk[:, None] < K) & (rn[None, :] < N), other=0.)
        z = tl.load(d + kk[:, None] * N + rn[None, :], mask=(kk[:, None] < K) & (rn[None, :] < N), other=0.)
        g = tl.dot(x, y, g)
        u = tl.dot(x, z, u)
    o = g * tl.sigmoid(g) * u
    tl.store(c + rm[:, None] * N + rn[None, :], o.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))
    tl.store(e + rm[:, None] * N + rn[None, :], u.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


# check: a=randn:bf16[150,136] b=randn:bf16[136,100] flag=randint(2):i32[5] c=zeros:bf16[150,100] M=150 N=100 K=136 BM=64 BN=64 BK=32 --grid 3,2
@triton.jit
def maybe(a, b, flag, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # block sparse: skip k blocks by flags; break at a 2
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        f = tl.load(flag + k)
        if f == 1:
            kk = k * BK + rk
            x = tl.load(a + rm[:, None] * K + kk[None, :], mask=(rm[:, None] < M) & (kk[None, :] < K), other=0.)
            y = tl.load(b + kk[:, None] * N + rn[None, :], mask=(kk[:, None] < K) & (rn[None, :] < N), other=0.)
            acc += tl.dot(x, y)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


# check: a=randn:f16[4,16,32] b=randn:f16[4,32,16] c=zeros:f32[4,16,16] M=16 N=16 K=32 BB=2 --grid 2
@triton.jit
def bmm3(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BB: tl.constexpr):
    rb = tl.program_id(0) * BB + tl.arange(0, BB)
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    x = tl.load(a + rb[:, None, None] * M * K + m[None, :, None] * K + k[None, None, :])
    y = tl.load(b + rb[:, None, None] * K * N + k[None, :, None] * N + n[None, None, :])
    tl.store(c + rb[:, None, None] * M * N + m[None, :, None] * N + n[None, None, :], tl.dot(x, y))


# check: a=randn:bf16[150,136] b=randn:bf16[136,100] idx=randint(5):i32[3] cnt=randint(4):i32[3] c=zeros:bf16[150,100] M=150 N=100 K=136 BM=64 BN=64 BK=32 --grid 3,2
@triton.jit
def sparse_idx(a, b, idx, cnt, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # block sparse by a list of k blocks
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    n = tl.load(cnt + pm)
    for i in range(n):
        k = tl.load(idx + i)
        kk = k * BK + rk
        x = tl.load(a + rm[:, None] * K + kk[None, :], mask=(rm[:, None] < M) & (kk[None, :] < K), other=0.)
        y = tl.load(b + kk[:, None] * N + rn[None, :], mask=(kk[:, None] < K) & (rn[None, :] < N), other=0.)
        acc += tl.dot(x, y)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


# check: a=randn:bf16[150,136] b=randn:bf16[136,100] c=zeros:bf16[150,100] M=150 N=100 K=136 BM=64 BN=64 BK=32 --grid 3,2
@triton.jit
def unrolled(a, b, c, M, N, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.static_range(0, K, BK):
        kk = k + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * K + kk[None, :], mask=(rm[:, None] < M) & (kk[None, :] < K), other=0.)
        y = tl.load(b + kk[:, None] * N + rn[None, :], mask=(kk[:, None] < K) & (rn[None, :] < N), other=0.)
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


# check: a=randn:bf16[150,136] b=randn:bf16[136,100] c=zeros:bf16[150,100] M=150 N=100 K=136 BM=64 BN=64 BK=32 --grid 3,2
@triton.jit
def whiled(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    A = tl.make_block_ptr(a, (M, K), (K, 1), (pm * BM, 0), (BM, BK), (1, 0))
    B = tl.make_block_ptr(b, (K, N), (N, 1), (0, pn * BN), (BK, BN), (1, 0))
    acc = tl.zeros((BM, BN), tl.float32)
    left = K
    while left > 0:
        acc = tl.dot(tl.load(A, boundary_check=(0, 1), padding_option="zero"), tl.load(B, boundary_check=(0, 1), padding_option="zero"), acc)
        A = tl.advance(A, (0, BK))
        B = tl.advance(B, (BK, 0))
        left -= BK
    C = tl.make_block_ptr(c, (M, N), (N, 1), (pm * BM, pn * BN), (BM, BN), (1, 0))
    tl.store(C, acc.to(c.dtype.element_ty), boundary_check=(0, 1))


# check: a=randn:f16[150,136] b=randn:f16[136,100] c=zeros:f16[150,100] M=150 N=100 K=136 BM=64 BN=64 BK=32 GROUP=2 EVEN=False --grid 6
@triton.jit
def swizzled(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, EVEN: tl.constexpr):
    pid = tl.program_id(0)
    m, n = tl.swizzle2d(pid // tl.cdiv(N, BN), pid % tl.cdiv(N, BN), tl.cdiv(M, BM), tl.cdiv(N, BN), GROUP)
    rm = tl.max_contiguous(tl.multiple_of((m * BM + tl.arange(0, BM)) % M, BM), BM)
    rn = tl.max_contiguous(tl.multiple_of((n * BN + tl.arange(0, BN)) % N, BN), BN)
    rk = tl.arange(0, BK)
    A = a + (rm[:, None] * K + rk[None, :])
    B = b + (rk[:, None] * N + rn[None, :])
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(tl.cdiv(K, BK), 0, -1):
        if EVEN:
            x = tl.load(A)
            y = tl.load(B)
        else:
            x = tl.load(A, mask=rk[None, :] < K - (tl.cdiv(K, BK) - k) * BK, other=0.)
            y = tl.load(B, mask=rk[:, None] < K - (tl.cdiv(K, BK) - k) * BK, other=0.)
        acc += tl.dot(x, y, out_dtype=tl.float32)
        A += BK
        B += BK * N
    rm = m * BM + tl.arange(0, BM)
    rn = n * BN + tl.arange(0, BN)
    tl.store(c + (rm[:, None] * N + rn[None, :]), acc.to(tl.float16), mask=(rm < M)[:, None] & (rn < N)[None, :])


# check: x=randn:f16[100,64] w=randn:f16[3,64,64] M=100 T=3 D=64 BM=64 --grid 2
@triton.jit
def inplace(x, w, M, T, D: tl.constexpr, BM: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    for t in range(T):
        v = tl.load(x + rm[:, None] * D + d[None, :], mask=rm[:, None] < M, other=0.)
        ww = tl.load(w + t * D * D + d[:, None] * D + d[None, :])
        y = tl.dot(v, ww) * 0.1
        tl.store(x + rm[:, None] * D + d[None, :], y.to(x.dtype.element_ty), mask=rm[:, None] < M)


# check: a=randn:bf16[150,136] b=randn:bf16[136,100] c=randn:bf16[150,100] M=150 N=100 K=136 BM=64 BN=64 BK=32 --grid 3
@triton.jit
def residual(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0)
    rm = pm * BM + tl.arange(0, BM)
    rk = tl.arange(0, BK)
    for n in range(0, tl.cdiv(N, BN)):
        rn = n * BN + tl.arange(0, BN)
        m = (rm[:, None] < M) & (rn[None, :] < N)
        acc = tl.load(c + rm[:, None] * N + rn[None, :], mask=m, other=0.).to(tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            kk = k * BK + rk
            x = tl.load(a + rm[:, None] * K + kk[None, :], mask=(rm[:, None] < M) & (kk[None, :] < K), other=0.)
            y = tl.load(b + kk[:, None] * N + rn[None, :], mask=(kk[:, None] < K) & (rn[None, :] < N), other=0.)
            acc = tl.dot(x, y, acc)
        tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty), mask=m)
        if n > 0:
            tl.store(c + rm[:, None] * N + rn[None, :], (acc + 1).to(c.dtype.element_ty), mask=m)


# check: a=randn:bf16[150,136] b=randn:bf16[136,100] c=zeros:bf16[150,100] s=zeros:f32[150] M=150 N=100 K=136 BM=64 BN=64 BK=32 --grid 3
@triton.jit
def iff(a, b, c, s, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # store in an if, atomic in loop, two outputs of one loop
    pm = tl.program_id(0)
    rm = pm * BM + tl.arange(0, BM)
    rk = tl.arange(0, BK)
    for n in range(pm % 2, tl.cdiv(N, BN), 2):
        rn = n * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            kk = k * BK + rk
            x = tl.load(a + rm[:, None] * K + kk[None, :], mask=(rm[:, None] < M) & (kk[None, :] < K), other=0.)
            y = tl.load(b + kk[:, None] * N + rn[None, :], mask=(kk[:, None] < K) & (rn[None, :] < N), other=0.)
            acc = tl.dot(x, y, acc)
        m = (rm[:, None] < M) & (rn[None, :] < N)
        if n % 2 == 0:
            tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty), mask=m)
        else:
            tl.store(c + rm[:, None] * N + rn[None, :], (-acc).to(c.dtype.element_ty), mask=m)
        tl.atomic_add(s + rm, tl.sum(acc * acc, 1), mask=rm < M)


# check: q=randn:bf16[2,16,64] k=randn:bf16[2,150,64] v=randn:bf16[2,150,64] o=zeros:f32[2,3,16,64] m_out=zeros:f32[2,3,16] l_out=zeros:f32[2,3,16] N=150 scale=0.125 H=16 SPLIT=3 D=64 BN=32 --grid 2,3
@triton.jit
def decode(q, k, v, o, m_out, l_out, N, scale, H, SPLIT: tl.constexpr, D: tl.constexpr, BN: tl.constexpr):
    # flash decoding, 16 query heads a kv head
    b = tl.program_id(0)
    s = tl.program_id(1)
    h = tl.arange(0, 16)
    d = tl.arange(0, D)
    Q = tl.load(q + b * 16 * D + h[:, None] * D + d[None, :])
    per = tl.cdiv(N, SPLIT)
    lo = s * per
    hi = min(lo + per, N)
    m = tl.full((16,), -float('inf'), tl.float32)
    l = tl.zeros((16,), tl.float32)
    acc = tl.zeros((16, D), tl.float32)
    for n in range(lo, hi, BN):
        r = n + tl.arange(0, BN)
        kk = tl.load(k + b * N * D + r[None, :] * D + d[:, None], mask=r[None, :] < hi, other=0.)
        S = tl.dot(Q, kk) * scale
        S = tl.where(r[None, :] < hi, S, -float('inf'))
        mn = tl.maximum(m, tl.max(S, 1))
        al = tl.exp2((m - mn) * 1.44269504)
        p = tl.exp2((S - mn[:, None]) * 1.44269504)
        vv = tl.load(v + b * N * D + r[:, None] * D + d[None, :], mask=r[:, None] < hi, other=0.)
        acc = acc * al[:, None] + tl.dot(p.to(vv.dtype), vv)
        l = l * al + tl.sum(p, 1)
        m = mn
    tl.store(o + (b * SPLIT + s) * 16 * D + h[:, None] * D + d[None, :], acc / l[:, None])
    tl.store(m_out + (b * SPLIT + s) * 16 + h, m)
    tl.store(l_out + (b * SPLIT + s) * 16 + h, l)


# check: a=randn:bf16[100,136] b=randn:bf16[4,136,100] c=zeros:bf16[100,100] ids=arange:i32[128] experts=randint(4):i32[2] ntok=100 N=100 K=136 E=4 BM=64 BN=64 BK=32 --grid 2,2
@triton.jit
def moe(a, b, c, ids, experts, ntok, N, K, E, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # fused moe: gathered rows of A by token ids, expert of the block
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    tok = tl.load(ids + pm * BM + tl.arange(0, BM))
    ok = tok < ntok
    e = tl.load(experts + pm)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    ap = a + tok[:, None] * K + rk[None, :]
    bp = b + e * K * N + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(ap, mask=ok[:, None] & (rk[None, :] < K - k * BK), other=0.)
        y = tl.load(bp, mask=(rk[:, None] < K - k * BK) & (rn[None, :] < N), other=0.)
        acc += tl.dot(x, y)
        ap += BK
        bp += BK * N
    tl.store(c + tok[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty), mask=ok[:, None] & (rn[None, :] < N))


# check: a=randn:f8e4m3[150,128] b=randn:f8e4m3[100,128] sa=rand:f32[150,2] sb=rand:f32[2,2] c=zeros:bf16[150,100] M=150 N=100 K=128 BM=64 BN=64 BK=64 --grid 3,2
@triton.jit
def fp8gemm(a, b, sa, sb, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # block-scaled: scales every BK
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    nk = tl.cdiv(K, BK)
    for k in range(nk):
        kk = k * BK + rk
        x = tl.load(a + rm[:, None] * K + kk[None, :], mask=(rm[:, None] < M) & (kk[None, :] < K), other=0.)
        y = tl.load(b + rn[None, :] * K + kk[:, None], mask=(rn[None, :] < N) & (kk[:, None] < K), other=0.)
        s1 = tl.load(sa + rm * nk + k, mask=rm < M, other=0.)
        s2 = tl.load(sb + k + pn * nk)
        acc += tl.dot(x, y) * s1[:, None] * s2
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


# check: a=randn:f32[70,100] b=randn:f32[100,40] c=zeros:f32[70,40] M=70 N=40 K=100 P=ieee BM=64 BN=64 BK=32 --grid 2
# check: a=randn:f32[70,100] b=randn:f32[100,40] c=zeros:f32[70,40] M=70 N=40 K=100 P=tf32 BM=64 BN=64 BK=32 --grid 2 --tolerance 1e-2
# check: a=randn:bf16[20,100] b=randn:bf16[100,40] c=zeros:f32[20,40] M=20 N=40 K=100 P=ieee BM=16 BN=64 BK=32 --grid 2
# check: a=randn:f64[20,60] b=randn:f64[60,40] c=zeros:f64[20,40] M=20 N=40 K=60 P=ieee BM=16 BN=32 BK=32 --grid 2
# a left operand that is made of what was loaded, for every instruction that takes it
@triton.jit
def made_left(a, b, c, M, N, K, P: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn, rk = tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), c.dtype.element_ty)
    for k in range(0, K, BK):
        kk = k + rk
        x = tl.load(a + rm[:, None] * K + kk[None, :], mask=(rm[:, None] < M) & (kk[None, :] < K), other=0.)
        y = tl.load(b + kk[:, None] * N + rn[None, :], mask=(kk[:, None] < K) & (rn[None, :] < N), other=0.)
        acc = tl.dot(x * 2, y, acc, input_precision=P, out_dtype=c.dtype.element_ty)
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


# Behind the columns that are stored lie others, which stay as they are: TMA stores 16 bytes at once.
# check: x=randn:f16[64,128] w=randn:f16[64,128] y=randn:f16[64,128] n1=50 n2=61 n3=60 BM=64 BN=64 BK=64 --grid 1
# check: x=randn:f16[64,128] w=randn:f16[64,128] y=randn:f16[64,128] n1=50 n2=72 n3=64 BM=64 BN=64 BK=64 --grid 1
# check: x=randn:f16[64,128] w=randn:f16[64,128] y=randn:f32[64,128] n1=64 n2=1 n3=33 BM=64 BN=64 BK=64 --grid 1
# check: x=randn:f16[64,128] w=randn:f16[64,128] y=randn:bf16[64,128] n1=50 n2=127 n3=61 BM=64 BN=64 BK=64 --grid 3
# check: x=randn:f16[64,128] w=randn:f16[64,128] y=randint(9):i8[64,128] n1=50 n2=109 n3=61 BM=64 BN=64 BK=64 --grid 2
# check: x=randn:f64[64,128] w=randn:f64[64,128] y=randn:f64[64,128] n1=50 n2=7 n3=61 BM=16 BN=16 BK=16 --grid 2
@triton.jit
def room_behind_rows(x, w, y, n1, n2, n3, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    kind: tl.constexpr = tl.float64 if x.dtype.element_ty == tl.float64 else tl.float32
    for q in range(tl.program_id(0), tl.cdiv(n1, BM) * tl.cdiv(n2, BN), tl.num_programs(0)):
        rm = q // tl.cdiv(n2, BN) * BM + tl.arange(0, BM)
        rn = q % tl.cdiv(n2, BN) * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), kind)
        for k in range(0, n3, BK):
            rk = k + tl.arange(0, BK)
            a = tl.load(x + rm[:, None] * 128 + rk[None, :], mask=(rm[:, None] < n1) & (rk[None, :] < n3), other=0.0)
            b = tl.load(w + rk[:, None] * 128 + rn[None, :], mask=(rk[:, None] < n3) & (rn[None, :] < n2), other=0.0)
            acc = tl.dot(a, b, acc, out_dtype=kind)
        tl.store(y + rm[:, None] * 128 + rn[None, :], acc.to(y.dtype.element_ty), mask=(rm[:, None] < n1) & (rn[None, :] < n2))


# check: x=randn:f16[64,128] w=randn:f16[64,128] y=randn:f16[64,128] n1=50 n2=61 n3=60 --grid 1
# check: x=randn:f16[64,128] w=randn:f16[64,128] y=randn:f16[64,128] n1=50 n2=64 n3=64 --grid 1
@triton.jit
def room_behind_descriptors(x, w, y, n1, n2, n3):
    a = tl.make_tensor_descriptor(x, [n1, n3], [128, 1], [64, 64])
    b = tl.make_tensor_descriptor(w, [n3, n2], [128, 1], [64, 64])
    c = tl.make_tensor_descriptor(y, [n1, n2], [128, 1], [64, 64])
    acc = tl.zeros((64, 64), tl.float32)
    for k in range(0, n3, 64):
        acc = tl.dot(a.load([0, k]), b.load([k, 0]), acc)
    c.store([0, 0], acc.to(tl.float16))


# Where tiles lie follows from numbers that bound no tensor: TMA stores them where these are not negative, which the launch tests.
# check: a=randn:f16[256,64] b=randn:f16[128,64] c=randn:f16[256,128] M=256 N=128 K=64 rows=256 columns=128 --grid 3
# check: a=randn:f16[256,64] b=randn:f16[128,64] c=randn:f16[256,128] M=200 N=100 K=50 rows=190 columns=72 --grid 3
# check: a=randn:f16[256,64] b=randn:f16[128,64] c=randn:f16[256,128] M=-200 N=-200 K=64 rows=256 columns=128 --grid 3
# check: a=randn:f16[256,64] b=randn:f16[128,64] c=randn:f16[256,128] M=0 N=128 K=64 rows=256 columns=128 --grid 3
# explain: store: by TMA
@triton.jit
def tiles_by_numbers(a, b, c, M, N, K, rows, columns):
    left = tl.make_tensor_descriptor(a, [rows, K], [64, 1], [64, 64])
    right = tl.make_tensor_descriptor(b, [128, K], [64, 1], [64, 64])
    out = tl.make_tensor_descriptor(c, [rows, columns], [128, 1], [64, 64])
    across = tl.cdiv(N, 64)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, 64) * across, 3):
        m = tile // across * 64
        n = tile % across * 64
        acc = tl.zeros((64, 64), tl.float32)
        for k in range(0, K, 64):
            acc = tl.dot(left.load([m, k]), right.load([n, k]).T, acc)
        out.store([m, n], acc.to(tl.float16))


# check: a=randn:f32[64,64] b=randn:f32[64,256] c=randn:f32[256,64] o=zeros:f32[64,64] n=4 --grid 1
# check: a=randn:f32[64,64] b=randn:f32[64,256] c=randn:f32[256,64] o=zeros:f32[64,64] n=0 --grid 1
# a left operand that stays through a loop, of products that no matrix unit takes
@triton.jit
def kept_left_of_plain_products(a, b, c, o, n):
    r = tl.arange(0, 64)
    left = tl.load(a + r[:, None] * 64 + r[None, :])
    acc = tl.zeros((64, 64), tl.float32)
    for k in range(0, n):
        x = tl.load(b + r[:, None] * 256 + (k * 64 + r)[None, :])
        y = tl.load(c + (k * 64 + r)[:, None] * 64 + r[None, :])
        s = tl.dot(left, x, input_precision="ieee")
        acc = tl.dot(s * 0.125, y, acc, input_precision="ieee")
    tl.store(o + r[:, None] * 64 + r[None, :], acc)


# Extents of 64 bits: TMA takes none above 2^31 (the chip ends the kernel), other copies do.
# check: a=randn:f16[65664] b=randn:f16[32896] c=zeros:f16[32768] M=256 N=128 K=256 BM=128 BN=128 BK=64 --grid 2
# check: a=randn:f16[65664] b=randn:f16[32896] c=zeros:f16[32768] M=2147483648 N=128 K=256 BM=128 BN=128 BK=64 --grid 2
# check: a=randn:f16[65664] b=randn:f16[32896] c=zeros:f16[32768] M=6000000000 N=128 K=256 BM=128 BN=128 BK=64 --grid 2
@triton.jit
def tall(a, b, c, M: tl.int64, N: tl.int64, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.make_block_ptr(a, (M, K), (K, 1), (tl.program_id(0) * BM, 0), (BM, BK), (1, 0))
    columns = tl.make_block_ptr(b, (K, N), (N, 1), (0, 0), (BK, BN), (1, 0))
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(rows, boundary_check=(0, 1)), tl.load(columns, boundary_check=(0, 1)), acc)
        rows = tl.advance(rows, (0, BK))
        columns = tl.advance(columns, (BK, 0))
    out = tl.make_block_ptr(c, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    tl.store(out, acc.to(tl.float16), boundary_check=(0, 1))
# SPDX-License-Identifier: Apache-2.0
