# A sum of products that begins with a loaded tile.
import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, d, M, N, K):
    B: tl.constexpr = 32
    rm = tl.program_id(0) * B + tl.arange(0, B)
    rn = tl.program_id(1) * B + tl.arange(0, B)
    m = (rm[:, None] < M) & (rn[None, :] < N)
    acc = tl.load(d + rm[:, None] * N + rn[None, :], mask=m, other=0.0).to(tl.float32)
    for k in range(0, tl.cdiv(K, B)):
        kk = k * B + tl.arange(0, B)
        la = tl.load(a + rm[:, None] * K + kk[None, :], mask=(rm[:, None] < M) & (kk[None, :] < K), other=0.0)
        lb = tl.load(b + kk[:, None] * N + rn[None, :], mask=(kk[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(la, lb, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.bfloat16), mask=m)

# arguments: a=bf16[4096] whole 1 0 b=bf16[4096] whole 1 0 c=bf16[4096] whole 1 0 d=bf16[4096] whole 1 0 M=64 N=64 K=64 grid=2,2,1
# SPDX-License-Identifier: Apache-2.0
