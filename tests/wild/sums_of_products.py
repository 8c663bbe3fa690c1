"""Sums of products of which each factor lacks one axis: products of matrices, written out."""
import triton
import triton.language as tl


# check: z=empty:f32[128,32] x=randn:f32[128,70] y=randn:f32[70,32] K=70 M=128 N=32 BK=32 --grid 1 --tolerance 1e-4
# check: z=empty:f32[16,8] x=randn:f32[16,5] y=randn:f32[5,8] K=5 M=16 N=8 BK=4 --grid 1 --tolerance 1e-4
# check: z=empty:f32[2,64] x=randn:f32[2,0] y=randn:f32[0,64] K=0 M=2 N=64 BK=16 --grid 1
# explain: fma
@triton.jit
def in_a_loop(z, x, y, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, BK)
    acc = tl.zeros((M, N), tl.float32)
    for i in range(0, K, BK):
        a = tl.load(x + m[:, None] * K + (i + k)[None, :], mask=(i + k)[None, :] < K, other=0.0)
        b = tl.load(y + (i + k)[:, None] * N + n[None, :], mask=(i + k)[:, None] < K, other=0.0)
        acc += tl.sum(a[:, :, None] * b[None, :, :], axis=1)
    tl.store(z + m[:, None] * N + n[None, :], acc)


# The axis in any place, the factors in any order, one of them repeated by hand, one of 16 bits before.
# check: z=empty:f32[4,32,16] x=randn:f32[32,64] y=randn:f16[16,64] M=32 N=16 K=64 --grid 1 --tolerance 1e-3
# check: z=empty:f32[4,8,16] x=randn:f32[8,2] y=randn:f16[16,2] M=8 N=16 K=2 --grid 1 --tolerance 1e-3
# check: z=empty:f32[4,1,16] x=randn:f32[1,32] y=randn:f16[16,32] M=1 N=16 K=32 --grid 1 --tolerance 1e-3
@triton.jit
def along_any_axis(z, x, y, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    at = m[:, None] * N + n[None, :]
    a = tl.load(x + m[:, None] * K + k[None, :])
    b = tl.load(y + n[:, None] * K + k[None, :]).to(tl.float32)
    tl.store(z + at, tl.sum(a[:, None, :] * b[None, :, :], axis=2))
    tl.store(z + M * N + at, tl.sum(tl.trans(b)[:, None, :] * tl.trans(a)[:, :, None], axis=0))
    tl.store(z + 2 * M * N + at, tl.trans(tl.sum(b[:, :, None] * tl.trans(a)[None, :, :], axis=1)))
    wide = tl.broadcast_to(a[:, :, None], (M, K, N))
    tl.store(z + 3 * M * N + at, tl.sum(tl.trans(b)[None, :, :] * wide, axis=1) + 1.0)


# No product of matrices: an axis that both have besides, a vector, a sum of something else.
# check: z=empty:f32[3,16,32] x=randn:f32[16,32] y=randn:f32[16,32] M=16 N=32 --grid 1 --tolerance 1e-4
@triton.jit
def of_other_shapes(z, x, y, M: tl.constexpr, N: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    at = m[:, None] * N + n[None, :]
    a = tl.load(x + at)
    b = tl.load(y + at)
    both = tl.sum(a[:, :, None] * b[:, None, :] * 0.5, axis=0)
    tl.store(z + at, tl.sum((a[:, None, :] * b[:, None, :]), axis=1))
    tl.store(z + M * N + at, a + tl.sum(both, axis=0)[None, :])
    tl.store(z + 2 * M * N + at, tl.sum(a[:, None, :] * b[None, :, :] + 1.0, axis=1))
# SPDX-License-Identifier: Apache-2.0
