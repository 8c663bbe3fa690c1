"""Loops of products that load some things only now and then, or choose what they load."""
import triton
import triton.language as tl


# check: a=randn:f16[128,256] b=randn:f16[256,128] scales=rand:f32[4,128] c=zeros:f16[128,128] N=128 K=256 EVERY=2 BM=128 BN=128 BK=32 --grid 1,1 --set num_warps=8
# check: a=randn:bf16[100,192] b=randn:bf16[192,72] scales=rand:f32[3,72] c=zeros:bf16[100,72] N=72 K=192 EVERY=1 BM=64 BN=64 BK=64 --grid 2,2
# check: a=randn:f16[64,128] b=randn:f16[128,64] scales=rand:f32[2,64] c=zeros:f16[64,64] N=64 K=128 EVERY=2 BM=16 BN=32 BK=32 --grid 4,2
# explain: no execution: flat
@triton.jit
def scales_now_and_then(a, b, scales, c, N, K, EVERY, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    M = 128 if BM == 128 else 100 if BM == 64 else 64
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    scale = tl.zeros((BN,), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(a + rm[:, None] * K + (k * BK + rk)[None, :], mask=(rm[:, None] < M) & ((k * BK + rk)[None, :] < K), other=0.0)
        y = tl.load(b + (k * BK + rk)[:, None] * N + rn[None, :], mask=((k * BK + rk)[:, None] < K) & (rn[None, :] < N), other=0.0)
        if k % EVERY == 0:
            scale = tl.load(scales + k // EVERY * N + rn, mask=rn < N, other=0.0)
        acc += tl.dot(x, y) * scale[None, :]
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


# check: a=randn:f16[128,128] b=randint(100):i8[128,128] scales=randn:f16[4,128] c=zeros:f16[128,128] N=128 K=128 grouped=1 BM=128 BN=128 BK=32 --grid 1,1
# check: a=randn:f16[64,128] b=randint(100):i8[128,64] scales=randn:f16[4,64] c=zeros:f16[64,64] N=64 K=128 grouped=0 BM=64 BN=64 BK=32 --grid 1,1 --set num_stages=4
# explain: no execution: flat
@triton.jit
def quantised(a, b, scales, c, N, K, grouped, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :])
        w = tl.load(b + (k + rk)[:, None] * N + rn[None, :])
        y = w.to(tl.float16)
        if grouped > 0:
            s = tl.load(scales + k // 32 * N + rn)
            y = y * s[None, :]
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty))


# check: a=randn:bf16[128,256] b=randn:bf16[256,128] b2=randn:bf16[256,128] c=zeros:bf16[128,128] N=128 K=256 cut=128 BM=128 BN=128 BK=64 --grid 1,1 --set num_warps=8
# check: a=randn:bf16[64,256] b=randn:bf16[256,64] b2=randn:bf16[256,64] c=zeros:bf16[64,64] N=64 K=256 cut=300 BM=64 BN=64 BK=64 --grid 1,1
# check: a=randn:f16[32,128] b=randn:f16[128,32] b2=randn:f16[128,32] c=zeros:f16[32,32] N=32 K=128 cut=0 BM=32 BN=32 BK=32 --grid 1,1 --set num_stages=3
# explain: no execution: flat
@triton.jit
def either_half(a, b, b2, c, N, K, cut, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :])
        if k < cut:
            y = tl.load(b + (k + rk)[:, None] * N + rn[None, :])
        else:
            y = tl.load(b2 + (k + rk)[:, None] * N + rn[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty))


# check: a=randn:bf16[128,256] b=randn:bf16[256,128] skip=randint(2):i32[4] c=zeros:bf16[128,128] N=128 K=256 BM=128 BN=128 BK=64 --grid 1,1 --set num_warps=8
# check: a=randn:f16[64,128] b=randn:f16[128,64] skip=randint(2):i32[4] c=zeros:f16[64,64] N=64 K=128 BM=32 BN=32 BK=32 --grid 2,2 --set num_stages=4
# check: a=randn:f16[64,128] b=randn:f16[128,64] skip=zeros:i32[4] c=zeros:f16[64,64] N=64 K=128 BM=64 BN=64 BK=32 --grid 1,1
# explain: no execution: flat
@triton.jit
def blocks_that_are_there(a, b, skip, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        if tl.load(skip + k) != 0:
            x = tl.load(a + rm[:, None] * K + (k * BK + rk)[None, :])
            y = tl.load(b + (k * BK + rk)[:, None] * N + rn[None, :])
            acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty))


# check: a=randn:bf16[130,511] b=randn:bf16[511,130] c=zeros:bf16[130,130] M=130 N=130 K=511 BM=128 BN=128 BK=64 --grid 4 --set num_warps=8 --set num_stages=3
# check: a=randn:bf16[128,511] b=randn:bf16[511,256] c=zeros:bf16[128,256] M=128 N=256 K=511 BM=128 BN=256 BK=64 --grid 1 --set num_warps=8 --set num_stages=3
# check: a=randn:f16[70,511] b=randn:f16[511,70] c=zeros:f16[70,70] M=70 N=70 K=511 BM=64 BN=64 BK=32 --grid 4 --set num_stages=5
@triton.jit
def odd_k(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    across = tl.cdiv(N, BN)
    rm = (pid // across * BM + tl.arange(0, BM)) % M
    rn = (pid % across * BN + tl.arange(0, BN)) % N
    rk = tl.arange(0, BK)
    a_at = a + rm[:, None] * K + rk[None, :]
    b_at = b + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(a_at, mask=rk[None, :] < K - k * BK, other=0.0)
        y = tl.load(b_at, mask=rk[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(x, y, acc)
        a_at += BK
        b_at += BK * N
    om = pid // across * BM + tl.arange(0, BM)
    on = pid % across * BN + tl.arange(0, BN)
    tl.store(c + om[:, None] * N + on[None, :], acc.to(c.dtype.element_ty), mask=(om[:, None] < M) & (on[None, :] < N))
# SPDX-License-Identifier: Apache-2.0
