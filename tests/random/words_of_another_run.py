# Rows that are not aligned, copied ahead in an inner loop: its next run must not overwrite words that are still read.
import triton
import triton.language as tl


@triton.jit
def kernel(m0, m1, y2, T, K, M, N):
    rm = tl.arange(0, 64)
    rn = tl.arange(0, 64)
    rk = tl.arange(0, 32)
    total = tl.zeros((64, 64), tl.float32)
    for t in range(0, T):
        acc = tl.zeros((64, 64), tl.float32)
        for k in range(0, t * 32, 32):
            a = tl.load(m0 + rm[:, None] * 67 + (k + rk)[None, :], mask=(rm[:, None] < M) & ((k + rk)[None, :] < K), other=0.0)
            b = tl.load(m1 + (k + rk)[:, None] * 67 + rn[None, :], mask=((k + rk)[:, None] < K) & (rn[None, :] < N), other=0.0)
            acc = tl.dot(a, b, acc)
        total += acc * 0.25
    tl.store(y2 + rm[:, None] * 64 + rn[None, :], total)

# arguments: m0=f16[8192] whole 3 0 m1=f16[8192] whole 1 0 y2=f32[4096] plain 1 0 T=4 K=65 M=64 N=63 grid=1,1,1 --set persist=off --set num_stages=2
# SPDX-License-Identifier: Apache-2.0
