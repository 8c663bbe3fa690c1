"""Products with weights of 4 bits, unpacked in the loop: c = a times b, b[k, n] = (q[k, n] - 8) * scale[k // GROUP, n].

Eight numbers q (0 to 15) of neighbouring k lie in each word of packed [K / 8, N], the first in its lowest bits."""
import torch
import triton
import triton.language as tl


@triton.jit
def int4_matmul_kernel(a_ptr, packed_ptr, scale_ptr, c_ptr, M, N, K, stride_a, stride_c,
                       GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tiles_m = tl.cdiv(M, BM)
    tile_m = tl.program_id(0) % tiles_m
    tile_n = tl.program_id(0) // tiles_m
    rm = tile_m * BM + tl.arange(0, BM)
    rn = tile_n * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a_ptrs = a_ptr + rm[:, None] * stride_a + rk[None, :]
    packed_ptrs = packed_ptr + (rk[:, None] // 8) * N + rn[None, :]
    shift = (rk % 8) * 4
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptrs, mask=rm[:, None] < M, other=0.0)
        packed = tl.load(packed_ptrs, mask=rn[None, :] < N, other=0)
        scale = tl.load(scale_ptr + k // GROUP * N + rn, mask=rn < N, other=0.0)
        q = (packed >> shift[:, None]) & 15
        b = (q - 8).to(a.dtype) * scale[None, :]
        acc = tl.dot(a, b.to(a.dtype), acc)
        a_ptrs += BK
        packed_ptrs += BK // 8 * N
    c_ptrs = c_ptr + rm[:, None] * stride_c + rn[None, :]
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


def pack(q):
    """Numbers 0 to 15 [K, N], eight of them a word [K / 8, N]."""
    words = q.long().view(-1, 8, q.shape[1]) << (4 * torch.arange(8, device=q.device))[None, :, None]
    words = words.sum(1)
    return torch.where(words >= 2 ** 31, words - 2 ** 32, words).int()


def int4_matmul(a, packed, scales, BM=32, BN=32, BK=32, **options):
    (M, K), N = a.shape, packed.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    int4_matmul_kernel[(triton.cdiv(M, BM) * triton.cdiv(N, BN),)](
        a, packed, scales, c, M, N, K, a.stride(0), c.stride(0), GROUP=K // scales.shape[0], BM=BM, BN=BN, BK=BK, **options)
    return c
# SPDX-License-Identifier: Apache-2.0
