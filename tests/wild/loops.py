"""Loops around hand-overs: trips from memory, trips left out, loops in loops, addresses that the trip before loaded; and products as
models have them, by descriptors and block pointers."""
import triton
import triton.language as tl


# check: a=randn:bf16[150,136] b=randn:bf16[136,100] n=randint(5):i32[6] c=zeros:bf16[150,100] M=150 N=100 K=136 BM=64 BN=64 BK=32 --grid 3,2
# two loops one after the other, none or one trip each among them, operands in the other order in the second
@triton.jit
def trips_from_memory(a, b, n, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    first = tl.load(n + pm)
    second = tl.load(n + pm + 3)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, first):
        kk = k * BK + rk
        x = tl.load(a + rm[:, None] * K + kk[None, :], mask=(rm[:, None] < M) & (kk[None, :] < K), other=0.)
        y = tl.load(b + kk[:, None] * N + rn[None, :], mask=(kk[:, None] < K) & (rn[None, :] < N), other=0.)
        acc = tl.dot(x, y, acc)
    acc = acc * 0.5
    for k in range(0, second):
        kk = K - (k + 1) * BK + rk
        y = tl.load(b + kk[:, None] * N + rn[None, :], mask=(kk[:, None] >= 0) & (rn[None, :] < N), other=0.)
        x = tl.load(a + rm[:, None] * K + kk[None, :], mask=(rm[:, None] < M) & (kk[None, :] >= 0), other=0.)
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


# check: a=randn:f16[150,136] b=randn:f16[136,100] flag=randint(2):i32[5] c=zeros:f16[150,100] M=150 N=100 K=136 BM=64 BN=64 BK=32 --grid 3,2
# a role that skips trips under a condition that depends on the trip, and one that is loaded
@triton.jit
def skip_trips(a, b, flag, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        kk = k * BK + rk
        if tl.load(flag + k) != 0:
            x = tl.load(a + rm[:, None] * K + kk[None, :], mask=(rm[:, None] < M) & (kk[None, :] < K), other=0.)
            y = tl.load(b + kk[:, None] * N + rn[None, :], mask=(kk[:, None] < K) & (rn[None, :] < N), other=0.)
            acc = tl.dot(x, y, acc)
        elif k % 3 != pm % 3:
            y = tl.load(b + kk[:, None] * N + rn[None, :], mask=(kk[:, None] < K) & (rn[None, :] < N), other=0.)
            acc += tl.sum(y.to(tl.float32), 0)[None, :]
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


# check: a=randn:bf16[200,200] b=randn:bf16[200,100] c=zeros:bf16[200,100] M=200 N=100 BM=64 BN=64 BK=64 --grid 3
# persistent outer loop, inner loops of different lengths (lower triangle of tiles), store inside
@triton.jit
def triangle(a, b, c, M, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tn = tl.cdiv(N, BN)
    for t in tl.range(tl.program_id(0), tl.cdiv(M, BM) * tn, tl.num_programs(0), flatten=True):
        pm = t // tn
        pn = t % tn
        rm = pm * BM + tl.arange(0, BM)
        rn = pn * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), tl.float32)
        for k in tl.range(0, pm, num_stages=3):
            rk = k * BK + tl.arange(0, BK)
            x = tl.load(a + rm[:, None] * M + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < M), other=0.)
            y = tl.load(b + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < M) & (rn[None, :] < N), other=0.)
            acc = tl.dot(x, y, acc)
        rk = pm * BK + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * M + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < M), other=0.)
        x = tl.where(rk[None, :] <= rm[:, None], x, 0.)
        y = tl.load(b + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < M) & (rn[None, :] < N), other=0.)
        acc = tl.dot(x, y, acc)
        tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


# check: a=randn:bf16[5,64,64] next=randint(5):i32[5] b=randn:bf16[64,64] c=zeros:f32[64,64] T=7 --grid 1
# a chain of loads: linked list of tiles
@triton.jit
def linked(a, next, b, c, T):
    r = tl.arange(0, 64)
    place = r[:, None] * 64 + r[None, :]
    w = tl.load(b + place)
    acc = tl.zeros((64, 64), tl.float32)
    at = 0
    for i in range(T):
        x = tl.load(a + at * 4096 + place)
        acc = tl.dot(x, w, acc)
        at = tl.load(next + at)
    tl.store(c + place, acc)


# check: a=randn:bf16[4,64,64] b=randn:bf16[6,64,64] c=zeros:f32[64,64] A=4 --grid 2
# three levels, the inner trip count changes with both outer ones; accumulators at each
@triton.jit
def three_deep(a, b, c, A):
    r = tl.arange(0, 64)
    place = r[:, None] * 64 + r[None, :]
    out = tl.zeros((64, 64), tl.float32)
    for i in range(A):
        x = tl.load(a + i * 4096 + place)
        mid = tl.zeros((64, 64), tl.float32)
        for j in range(i + tl.program_id(0)):
            acc = tl.zeros((64, 64), tl.float32)
            for k in range(j, i + 1):
                y = tl.load(b + (k + tl.program_id(0)) * 4096 + place)
                acc = tl.dot(x, y, acc)
            mid += acc * 0.5
        out += mid
    tl.store(c + place, out, mask=tl.program_id(0) == 1)


# check: x=randn:bf16[100,136] wg=randn:bf16[136,72] wu=randn:bf16[136,72] y=zeros:bf16[100,72] M=100 N=72 K=136 BM=64 BN=64 BK=64 --grid 2,2
# gate and up products and silu, descriptors of the device, warp_specialize
@triton.jit
def swiglu(x, wg, wu, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    dx = tl.make_tensor_descriptor(x, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    dg = tl.make_tensor_descriptor(wg, shape=[K, N], strides=[N, 1], block_shape=[BK, BN])
    du = tl.make_tensor_descriptor(wu, shape=[K, N], strides=[N, 1], block_shape=[BK, BN])
    dy = tl.make_tensor_descriptor(y, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    gate = tl.zeros((BM, BN), tl.float32)
    up = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=True):
        a = dx.load([m, k])
        gate = tl.dot(a, dg.load([k, n]), gate)
        up = tl.dot(a, du.load([k, n]), up)
    gate = gate * 0.1
    dy.store([m, n], (gate * tl.sigmoid(gate) * up * 0.1).to(tl.bfloat16))


# check: a=randn:f16[200,64] b=randn:f16[3,64,72] c=zeros:f16[200,72] starts=arange:i32[4] G=3 N=72 K=64 BM=32 BN=64 BK=32 --grid 2
# grouped gemm with descriptors made in the loop over groups (sizes and starts from memory)
@triton.jit
def grouped_descriptors(a, b, c, starts, G, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    t = tl.program_id(0)
    last = 0
    for g in range(G):
        lo = tl.load(starts + g) * 60
        rows = tl.load(starts + g + 1) * 60 - lo + g
        tn = tl.cdiv(N, BN)
        tiles = tl.cdiv(rows, BM) * tn
        da = tl.make_tensor_descriptor(a + lo * K, shape=[rows, K], strides=[K, 1], block_shape=[BM, BK])
        db = tl.make_tensor_descriptor(b + g * K * N, shape=[K, N], strides=[N, 1], block_shape=[BK, BN])
        dc = tl.make_tensor_descriptor(c + lo * N, shape=[rows - g, N], strides=[N, 1], block_shape=[BM, BN])
        while t < last + tiles:
            i = t - last
            acc = tl.zeros((BM, BN), tl.float32)
            for k in range(0, K, BK):
                acc = tl.dot(da.load([i // tn * BM, k]), db.load([k, i % tn * BN]), acc)
            dc.store([i // tn * BM, i % tn * BN], acc.to(tl.float16))
            t += tl.num_programs(0)
        last += tiles


# check: a=randn:bf16[40,128] w=randn:bf16[4,128,72] c=zeros:f32[40,72] ids=randint(48):i32[128] experts=randint(4):i32[2] gate=rand:f32[128] T=40 N=72 K=128 BM=64 BN=64 BK=64 --grid 2,2
# mixture of experts: rows by sorted token ids, experts by block, weights of the router, block pointers for the weights
# explain: atomic: box f32[64,64] of c[unbounded, N], strides [N, 1], at [rows, n]; dimension 0 is indexed by numbers from ids
@triton.jit
def moe_scatter(a, w, c, ids, experts, gate, T, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0)
    n = tl.program_id(1) * BN
    slot = pm * BM + tl.arange(0, BM)
    rows = tl.load(ids + slot)
    ok = rows < T
    e = tl.load(experts + pm)
    wp = tl.make_block_ptr(w + e * K * N, shape=(K, N), strides=(N, 1), offsets=(0, n), block_shape=(BK, BN), order=(1, 0))
    rk = tl.arange(0, BK)
    ap = a + rows[:, None] * K + rk[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(ap, mask=ok[:, None], other=0.)
        y = tl.load(wp, boundary_check=(1,), padding_option="zero")
        acc = tl.dot(x, y, acc)
        ap += BK
        wp = tl.advance(wp, (BK, 0))
    acc *= tl.load(gate + slot)[:, None]
    rn = n + tl.arange(0, BN)
    tl.atomic_add(c + rows[:, None] * N + rn[None, :], acc, mask=ok[:, None] & (rn[None, :] < N))


# check: a=randn:f16[70,128] q=randint(255):u8[128,36] s=rand:f16[4,72] c=zeros:f16[70,72] M=70 N=72 K=128 BM=64 BN=64 BK=32 --grid 2,2
# int4 weights of two columns a byte, unpacked by join, groups of 32 along K
@triton.jit
def weight_only_int4(a, q, s, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rh = tl.program_id(1) * (BN // 2) + tl.arange(0, BN // 2)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :], mask=rm[:, None] < M, other=0.)
        w = tl.load(q + (k + rk)[:, None] * (N // 2) + rh[None, :], mask=rh[None, :] < N // 2, other=0)
        y = tl.interleave((w & 15).to(tl.float16) - 8., (w >> 4).to(tl.float16) - 8.)
        sc = tl.load(s + (k // 32) * N + rn, mask=rn < N, other=0.)
        acc = tl.dot(x, y * sc[None, :], acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.float16), mask=(rm[:, None] < M) & (rn[None, :] < N))


# check: a=randn:f16[100,160] b=randn:f16[160,72] c=zeros:f32[100,72] M=100 N=72 K=160 BM=64 BN=64 BK=32 --grid 3
# stream-k: programs take equal shares of all k-steps of all tiles, partial tiles by atomics
@triton.jit
def stream_k(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tn = tl.cdiv(N, BN)
    steps = tl.cdiv(K, BK)
    total = tl.cdiv(M, BM) * tn * steps
    share = tl.cdiv(total, tl.num_programs(0))
    at = tl.program_id(0) * share
    end = tl.minimum(at + share, total)
    while at < end:
        tile = at // steps
        first = at % steps
        last = tl.minimum(steps, first + end - at)
        rm = tile // tn * BM + tl.arange(0, BM)
        rn = tile % tn * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(first, last):
            kk = k * BK + tl.arange(0, BK)
            x = tl.load(a + rm[:, None] * K + kk[None, :], mask=(rm[:, None] < M) & (kk[None, :] < K), other=0.)
            y = tl.load(b + kk[:, None] * N + rn[None, :], mask=(kk[:, None] < K) & (rn[None, :] < N), other=0.)
            acc = tl.dot(x, y, acc)
        tl.atomic_add(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))
        at += last - first


# check: q=randn:f16[100,128] k=randn:f16[160,128] v=randn:f16[160,128] o=zeros:f16[100,128] lists=randint(5):i32[2,3] counts=full(3):i32[2] NQ=100 NK=160 D=128 BM=64 BN=32 --grid 2
# attention with a mask of blocks: which key blocks a query block sees comes from memory (lists), dQK at D 128 by descriptors
@triton.jit
def sparse_attention(q, k, v, o, lists, counts, NQ, NK, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    pm = tl.program_id(0)
    dq = tl.make_tensor_descriptor(q, shape=[NQ, D], strides=[D, 1], block_shape=[BM, D])
    dk = tl.make_tensor_descriptor(k, shape=[NK, D], strides=[D, 1], block_shape=[BN, D])
    dv = tl.make_tensor_descriptor(v, shape=[NK, D], strides=[D, 1], block_shape=[BN, D])
    do = tl.make_tensor_descriptor(o, shape=[NQ, D], strides=[D, 1], block_shape=[BM, D])
    x = dq.load([pm * BM, 0])
    m = tl.full((BM,), -float("inf"), tl.float32)
    norm = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for i in range(tl.load(counts + pm)):
        n = tl.load(lists + pm * 3 + i) * BN
        s = tl.dot(x, dk.load([n, 0]).T) * 0.088
        new = tl.maximum(m, tl.max(s, 1))
        p = tl.exp(s - new[:, None])
        alpha = tl.exp(m - new)
        norm = norm * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        acc = tl.dot(p.to(tl.float16), dv.load([n, 0]), acc)
        m = new
    do.store([pm * BM, 0], (acc / norm[:, None]).to(tl.float16))


# check: a=randn:bf16[5,64,64] b=randn:bf16[5,64,64] steps=randint(4):i32[6] c=zeros:f32[64,64] n=6 --grid 1
# trips that the loop around carries, beside sums that only one role has
@triton.jit
def grow(a, b, steps, c, n):
    r = tl.arange(0, 64)
    place = r[:, None] * 64 + r[None, :]
    acc = tl.zeros((64, 64), tl.float32)
    t = 0
    at = 0
    for i in range(n):
        for k in range(t):
            x = tl.load(a + at * 4096 + place)
            y = tl.load(b + k * 4096 + place)
            acc = tl.dot(x, y, acc)
        t = (t + tl.load(steps + i)) % 5
        at = (at + t) % 5
    tl.store(c + place, acc)


# check: x=randn:bf16[40,96] w=randn:bf16[3,72,96] y=zeros:bf16[120,72] sizes=full(37):i32[3] rows=randint(40):i32[120] E=3 N=72 K=96 BM=64 BN=64 BK=32 --grid 2
# check: x=randn:f16[40,64] w=randn:f16[3,72,64] y=zeros:f16[330,72] sizes=full(110):i32[3] rows=randint(40):i32[330] E=3 N=72 K=64 BM=128 BN=64 BK=32 --grid 3
# explain: of ring in (load to compute)
# explain: of ring out (compute to store)
# experts one after the other, tiles of one until they are done: rows of x picked by numbers, two loops around the product, one of them a while
@triton.jit
def experts_whiled(x, w, y, sizes, rows, E, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    t = tl.program_id(0)
    first, before = 0, 0
    for e in range(E):
        m = tl.load(sizes + e)
        if m > 0:
            down = tl.cdiv(m, BM)
            tiles = down * tl.cdiv(N, BN)
            while t >= before and t < before + tiles:
                r = (t - before) % down * BM + tl.arange(0, BM)
                n = (t - before) // down * BN + tl.arange(0, BN)
                ids = tl.load(rows + first + r, mask=r < m, other=0)
                acc = tl.zeros((BM, BN), tl.float32)
                for k in range(0, K, BK):
                    rk = k + tl.arange(0, BK)
                    a = tl.load(x + ids[:, None] * K + rk[None, :], mask=(r < m)[:, None] & (rk < K)[None, :], other=0.)
                    b = tl.load(w + e * N * K + n[:, None] * K + rk[None, :], mask=(n < N)[:, None] & (rk < K)[None, :], other=0.)
                    acc = tl.dot(a, b.T, acc)
                tl.store(y + (first + r)[:, None] * N + n[None, :], acc.to(y.dtype.element_ty), mask=(r < m)[:, None] & (n < N)[None, :])
                t += tl.num_programs(0)
            before += tiles
        first += m


# check: x=randn:f16[100,32] y=zeros:f32[32,32] lo=9223372036854775780 hi=9223372036854775807 step=5 B=32 --grid 1
# check: x=randn:f16[100,32] y=zeros:f32[32,32] lo=-9223372036854775780 hi=-9223372036854775808 step=-5 B=32 --grid 1
# check: x=randn:f16[100,32] y=zeros:f32[32,32] lo=9223372036854775780 hi=9223372036854775807 step=6917529027641081856 B=32 --grid 1
# products, with loads ahead, whose variable would leave 64 bits after the last trip
@triton.jit
def to_the_last_number(x, y, lo, hi, step, B: tl.constexpr):
    r = tl.arange(0, B)
    place = r[:, None] * B + r[None, :]
    acc = tl.zeros((B, B), tl.float32)
    for i in range(lo, hi, step):
        away = tl.where(step > 0, i - lo, lo - i)
        a = tl.load(x + away * B + place)
        acc = tl.dot(a, a, acc)
    tl.store(y + place, acc)


# check: x=randn:f32[100,32] y=zeros:f32[32] lo=9223372036854775780 hi=9223372036854775807 B=32 --grid 1
# check: x=randn:f32[100,32] y=zeros:f32[32] lo=-9223372036854775808 hi=-9223372036854775779 B=32 --grid 1
# the same with small loads, a trip ahead
@triton.jit
def rows_to_the_last_number(x, y, lo, hi, B: tl.constexpr):
    r = tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    for i in range(lo, hi, 5):
        acc = acc * 0.5 + tl.load(x + (i - lo) * B + r)
    tl.store(y + r, acc)


# check: x=randn:f32[150,64] y=randn:f32[16,64] n=150 d=64 C=16 NB=3 NC=3 --grid 1
# check: x=randn:f32[150,64] y=randn:f32[16,64] n=150 d=64 C=16 NB=4 NC=2 --grid 1
# explain: load: box
# explain: no stays a gather
# pointers and indices go up through a loop in a loop, as numbers that are known; the product begins with the second round
@triton.jit
def rows_in_rounds(x, y, n, d: tl.constexpr, C: tl.constexpr, NB: tl.constexpr, NC: tl.constexpr):
    p = x + tl.arange(0, C)[:, None] * d + tl.arange(0, d)[None, :]
    off = tl.arange(0, C)
    acc = tl.zeros([C, d], tl.float32)
    for i in range(NB):
        now = tl.zeros([C, d], tl.float32)
        for j in range(NC):
            if i > 0:
                now += tl.load(p, mask=off[:, None] < n, other=0.) * (j + 1)
            p += C * d
            off += C
        acc = acc * 0.5 + now
    tl.store(y + tl.arange(0, C)[:, None] * d + tl.arange(0, d)[None, :], acc)


# check: x=randn:f32[150,64] y=randn:f32[16,64] n=150 d=64 C=16 NB=3 NC=3 --grid 1
# explain: load: box
# explain: no stays a gather
# the same from the end down
@triton.jit
def rows_in_rounds_from_the_end(x, y, n, d: tl.constexpr, C: tl.constexpr, NB: tl.constexpr, NC: tl.constexpr):
    p = x + (NB * NC * C + tl.arange(0, C))[:, None] * d + tl.arange(0, d)[None, :]
    off = NB * NC * C + tl.arange(0, C)
    acc = tl.zeros([C, d], tl.float32)
    for i in range(NB - 1, -1, -1):
        now = tl.zeros([C, d], tl.float32)
        for j in range(NC - 1, -1, -1):
            p -= C * d
            off -= C
            now += tl.load(p, mask=off[:, None] < n, other=0.) * (j + 1)
        acc = acc * 0.5 + now
    tl.store(y + tl.arange(0, C)[:, None] * d + tl.arange(0, d)[None, :], acc)


# check: x=randn:f32[150,64] y=randn:f32[16,64] n=150 NB=3 NC=3 d=64 C=16 --grid 1
# check: x=randn:f32[150,64] y=randn:f32[16,64] n=150 NB=9 NC=1 d=64 C=16 --grid 1
# check: x=randn:f32[150,64] y=randn:f32[16,64] n=150 NB=2 NC=0 d=64 C=16 --grid 1
# check: x=randn:f32[150,64] y=randn:f32[16,64] n=150 NB=3 NC=-2 d=64 C=16 --grid 1
# check: x=randn:f32[150,64] y=randn:f32[16,64] n=150 NB=0 NC=3 d=64 C=16 --grid 1
# explain: load: box
# explain: no stays a gather
# the rounds and their trips are numbers of the launch; none of them is below zero, or another variant runs
@triton.jit
def rows_in_rounds_of_the_launch(x, y, n, NB, NC, d: tl.constexpr, C: tl.constexpr):
    p = x + tl.arange(0, C)[:, None] * d + tl.arange(0, d)[None, :]
    off = tl.arange(0, C)
    acc = tl.zeros([C, d], tl.float32)
    for i in range(NB):
        now = tl.zeros([C, d], tl.float32)
        for j in range(NC):
            now += tl.load(p, mask=off[:, None] < n, other=0.) * (j + 1)
            p += C * d
            off += C
        acc = acc * 0.5 + now
    tl.store(y + tl.arange(0, C)[:, None] * d + tl.arange(0, d)[None, :], acc)
# SPDX-License-Identifier: Apache-2.0
