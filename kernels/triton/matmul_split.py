"""C += A @ B where programs share the sum over K and add what they have by atomics: for small C and long K."""
import torch
import triton
import triton.language as tl


@triton.jit
def matmul_split_kernel(
    a_ptr, b_ptr, c_ptr,
    M, N, K,
    stride_am, stride_bk, stride_cm,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr,
):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    part = tl.program_id(2)
    rk = part * BK + tl.arange(0, BK)
    a_ptrs = a_ptr + rm[:, None] * stride_am + rk[None, :]
    b_ptrs = b_ptr + rk[:, None] * stride_bk + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK * SPLIT)):
        left = K - k * (BK * SPLIT)
        a = tl.load(a_ptrs, mask=(rm[:, None] < M) & (rk[None, :] < left), other=0.0)
        b = tl.load(b_ptrs, mask=(rk[:, None] < left) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BK * SPLIT
        b_ptrs += BK * SPLIT * stride_bk
    c = acc.to(c_ptr.dtype.element_ty)
    tl.atomic_add(c_ptr + rm[:, None] * stride_cm + rn[None, :], c, mask=(rm[:, None] < M) & (rn[None, :] < N), sem="relaxed")


def matmul_split(a, b, BM=64, BN=64, BK=32, SPLIT=4, **options):
    M, K = a.shape
    N = b.shape[1]
    c = torch.zeros((M, N), device=a.device, dtype=torch.float32)
    matmul_split_kernel[(triton.cdiv(M, BM), triton.cdiv(N, BN), SPLIT)](
        a, b, c, M, N, K, a.stride(0), b.stride(0), c.stride(0), BM=BM, BN=BN, BK=BK, SPLIT=SPLIT, **options)
    return c
# SPDX-License-Identifier: Apache-2.0
