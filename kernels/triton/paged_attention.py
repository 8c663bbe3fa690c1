"""Causal attention of new tokens over a cache in pages: sequence s has lengths[s] keys, page p of them lies at pages[s, p] of the
cache, and its queries are the last ones of it. Query heads share key heads."""
import torch
import triton
import triton.language as tl


@triton.jit
def paged_attention_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr,  # [S, Q, H, D], cache [pages, PAGE, G, D] twice, [S, Q, H, D]
    pages_ptr, lengths_ptr,
    scale, Q, most,  # queries of a sequence; pages of one at most
    stride_qs, stride_qn, stride_qh,
    stride_kp, stride_kn, stride_kh,
    SHARE: tl.constexpr, PAGE: tl.constexpr,  # query heads to a key head; keys in a page
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr,
):
    start = tl.program_id(0) * BM
    head = tl.program_id(1)
    seq = tl.program_id(2)
    length = tl.load(lengths_ptr + seq)
    before = length - Q
    rm = start + tl.arange(0, BM)
    rd = tl.arange(0, D)
    q_at = seq.to(tl.int64) * stride_qs + head * stride_qh
    q = tl.load(q_ptr + q_at + rm[:, None] * stride_qn + rd[None, :], mask=rm[:, None] < Q, other=0.0)
    m = tl.full((BM,), -float("inf"), dtype=tl.float32)
    norm = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    qk_scale = scale * 1.44269504  # exp2 instead of exp
    table = pages_ptr + seq * most
    heads = (head // SHARE) * stride_kh
    for n in range(0, min(before + start + BM, length), BN):
        cols = n + tl.arange(0, BN)
        page = tl.load(table + cols // PAGE, mask=cols < length, other=0).to(tl.int64)
        at = page * stride_kp + (cols % PAGE) * stride_kn + heads
        k = tl.load(k_ptr + at[:, None] + rd[None, :], mask=cols[:, None] < length, other=0.0)
        s = tl.dot(q, tl.trans(k))
        s = tl.where(cols[None, :] <= before + rm[:, None], s, -float("inf"))
        m_new = tl.maximum(m, tl.max(s, axis=1) * qk_scale)
        p = tl.exp2(s * qk_scale - m_new[:, None])
        alpha = tl.exp2(m - m_new)
        norm = norm * alpha + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at[:, None] + rd[None, :], mask=cols[:, None] < length, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        m = m_new
    o = acc / norm[:, None]
    tl.store(o_ptr + q_at + rm[:, None] * stride_qn + rd[None, :], o.to(o_ptr.dtype.element_ty), mask=rm[:, None] < Q)


def paged_attention(q, k_cache, v_cache, pages, lengths, BM=64, BN=32, **options):
    seqs, queries, heads, D = q.shape
    o = torch.empty_like(q)
    grid = (triton.cdiv(queries, BM), heads, seqs)
    paged_attention_kernel[grid](
        q, k_cache, v_cache, o, pages, lengths, D ** -0.5, queries, pages.shape[1], *q.stride()[:3], *k_cache.stride()[:3],
        SHARE=heads // k_cache.shape[2], PAGE=k_cache.shape[1], BM=BM, BN=BN, D=D, **options)
    return o
# SPDX-License-Identifier: Apache-2.0
