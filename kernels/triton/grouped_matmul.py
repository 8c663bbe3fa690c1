"""C[g] = A[g] @ B[g] for a list of problems of different sizes in one launch; a program takes every P-th tile of all."""
import torch
import triton
import triton.language as tl


@triton.jit
def grouped_matmul_kernel(
    a_ptr, b_ptr, c_ptr,
    sizes_ptr,   # M, N, K of each problem
    starts_ptr,  # where A, B and C of each problem begin, in elements
    groups,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):
    tile = tl.program_id(0)
    before = 0
    for g in range(groups):
        M = tl.load(sizes_ptr + g * 3)
        N = tl.load(sizes_ptr + g * 3 + 1)
        K = tl.load(sizes_ptr + g * 3 + 2)
        tiles_n = tl.cdiv(N, BN)
        tiles = tl.cdiv(M, BM) * tiles_n
        while tile < before + tiles:
            here = tile - before
            rm = here // tiles_n * BM + tl.arange(0, BM)
            rn = here % tiles_n * BN + tl.arange(0, BN)
            rk = tl.arange(0, BK)
            a = a_ptr + tl.load(starts_ptr + g * 3)
            b = b_ptr + tl.load(starts_ptr + g * 3 + 1)
            c = c_ptr + tl.load(starts_ptr + g * 3 + 2)
            acc = tl.zeros((BM, BN), dtype=tl.float32)
            for k in range(0, K, BK):
                x = tl.load(a + rm[:, None] * K + (k + rk)[None, :],
                            mask=(rm[:, None] < M) & ((k + rk)[None, :] < K), other=0.0)
                y = tl.load(b + (k + rk)[:, None] * N + rn[None, :],
                            mask=((k + rk)[:, None] < K) & (rn[None, :] < N), other=0.0)
                acc = tl.dot(x, y, acc)
            tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c_ptr.dtype.element_ty),
                     mask=(rm[:, None] < M) & (rn[None, :] < N))
            tile += tl.num_programs(0)
        before += tiles


def grouped_matmul(a, b, c, sizes, starts, programs=64, BM=64, BN=64, BK=32):
    grouped_matmul_kernel[(programs,)](a, b, c, sizes, starts, sizes.shape[0], BM=BM, BN=BN, BK=BK)
# SPDX-License-Identifier: Apache-2.0
