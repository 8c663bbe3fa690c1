"""Convolutions whose places are found by // and %, with strides, edges, holes and groups; and rows of experts whose numbers are reduced first."""
import triton
import triton.language as tl


# check: x=randn:f16[2,20,9,7] w=randn:f16[24,10,3,3] y=zeros:f16[2,24,5,4] n=2 H=9 W=7 P=5 Q=4 C=10 O=12 R=3 S=3 STRIDE=2 PAD=1 HOLES=1 BM=64 BN=64 BK=32 --grid 1,1,2
# check: x=randn:f16[1,33,6,6] w=randn:f16[17,33,1,1] y=zeros:f16[1,17,6,6] n=1 H=6 W=6 P=6 Q=6 C=33 O=17 R=1 S=1 STRIDE=1 PAD=0 HOLES=1 BM=64 BN=64 BK=32 --grid 1,1,1
# check: x=randn:f16[1,8,9,9] w=randn:f16[16,8,3,3] y=zeros:f16[1,16,9,9] n=1 H=9 W=9 P=9 Q=9 C=8 O=16 R=3 S=3 STRIDE=1 PAD=2 HOLES=2 BM=128 BN=64 BK=16 --grid 1,1,1
# check: x=randn:f16[1,8,4,4] w=randn:f16[16,8,3,3] y=zeros:f16[1,16,4,4] n=0 H=4 W=4 P=4 Q=4 C=8 O=16 R=3 S=3 STRIDE=1 PAD=1 HOLES=1 BM=64 BN=64 BK=16 --grid 1,1,1
@triton.jit
def channels_first(x, w, y, n, H, W, P, Q, C: tl.constexpr, O, R: tl.constexpr, S: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr,
                   HOLES: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    group = tl.program_id(2)
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    filters = tl.program_id(1) * BN + tl.arange(0, BN)
    image, top, left = rows // Q // P, rows // Q % P, rows % Q
    groups = tl.num_programs(2)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    parts: tl.constexpr = (C + BK - 1) // BK
    for step in range(R * S * parts):
        channels = step % parts * BK + tl.arange(0, BK)
        r, s = step // parts // S, step // parts % S
        h, v = top * STRIDE + r * HOLES - PAD, left * STRIDE + s * HOLES - PAD
        seen = (image < n) & (0 <= h) & (h < H) & (0 <= v) & (v < W)
        a = tl.load(x + (((image * groups + group) * C * H + h) * W + v)[:, None] + (channels * H * W)[None, :],
                    mask=seen[:, None] & (channels < C)[None, :], other=0.0)
        b = tl.load(w + ((group * O + filters) * C * R * S)[None, :] + (channels * R * S + r * S + s)[:, None],
                    mask=(channels < C)[:, None] & (filters < O)[None, :], other=0.0)
        acc = tl.dot(a, b, acc)
    at = ((image * groups + group)[:, None] * O + filters[None, :]) * P * Q + (top * Q + left)[:, None]
    tl.store(y + at, acc.to(y.dtype.element_ty), mask=(image < n)[:, None] & (filters < O)[None, :])


# check: x=randn:bf16[2,9,8,64] w=randn:bf16[3,3,64,72] y=zeros:bf16[2,9,8,72] n=2 H=9 W=8 P=9 Q=8 F=72 C=64 R=3 S=3 STRIDE=1 PAD=1 HOLES=1 BM=128 BN=64 BK=32 --grid 2,2
# check: x=randn:bf16[1,9,9,32] w=randn:bf16[3,3,32,64] y=zeros:bf16[1,4,4,64] n=1 H=9 W=9 P=4 Q=4 F=64 C=32 R=3 S=3 STRIDE=2 PAD=1 HOLES=2 BM=128 BN=64 BK=32 --grid 1,1
# check: x=randn:bf16[1,5,5,32] w=randn:bf16[1,1,32,40] y=zeros:bf16[1,5,5,40] n=0 H=5 W=5 P=5 Q=5 F=40 C=32 R=1 S=1 STRIDE=1 PAD=0 HOLES=1 BM=128 BN=64 BK=32 --grid 1,1
# check: x=randn:bf16[1,5,5,32] w=randn:bf16[3,3,32,40] y=zeros:bf16[1,5,5,40] n=1 H=-5 W=5 P=5 Q=5 F=40 C=32 R=3 S=3 STRIDE=1 PAD=1 HOLES=1 BM=128 BN=64 BK=32 --grid 1,1
# explain: threads find the rows of a trip anew
@triton.jit
def channels_last(x, w, y, n, H, W, P, Q, F, C: tl.constexpr, R: tl.constexpr, S: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr,
                  HOLES: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    filters = tl.program_id(1) * BN + tl.arange(0, BN)
    channels = tl.arange(0, BK)
    image, top, left = rows // (P * Q), rows // Q % P * STRIDE - PAD, rows % Q * STRIDE - PAD
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(R * S * C // BK):
        tap, part = step // (C // BK), step % (C // BK) * BK
        h, v = top + tap // S * HOLES, left + tap % S * HOLES
        seen = (image < n) & (h >= 0) & (h < H) & (v >= 0) & (v < W)
        a = tl.load(x + (((image * H + h) * W + v) * C + part)[:, None] + channels[None, :], mask=seen[:, None], other=0.0)
        b = tl.load(w + (step * BK + channels)[:, None] * F + filters[None, :], mask=(filters < F)[None, :], other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(y + rows[:, None] * F + filters[None, :], acc.to(y.dtype.element_ty), mask=(rows < n * P * Q)[:, None] & (filters < F)[None, :])


# check: x=randn:bf16[150,64] w=randn:bf16[6,64,72] y=zeros:bf16[150,72] expert=randint(6):i64[150] N=72 K=64 rows=150 E=6 BM=128 BN=64 BK=32 --grid 2,2
# check: x=randn:bf16[150,64] w=randn:bf16[6,64,72] y=zeros:bf16[150,72] expert=full(3):i64[150] N=72 K=64 rows=0 E=6 BM=128 BN=64 BK=32 --grid 1,2
# explain: 2 workers in compute
@triton.jit
def experts_in_between(x, w, y, expert, N, K, rows, E: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    own = tl.load(expert + rm, mask=rm < rows, other=E)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for e in range(tl.min(own), tl.minimum(tl.max(own), E - 1) + 1):
        for k in range(0, K, BK):
            a = tl.load(x + rm[:, None] * K + (k + rk)[None, :], mask=(own == e)[:, None], other=0.0)
            b = tl.load(w + e * K * N + (k + rk)[:, None] * N + rn[None, :], mask=(rn < N)[None, :], other=0.0)
            acc = tl.dot(a, b, acc)
    tl.store(y + rm[:, None] * N + rn[None, :], acc.to(y.dtype.element_ty), mask=(rm < rows)[:, None] & (rn < N)[None, :])


# check: x=randn:bf16[40,64] y=zeros:bf16[40,64] z=zeros:f32[40,64] rows=40 low=3 high=37 --grid 2
# check: x=randn:bf16[40,64] y=zeros:bf16[40,64] z=zeros:f32[40,64] rows=33 low=-2 high=60 --grid 2
# check: x=randn:bf16[40,64] y=zeros:bf16[40,64] z=zeros:f32[40,64] rows=40 low=50 high=20 --grid 2
# explain: in runs of 8
@triton.jit
def masks_of_runs(x, y, z, rows, low, high):
    """Numbers that come in runs along the contiguous axis, under a mask of both axes that is the same for all of a run:
    loaded, stored and added."""
    i = tl.program_id(0) * 32 + tl.arange(0, 32)
    for step in range(4):
        k = step * 16 + tl.arange(0, 16)
        tap = k // 24
        h = i[:, None] + tap[None, :]
        seen = (i < rows)[:, None] & (k < 48)[None, :] & (h >= low) & (h < high)
        at = i[:, None] * 64 + (tap * 32 + k % 24)[None, :]
        a = tl.load(x + at, mask=seen, other=1.0)
        tl.store(y + at, a + 1.0, mask=seen)
        tl.atomic_add(z + at, a.to(tl.float32), mask=seen)
# SPDX-License-Identifier: Apache-2.0
