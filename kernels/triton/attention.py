"""Flash attention, forward: O = softmax(Q K^T * scale) V for each head, without the N x N matrix."""
import torch
import triton
import triton.language as tl


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr,
    scale, N,
    stride_h, stride_n,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr,
):
    start_m = tl.program_id(0) * BM
    head = tl.program_id(1).to(tl.int64) * stride_h
    rm = start_m + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rd = tl.arange(0, D)
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
        v = tl.load(v_ptr + head + cols[:, None] * stride_n + rd[None, :], mask=cols[:, None] < N, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        m = m_new
    o = acc / norm[:, None]
    tl.store(o_ptr + head + rm[:, None] * stride_n + rd[None, :], o.to(o_ptr.dtype.element_ty), mask=rm[:, None] < N)


def attention(q, k, v, causal=False, BM=64, BN=64):
    heads, N, D = q.shape
    o = torch.empty_like(q)
    grid = (triton.cdiv(N, BM), heads)
    attention_kernel[grid](
        q, k, v, o, D ** -0.5, N, q.stride(0), q.stride(1), BM=BM, BN=BN, D=D, CAUSAL=causal)
    return o
# SPDX-License-Identifier: Apache-2.0
