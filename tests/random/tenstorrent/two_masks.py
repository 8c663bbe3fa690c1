# Two loops in a row share a ring; the mask of the second one comes with the items of the second one.
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, N):
    BM: tl.constexpr = 16
    BN: tl.constexpr = 64
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    s = tl.zeros((BM,), tl.float32)
    for j in range(0, N, BN):
        s += tl.sum(tl.load(x + rm[:, None] * N + j + rn[None, :], mask=j + rn[None, :] < N, other=0.0), 1)
    q = tl.zeros((BM,), tl.float32)
    for j in range(0, N, BN):
        v = tl.load(x + rm[:, None] * N + j + rn[None, :], mask=j + rn[None, :] < N, other=0.0)
        d = tl.where(j + rn[None, :] < N, v - s[:, None], 0.0)
        q += tl.sum(d, 1)
    tl.store(y + rm, q)

# arguments: x=f32[6400] whole 1 0 y=f32[32] whole 0 0 N=200 grid=2,1,1
# SPDX-License-Identifier: Apache-2.0
