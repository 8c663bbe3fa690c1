"""Weights of 8 bits, cast before the product on its right: the product is turned round, so that they come from registers."""
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
# explain: turned round
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
# explain: turned round
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
