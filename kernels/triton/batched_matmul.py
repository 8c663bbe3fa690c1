"""C[i] = A[i] @ B[i] for many small matrices: a program for each tile of each matrix, or (dots) several matrices in one tl.dot of rank 3."""
import torch
import triton
import triton.language as tl


@triton.jit
def batched_matmul_kernel(
    a_ptr, b_ptr, c_ptr,
    M, N, K,
    stride_ab, stride_am, stride_bb, stride_bk, stride_cb, stride_cm,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):
    at = tl.program_id(2)
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a_ptrs = a_ptr + at * stride_ab + rm[:, None] * stride_am + rk[None, :]
    b_ptrs = b_ptr + at * stride_bb + rk[:, None] * stride_bk + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        left = K - k * BK
        a = tl.load(a_ptrs, mask=(rm[:, None] < M) & (rk[None, :] < left), other=0.0)
        b = tl.load(b_ptrs, mask=(rk[:, None] < left) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BK
        b_ptrs += BK * stride_bk
    c = acc.to(c_ptr.dtype.element_ty)
    tl.store(c_ptr + at * stride_cb + rm[:, None] * stride_cm + rn[None, :], c, mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def batched_dots_kernel(
    a_ptr, b_ptr, c_ptr,
    count, M, N, K,
    stride_ab, stride_am, stride_bb, stride_bk, stride_cb, stride_cm,
    BB: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):
    rb = tl.program_id(2) * BB + tl.arange(0, BB)[:, None, None]
    rm = tl.program_id(0) * BM + tl.arange(0, BM)[None, :, None]
    rn = tl.program_id(1) * BN + tl.arange(0, BN)[None, None, :]
    a_ptrs = a_ptr + rb * stride_ab + rm * stride_am + tl.arange(0, BK)[None, None, :]
    b_ptrs = b_ptr + rb * stride_bb + tl.arange(0, BK)[None, :, None] * stride_bk + rn
    acc = tl.zeros((BB, BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        left = K - k * BK
        a = tl.load(a_ptrs, mask=(rb < count) & (rm < M) & (tl.arange(0, BK)[None, None, :] < left), other=0.0)
        b = tl.load(b_ptrs, mask=(rb < count) & (rn < N) & (tl.arange(0, BK)[None, :, None] < left), other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BK
        b_ptrs += BK * stride_bk
    c = acc.to(c_ptr.dtype.element_ty)
    tl.store(c_ptr + rb * stride_cb + rm * stride_cm + rn, c, mask=(rb < count) & (rm < M) & (rn < N))


def batched_matmul(a, b, BM=64, BN=64, BK=32, BB=None, **options):
    count, M, K = a.shape
    N = b.shape[2]
    c = torch.empty((count, M, N), device=a.device, dtype=a.dtype)
    strides = [s for x in (a, b, c) for s in x.stride()[:2]]
    tiles = triton.cdiv(M, BM), triton.cdiv(N, BN)
    if BB:
        batched_dots_kernel[(*tiles, triton.cdiv(count, BB))](a, b, c, count, M, N, K, *strides, BB=BB, BM=BM, BN=BN, BK=BK, **options)
    else:
        batched_matmul_kernel[(*tiles, count)](a, b, c, M, N, K, *strides, BM=BM, BN=BN, BK=BK, **options)
    return c
# SPDX-License-Identifier: Apache-2.0
