"""Attention whose keys are walked in two loops: whole blocks first, then those that the diagonal cuts."""
import triton
import triton.language as tl


@triton.jit
def walk(acc, l, m, q, k_ptr, v_ptr, rm, n, lo, hi, scale, D: tl.constexpr, BN: tl.constexpr, MASKED: tl.constexpr):
    rd = tl.arange(0, D)
    for start in range(lo, hi, BN):
        start = tl.multiple_of(start, BN)
        rn = start + tl.arange(0, BN)
        k = tl.load(k_ptr + rn[None, :] * D + rd[:, None], mask=rn[None, :] < n, other=0.0)
        s = tl.dot(q, k) * scale
        if MASKED:
            s = tl.where(rm[:, None] >= rn[None, :], s, -1.0e6)
        s = tl.where(rn[None, :] < n, s, -1.0e6)
        peak = tl.maximum(m, tl.max(s, 1))
        p = tl.math.exp2(s - peak[:, None])
        alpha = tl.math.exp2(m - peak)
        l = l * alpha + tl.sum(p, 1)
        v = tl.load(v_ptr + rn[:, None] * D + rd[None, :], mask=rn[:, None] < n, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        m = peak
    return acc, l, m


# check: q=randn:f16[2,256,64] k=randn:f16[2,256,64] v=randn:f16[2,256,64] o=zeros:f16[2,256,64] lse=zeros:f32[2,256] n=256 scale=0.18 D=64 BM=128 BN=64 CAUSAL=True --grid 2,2
# check: q=randn:f16[2,256,64] k=randn:f16[2,256,64] v=randn:f16[2,256,64] o=zeros:f16[2,256,64] lse=zeros:f32[2,256] n=256 scale=0.18 D=64 BM=64 BN=64 CAUSAL=True --grid 4,2 --set num_stages=2
# check: q=randn:f16[2,256,128] k=randn:f16[2,256,128] v=randn:f16[2,256,128] o=zeros:f16[2,256,128] lse=zeros:f32[2,256] n=256 scale=0.13 D=128 BM=128 BN=64 CAUSAL=True --grid 2,2 --set num_stages=3 --set num_warps=8
# check: q=randn:bf16[1,200,64] k=randn:bf16[1,200,64] v=randn:bf16[1,200,64] o=zeros:bf16[1,200,64] lse=zeros:f32[1,200] n=200 scale=0.18 D=64 BM=64 BN=32 CAUSAL=True --grid 4,1 --set num_stages=4
# check: q=randn:f16[1,256,64] k=randn:f16[1,256,64] v=randn:f16[1,256,64] o=zeros:f16[1,256,64] lse=zeros:f32[1,256] n=256 scale=0.18 D=64 BM=128 BN=64 CAUSAL=False --grid 2,1
# check: q=randn:f16[1,256,128] k=randn:f16[1,256,128] v=randn:f16[1,256,128] o=zeros:f16[1,256,128] lse=zeros:f32[1,256] n=256 scale=0.13 D=128 BM=64 BN=128 CAUSAL=False --grid 4,1 --set num_warps=8
# check: q=randn:f16[1,256,64] k=randn:f16[1,256,64] v=randn:f16[1,256,64] o=zeros:f16[1,256,64] lse=zeros:f32[1,256] n=256 scale=0.18 D=64 BM=128 BN=64 CAUSAL=True --grid 2,1 --set rotate=off --set num_warps=8
# check: q=randn:f16[1,256,64] k=randn:f16[1,256,64] v=randn:f16[1,256,64] o=zeros:f16[1,256,64] lse=zeros:f32[1,256] n=256 scale=0.18 D=64 BM=64 BN=32 CAUSAL=True --grid 4,1 --set gang=2
@triton.jit
def causal(q, k, v, o, lse, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    block = tl.program_id(0)
    head = tl.program_id(1) * n * D
    rm = block * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    m = tl.zeros([BM], tl.float32) - float("inf")
    l = tl.zeros([BM], tl.float32) + 1.0
    acc = tl.zeros([BM, D], tl.float32)
    place = rm[:, None] * D + rd[None, :]
    tile = tl.load(q + head + place, mask=rm[:, None] < n, other=0.0)
    end = block * BM if CAUSAL else n
    acc, l, m = walk(acc, l, m, tile, k + head, v + head, rm, n, 0, end, scale, D, BN, False)
    if CAUSAL:
        last = tl.minimum((block + 1) * BM, n)
        acc, l, m = walk(acc, l, m, tile, k + head, v + head, rm, n, block * BM, last, scale, D, BN, True)
    tl.store(lse + tl.program_id(1) * n + rm, m + tl.math.log2(l), mask=rm < n)
    tl.store(o + head + place, (acc / l[:, None]).to(o.dtype.element_ty), mask=rm[:, None] < n)


@triton.jit
def walk_boxes(acc, l, m, q, kd, vd, row, rm, lo, hi, scale, BN: tl.constexpr, MASKED: tl.constexpr):
    for start in tl.range(lo, hi, BN):
        k = kd.load([row + start, 0]).T
        s = tl.dot(q, k) * scale
        if MASKED:
            s = s + tl.where(rm[:, None] >= (start + tl.arange(0, BN))[None, :], 0.0, -1.0e6)
        peak = tl.maximum(m, tl.max(s, 1))
        p = tl.math.exp2(s - peak[:, None])
        alpha = tl.math.exp2(m - peak)
        acc = acc * alpha[:, None]
        v = vd.load([row + start, 0])
        acc = tl.dot(p.to(v.dtype), v, acc)
        l = l * alpha + tl.sum(p, 1)
        m = peak
    return acc, l, m


# check: q=randn:f16[512,64] k=randn:f16[512,64] v=randn:f16[512,64] o=zeros:f16[512,64] n=256 H=2 scale=0.18 D=64 BM=128 BN=64 CAUSAL=True --grid 2,2 --set num_warps=4
# check: q=randn:f16[256,128] k=randn:f16[256,128] v=randn:f16[256,128] o=zeros:f16[256,128] n=256 H=1 scale=0.13 D=128 BM=128 BN=64 CAUSAL=True --grid 2,1 --set num_warps=8 --set num_stages=3
# check: q=randn:bf16[512,64] k=randn:bf16[512,64] v=randn:bf16[512,64] o=zeros:bf16[512,64] n=256 H=2 scale=0.18 D=64 BM=64 BN=32 CAUSAL=True --grid 4,2 --set num_stages=2
# check: q=randn:f16[256,64] k=randn:f16[256,64] v=randn:f16[256,64] o=zeros:f16[256,64] n=256 H=1 scale=0.18 D=64 BM=128 BN=128 CAUSAL=False --grid 2,1
@triton.jit
def causal_boxes(q, k, v, o, n, H, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    block = tl.program_id(0)
    row = tl.program_id(1) * n
    qd = tl.make_tensor_descriptor(q, shape=[H * n, D], strides=[D, 1], block_shape=[BM, D])
    kd = tl.make_tensor_descriptor(k, shape=[H * n, D], strides=[D, 1], block_shape=[BN, D])
    vd = tl.make_tensor_descriptor(v, shape=[H * n, D], strides=[D, 1], block_shape=[BN, D])
    od = tl.make_tensor_descriptor(o, shape=[H * n, D], strides=[D, 1], block_shape=[BM, D])
    rm = block * BM + tl.arange(0, BM)
    m = tl.zeros([BM], tl.float32) - float("inf")
    l = tl.zeros([BM], tl.float32) + 1.0
    acc = tl.zeros([BM, D], tl.float32)
    tile = qd.load([row + block * BM, 0])
    if CAUSAL:
        acc, l, m = walk_boxes(acc, l, m, tile, kd, vd, row, rm, 0, block * BM, scale, BN, False)
        acc, l, m = walk_boxes(acc, l, m, tile, kd, vd, row, rm, block * BM, (block + 1) * BM, scale, BN, True)
    else:
        acc, l, m = walk_boxes(acc, l, m, tile, kd, vd, row, rm, 0, n, scale, BN, False)
    od.store([row + block * BM, 0], (acc / l[:, None]).to(o.dtype.element_ty))


@triton.jit
def walk_kept(acc, l, m, q, k_ptr, v_ptr, kept, rm, n, lo, hi, scale, D: tl.constexpr, BN: tl.constexpr, LAST: tl.constexpr):
    rd = tl.arange(0, D)
    for start in range(lo, hi, BN):
        rn = start + tl.arange(0, BN)
        at = rn[:, None] * D + rd[None, :]
        there = rn < n
        if LAST:
            there = there & (rn % kept != 1)
        k = tl.load(k_ptr + at, mask=there[:, None], other=0.0)
        s = tl.dot(q, k.T) * scale
        if LAST:
            s = tl.where(rm[:, None] >= rn[None, :], s, -1.0e6)
        peak = tl.maximum(m, tl.max(s, 1))
        p = tl.math.exp2(s - peak[:, None])
        alpha = tl.math.exp2(m - peak)
        l = l * alpha + tl.sum(p, 1)
        v = tl.load(v_ptr + at, mask=there[:, None], other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        m = peak
    return acc, l, m


# check: q=randn:f16[256,64] k=randn:f16[256,64] v=randn:f16[256,64] o=zeros:f16[256,64] kept=3 n=256 scale=0.18 D=64 BM=128 BN=64 --grid 2,1
# check: q=randn:f16[256,64] k=randn:f16[256,64] v=randn:f16[256,64] o=zeros:f16[256,64] kept=3 n=256 scale=0.18 D=64 BM=64 BN=64 --grid 4,1 --set num_warps=8 --set num_stages=2
# check: q=randn:bf16[200,128] k=randn:bf16[200,128] v=randn:bf16[200,128] o=zeros:bf16[200,128] kept=3 n=200 scale=0.13 D=128 BM=128 BN=32 --grid 2,1 --set num_stages=4
# explain: is taken row by row, where its mask holds
@triton.jit
def causal_mixed(q, k, v, o, kept, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    block = tl.program_id(0)
    rm = block * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    m = tl.zeros([BM], tl.float32) - float("inf")
    l = tl.zeros([BM], tl.float32) + 1.0
    acc = tl.zeros([BM, D], tl.float32)
    at = rm[:, None] * D + rd[None, :]
    tile = tl.load(q + at, mask=rm[:, None] < n, other=0.0)
    acc, l, m = walk_kept(acc, l, m, tile, k, v, kept, rm, n, 0, block * BM, scale, D, BN, False)
    acc, l, m = walk_kept(acc, l, m, tile, k, v, kept, rm, n, block * BM, (block + 1) * BM, scale, D, BN, True)
    tl.store(o + at, (acc / l[:, None]).to(o.dtype.element_ty), mask=rm[:, None] < n)
# SPDX-License-Identifier: Apache-2.0
