"""Flash attention, forward, of narrow numbers.

attention_f8_kernel: Q, K and V of 8-bit floats, V as (heads, D, N): both products run along contiguous numbers. P is
rounded to V's type, at most 1 in each row's own scale.

attention_i8_kernel: Q and K are int8 with one scale a block of rows, V is of 16 bits; S = Q K^T is summed in whole
numbers. The scale of Q holds 1 / sqrt(D) and log2(e)."""
import torch
import triton
import triton.language as tl


@triton.jit
def attention_f8_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr,
    scale, N,
    stride_h, stride_n, stride_vh, stride_vd, stride_oh, stride_on,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr,
):
    start_m = tl.program_id(0) * BM
    index = tl.program_id(1).to(tl.int64)
    rm = start_m + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rd = tl.arange(0, D)
    head = index * stride_h
    q = tl.load(q_ptr + head + rm[:, None] * stride_n + rd[None, :], mask=rm[:, None] < N, other=0.0)
    m = tl.full((BM,), -float("inf"), dtype=tl.float32)
    norm = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    qk_scale = scale * 1.44269504  # exp2 instead of exp
    last = N
    if CAUSAL:
        last = min(start_m + BM, N)
    for start_n in range(0, last, BN):
        cols = start_n + rn
        k = tl.load(k_ptr + head + cols[:, None] * stride_n + rd[None, :], mask=cols[:, None] < N, other=0.0)
        s = tl.dot(q, tl.trans(k))
        seen = cols[None, :] < N
        if CAUSAL:
            seen = seen & (cols[None, :] <= rm[:, None])
        s = tl.where(seen, s, -float("inf"))
        m_new = tl.maximum(m, tl.max(s, axis=1) * qk_scale)
        p = tl.exp2(s * qk_scale - m_new[:, None])
        alpha = tl.exp2(m - m_new)
        norm = norm * alpha + tl.sum(p, axis=1)
        v = tl.load(v_ptr + index * stride_vh + rd[:, None] * stride_vd + cols[None, :], mask=cols[None, :] < N, other=0.0)
        acc = tl.dot(p.to(v.dtype), tl.trans(v), acc * alpha[:, None])
        m = m_new
    o = acc / norm[:, None]
    tl.store(o_ptr + index * stride_oh + rm[:, None] * stride_on + rd[None, :], o.to(o_ptr.dtype.element_ty), mask=rm[:, None] < N)


@triton.jit
def attention_i8_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, q_scale_ptr, k_scale_ptr,
    N,
    stride_h, stride_n,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr,
):
    block = tl.program_id(0)
    start_m = block * BM
    index = tl.program_id(1).to(tl.int64)
    rm = start_m + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rd = tl.arange(0, D)
    head = index * stride_h
    q = tl.load(q_ptr + head + rm[:, None] * stride_n + rd[None, :], mask=rm[:, None] < N, other=0)
    q_scale = tl.load(q_scale_ptr + index * tl.cdiv(N, BM) + block)
    k_scales = k_scale_ptr + index * tl.cdiv(N, BN)
    m = tl.full((BM,), -float("inf"), dtype=tl.float32)
    norm = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    last = N
    if CAUSAL:
        last = min(start_m + BM, N)
    for start_n in range(0, last, BN):
        cols = start_n + rn
        k = tl.load(k_ptr + head + cols[:, None] * stride_n + rd[None, :], mask=cols[:, None] < N, other=0)
        s = tl.dot(q, tl.trans(k)).to(tl.float32) * (q_scale * tl.load(k_scales + start_n // BN))
        seen = cols[None, :] < N
        if CAUSAL:
            seen = seen & (cols[None, :] <= rm[:, None])
        s = tl.where(seen, s, -float("inf"))
        m_new = tl.maximum(m, tl.max(s, axis=1))
        p = tl.exp2(s - m_new[:, None])
        alpha = tl.exp2(m - m_new)
        norm = norm * alpha + tl.sum(p, axis=1)
        v = tl.load(v_ptr + head + cols[:, None] * stride_n + rd[None, :], mask=cols[:, None] < N, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        m = m_new
    o = acc / norm[:, None]
    tl.store(o_ptr + head + rm[:, None] * stride_n + rd[None, :], o.to(o_ptr.dtype.element_ty), mask=rm[:, None] < N)


def attention_f8(q, k, v, causal=False, BM=128, BN=64):
    """q, k: (heads, N, D) of one 8-bit float, v: (heads, D, N) of it; the result is bfloat16."""
    heads, N, D = q.shape
    o = torch.empty(q.shape, dtype=torch.bfloat16, device=q.device)
    attention_f8_kernel[(triton.cdiv(N, BM), heads)](
        q, k, v, o, D ** -0.5, N, q.stride(0), q.stride(1), v.stride(0), v.stride(1), o.stride(0), o.stride(1), BM=BM, BN=BN, D=D,
        CAUSAL=causal)
    return o


def attention_i8(q, k, v, q_scale, k_scale, causal=False, BM=128, BN=64):
    """q, k: (heads, N, D) int8, v: 16 bits; q_scale: (heads, blocks of BM rows), k_scale: (heads, blocks of BN rows)."""
    heads, N, D = q.shape
    o = torch.empty_like(v)
    attention_i8_kernel[(triton.cdiv(N, BM), heads)](
        q, k, v, o, q_scale, k_scale, N, q.stride(0), q.stride(1), BM=BM, BN=BN, D=D, CAUSAL=causal)
    return o
# SPDX-License-Identifier: Apache-2.0
