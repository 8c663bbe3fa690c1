"""The outputs of the chunks of a state-space model (Mamba-2): what the state before the chunk gives, and a causal product inside of it.

    y[m, p] = exp(A[m]) sum over n of C[m, n] before[p, n]  +  sum over k <= m of (C B^T)[m, k] exp(A[m] - A[k]) dt[k] x[k, p]  +  D x[m, p]

cb is C B^T of each chunk, [batch, chunks, groups, size, size], c [batch, length, groups, N], before [batch, chunks, heads, P, N], d
[heads]; the others are those of chunk_state.py; all are contiguous."""
import torch
import triton
import triton.language as tl


@triton.jit
def chunk_scan_kernel(cb_ptr, x_ptr, dt_ptr, a_ptr, c_ptr, before_ptr, d_ptr, y_ptr, length, size, heads, groups, P, N,
                      BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, BD: tl.constexpr):
    across = tl.cdiv(P, BN)
    pm = tl.program_id(0) // across
    pn = tl.program_id(0) % across
    chunks = tl.cdiv(length, size)
    batch = tl.program_id(1) // chunks
    chunk = tl.program_id(1) % chunks
    head = tl.program_id(2)
    group = head // (heads // groups)
    steps = (batch * heads + head) * chunks * size + chunk * size
    first = (batch * length + chunk * size).to(tl.int64)
    x_ptr += (first * heads + head) * P
    y_ptr += (first * heads + head) * P
    c_ptr += (first * groups + group) * N
    cb_ptr += ((batch * chunks + chunk) * groups + group).to(tl.int64) * size * size
    before_ptr += ((batch * chunks + chunk) * heads + head).to(tl.int64) * P * N
    limit = min(size, length - chunk * size)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    rd = tl.arange(0, BD)
    a_m = tl.load(a_ptr + steps + rm, mask=rm < size, other=0.0)
    c = tl.load(c_ptr + rm[:, None] * (groups * N) + rd[None, :], mask=(rm[:, None] < limit) & (rd[None, :] < N), other=0.0)
    before = tl.load(before_ptr + rn[None, :] * N + rd[:, None], mask=(rd[:, None] < N) & (rn[None, :] < P), other=0.0)
    acc = tl.dot(c, before) * tl.exp(a_m)[:, None]
    for k in range(0, min((pm + 1) * BM, limit), BK):
        w = tl.load(cb_ptr + rm[:, None] * size + k + rk[None, :], mask=(rm[:, None] < size) & (k + rk[None, :] < size), other=0.0)
        a_k = tl.load(a_ptr + steps + k + rk, mask=k + rk < size, other=0.0)
        dt = tl.load(dt_ptr + steps + k + rk, mask=k + rk < size, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + (k + rk[:, None]) * (heads * P) + rn[None, :], mask=(k + rk[:, None] < limit) & (rn[None, :] < P), other=0.0)
        w = w * tl.exp(a_m[:, None] - a_k[None, :]) * dt[None, :]
        w = tl.where(rm[:, None] >= k + rk[None, :], w, 0.0)
        acc = tl.dot(w.to(x.dtype), x, acc)
    inside = (rm[:, None] < limit) & (rn[None, :] < P)
    own = tl.load(x_ptr + rm[:, None] * (heads * P) + rn[None, :], mask=inside, other=0.0)
    acc += own * tl.load(d_ptr + head)
    tl.store(y_ptr + rm[:, None] * (heads * P) + rn[None, :], acc.to(y_ptr.dtype.element_ty), mask=inside)


def chunk_scan(cb, x, dt, a, c, before, d, BM=64, BN=64, BK=32):
    batch, length, heads, P = x.shape
    groups, N = c.shape[2:]
    chunks, size = dt.shape[2:]
    y = torch.empty_like(x)
    grid = (triton.cdiv(size, BM) * triton.cdiv(P, BN), batch * chunks, heads)
    chunk_scan_kernel[grid](cb, x, dt, a, c, before, d, y, length, size, heads, groups, P, N,
                            BM=BM, BN=BN, BK=BK, BD=max(triton.next_power_of_2(N), 16))
    return y
# SPDX-License-Identifier: Apache-2.0
