"""The states that the chunks of a state-space model leave (Mamba-2): for each chunk and head, x^T times B, each step weighted by its
time step and by how much of it is left at the end of the chunk.

    states[p, n] = sum over steps k of  x[k, p] dt[k] exp(A[last] - A[k])  B[k, n]

x is [batch, length, heads, P], B [batch, length, groups, N], dt and A (the running sum of the decay) [batch, heads, chunks, size],
states [batch, chunks, heads, P, N]; all are contiguous."""
import torch
import triton
import triton.language as tl


@triton.jit
def chunk_state_kernel(x_ptr, b_ptr, dt_ptr, a_ptr, states_ptr, length, size, heads, groups, P, N,
                       BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    across = tl.cdiv(N, BN)
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
    b_ptr += (first * groups + group) * N
    limit = min(size, length - chunk * size)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    last = tl.load(a_ptr + steps + limit - 1)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, limit, BK):
        x = tl.load(x_ptr + (k + rk[None, :]) * (heads * P) + rm[:, None], mask=(rm[:, None] < P) & (k + rk[None, :] < limit), other=0.0)
        b = tl.load(b_ptr + (k + rk[:, None]) * (groups * N) + rn[None, :], mask=(k + rk[:, None] < limit) & (rn[None, :] < N), other=0.0)
        left = tl.load(a_ptr + steps + k + rk, mask=k + rk < limit, other=0.0)
        dt = tl.load(dt_ptr + steps + k + rk, mask=k + rk < limit, other=0.0).to(tl.float32)
        weighted = b * (tl.exp(last - left) * dt)[:, None]
        acc = tl.dot(x, weighted.to(x.dtype), acc)
    out = states_ptr + ((batch * chunks + chunk) * heads + head).to(tl.int64) * P * N
    tl.store(out + rm[:, None] * N + rn[None, :], acc.to(states_ptr.dtype.element_ty), mask=(rm[:, None] < P) & (rn[None, :] < N))


def chunk_state(x, b, dt, a, BM=64, BN=64, BK=32):
    batch, length, heads, P = x.shape
    groups, N = b.shape[2:]
    chunks, size = dt.shape[2:]
    states = torch.empty((batch, chunks, heads, P, N), device=x.device, dtype=x.dtype)
    grid = (triton.cdiv(P, BM) * triton.cdiv(N, BN), batch * chunks, heads)
    chunk_state_kernel[grid](x, b, dt, a, states, length, size, heads, groups, P, N, BM=BM, BN=BN, BK=BK)
    return states
# SPDX-License-Identifier: Apache-2.0
