"""Weights of 8 bits and fewer, made to 16 before the product on its right: it is turned round, so that they come from registers."""
import triton
import triton.language as tl


# check: a=randn:bf16[100,192] b=randint(256):i8[136,192] s=rand:f32[136] c=empty:f32[100,136] M=100 N=136 K=192 BM=64 BN=128 BK=64 --grid 2,2 --set num_warps=8
# check: a=randn:f16[100,192] b=randint(256):i8[136,192] s=rand:f32[136] c=empty:f32[100,136] M=100 N=136 K=192 BM=128 BN=64 BK=32 --grid 1,3
# check: a=randn:f16[100,192] b=randint(256):u8[136,192] s=rand:f32[136] c=empty:f32[100,136] M=100 N=136 K=192 BM=64 BN=64 BK=64 --grid 2,3
# check: a=randn:bf16[100,190] b=randint(256):u8[136,190] s=rand:f32[136] c=empty:f32[100,136] M=100 N=136 K=190 BM=64 BN=64 BK=64 --grid 2,3
# check: a=randn:bf16[100,192] b=randn:f8e4m3[136,192] s=rand:f32[136] c=empty:f32[100,136] M=100 N=136 K=192 BM=64 BN=128 BK=64 --grid 2,2
# check: a=randn:f16[100,192] b=randn:f8e4m3[136,192] s=rand:f32[136] c=empty:f32[100,136] M=100 N=136 K=192 BM=64 BN=64 BK=64 --grid 2,3
# check: a=randn:bf16[100,192] b=randn:f8e5m2[136,192] s=rand:f32[136] c=empty:f32[100,136] M=100 N=136 K=192 BM=64 BN=64 BK=64 --grid 2,3
# check: a=randn:f16[100,192] b=randn:f8e5m2[136,192] s=rand:f32[136] c=empty:f32[100,136] M=100 N=136 K=192 BM=64 BN=64 BK=64 --grid 2,3
# explain: as its transpose, with exchanged operands
@triton.jit
def along_k(a, b, s, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        w = tl.load(b + rn[None, :] * K + rk[:, None], mask=(rn[None, :] < N) & (rk[:, None] < K), other=0.0)
        acc = tl.dot(x, w.to(x.dtype), acc)
    acc *= tl.load(s + rn, mask=rn < N, other=0.0)[None, :]
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


# check: a=randn:bf16[100,192] b=randint(256):i8[192,136] s=rand:f32[6,136] c=empty:f32[100,136] M=100 N=136 K=192 BM=64 BN=128 BK=32 --grid 2,2 --set num_warps=8
# check: a=randn:f16[100,192] b=randn:f8e4m3[192,136] s=rand:f32[6,136] c=empty:f32[100,136] M=100 N=136 K=192 BM=128 BN=64 BK=32 --grid 1,3
# explain: as its transpose, with exchanged operands
@triton.jit
def across_k(a, b, s, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        w = tl.load(b + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        scale = tl.load(s + k // BK * N + rn, mask=rn < N, other=0.0)
        acc = tl.dot(x, (w.to(tl.float32) * scale[None, :]).to(x.dtype), acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


# check: a=randn:f16[17,192] q=randint(2147483647):i32[24,136] z=randint(2147483647):i32[3,17] s=rand:f16[3,136] c=empty:f32[17,136] M=17 N=136 K=192 G=64 BM=16 BN=64 BK=64 --grid 2,3
# check: a=randn:bf16[1,192] q=randint(2147483647):i32[24,136] z=randint(2147483647):i32[3,17] s=rand:bf16[3,136] c=empty:f32[1,136] M=1 N=136 K=192 G=64 BM=16 BN=64 BK=32 --grid 1,3
# check: a=randn:f16[40,160] q=randint(2147483647):i32[20,136] z=randint(2147483647):i32[2,17] s=rand:f16[2,136] c=empty:f32[40,136] M=40 N=136 K=160 G=96 BM=32 BN=128 BK=32 --grid 2,2 --set num_warps=8
# check: a=randn:f16[20,192] q=randint(2147483647):i32[24,40] z=randint(2147483647):i32[12,5] s=rand:f16[12,40] c=empty:f32[20,40] M=20 N=40 K=192 G=16 BM=16 BN=32 BK=32 --grid 2,2
# explain: once for each 8 equal indices, and repeated
@triton.jit
def zero_points(a, q, z, s, c, M, N, K, G, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Eight a word along K, their zero points eight a word along N; groups of G rows, of which some end inside of a tile."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :], mask=rm[:, None] < M, other=0.0)
        w = tl.load(q + (rk[:, None] // 8) * N + k // 8 * N + rn[None, :], mask=rn[None, :] < N, other=0)
        group = k // G
        zero = tl.load(z + group * (N // 8) + rn // 8, mask=rn < N, other=0) >> (rn % 8) * 4 & 15
        scale = tl.load(s + group * N + rn, mask=rn < N, other=0.0)
        w = (w >> (rk[:, None] % 8) * 4 & 15) - zero[None, :]
        acc = tl.dot(x, w.to(x.dtype) * scale[None, :], acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


# check: a=randn:f16[16,256] q=randint(256):u8[72,64] s=rand:f16[72,4] c=empty:f16[16,72] M=16 N=72 K=256 BM=16 BN=64 BK=128 --grid 1,2
# check: a=randn:bf16[70,256] q=randint(256):u8[72,64] s=rand:bf16[72,4] c=empty:bf16[70,72] M=70 N=72 K=256 BM=64 BN=64 BK=64 --grid 2,2
# check: a=randn:f16[3,256] q=randint(256):u8[72,64] s=rand:f16[72,4] c=empty:f16[3,72] M=3 N=72 K=256 BM=32 BN=32 BK=32 --grid 1,3
# explain: once for each 4 equal indices, and repeated
@triton.jit
def two_bits(a, q, s, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Four a byte along the contiguous side, which is K; scales a row and 64 of K."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        rk = k * BK + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0)
        w = tl.load(q + rn[:, None] * (K // 4) + rk[None, :] // 4, mask=rn[:, None] < N, other=0)
        scale = tl.load(s + rn[:, None] * (K // 64) + rk[None, :] // 64, mask=rn[:, None] < N, other=0.0)
        w = ((w >> (rk[None, :] % 4 * 2).to(tl.uint8) & 3).to(x.dtype) - 2.0) * scale
        acc = tl.dot(x, tl.trans(w.to(x.dtype)), acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


# check: a=randn:f16[16,512] b=randint(256):i8[512,136] s=rand:f32[4,136] z=randn:f16[4,136] c=empty:f32[16,136] M=16 N=136 K=512 BM=16 BN=64 BK=128 --grid 1,3
# check: a=randn:bf16[5,320] b=randint(256):u8[320,136] s=rand:bf16[5,136] z=randn:bf16[5,136] c=empty:f32[5,136] M=5 N=136 K=320 BM=16 BN=64 BK=64 --grid 1,3 --set num_stages=4
# check: a=randn:f16[20,512] b=randint(256):i8[512,136] s=rand:f32[4,136] z=randn:f16[4,136] c=empty:f32[20,136] M=20 N=136 K=512 BM=16 BN=32 BK=128 --grid 2,5
# check: a=randn:bf16[1,512] b=randn:f8e4m3[512,133] s=rand:f16[8,133] z=randn:f32[8,133] c=empty:f32[1,133] M=1 N=133 K=512 BM=16 BN=64 BK=64 --grid 1,3
# check: a=randn:f16[33,256] b=randint(256):i8[256,72] s=rand:f16[4,72] z=randn:f16[4,72] c=empty:f32[33,72] M=33 N=72 K=256 BM=32 BN=16 BK=64 --grid 2,5 --set num_warps=2
# explain: field scale of ring in
# explain: field zero of ring in
@triton.jit
def few_rows(a, b, s, z, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A trip is short: its scales and zero points come with its tiles."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0)
        w = tl.load(b + rk[:, None] * N + rn[None, :], mask=rn[None, :] < N, other=0.0)
        scale = tl.load(s + k // BK * N + rn, mask=rn < N, other=0.0)
        zero = tl.load(z + k // BK * N + rn, mask=rn < N, other=0.0)
        acc = tl.dot(x, ((w.to(tl.float32) - zero[None, :]) * scale[None, :]).to(x.dtype), acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


# check: a=randn:f16[16,256] b=randint(256):i8[256,136] s=rand:f16[4,136] c=empty:f32[16,136] M=16 N=136 K=256 BM=16 BN=64 BK=64 --grid 1,3
# explain: fetched a trip ahead
# explain: no field scale of ring
@triton.jit
def filled_rows(a, b, s, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """What lies outside of the scales is 1, which no copy leaves there."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0)
        w = tl.load(b + rk[:, None] * N + rn[None, :], mask=rn[None, :] < N, other=0.0)
        scale = tl.load(s + k // BK * N + rn, mask=rn < N, other=1.0)
        acc = tl.dot(x, (w.to(tl.float32) * scale[None, :]).to(x.dtype), acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


# check: a=randn:f16[20,256] b=randint(256):i8[256,72] s=randn:f16[72] z=randn:f16[72] c=empty:f32[20,72] M=20 N=72 K=256 BM=16 BN=32 BK=64 --grid 2,3
# check: a=randn:bf16[40,256] b=randint(256):u8[256,72] s=randn:bf16[72] z=randn:bf16[72] c=empty:f32[40,72] M=40 N=72 K=256 BM=32 BN=32 BK=32 --grid 2,3 --set num_warps=2
# check: a=randn:f16[100,192] b=randint(256):i8[192,136] s=randn:f16[136] z=randn:f16[136] c=empty:f32[100,136] M=100 N=136 K=192 BM=64 BN=64 BK=64 --grid 2,3
@triton.jit
def in_halves(a, b, s, z, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Differences, products and sums of 16 bits, each rounded, on their way to the product by shared memory."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    scale = tl.load(s + rn, mask=rn < N, other=0.0)
    zero = tl.load(z + rn, mask=rn < N, other=0.0)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0)
        w = tl.load(b + rk[:, None] * N + rn[None, :], mask=rn[None, :] < N, other=0)
        acc = tl.dot(x, (w.to(x.dtype) - zero[None, :]) * scale[None, :] + zero[None, :], acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


# check: a=randn:f16[16,512] b=randint(256):i8[512,136] s=rand:f16[8,136] c=empty:f32[16,136] M=16 N=136 K=512 HALF=256 BOTH=false BM=16 BN=64 BK=64 --grid 1,3
# check: a=randn:f16[16,512] b=randint(256):i8[512,136] s=rand:f16[8,136] c=empty:f32[16,136] M=16 N=136 K=512 HALF=192 BOTH=true BM=16 BN=64 BK=64 --grid 1,3
# check: a=randn:f16[9,512] b=randint(256):i8[512,136] s=rand:f16[8,136] c=empty:f32[9,136] M=9 N=136 K=512 HALF=0 BOTH=false BM=16 BN=32 BK=64 --grid 1,5
# explain: field scale of ring
@triton.jit
def half_scaled(a, b, s, c, M, N, K, HALF, BOTH: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Two loops with the same tiles, of which one has a row beside them, or both."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, HALF, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0)
        w = tl.load(b + rk[:, None] * N + rn[None, :], mask=rn[None, :] < N, other=0).to(x.dtype)
        if BOTH:
            scale = tl.load(s + k // BK * N + rn, mask=rn < N, other=0.0)
            w = w * scale[None, :]
        acc = tl.dot(x, w, acc)
    for k in range(HALF, K, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0)
        w = tl.load(b + rk[:, None] * N + rn[None, :], mask=rn[None, :] < N, other=0).to(x.dtype)
        scale = tl.load(s + k // BK * N + rn, mask=rn < N, other=0.0)
        acc = tl.dot(x, w * scale[None, :], acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


# check: a=randn:f16[16,256] b=randint(256):i8[256,72] s=rand:f16[256] t=rand:f16[5,72] c=empty:f32[16,72] M=16 N=72 K=256 BM=16 BN=64 BK=64 --grid 1,2
# check: a=randn:f16[16,250] b=randint(256):i8[250,72] s=rand:f16[250] t=rand:f16[5,72] c=empty:f32[16,72] M=16 N=72 K=250 BM=16 BN=32 BK=64 --grid 1,3
# explain: field scale of ring in
# explain: field now of ring in
@triton.jit
def kept_rows(a, b, s, t, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A row along K, and one along N that the next trip, and what follows the loop, still need."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    last = tl.zeros((BN,), tl.float16)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        w = tl.load(b + rk[:, None] * N + rn[None, :], mask=(rn[None, :] < N) & (rk[:, None] < K), other=0)
        scale = tl.load(s + rk, mask=rk < K, other=0.0)
        now = tl.load(t + (k // BK + 1) * N + rn, mask=rn < N, other=0.0)
        acc = tl.dot(x, w.to(x.dtype) * scale[:, None] * (now + last)[None, :], acc)
        last = now
    acc *= last[None, :].to(tl.float32)
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))
# SPDX-License-Identifier: Apache-2.0
