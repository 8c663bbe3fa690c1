"""Products of a mixture of experts: every token is multiplied with the weights of the experts that it was sent to.

Token t and its j-th expert are pair t * TOP + j. `sort_pairs` orders the pairs by expert and pads each expert's to whole blocks of
BM with a pair that does not exist, so that a program has one expert: it picks its tokens' rows, and scatters its results.
Weights of 8 bits (int8, fp8) are made to the tokens' type in the loop; each row of them has a scale."""
import torch
import triton
import triton.language as tl


@triton.jit
def moe_matmul_kernel(
    a_ptr, b_ptr, c_ptr,  # tokens [T, K], weights [E, N, K], results [T * TOP, N]
    factor_ptr,           # of each pair
    order_ptr,            # pairs by expert, padded
    expert_ptr,           # of each block of BM of them
    count_ptr,            # how many they are
    N, K, pairs,
    stride_a, stride_e, stride_b, stride_c,
    TOP: tl.constexpr, SCALE: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr = 8,
    scale_ptr=None,       # of each row of the weights [E, N]
):
    pid = tl.program_id(0)
    count = tl.load(count_ptr)
    tiles_m = tl.cdiv(count, BM)
    tiles_n = tl.cdiv(N, BN)
    strip = GROUP * tiles_n
    first = pid // strip * GROUP
    height = min(tiles_m - first, GROUP)
    tile_m = first + pid % strip % height
    tile_n = pid % strip // height
    if tile_m * BM >= count:
        return
    pair = tl.load(order_ptr + tile_m * BM + tl.arange(0, BM))
    real = pair < pairs
    expert = tl.load(expert_ptr + tile_m).to(tl.int64)
    rn = tile_n * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a_ptrs = a_ptr + (pair // TOP).to(tl.int64)[:, None] * stride_a + rk[None, :]
    b_ptrs = b_ptr + expert * stride_e + rn[None, :] * stride_b + rk[:, None]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptrs, mask=real[:, None] & (rk[None, :] < K - k), other=0.0)
        b = tl.load(b_ptrs, mask=(rk[:, None] < K - k) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(a, b.to(a.dtype), acc)
        a_ptrs += BK
        b_ptrs += BK
    if scale_ptr is not None:
        acc = acc * tl.load(scale_ptr + expert * N + rn, mask=rn < N, other=0.0)[None, :]
    if SCALE:
        acc = acc * tl.load(factor_ptr + pair, mask=real, other=0.0)[:, None]
    c_ptrs = c_ptr + pair.to(tl.int64)[:, None] * stride_c + rn[None, :]
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=real[:, None] & (rn[None, :] < N))


def sort_pairs(experts, count, BM):
    """The order of the pairs, the expert of each block, and how many pairs there are with padding, for experts[t, j]."""
    flat = experts.flatten().long()
    sizes = torch.bincount(flat, minlength=count)
    padded = (sizes + BM - 1) // BM * BM
    ends = torch.cumsum(padded, 0)
    order = torch.full((flat.numel() + count * (BM - 1),), flat.numel(), dtype=torch.int32, device=flat.device)
    by_expert = torch.argsort(flat, stable=True)
    shift = (ends - padded) - (torch.cumsum(sizes, 0) - sizes)
    order[torch.arange(flat.numel(), device=flat.device) + shift[flat[by_expert]]] = by_expert.to(torch.int32)
    blocks = torch.arange(order.numel() // BM + 1, device=flat.device) * BM
    of_block = torch.searchsorted(ends, blocks, right=True).clamp(max=count - 1).to(torch.int32)
    return order, of_block, ends[-1:].to(torch.int32)


def moe_matmul(a, b, experts, factors=None, scales=None, BM=64, BN=64, BK=32, **options):
    tokens, K = a.shape
    count, N, _ = b.shape
    top = experts.shape[1]
    order, of_block, total = sort_pairs(experts, count, BM)
    c = torch.empty((tokens * top, N), dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(order.numel(), BM) * triton.cdiv(N, BN),)
    moe_matmul_kernel[grid](
        a, b, c, factors if factors is not None else a, order, of_block, total, N, K, tokens * top,
        a.stride(0), b.stride(0), b.stride(1), c.stride(0),
        TOP=top, SCALE=factors is not None, BM=BM, BN=BN, BK=BK, scale_ptr=scales, **options)
    return c
# SPDX-License-Identifier: Apache-2.0
