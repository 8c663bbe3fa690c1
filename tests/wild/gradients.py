"""Gradients of attention by narrow steps: tiles that stay through a loop are the left operands of its products."""
import triton
import triton.language as tl


@triton.jit
def keys(dk, dv, k, v, q_ptr, g_ptr, lse_ptr, delta_ptr, rows, columns, first, steps, D: tl.constexpr, B: tl.constexpr, MASKED: tl.constexpr):
    d = tl.arange(0, D)
    for step in range(steps):
        m = first + step * B + tl.arange(0, B)
        q = tl.load(q_ptr + m[None, :] * rows + d[:, None])
        lse = tl.load(lse_ptr + m)
        p = tl.math.exp2(tl.dot(k, q) - lse[None, :])
        if MASKED:
            p = tl.where(m[None, :] >= columns[:, None], p, 0.0)
        g = tl.load(g_ptr + m[:, None] * rows + d[None, :])
        dv += tl.dot(p.to(g.dtype), g)
        delta = tl.load(delta_ptr + m)
        s = p * (tl.dot(v, tl.trans(g)) - delta[None, :])
        dk += tl.dot(s.to(g.dtype), tl.trans(q))
    return dk, dv


@triton.jit
def queries(dq, q, g, lse, delta, k_ptr, v_ptr, rows, m, first, steps, D: tl.constexpr, B: tl.constexpr, MASKED: tl.constexpr):
    d = tl.arange(0, D)
    for step in range(steps):
        n = first + step * B + tl.arange(0, B)
        k = tl.load(k_ptr + n[None, :] * rows + d[:, None])
        v = tl.load(v_ptr + n[None, :] * rows + d[:, None])
        p = tl.math.exp2(tl.dot(q, k) - lse[:, None])
        if MASKED:
            p = tl.where(m[:, None] >= n[None, :], p, 0.0)
        s = p * (tl.dot(g, v) - delta[:, None])
        dq += tl.dot(s.to(k.dtype), tl.trans(k))
    return dq


@triton.jit
def both(q, k, v, g, dq, dk, dv, lse, delta, n, apart, rows, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    HALF: tl.constexpr = BN // 2
    block = tl.program_id(0)
    head = tl.program_id(1)
    d = tl.arange(0, D)
    q += head * apart
    k += head * apart
    v += head * apart
    g += head * apart
    lse += head * n
    delta += head * n
    start = block * BM
    own = start + tl.arange(0, BM)
    at = own[:, None] * rows + d[None, :]
    tk = tl.load(k + at)
    tv = tl.load(v + at)
    sk = tl.zeros((BM, D), tl.float32)
    sv = tl.zeros((BM, D), tl.float32)
    sk, sv = keys(sk, sv, tk, tv, q, g, lse, delta, rows, own, start, BM // HALF, D, HALF, True)
    behind = start + BM
    sk, sv = keys(sk, sv, tk, tv, q, g, lse, delta, rows, own, behind, (n - behind) // BN, D, BN, False)
    tl.store(dk + head * apart + at, sk)
    tl.store(dv + head * apart + at, sv)
    tq = tl.load(q + at)
    tg = tl.load(g + at)
    sq = tl.zeros((BM, D), tl.float32)
    l = tl.load(lse + own)
    e = tl.load(delta + own)
    end = start + BM
    sq = queries(sq, tq, tg, l, e, k, v, rows, own, end - BM // HALF * HALF, BM // HALF, D, HALF, True)
    end -= BM
    steps = end // BN
    sq = queries(sq, tq, tg, l, e, k, v, rows, own, end - steps * BN, steps, D, BN, False)
    tl.store(dq + head * apart + at, sq)


# The blocks on the diagonal by half steps; those before it begin where whole steps leave no rest. With three slots the last products run
# under the next trip's arithmetic ..
# check: q=randn:bf16[1,256,64] k=randn:bf16[1,256,64] v=randn:bf16[1,256,64] g=randn:bf16[1,256,64] dq=zeros:f32[1,256,64] dk=zeros:f32[1,256,64] dv=zeros:f32[1,256,64] lse=full(18.0):f32[1,256] delta=randn:f32[1,256] n=256 apart=16384 rows=64 D=64 BM=64 BN=32 --grid 4,1 --set num_stages=3 --tolerance 0.1
# check: q=randn:f16[1,64,64] k=randn:f16[1,64,64] v=randn:f16[1,64,64] g=randn:f16[1,64,64] dq=zeros:f32[1,64,64] dk=zeros:f32[1,64,64] dv=zeros:f32[1,64,64] lse=full(18.0):f32[1,64] delta=randn:f32[1,64] n=64 apart=4096 rows=64 D=64 BM=64 BN=32 --grid 1,1 --set num_stages=3 --tolerance 0.1
# check: q=randn:f16[1,96,64] k=randn:f16[1,96,64] v=randn:f16[1,96,64] g=randn:f16[1,96,64] dq=zeros:f32[1,96,64] dk=zeros:f32[1,96,64] dv=zeros:f32[1,96,64] lse=full(18.0):f32[1,96] delta=randn:f32[1,96] n=96 apart=6144 rows=64 D=64 BM=64 BN=32 --grid 1,1 --set num_stages=3 --tolerance 0.1
# check: q=randn:f16[1,128,64] k=randn:f16[1,128,64] v=randn:f16[1,128,64] g=randn:f16[1,128,64] dq=zeros:f32[1,128,64] dk=zeros:f32[1,128,64] dv=zeros:f32[1,128,64] lse=full(18.0):f32[1,128] delta=randn:f32[1,128] n=128 apart=8192 rows=64 D=64 BM=64 BN=32 --grid 2,1 --set num_stages=3 --tolerance 0.1
# explain: no by cp.async
# explain: stays in flight under the next trip's arithmetic
# explain: no is issued a trip early
# device: --tolerance 0.1
@triton.jit
def gradients(q, k, v, g, dq, dk, dv, lse, delta, n, apart, rows, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    both(q, k, v, g, dq, dk, dv, lse, delta, n, apart, rows, D, BM, BN)


# .. with more the first ones are issued under that of the trip before: loops of no trip, one, two and three.
# check: q=randn:f16[2,256,64] k=randn:f16[2,256,64] v=randn:f16[2,256,64] g=randn:f16[2,256,64] dq=zeros:f16[2,256,64] dk=zeros:f16[2,256,64] dv=zeros:f16[2,256,64] lse=full(18.0):f32[2,256] delta=randn:f32[2,256] n=256 apart=16384 rows=64 D=64 BM=128 BN=32 --grid 2,2 --set num_stages=4
# check: q=randn:bf16[1,256,64] k=randn:bf16[1,256,64] v=randn:bf16[1,256,64] g=randn:bf16[1,256,64] dq=zeros:f32[1,256,64] dk=zeros:f32[1,256,64] dv=zeros:f32[1,256,64] lse=full(18.0):f32[1,256] delta=randn:f32[1,256] n=256 apart=16384 rows=64 D=64 BM=64 BN=32 --grid 4,1 --set num_stages=5 --tolerance 0.1
# check: q=randn:f16[1,64,64] k=randn:f16[1,64,64] v=randn:f16[1,64,64] g=randn:f16[1,64,64] dq=zeros:f32[1,64,64] dk=zeros:f32[1,64,64] dv=zeros:f32[1,64,64] lse=full(18.0):f32[1,64] delta=randn:f32[1,64] n=64 apart=4096 rows=64 D=64 BM=64 BN=32 --grid 1,1 --set num_stages=5 --tolerance 0.1
# check: q=randn:f16[1,96,64] k=randn:f16[1,96,64] v=randn:f16[1,96,64] g=randn:f16[1,96,64] dq=zeros:f32[1,96,64] dk=zeros:f32[1,96,64] dv=zeros:f32[1,96,64] lse=full(18.0):f32[1,96] delta=randn:f32[1,96] n=96 apart=6144 rows=64 D=64 BM=64 BN=32 --grid 1,1 --set num_stages=5 --tolerance 0.1
# check: q=randn:f16[1,128,64] k=randn:f16[1,128,64] v=randn:f16[1,128,64] g=randn:f16[1,128,64] dq=zeros:f32[1,128,64] dk=zeros:f32[1,128,64] dv=zeros:f32[1,128,64] lse=full(18.0):f32[1,128] delta=randn:f32[1,128] n=128 apart=8192 rows=64 D=64 BM=64 BN=32 --grid 2,1 --set num_stages=4 --tolerance 0.1
# check: q=randn:f16[1,160,64] k=randn:f16[1,160,64] v=randn:f16[1,160,64] g=randn:f16[1,160,64] dq=zeros:f32[1,160,64] dk=zeros:f32[1,160,64] dv=zeros:f32[1,160,64] lse=full(18.0):f32[1,160] delta=randn:f32[1,160] n=160 apart=10240 rows=64 D=64 BM=64 BN=32 --grid 2,1 --set num_stages=4 --tolerance 0.1
# explain: no by cp.async
# explain: is issued a trip early, under the arithmetic of the trip before
# explain: no stays in flight under the next trip's arithmetic
# device: --tolerance 0.1
@triton.jit
def gradients_early(q, k, v, g, dq, dk, dv, lse, delta, n, apart, rows, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    both(q, k, v, g, dq, dk, dv, lse, delta, n, apart, rows, D, BM, BN)


# Sums that several ops read, or one that computes something dear, are copied before the next ones are written; of three first products
# two read the same tile.
# check: q=randn:f16[96,64] k=randn:f16[64,64] v=randn:f16[64,64] w=randn:f16[64,64] out=zeros:f32[64,64] other=zeros:f32[64,64] n=96 D=64 BM=64 BN=32 --grid 1 --set num_stages=4
# check: q=randn:f16[32,64] k=randn:f16[64,64] v=randn:f16[64,64] w=randn:f16[64,64] out=zeros:f32[64,64] other=zeros:f32[64,64] n=32 D=64 BM=64 BN=32 --grid 1 --set num_stages=5
# check: q=randn:f16[0,64] k=randn:f16[64,64] v=randn:f16[64,64] w=randn:f16[64,64] out=zeros:f32[64,64] other=zeros:f32[64,64] n=0 D=64 BM=64 BN=32 --grid 1 --set num_stages=4
# check: q=randn:bf16[448,64] k=randn:bf16[128,64] v=randn:bf16[128,64] w=randn:bf16[128,64] out=zeros:f32[128,64] other=zeros:f32[128,64] n=448 D=64 BM=128 BN=32 --grid 1 --set num_stages=6 --tolerance 0.1
# explain: is issued a trip early, under the arithmetic of the trip before
# device: --tolerance 0.1
@triton.jit
def three_weights(q, k, v, w, out, other, n, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    d = tl.arange(0, D)
    own = tl.arange(0, BM)
    at = own[:, None] * D + d[None, :]
    tk = tl.load(k + at)
    tv = tl.load(v + at)
    tw = tl.load(w + at)
    one = tl.zeros((BM, D), tl.float32)
    two = tl.zeros((BM, D), tl.float32)
    for first in range(0, n, BN):
        rows = first + tl.arange(0, BN)
        tq = tl.load(q + rows[:, None] * D + d[None, :])
        turned = tl.trans(tq)
        s = tl.dot(tk, turned) * 0.1
        t = tl.dot(tv, turned)
        u = tl.dot(tw, turned)
        p = s * tl.math.exp2(-tl.abs(t)) + tl.where(t > u, 0.5, u * 0.01)
        one += tl.dot(p.to(tq.dtype), tq)
        two += tl.dot((p * s - u * 0.1).to(tq.dtype), tq)
    tl.store(out + at, one)
    tl.store(other + at, two)
# SPDX-License-Identifier: Apache-2.0
