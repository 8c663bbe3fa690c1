"""Attention of one new token a sequence over a cache in pages: a sequence's keys are divided among PARTS programs, whose results a
second kernel combines. The query heads that share a key head are the rows of its products."""
import torch
import triton
import triton.language as tl


@triton.jit
def paged_decode_kernel(
    q_ptr, k_ptr, v_ptr,    # [S, H, D], cache [pages, PAGE, G, D] twice
    part_ptr, lse_ptr,      # results of each part [S, H, PARTS, D], and the logarithms of their sums
    pages_ptr, lengths_ptr,
    scale, most,
    stride_kp, stride_kn, stride_kh,
    H: tl.constexpr, SHARE: tl.constexpr, ROWS: tl.constexpr, PAGE: tl.constexpr, PARTS: tl.constexpr,
    BN: tl.constexpr, D: tl.constexpr,
):
    seq = tl.program_id(0)
    group = tl.program_id(1)
    part = tl.program_id(2)
    length = tl.load(lengths_ptr + seq)
    each = tl.cdiv(tl.cdiv(length, PARTS), BN) * BN
    first = part * each
    last = min(first + each, length)
    row = tl.arange(0, ROWS)
    rd = tl.arange(0, D)
    head = group * SHARE + row
    q = tl.load(q_ptr + (seq * H + head)[:, None] * D + rd[None, :], mask=row[:, None] < SHARE, other=0.0)
    m = tl.full((ROWS,), -1e30, dtype=tl.float32)
    norm = tl.zeros((ROWS,), dtype=tl.float32)
    acc = tl.zeros((ROWS, D), dtype=tl.float32)
    qk_scale = scale * 1.44269504  # exp2 instead of exp
    table = pages_ptr + seq * most
    for n in range(first, last, BN):
        cols = n + tl.arange(0, BN)
        page = tl.load(table + cols // PAGE, mask=cols < last, other=0).to(tl.int64)
        at = page * stride_kp + (cols % PAGE) * stride_kn + group * stride_kh
        k = tl.load(k_ptr + at[:, None] + rd[None, :], mask=cols[:, None] < last, other=0.0)
        s = tl.dot(q, tl.trans(k)) * qk_scale
        s = tl.where(cols[None, :] < last, s, -1e30)
        m_new = tl.maximum(m, tl.max(s, axis=1))
        p = tl.exp2(s - m_new[:, None])
        alpha = tl.exp2(m - m_new)
        norm = norm * alpha + tl.sum(p, axis=1)
        v = tl.load(v_ptr + at[:, None] + rd[None, :], mask=cols[:, None] < last, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        m = m_new
    to = (seq * H + head) * PARTS + part
    total = tl.where(norm > 0, norm, 1.0)
    tl.store(part_ptr + to[:, None] * D + rd[None, :], acc / total[:, None], mask=row[:, None] < SHARE)
    tl.store(lse_ptr + to, tl.where(norm > 0, m + tl.log2(total), -1e30), mask=row < SHARE)


@triton.jit
def paged_combine_kernel(part_ptr, lse_ptr, o_ptr, PARTS: tl.constexpr, D: tl.constexpr):
    at = tl.program_id(0)
    part = tl.arange(0, PARTS)
    rd = tl.arange(0, D)
    lse = tl.load(lse_ptr + at * PARTS + part)
    weight = tl.exp2(lse - tl.max(lse, axis=0))
    parts = tl.load(part_ptr + (at * PARTS + part)[:, None] * D + rd[None, :])
    o = tl.sum(parts * weight[:, None], axis=0) / tl.sum(weight, axis=0)
    tl.store(o_ptr + at * D + rd, o.to(o_ptr.dtype.element_ty))


def paged_decode(q, k_cache, v_cache, pages, lengths, PARTS=4, BN=32, **options):
    seqs, H, D = q.shape
    groups = k_cache.shape[2]
    share = H // groups
    o = torch.empty_like(q)
    part = torch.empty((seqs, H, PARTS, D), dtype=torch.float32, device=q.device)
    lse = torch.empty((seqs, H, PARTS), dtype=torch.float32, device=q.device)
    paged_decode_kernel[(seqs, groups, PARTS)](
        q, k_cache, v_cache, part, lse, pages, lengths, D ** -0.5, pages.shape[1], *k_cache.stride()[:3],
        H=H, SHARE=share, ROWS=max(16, triton.next_power_of_2(share)), PAGE=k_cache.shape[1], PARTS=PARTS, BN=BN, D=D, **options)
    paged_combine_kernel[(seqs * H,)](part, lse, o, PARTS=PARTS, D=D)
    return o
# SPDX-License-Identifier: Apache-2.0
