"""Accesses that must keep their order, and loops in a row on the same tensors."""
import triton
import triton.language as tl


# check: a=randn:f16[64,128] b=randn:f16[128,64] c=zeros:f32[64,64] K=128 half=64 M=64 N=64 BK=32 --grid 1
# check: a=randn:f16[64,128] b=randn:f16[128,64] c=zeros:f32[64,64] K=128 half=0 M=64 N=64 BK=32 --grid 1
# check: a=randn:f16[64,128] b=randn:f16[128,64] c=zeros:f32[64,64] K=128 half=128 M=64 N=64 BK=32 --grid 1
# check: a=randn:f16[64,100] b=randn:f16[100,64] c=zeros:f32[64,64] K=96 half=33 M=64 N=64 BK=16 --grid 1 --set num_stages=4
@triton.jit
def halves(a, b, c, K, half, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    rm = tl.arange(0, M)
    rn = tl.arange(0, N)
    rk = tl.arange(0, BK)
    acc = tl.zeros((M, N), tl.float32)
    for k in range(0, half, BK):
        acc = tl.dot(tl.load(a + rm[:, None] * K + (k + rk)[None, :]), tl.load(b + (k + rk)[:, None] * N + rn[None, :]), acc)
    acc = acc * 0.5
    for k in range(half, K, BK):
        acc = tl.dot(tl.load(a + rm[:, None] * K + (k + rk)[None, :]), tl.load(b + (k + rk)[:, None] * N + rn[None, :]), acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc)


# check: a=randn:f16[64,128] b=randn:f16[128,64] c=zeros:f32[64,64] K=128 one=32 two=32 often=2 M=64 N=64 --grid 1
# check: a=randn:f16[64,128] b=randn:f16[128,64] c=zeros:f32[64,64] K=128 one=0 two=0 often=3 M=64 N=64 --grid 1
# check: a=randn:f16[64,128] b=randn:f16[128,64] c=zeros:f32[64,64] K=128 one=128 two=128 often=1 M=64 N=64 --grid 1 --set num_stages=2
# check: a=randn:f16[64,128] b=randn:f16[128,64] c=zeros:f32[64,64] K=128 one=64 two=128 often=0 M=64 N=64 --grid 1
@triton.jit
def three_in_one(a, b, c, K, one, two, often, M: tl.constexpr, N: tl.constexpr):
    rm = tl.arange(0, M)
    rn = tl.arange(0, N)
    acc = tl.zeros((M, N), tl.float32)
    for turn in range(often):
        for k in range(0, one, 32):
            rk = k + tl.arange(0, 32)
            acc = tl.dot(tl.load(a + rm[:, None] * K + rk[None, :]), tl.load(b + rk[:, None] * N + rn[None, :]), acc)
        acc = acc * 0.5
        if turn != 1:
            for k in range(one, two, 64):
                rk = k + tl.arange(0, 64)
                acc = tl.dot(tl.load(a + rm[:, None] * K + rk[None, :]), tl.load(b + rk[:, None] * N + rn[None, :]), acc)
        for k in range(two, K, 32):
            rk = k + tl.arange(0, 32)
            acc = tl.dot(tl.load(a + rm[:, None] * K + rk[None, :]), tl.load(b + rk[:, None] * N + rn[None, :]), acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc)


# check: a=randn:f16[64,128] b=randn:f16[128,64] c=zeros:f32[64,64] K=128 M=64 N=64 BK=32 --grid 1
@triton.jit
def stored_twice(a, b, c, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    rm = tl.arange(0, M)
    rn = tl.arange(0, N)
    rk = tl.arange(0, BK)
    acc = tl.zeros((M, N), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(tl.load(a + rm[:, None] * K + (k + rk)[None, :]), tl.load(b + (k + rk)[:, None] * N + rn[None, :]), acc)
    pc = c + rm[:, None] * N + rn[None, :]
    tl.store(pc, acc)
    tl.store(pc, acc * 0.01, mask=acc > 0)


# check: a=randn:f16[64,128] b=randn:f16[128,64] c=zeros:f32[80,64] K=128 M=64 N=64 BK=32 --grid 1
@triton.jit
def stored_over(a, b, c, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    rm = tl.arange(0, M)
    rn = tl.arange(0, N)
    rk = tl.arange(0, BK)
    acc = tl.zeros((M, N), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(tl.load(a + rm[:, None] * K + (k + rk)[None, :]), tl.load(b + (k + rk)[:, None] * N + rn[None, :]), acc)
        tl.store(c + rm[:, None] * N + rn[None, :], acc)
    tl.store(c + (rm + 16)[:, None] * N + rn[None, :], acc * 2.0)
    tl.store(c + (rm + 8)[:, None] * N + rn[None, :], acc * 3.0)


# check: x=randn:f16[64,64] y=zeros:f16[64,64] w=randn:f16[64,64] n=5 M=64 D=64 --grid 1
@triton.jit
def change_places(x, y, w, n, M: tl.constexpr, D: tl.constexpr):
    o = tl.arange(0, M)[:, None] * D + tl.arange(0, D)[None, :]
    wt = tl.load(w + tl.arange(0, D)[:, None] * D + tl.arange(0, D)[None, :])
    src = x
    dst = y
    for t in range(n):
        tl.store(dst + o, (tl.dot(tl.load(src + o), wt) * 0.05).to(tl.float16))
        src, dst = dst, src


# check: x=randn:f32[64,64] y=zeros:f32[64,64] n=5 --grid 1
@triton.jit
def change_places_while(x, y, n):
    o = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
    back = tl.arange(0, 64)[:, None] + tl.arange(0, 64)[None, :] * 64
    src = x
    dst = y
    t = 0
    while t < n:
        tl.store(dst + o, tl.load(src + back) + 1.0)
        src, dst = dst, src
        t += 1


# check: x=randn:f16[128,128] h=zeros:f16[128,128] w=randn:f16[128,64] y=zeros:f32[128,64] F=128 M=128 D=64 BK=32 --grid 1
@triton.jit
def product_in_flight(x, h, w, y, F, M: tl.constexpr, D: tl.constexpr, BK: tl.constexpr):
    rm = tl.arange(0, M)
    rd = tl.arange(0, D)
    rk = tl.arange(0, BK)
    for f in range(0, F, BK):
        o = rm[:, None] * F + (f + rk)[None, :]
        tl.store(h + o, tl.load(x + o) * 2.0)
    acc = tl.zeros((M, D), tl.float32)
    for f in range(0, F, BK):
        a = tl.load(h + rm[:, None] * F + (f + rk)[None, :])
        b = tl.load(w + (f + rk)[:, None] * D + rd[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(y + rm[:, None] * D + rd[None, :], acc)


# check: a=randn:f16[64,128] b=randn:f16[128,64] c=zeros:f32[64,64] K=128 n=4 --grid 1
@triton.jit
def carried_mask(a, b, c, K, n):
    rm = tl.arange(0, 64)
    rk = tl.arange(0, 32)
    pa = a + rm[:, None] * K + rk[None, :]
    pb = b + rk[:, None] * 64 + rm[None, :]
    acc = tl.zeros((64, 64), tl.float32)
    left = K - 10
    mk = rk < left
    for k in range(0, n):
        la = tl.load(pa, mask=mk[None, :], other=0.0)
        lb = tl.load(pb, mask=mk[:, None], other=0.0)
        acc = tl.dot(la, lb, acc)
        pa += 32
        pb += 2048
        left -= 32
        mk = rk < left
    tl.store(c + rm[:, None] * 64 + rm[None, :], acc)


# check: a=randn:f16[192,128] b=randn:f16[128,64] c=randn:f32[192,64] M=192 K=128 N=64 BM=64 BK=32 --grid 3
# check: a=randn:f16[320,128] b=randn:f16[128,64] c=randn:f32[320,64] M=320 K=128 N=64 BM=64 BK=32 --grid 5 --set roles=on --set cluster=2
# check: a=randn:f16[320,128] b=randn:f16[128,64] c=randn:f32[320,64] M=320 K=128 N=64 BM=64 BK=32 --grid 5
@triton.jit
def added_to(a, b, c, M, K, N: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.arange(0, N)
    rk = tl.arange(0, BK)
    pc = c + rm[:, None] * N + rn[None, :]
    old = tl.load(pc, mask=rm[:, None] < M)
    acc = tl.zeros((BM, N), tl.float32)
    for k in range(0, K, BK):
        la = tl.load(a + rm[:, None] * K + (k + rk)[None, :], mask=rm[:, None] < M)
        lb = tl.load(b + (k + rk)[:, None] * N + rn[None, :])
        acc = tl.dot(la, lb, acc)
    tl.store(pc, acc + old, mask=rm[:, None] < M)


# check: a=randn:f16[64,64] b=randn:f16[64,64] c=zeros:f32[64,64] --grid 1
@triton.jit
def cleared_before_use(a, b, c):
    r = tl.arange(0, 64)
    o = r[:, None] * 64 + r[None, :]
    acc = tl.zeros((64, 64), tl.float32)
    for k in range(0, 2):
        x = tl.load(a + o)
        y = tl.load(b + o)
        acc = tl.dot(x, y, acc)
    last = tl.load(b + o)
    tl.store(b + o, tl.zeros((64, 64), tl.float16))
    acc = tl.dot(tl.load(a + o), last, acc)
    tl.store(c + o, acc)


# check: a=randn:f16[64,128] b=randn:f16[128,64] c=zeros:f32[66,64] K=128 M=64 N=64 BK=64 --grid 1
@triton.jit
def stored_by_threads_first(a, b, c, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    rm = tl.arange(0, M)
    rn = tl.arange(0, N)
    rk = tl.arange(0, BK)
    acc = tl.zeros((M, N), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(tl.load(a + rm[:, None] * K + (k + rk)[None, :]), tl.load(b + (k + rk)[:, None] * N + rn[None, :]), acc)
    pc = c + rm[:, None] * N + rn[None, :]
    tl.store(pc, acc * 0.01, mask=acc > 0)
    tl.store(pc, acc)
    tl.store(pc + 64, acc * 2.0)


# What the last trip of a `while` reads of shared memory is read before that memory is another's.
# check: a=randn:f16[64,64] b=randn:f16[64,64] c=zeros:f32[64,64] n=2 B=64 --grid 1
# check: a=randn:f16[64,64] b=randn:f16[64,64] c=zeros:f32[64,64] n=0 B=64 --grid 1
# check: a=randn:f16[64,64] b=randn:f16[64,64] c=zeros:f32[64,64] n=3 B=64 --grid 1
@triton.jit
def turned_behind_a_while(a, b, c, n, B: tl.constexpr):
    r = tl.arange(0, B)
    at = r[:, None] * B + r[None, :]
    x = tl.load(a + at)
    y = tl.load(b + at)
    acc = tl.zeros((B, B), tl.float32)
    trip = 0
    while trip < n:
        acc = tl.dot(x, y, acc)
        trip += 1
    tl.store(c + at, tl.flip(acc, 0))


# check: a=randn:bf16[256,256] x=randn:bf16[256,64] N=256 scale=0.05 BM=64 BN=64 --grid 1
# check: a=randn:f16[192,192] x=randn:f16[192,128] N=192 scale=0.05 BM=64 BN=64 --grid 2
# rows of x by all rows above them, which were stored just before: what the product loads is what the task wrote
@triton.jit
def substituted(a, x, N, scale, BM: tl.constexpr, BN: tl.constexpr):
    W = BN * tl.num_programs(0)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    for i in range(N // BM):
        r = i * BM + tl.arange(0, BM)
        acc = tl.zeros((BM, BN), tl.float32)
        for j in range(i):
            s = j * BM + tl.arange(0, BM)
            acc = tl.dot(tl.load(a + r[:, None] * N + s[None, :]), tl.load(x + s[:, None] * W + n[None, :]), acc)
        here = x + r[:, None] * W + n[None, :]
        tl.store(here, (tl.load(here).to(tl.float32) - acc * scale).to(x.dtype.element_ty))


# check: a=randn:bf16[256,64] x=randn:bf16[256,64] y=zeros:f32[256,64] N=256 BM=64 BN=64 --grid 1
# two stores, one of them in a branch, and a while around both
@triton.jit
def substituted_twice(a, x, y, N, BM: tl.constexpr, BN: tl.constexpr):
    n = tl.arange(0, BN)
    i = 0
    while i < N:
        r = i + tl.arange(0, BM)
        acc = tl.zeros((BM, BN), tl.float32)
        for j in range(0, i, BM):
            s = j + tl.arange(0, BM)
            acc = tl.dot(tl.load(x + s[:, None] * BN + n[None, :]).trans(), tl.load(a + s[:, None] * BN + n[None, :]), acc)
        if i % (2 * BM) == 0:
            tl.store(x + r[:, None] * BN + n[None, :], (acc * 0.01).to(x.dtype.element_ty))
        tl.store(y + r[:, None] * BN + n[None, :], acc + tl.load(y + r[:, None] * BN + n[None, :]))
        i += BM


# What one thread stores by TMA, and has waited for before it stores again, the others know from a barrier only: the last
# store, which goes by lanes, comes behind the second one.
# check: a=randn:f16[64,64] x=zeros:f16[8192] y=zeros:f16[8192] n=2 --grid 1 --set roles=on
# check: a=randn:f16[64,64] x=zeros:f16[8192] y=zeros:f16[8192] n=2 --grid 1 --set roles=on --set num_warps=1
# check: a=randn:f16[64,64] x=zeros:f16[8192] y=zeros:f16[8192] n=2 --grid 1 --set roles=on --set num_warps=8
@triton.jit
def landed_for_another(a, x, y, n):
    r = tl.arange(0, 64)
    o = r[:, None] * 64 + r[None, :]
    t = tl.load(a + o)
    h = tl.dot(t, t).to(tl.float16)
    tl.store(x + o, h)
    tl.store(y + o, h * 2)
    tl.store(x + o + 512, h)
    tl.store(y + (63 - r)[:, None] * 64 + r[None, :], h)


# The same with atomics and loads behind them, in loops and branches; and by lanes first.
# check: a=randn:f16[64,64] x=zeros:f16[8192] y=zeros:f16[8192] n=2 --grid 1 --set roles=on
# check: a=randn:f16[64,64] x=zeros:f16[8192] y=zeros:f16[8192] n=3 --grid 1 --set roles=on --set num_warps=1
@triton.jit
def landed_in_loops(a, x, y, n):
    r = tl.arange(0, 64)
    o = r[:, None] * 64 + r[None, :]
    back = (63 - r)[:, None] * 64 + r[None, :]
    t = tl.load(a + o)
    h = (tl.dot(t, t) * 0).to(tl.float16) + r[:, None].to(tl.float16)
    for i in range(n):
        tl.store(y + back, h)
        tl.store(x + o, h)
        tl.store(y + o, h)
        tl.store(x + o + 512, h)
        if i > 0:
            tl.atomic_add(y + back, h, sem="relaxed")
            tl.store(y + back + 64, h)
        h = h + tl.load(x + back)


# In the loop each warpgroup stores its own rows, behind it one thread stores all: it knows of its own stores only.
# check: a=randn:f16[512,128] b=randn:f16[128,64] c=zeros:f32[512,64] M=256 K=128 n=64 BM=128 BN=64 BK=32 --grid 2 --set num_warps=8
# check: a=randn:f16[512,128] b=randn:f16[128,64] c=zeros:f32[512,64] M=128 K=128 n=64 BM=128 BN=64 BK=32 --grid 1
@triton.jit
def rows_of_each_then_of_one(a, b, c, M, K, n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    r = tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for t in range(pid, tl.cdiv(M, BM), 2):
        rm = t * BM + r
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(tl.load(a + rm[:, None] * K + (k + rk)[None, :]), tl.load(b + (k + rk)[:, None] * n + rn[None, :]), acc)
        tl.store(c + rm[:, None] * n + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < n))
    rm = pid * BM + r
    tl.store(c + rm[:, None] * n + rn[None, :], acc * 2.0, mask=(rm[:, None] < M) & (rn[None, :] < n))


# And one thread first.
# check: a=randn:f16[512,128] b=randn:f16[128,64] c=zeros:f32[512,64] M=512 K=128 n=64 BM=128 BN=64 BK=32 --grid 2 --set num_warps=8
@triton.jit
def rows_of_one_then_of_each(a, b, c, M, K, n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    r = tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rk = tl.arange(0, BK)
    rm = pid * BM + r
    first = tl.dot(tl.load(a + rm[:, None] * K + rk[None, :]), tl.load(b + rk[:, None] * n + rn[None, :]))
    tl.store(c + rm[:, None] * n + rn[None, :], first, mask=(rm[:, None] < M) & (rn[None, :] < n))
    for t in range(pid, tl.cdiv(M, BM), 2):
        rm = t * BM + r
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(tl.load(a + rm[:, None] * K + (k + rk)[None, :]), tl.load(b + (k + rk)[:, None] * n + rn[None, :]), acc)
        tl.store(c + rm[:, None] * n + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < n))


# check: m=randn:f16[320,64] o=zeros:f32[64,64] n=2 --grid 1 --set roles=on
# check: m=randn:f16[320,64] o=zeros:f32[64,64] n=0 --grid 1 --set roles=on
# load and compute meet at every write to m: a tile that is used behind one has to be there before it
@triton.jit
def late(m, o, n):
    r = tl.arange(0, 64)
    tl.store(m + (r + 8)[:, None] * 64 + r[None, :], tl.zeros((64, 64), tl.float16) + 1.0)
    acc = tl.zeros((64, 64), tl.float32)
    for k in range(n):
        a = tl.load(m + (k * 64 + r)[:, None] * 64 + r[None, :])
        b = tl.load(m + (k * 64 + 128 + r)[:, None] * 64 + r[None, :])
        acc = tl.dot(a, b, acc)
    t = tl.load(m + (r + 1)[:, None] * 64 + r[None, :])
    tl.store(m + (r + 3)[:, None] * 64 + r[None, :], (acc * 0.125).to(tl.float16))
    tl.store(m + (63 - r)[:, None] * 64 + r[None, :], (acc * 0.25).to(tl.float16))
    tl.store(o + r[:, None] * 64 + r[None, :], acc + t)
# SPDX-License-Identifier: Apache-2.0
