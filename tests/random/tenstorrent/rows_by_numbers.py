# Rows of the left operand by numbers that are loaded beside it, in every trip; another tensor's by half of those.
import triton
import triton.language as tl


@triton.jit
def kernel(x, z, ids, w, y, n, N, K):
    B: tl.constexpr = 32
    m = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.program_id(1) * B + tl.arange(0, B)
    i = tl.abs(tl.load(ids + m, mask=m < n, other=0))
    acc = tl.zeros((B, B), tl.float32)
    for k in range(0, K, B):
        kk = k + tl.arange(0, B)
        a = tl.load(x + i[:, None] * K + kk[None, :], mask=(m[:, None] < n) & (kk[None, :] < K), other=0.)
        b = tl.load(w + kk[:, None] * N + c[None, :], mask=(kk[:, None] < K) & (c[None, :] < N), other=0.)
        acc = tl.dot(a, b, acc)
    acc += tl.load(z + (i // 2)[:, None] * N + c[None, :], mask=(m[:, None] < n) & (c[None, :] < N), other=0.)
    tl.store(y + m[:, None] * N + c[None, :], acc, mask=(m[:, None] < n) & (c[None, :] < N))

# arguments: x=bf16[5000] whole 3 0 z=f32[4000] whole 3 0 ids=i64[70] whole 49 0 w=bf16[8000] whole 3 0 y=f32[5600] whole 3 0 n=70 N=80 K=100 grid=3,3,1
# SPDX-License-Identifier: Apache-2.0
