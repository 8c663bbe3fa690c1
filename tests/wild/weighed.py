"""Products that are weighed with exponentials before they are summed: what weighs them comes beside the tiles, through a ring where a role
loads, a trip ahead where all threads do."""
import triton
import triton.language as tl


# check: y=randn:bf16[5,200,64] x=randn:bf16[5,200,64] a=rand:f32[5,200] s=rand:f32[5,200] out=zeros:f32[200,200] n=200 heads=5 stride=12800 BM=128 BN=128 D=64 --grid 2,2 --set num_warps=8 --tolerance 1e-3
# check: y=randn:bf16[3,77,64] x=randn:bf16[3,77,64] a=rand:f32[3,77] s=rand:f32[3,77] out=zeros:f32[77,77] n=77 heads=3 stride=4928 BM=64 BN=128 D=64 --grid 2,1 --tolerance 1e-3
# check: y=randn:f16[4,130,64] x=randn:f16[4,130,64] a=rand:f32[4,130] s=rand:f32[4,130] out=zeros:f32[130,130] n=130 heads=4 stride=8320 BM=128 BN=64 D=64 --grid 2,3 --tolerance 1e-3
# explain: field scale of ring in
@triton.jit
def weighed(y, x, a, s, out, n, heads, stride, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rd = tl.arange(0, D)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for h in range(0, heads):
        left = tl.load(y + h * stride + rm[:, None] * D + rd[None, :], mask=rm[:, None] < n, other=0.0)
        right = tl.load(x + h * stride + rn[None, :] * D + rd[:, None], mask=rn[None, :] < n, other=0.0)
        from_m = tl.load(a + h * n + rm, mask=rm < n, other=0.0)
        from_n = tl.load(a + h * n + rn, mask=rn < n, other=0.5)
        scale = tl.load(s + h * n + rn, mask=rn < n, other=-1.0)
        acc += tl.dot(left, right) * (tl.exp(from_m[:, None] - from_n[None, :]) * scale[None, :])
    tl.store(out + rm[:, None] * n + rn[None, :], acc, mask=(rm[:, None] < n) & (rn[None, :] < n))
# SPDX-License-Identifier: Apache-2.0
