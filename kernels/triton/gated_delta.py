"""The gated delta rule, chunk by chunk: a state of K x V that forgets by a gate and takes in what it did not know yet.

    new[t]   = u[t] - w[t] h                                                       h: the state before the chunk
    h        = exp(g[last]) h + sum over t of k[t] new[t] exp(g[last] - g[t])      after it
    o[t]     = scale (exp(g[t]) q[t] h + sum over s <= t of (q[t] . k[s]) exp(g[t] - g[s]) new[s])

and, from the last chunk to the first, the gradients (primed) of what the states are made of:

    new'[t]  = inner[t] + exp(g[last] - g[t]) k[t] h'                                       h': of the state after the chunk
    h'       = exp(g[last]) h' + sum over t of (scale exp(g[t]) q[t] o'[t] - w[t] new'[t])     before it

inner is what new' has of the outputs of its own chunk. q, k and w are [batch, length, heads, K], u, new, o and inner [batch, length, heads, V], g (the gate's running sum in its chunk) [batch, length,
heads] in f32, h [batch, chunks, heads, K, V]; all are contiguous. K is a power of two."""
import torch
import triton
import triton.language as tl


@triton.jit
def delta_state_kernel(k_ptr, w_ptr, u_ptr, g_ptr, h_ptr, new_ptr, length, heads, V, K: tl.constexpr, BT: tl.constexpr, BV: tl.constexpr):
    batch = tl.program_id(1) // heads
    head = tl.program_id(1) % heads
    chunks = tl.cdiv(length, BT)
    start = (batch * length).to(tl.int64) * heads + head
    k_ptr += start * K
    w_ptr += start * K
    u_ptr += start * V
    new_ptr += start * V
    g_ptr += start
    h_ptr += ((batch * chunks).to(tl.int64) * heads + head) * K * V
    rv = tl.program_id(0) * BV + tl.arange(0, BV)
    rk = tl.arange(0, K)
    rt = tl.arange(0, BT)
    h = tl.zeros((K, BV), dtype=tl.float32)
    for i in range(0, chunks):
        t = i * BT + rt
        inside = (t[:, None] < length) & (rv[None, :] < V)
        tl.store(h_ptr + i * heads * K * V + rk[:, None] * V + rv[None, :], h.to(h_ptr.dtype.element_ty), mask=rv[None, :] < V)
        w = tl.load(w_ptr + t[:, None] * (heads * K) + rk[None, :], mask=t[:, None] < length, other=0.0)
        u = tl.load(u_ptr + t[:, None] * (heads * V) + rv[None, :], mask=inside, other=0.0)
        k = tl.load(k_ptr + t[None, :] * (heads * K) + rk[:, None], mask=t[None, :] < length, other=0.0)
        g = tl.load(g_ptr + t * heads, mask=t < length, other=0.0)
        last = tl.load(g_ptr + (min((i + 1) * BT, length) - 1) * heads)
        new = u - tl.dot(w, h.to(w.dtype))
        tl.store(new_ptr + t[:, None] * (heads * V) + rv[None, :], new.to(new_ptr.dtype.element_ty), mask=inside)
        new = new * tl.exp(last - g)[:, None]
        h = tl.dot(k, new.to(k.dtype), h * tl.exp(last))


@triton.jit
def delta_output_kernel(q_ptr, k_ptr, new_ptr, h_ptr, g_ptr, o_ptr, scale, length, heads, V, K: tl.constexpr, BT: tl.constexpr, BV: tl.constexpr):
    chunk = tl.program_id(1)
    batch = tl.program_id(2) // heads
    head = tl.program_id(2) % heads
    chunks = tl.cdiv(length, BT)
    start = (batch * length).to(tl.int64) * heads + head
    q_ptr += start * K
    k_ptr += start * K
    new_ptr += start * V
    o_ptr += start * V
    g_ptr += start
    h_ptr += ((batch * chunks + chunk).to(tl.int64) * heads + head) * K * V
    rv = tl.program_id(0) * BV + tl.arange(0, BV)
    rk = tl.arange(0, K)
    t = chunk * BT + tl.arange(0, BT)
    inside = (t[:, None] < length) & (rv[None, :] < V)
    q = tl.load(q_ptr + t[:, None] * (heads * K) + rk[None, :], mask=t[:, None] < length, other=0.0)
    k = tl.load(k_ptr + t[None, :] * (heads * K) + rk[:, None], mask=t[None, :] < length, other=0.0)
    h = tl.load(h_ptr + rk[:, None] * V + rv[None, :], mask=rv[None, :] < V, other=0.0)
    new = tl.load(new_ptr + t[:, None] * (heads * V) + rv[None, :], mask=inside, other=0.0)
    g = tl.load(g_ptr + t * heads, mask=t < length, other=0.0)
    o = tl.dot(q, h) * tl.exp(g)[:, None]
    s = tl.dot(q, k) * tl.exp(g[:, None] - g[None, :])
    s = tl.where((t[:, None] >= t[None, :]) & (t[:, None] < length), s, 0.0)
    o = tl.dot(s.to(new.dtype), new, o)
    tl.store(o_ptr + t[:, None] * (heads * V) + rv[None, :], (o * scale).to(o_ptr.dtype.element_ty), mask=inside)


@triton.jit
def delta_back_kernel(q_ptr, k_ptr, w_ptr, g_ptr, do_ptr, inner_ptr, dh_ptr, dnew_ptr, scale, length, heads, V,
                      K: tl.constexpr, BT: tl.constexpr, BV: tl.constexpr):
    batch = tl.program_id(1) // heads
    head = tl.program_id(1) % heads
    chunks = tl.cdiv(length, BT)
    start = (batch * length).to(tl.int64) * heads + head
    q_ptr += start * K
    k_ptr += start * K
    w_ptr += start * K
    do_ptr += start * V
    inner_ptr += start * V
    dnew_ptr += start * V
    g_ptr += start
    dh_ptr += ((batch * chunks).to(tl.int64) * heads + head) * K * V
    rv = tl.program_id(0) * BV + tl.arange(0, BV)
    rk = tl.arange(0, K)
    rt = tl.arange(0, BT)
    dh = tl.zeros((K, BV), dtype=tl.float32)
    for j in range(0, chunks):
        i = chunks - 1 - j
        t = i * BT + rt
        inside = (t[:, None] < length) & (rv[None, :] < V)
        tl.store(dh_ptr + i * heads * K * V + rk[:, None] * V + rv[None, :], dh.to(dh_ptr.dtype.element_ty), mask=rv[None, :] < V)
        k = tl.load(k_ptr + t[:, None] * (heads * K) + rk[None, :], mask=t[:, None] < length, other=0.0)
        q = tl.load(q_ptr + t[None, :] * (heads * K) + rk[:, None], mask=t[None, :] < length, other=0.0)
        w = tl.load(w_ptr + t[None, :] * (heads * K) + rk[:, None], mask=t[None, :] < length, other=0.0)
        do = tl.load(do_ptr + t[:, None] * (heads * V) + rv[None, :], mask=inside, other=0.0)
        inner = tl.load(inner_ptr + t[:, None] * (heads * V) + rv[None, :], mask=inside, other=0.0)
        g = tl.load(g_ptr + t * heads, mask=t < length, other=0.0)
        last = tl.load(g_ptr + (min((i + 1) * BT, length) - 1) * heads)
        dnew = tl.dot(k, dh.to(k.dtype)) * tl.exp(last - g)[:, None] + inner
        dnew = dnew.to(k.dtype)
        tl.store(dnew_ptr + t[:, None] * (heads * V) + rv[None, :], dnew, mask=inside)
        do = (do * (tl.exp(g) * scale)[:, None]).to(q.dtype)
        dh = tl.dot(q, do, dh * tl.exp(last))
        dh -= tl.dot(w, dnew)


def delta_state(k, w, u, g, size=64, BV=64):
    batch, length, heads, K = k.shape
    V = u.shape[3]
    h = torch.empty((batch, triton.cdiv(length, size), heads, K, V), device=k.device, dtype=k.dtype)
    new = torch.empty_like(u)
    grid = (triton.cdiv(V, BV), batch * heads)
    delta_state_kernel[grid](k, w, u, g, h, new, length, heads, V, K=K, BT=size, BV=BV)
    return h, new


def delta_output(q, k, new, h, g, scale, size=64, BV=64):
    batch, length, heads, K = q.shape
    V = new.shape[3]
    o = torch.empty_like(new)
    grid = (triton.cdiv(V, BV), triton.cdiv(length, size), batch * heads)
    delta_output_kernel[grid](q, k, new, h, g, o, scale, length, heads, V, K=K, BT=size, BV=BV)
    return o


def delta_back(q, k, w, g, do, inner, scale, size=64, BV=64):
    batch, length, heads, K = q.shape
    V = do.shape[3]
    dh = torch.empty((batch, triton.cdiv(length, size), heads, K, V), device=q.device, dtype=q.dtype)
    dnew = torch.empty_like(do)
    grid = (triton.cdiv(V, BV), batch * heads)
    delta_back_kernel[grid](q, k, w, g, do, inner, dh, dnew, scale, length, heads, V, K=K, BT=size, BV=BV)
    return dh, dnew
# SPDX-License-Identifier: Apache-2.0
