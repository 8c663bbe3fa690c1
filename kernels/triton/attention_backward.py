"""Flash attention, backward: dQ, dK and dV from dO, without the N x N matrix.

The forward pass leaves, for each row, lse = log2 of the sum of its exponentials (attention_lse_kernel does that where it did
not), and delta = sum of O * dO. Then P = exp2(scale * log2(e) * Q K^T - lse), dP = dO V^T, dS = P * (dP - delta), and

    dV = P^T dO    dK = scale * dS^T Q    (attention_dkdv_kernel, a block of keys each)
    dQ = scale * dS K                     (attention_dq_kernel, a block of queries each)"""
import torch
import triton
import triton.language as tl


@triton.jit
def attention_delta_kernel(o_ptr, do_ptr, delta_ptr, N, stride_h, stride_n, BM: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1).to(tl.int64)
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    place = head * stride_h + rm[:, None] * stride_n + tl.arange(0, D)[None, :]
    o = tl.load(o_ptr + place, mask=rm[:, None] < N, other=0.0).to(tl.float32)
    do = tl.load(do_ptr + place, mask=rm[:, None] < N, other=0.0).to(tl.float32)
    tl.store(delta_ptr + head * N + rm, tl.sum(o * do, axis=1), mask=rm < N)


@triton.jit
def attention_lse_kernel(
    q_ptr, k_ptr, lse_ptr,
    scale, N,
    stride_h, stride_n,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr,
):
    start_m = tl.program_id(0) * BM
    index = tl.program_id(1).to(tl.int64)
    head = index * stride_h
    rm = start_m + tl.arange(0, BM)
    rd = tl.arange(0, D)
    q = tl.load(q_ptr + head + rm[:, None] * stride_n + rd[None, :], mask=rm[:, None] < N, other=0.0)
    m = tl.full((BM,), -float("inf"), dtype=tl.float32)
    norm = tl.zeros((BM,), dtype=tl.float32)
    qk_scale = scale * 1.44269504
    last = N
    if CAUSAL:
        last = min(start_m + BM, N)
    for start_n in range(0, last, BN):
        cols = start_n + tl.arange(0, BN)
        k = tl.load(k_ptr + head + cols[:, None] * stride_n + rd[None, :], mask=cols[:, None] < N, other=0.0)
        s = tl.dot(q, tl.trans(k))
        seen = cols[None, :] < N
        if CAUSAL:
            seen = seen & (cols[None, :] <= rm[:, None])
        s = tl.where(seen, s, -float("inf"))
        m_new = tl.maximum(m, tl.max(s, axis=1) * qk_scale)
        norm = norm * tl.exp2(m - m_new) + tl.sum(tl.exp2(s * qk_scale - m_new[:, None]), axis=1)
        m = m_new
    tl.store(lse_ptr + index * N + rm, m + tl.log2(norm), mask=rm < N)


@triton.jit
def attention_dkdv_kernel(
    q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr,
    scale, N,
    stride_h, stride_n,
    BM1: tl.constexpr, BN1: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr,
):
    start_n = tl.program_id(0) * BN1
    index = tl.program_id(1).to(tl.int64)
    head = index * stride_h
    cols = start_n + tl.arange(0, BN1)
    rd = tl.arange(0, D)
    k = tl.load(k_ptr + head + cols[:, None] * stride_n + rd[None, :], mask=cols[:, None] < N, other=0.0)
    v = tl.load(v_ptr + head + cols[:, None] * stride_n + rd[None, :], mask=cols[:, None] < N, other=0.0)
    dk = tl.zeros((BN1, D), dtype=tl.float32)
    dv = tl.zeros((BN1, D), dtype=tl.float32)
    qk_scale = scale * 1.44269504
    first = 0
    if CAUSAL:
        first = start_n // BM1 * BM1
    for start_m in range(first, N, BM1):
        rm = start_m + tl.arange(0, BM1)
        lse = tl.load(lse_ptr + index * N + rm, mask=rm < N, other=0.0)
        q = tl.load(q_ptr + head + rm[:, None] * stride_n + rd[None, :], mask=rm[:, None] < N, other=0.0)
        st = tl.dot(k, tl.trans(q))  # keys by queries: P and dS are left operands below
        do = tl.load(do_ptr + head + rm[:, None] * stride_n + rd[None, :], mask=rm[:, None] < N, other=0.0)
        dpt = tl.dot(v, tl.trans(do))
        pt = tl.exp2(st * qk_scale - lse[None, :])
        if CAUSAL:
            pt = tl.where(cols[:, None] <= rm[None, :], pt, 0.0)
        delta = tl.load(delta_ptr + index * N + rm, mask=rm < N, other=0.0)
        dv = tl.dot(pt.to(do.dtype), do, dv)
        dst = pt * (dpt - delta[None, :])
        dk = tl.dot(dst.to(q.dtype), q, dk)
    place = head + cols[:, None] * stride_n + rd[None, :]
    tl.store(dv_ptr + place, dv.to(dv_ptr.dtype.element_ty), mask=cols[:, None] < N)
    tl.store(dk_ptr + place, (dk * scale).to(dk_ptr.dtype.element_ty), mask=cols[:, None] < N)


@triton.jit
def attention_dq_kernel(
    q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dq_ptr,
    scale, N,
    stride_h, stride_n,
    BM2: tl.constexpr, BN2: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr,
):
    start_m = tl.program_id(0) * BM2
    index = tl.program_id(1).to(tl.int64)
    head = index * stride_h
    rm = start_m + tl.arange(0, BM2)
    rd = tl.arange(0, D)
    q = tl.load(q_ptr + head + rm[:, None] * stride_n + rd[None, :], mask=rm[:, None] < N, other=0.0)
    do = tl.load(do_ptr + head + rm[:, None] * stride_n + rd[None, :], mask=rm[:, None] < N, other=0.0)
    lse = tl.load(lse_ptr + index * N + rm, mask=rm < N, other=0.0)
    delta = tl.load(delta_ptr + index * N + rm, mask=rm < N, other=0.0)
    dq = tl.zeros((BM2, D), dtype=tl.float32)
    qk_scale = scale * 1.44269504
    last = N
    if CAUSAL:
        last = min(start_m + BM2, N)
    for start_n in range(0, last, BN2):
        cols = start_n + tl.arange(0, BN2)
        k = tl.load(k_ptr + head + cols[:, None] * stride_n + rd[None, :], mask=cols[:, None] < N, other=0.0)
        s = tl.dot(q, tl.trans(k))
        v = tl.load(v_ptr + head + cols[:, None] * stride_n + rd[None, :], mask=cols[:, None] < N, other=0.0)
        dp = tl.dot(do, tl.trans(v))
        seen = cols[None, :] < N
        if CAUSAL:
            seen = seen & (cols[None, :] <= rm[:, None])
        s = tl.where(seen, s, -float("inf"))
        p = tl.exp2(s * qk_scale - lse[:, None])
        ds = p * (dp - delta[:, None])
        dq = tl.dot(ds.to(k.dtype), k, dq)
    tl.store(dq_ptr + head + rm[:, None] * stride_n + rd[None, :], (dq * scale).to(dq_ptr.dtype.element_ty),
             mask=rm[:, None] < N)


def attention_backward(q, k, v, o, do, causal=False, BM=64, BN=64):
    heads, N, D = q.shape
    dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
    lse = torch.empty((heads, N), dtype=torch.float32, device=q.device)
    delta = torch.empty_like(lse)
    scale, strides = D ** -0.5, (q.stride(0), q.stride(1))
    rows, keys = (triton.cdiv(N, BM), heads), (triton.cdiv(N, BN), heads)
    attention_delta_kernel[rows](o, do, delta, N, *strides, BM=BM, D=D)
    attention_lse_kernel[rows](q, k, lse, scale, N, *strides, BM=BM, BN=BN, D=D, CAUSAL=causal)
    attention_dkdv_kernel[keys](
        q, k, v, do, lse, delta, dk, dv, scale, N, *strides, BM1=BM, BN1=BN, D=D, CAUSAL=causal)
    attention_dq_kernel[rows](
        q, k, v, do, lse, delta, dq, scale, N, *strides, BM2=BM, BN2=BN, D=D, CAUSAL=causal)
    return dq, dk, dv
# SPDX-License-Identifier: Apache-2.0
