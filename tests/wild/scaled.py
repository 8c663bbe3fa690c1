"""Products of matrices in block-scaled formats."""
import triton
import triton.language as tl


# check: a=randint(120):u8[96,128] sa=randint(250):u8[96,4] b=randint(120):u8[128,80] sb=randint(6):u8[80,4] c=zeros:f32[96,80] M=96 N=80 K=128 FA=e4m3 FB=e5m2 BM=64 BN=64 BK=64 --grid 2,2
# check: a=randint(120):u8[96,128] sa=randint(256):u8[96,4] b=randint(256):u8[64,80] sb=randint(20):u8[80,4] c=zeros:f32[96,80] M=96 N=80 K=128 FA=e5m2 FB=e2m1 BM=32 BN=16 BK=64 --grid 3,5
# check: a=randint(256):u8[32,32] sa=randint(254):u8[32,2] b=randint(256):u8[32,16] sb=randint(8):u8[16,2] c=zeros:f32[32,16] M=32 N=16 K=64 FA=e2m1 FB=e2m1 BM=32 BN=16 BK=64 --grid 1,1
@triton.jit
def mx(a, sa, b, sb, c, M, N, K, FA: tl.constexpr, FB: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    PA: tl.constexpr = 2 if FA == "e2m1" else 1
    PB: tl.constexpr = 2 if FB == "e2m1" else 1
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    rows, columns = m[:, None] < M, n[None, :] < N
    ka, kb, g = tl.arange(0, BK // PA), tl.arange(0, BK // PB), tl.arange(0, BK // 32)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + m[:, None] * (K // PA) + k // PA + ka[None, :], mask=rows, other=0)
        y = tl.load(b + (k // PB + kb[:, None]) * N + n[None, :], mask=columns, other=0)
        s = tl.load(sa + m[:, None] * (K // 32) + k // 32 + g[None, :], mask=rows, other=127)
        t = tl.load(sb + n[:, None] * (K // 32) + k // 32 + g[None, :], mask=n[:, None] < N, other=127)
        acc = tl.dot_scaled(x, s, FA, y, t, FB, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=rows & columns)


# check: a=randn:f16[40,64] b=randint(256):u8[64,24] sb=randint(127):u8[48,4] c=zeros:f32[40,48] M=40 N=48 K=64 BM=64 BN=64 --grid 1
@triton.jit
def weights(a, b, sb, c, M, N, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    # float16 times 4-bit weights packed along N, scales in e4m3
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, K)
    h = tl.arange(0, BN // 2)
    x = tl.load(a + m[:, None] * K + k[None, :], mask=m[:, None] < M, other=0.0)
    y = tl.load(b + k[:, None] * (N // 2) + h[None, :], mask=h[None, :] < N // 2, other=0)
    s = tl.load(sb + n[:, None] * (K // 16) + tl.arange(0, K // 16)[None, :], mask=n[:, None] < N, other=0).to(tl.float8e4nv, bitcast=True)
    z = tl.dot_scaled(x, None, "fp16", y, s, "e2m1", rhs_k_pack=False)
    tl.store(c + m[:, None] * N + n[None, :], z, mask=(m[:, None] < M) & (n[None, :] < N))
# SPDX-License-Identifier: Apache-2.0
