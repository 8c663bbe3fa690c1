"""Gradients of the chunks of a state-space model (Mamba-2): of what chunk_scan.py and chunk_state.py compute.

    before'[p, n] = sum over m of  y'[m, p] exp(A[m]) C[m, n]
    cb'[m, k]     = sum over the heads of the group of  (y'[m] . x[k]) exp(A[m] - A[k]) dt[k],  k <= m
    g[k, p]       = exp(A[last] - A[k]) sum over n of B[k, n] states'[p, n]  +  sum over m >= k of cb[m, k] exp(A[m] - A[k]) y'[m, p]
    x'[k, p]      = dt[k] g[k, p] + D y'[k, p]          dt'[k] = sum over p of g[k, p] x[k, p]

A primed array is the gradient of the one that it is named after; shapes are those of the forward kernels, all are contiguous. dt' is
[batch, heads, chunks, size] in f32, cb' is 0 above its diagonal."""
import torch
import triton
import triton.language as tl


@triton.jit
def chunk_dstates_kernel(dy_ptr, c_ptr, a_ptr, dstates_ptr, length, size, heads, groups, P, N,
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
    dy_ptr += (first * heads + head) * P
    c_ptr += (first * groups + group) * N
    limit = min(size, length - chunk * size)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, limit, BK):
        dy = tl.load(dy_ptr + (k + rk[None, :]) * (heads * P) + rm[:, None], mask=(rm[:, None] < P) & (k + rk[None, :] < limit), other=0.0)
        c = tl.load(c_ptr + (k + rk[:, None]) * (groups * N) + rn[None, :], mask=(k + rk[:, None] < limit) & (rn[None, :] < N), other=0.0)
        a = tl.load(a_ptr + steps + k + rk, mask=k + rk < limit, other=0.0)
        weighted = c * tl.exp(a)[:, None]
        acc = tl.dot(dy, weighted.to(dy.dtype), acc)
    out = dstates_ptr + ((batch * chunks + chunk) * heads + head).to(tl.int64) * P * N
    tl.store(out + rm[:, None] * N + rn[None, :], acc.to(dstates_ptr.dtype.element_ty), mask=(rm[:, None] < P) & (rn[None, :] < N))


@triton.jit
def chunk_dcb_kernel(dy_ptr, x_ptr, dt_ptr, a_ptr, dcb_ptr, length, size, heads, groups, P,
                     BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    across = tl.cdiv(size, BN)
    pm = tl.program_id(0) // across
    pn = tl.program_id(0) % across
    chunks = tl.cdiv(length, size)
    batch = tl.program_id(1) // chunks
    chunk = tl.program_id(1) % chunks
    group = tl.program_id(2)
    each = heads // groups
    head = group * each
    steps = (batch * heads + head) * chunks * size + chunk * size
    first = (batch * length + chunk * size).to(tl.int64)
    dy_ptr += (first * heads + head) * P
    x_ptr += (first * heads + head) * P
    limit = min(size, length - chunk * size)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    below = pn * BN < (pm + 1) * BM
    for h in range(0, tl.where(below, each, 0)):
        dy = tl.load(dy_ptr + rm[:, None] * (heads * P) + h * P + rk[None, :], mask=(rm[:, None] < limit) & (rk[None, :] < P), other=0.0)
        x = tl.load(x_ptr + rn[None, :] * (heads * P) + h * P + rk[:, None], mask=(rn[None, :] < limit) & (rk[:, None] < P), other=0.0)
        a_m = tl.load(a_ptr + steps + h * chunks * size + rm, mask=rm < size, other=0.0)
        a_k = tl.load(a_ptr + steps + h * chunks * size + rn, mask=rn < size, other=0.0)
        dt = tl.load(dt_ptr + steps + h * chunks * size + rn, mask=rn < size, other=0.0).to(tl.float32)
        acc += tl.dot(dy, x) * (tl.exp(a_m[:, None] - a_k[None, :]) * dt[None, :])
    acc = tl.where(rm[:, None] >= rn[None, :], acc, 0.0)
    out = dcb_ptr + ((batch * chunks + chunk) * groups + group).to(tl.int64) * size * size
    tl.store(out + rm[:, None] * size + rn[None, :], acc.to(dcb_ptr.dtype.element_ty), mask=(rm[:, None] < size) & (rn[None, :] < size))


@triton.jit
def chunk_dx_kernel(cb_ptr, x_ptr, dt_ptr, a_ptr, b_ptr, dy_ptr, dstates_ptr, d_ptr, dx_ptr, ddt_ptr, length, size, heads, groups, P, N,
                    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, BD: tl.constexpr):
    pm = tl.program_id(0)
    chunks = tl.cdiv(length, size)
    batch = tl.program_id(1) // chunks
    chunk = tl.program_id(1) % chunks
    head = tl.program_id(2)
    group = head // (heads // groups)
    steps = (batch * heads + head) * chunks * size + chunk * size
    first = (batch * length + chunk * size).to(tl.int64)
    x_ptr += (first * heads + head) * P
    dx_ptr += (first * heads + head) * P
    dy_ptr += (first * heads + head) * P
    b_ptr += (first * groups + group) * N
    cb_ptr += ((batch * chunks + chunk) * groups + group).to(tl.int64) * size * size
    dstates_ptr += ((batch * chunks + chunk) * heads + head).to(tl.int64) * P * N
    limit = min(size, length - chunk * size)
    rm = pm * BM + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rk = tl.arange(0, BK)
    rd = tl.arange(0, BD)
    a_m = tl.load(a_ptr + steps + rm, mask=rm < size, other=0.0)
    last = tl.load(a_ptr + steps + limit - 1)
    b = tl.load(b_ptr + rm[:, None] * (groups * N) + rd[None, :], mask=(rm[:, None] < limit) & (rd[None, :] < N), other=0.0)
    dstates = tl.load(dstates_ptr + rn[None, :] * N + rd[:, None], mask=(rd[:, None] < N) & (rn[None, :] < P), other=0.0)
    acc = tl.dot(b, dstates) * tl.exp(last - a_m)[:, None]
    for k in range(pm * BM, limit, BK):
        w = tl.load(cb_ptr + (k + rk[None, :]) * size + rm[:, None], mask=(rm[:, None] < size) & (k + rk[None, :] < size), other=0.0)
        a_k = tl.load(a_ptr + steps + k + rk, mask=k + rk < size, other=0.0)
        dy = tl.load(dy_ptr + (k + rk[:, None]) * (heads * P) + rn[None, :], mask=(k + rk[:, None] < limit) & (rn[None, :] < P), other=0.0)
        w = w * tl.exp(a_k[None, :] - a_m[:, None])
        w = tl.where(k + rk[None, :] >= rm[:, None], w, 0.0)
        acc = tl.dot(w.to(dy.dtype), dy, acc)
    inside = (rm[:, None] < limit) & (rn[None, :] < P)
    x = tl.load(x_ptr + rm[:, None] * (heads * P) + rn[None, :], mask=inside, other=0.0)
    tl.store(ddt_ptr + steps + rm, tl.sum(acc * x, axis=1), mask=rm < limit)
    dt = tl.load(dt_ptr + steps + rm, mask=rm < size, other=0.0).to(tl.float32)
    own = tl.load(dy_ptr + rm[:, None] * (heads * P) + rn[None, :], mask=inside, other=0.0)
    dx = acc * dt[:, None] + own * tl.load(d_ptr + head)
    tl.store(dx_ptr + rm[:, None] * (heads * P) + rn[None, :], dx.to(dx_ptr.dtype.element_ty), mask=inside)


def chunk_dstates(dy, c, a, BM=64, BN=64, BK=32):
    batch, length, heads, P = dy.shape
    groups, N = c.shape[2:]
    chunks, size = a.shape[2:]
    dstates = torch.empty((batch, chunks, heads, P, N), device=dy.device, dtype=dy.dtype)
    grid = (triton.cdiv(P, BM) * triton.cdiv(N, BN), batch * chunks, heads)
    chunk_dstates_kernel[grid](dy, c, a, dstates, length, size, heads, groups, P, N, BM=BM, BN=BN, BK=BK)
    return dstates


def chunk_dcb(dy, x, dt, a, groups, BM=64, BN=64):
    batch, length, heads, P = dy.shape
    chunks, size = a.shape[2:]
    dcb = torch.empty((batch, chunks, groups, size, size), device=dy.device, dtype=dy.dtype)
    grid = (triton.cdiv(size, BM) * triton.cdiv(size, BN), batch * chunks, groups)
    chunk_dcb_kernel[grid](dy, x, dt, a, dcb, length, size, heads, groups, P, BM=BM, BN=BN, BK=max(triton.next_power_of_2(P), 16))
    return dcb


def chunk_dx(cb, x, dt, a, b, dy, dstates, d, BM=64, BK=32):
    batch, length, heads, P = x.shape
    groups, N = b.shape[2:]
    chunks, size = dt.shape[2:]
    dx, ddt = torch.empty_like(x), torch.zeros(dt.shape, device=x.device, dtype=torch.float32)
    grid = (triton.cdiv(size, BM), batch * chunks, heads)
    chunk_dx_kernel[grid](cb, x, dt, a, b, dy, dstates, d, dx, ddt, length, size, heads, groups, P, N,
                          BM=BM, BN=max(triton.next_power_of_2(P), 16), BK=BK, BD=max(triton.next_power_of_2(N), 16))
    return dx, ddt
# SPDX-License-Identifier: Apache-2.0
