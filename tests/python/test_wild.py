# SPDX-License-Identifier: Apache-2.0
"""Kernels as they stand in projects that use Triton: norms, losses, state-space updates, paged attention, gating, quantised products,
recurrences, locks, pointers to pointers. Compared with torch."""
import pytest

import tilewright.triton as triton
import tilewright.triton.language as tl
from tilewright.triton.language.extra import libdevice

pytestmark = pytest.mark.usefixtures("torch")


def close(a, b, tolerance=1e-4):
    assert a.float().sub(b.float()).abs().max() <= tolerance * max(1.0, float(b.abs().max()))


@triton.jit
def loss_kernel(X, x_stride, Y, L, n_columns, n_kept, ignored, smoothing: tl.constexpr, cap, HAS_CAP: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    y = tl.load(Y + row)
    X += row * x_stride
    if y == ignored:
        for i in range(0, n_columns, BLOCK):
            at = i + tl.arange(0, BLOCK)
            tl.store(X + at, 0.0, mask=at < n_columns)
        return
    top = float("-inf")
    total = 0.0
    picked = tl.load(X + y).cast(tl.float32)
    if HAS_CAP:
        picked = cap * libdevice.tanh(picked / cap)
    spread = 0.0
    eps = smoothing / n_columns
    for i in range(0, n_columns, BLOCK):
        at = i + tl.arange(0, BLOCK)
        x = tl.load(X + at, mask=at < n_columns, other=float("-inf")).cast(tl.float32)
        if HAS_CAP:
            x = cap * libdevice.tanh(x / cap)
        if smoothing > 0:
            spread += tl.sum(tl.where(at < n_columns, -eps * x, 0.0))
        higher = tl.maximum(top, tl.max(x))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(x - higher))
        top = higher
    for i in range(0, n_columns, BLOCK):
        at = i + tl.arange(0, BLOCK)
        x = tl.load(X + at, mask=at < n_columns, other=float("-inf")).cast(tl.float32)
        if HAS_CAP:
            t = libdevice.tanh(x / cap)
            x = cap * t
        g = tl.exp(x - top) / total - eps
        g = tl.where(at != y, g, g - (1 - smoothing)) / n_kept
        if HAS_CAP:
            g = g * (1 - t * t)
        tl.store(X + at, g, mask=at < n_columns)
    loss = top + tl.log(total) - picked
    if smoothing > 0:
        loss = loss * (1 - smoothing) + spread + smoothing * (top + tl.log(total))
    tl.store(L + row, loss / n_kept)


@pytest.mark.parametrize("cap,smoothing", [(None, 0.0), (30.0, 0.1)])
def test_cross_entropy_forward_and_backward_in_place(torch, cap, smoothing):
    x, y = torch.randn(9, 333, requires_grad=True), torch.randint(0, 333, (9, ))
    y[3] = -100
    grad, losses = x.detach().clone(), torch.zeros(9)
    loss_kernel[(9, )](grad, grad.stride(0), y, losses, 333, 8, -100, smoothing=smoothing, cap=cap, HAS_CAP=cap is not None, BLOCK=128)
    want = torch.nn.functional.cross_entropy(x if cap is None else cap * torch.tanh(x / cap), y, ignore_index=-100, label_smoothing=smoothing)
    want.backward()
    close(losses.sum(), want.detach())
    close(grad, x.grad)


@triton.heuristics({"HAS_D": lambda args: args["D"] is not None, "BLOCK_N": lambda args: triton.next_power_of_2(args["dstate"])})
@triton.jit
def state_kernel(state, x, dt, A, B, C, D, out, dim, dstate, s_b, s_d, s_n, x_b, x_d, B_b, B_n, BLOCK_M: tl.constexpr,
                 HAS_D: tl.constexpr, BLOCK_N: tl.constexpr):
    m, n, batch = tl.program_id(axis=0) * BLOCK_M + tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_N), tl.program_id(axis=1)
    places = state + batch * s_b + m[:, None] * s_d + n[None, :] * s_n
    inside = (m[:, None] < dim) & (n[None, :] < dstate)
    s = tl.load(places, mask=inside, other=0.0)
    xv = tl.load(x + batch * x_b + m * x_d, mask=m < dim, other=0.0).to(tl.float32)
    step = tl.load(dt + batch * x_b + m * x_d, mask=m < dim, other=0.0).to(tl.float32)
    step = tl.where(step <= 20.0, tl.math.log(1 + tl.exp(step)), step)
    decay = tl.exp(tl.load(A + m[:, None] * dstate + n[None, :], mask=inside, other=0.0) * step[:, None])
    b = tl.load(B + batch * B_b + n * B_n, mask=n < dstate, other=0.0)
    c = tl.load(C + batch * B_b + n * B_n, mask=n < dstate, other=0.0)
    s = s * decay + (b[None, :] * step[:, None]) * xv[:, None]
    tl.store(places, s, mask=inside)
    o = tl.sum(s * c[None, :], axis=1)
    if HAS_D:
        o += xv * tl.load(D + m, mask=m < dim, other=0.0)
    tl.store(out + batch * x_b + m * x_d, o, mask=m < dim)


def test_state_space_update(torch):
    state, x, dt, A = torch.randn(3, 50, 10), torch.randn(3, 50), torch.randn(3, 50), -torch.rand(50, 10)
    B, C, D, out = torch.randn(3, 10), torch.randn(3, 10), torch.randn(50), torch.empty(3, 50)
    step = torch.nn.functional.softplus(dt)
    want = state * torch.exp(A * step[..., None]) + B[:, None, :] * step[..., None] * x[..., None]
    state_kernel[lambda meta: (triton.cdiv(50, meta["BLOCK_M"]), 3)](state, x, dt, A, B, C, D, out, 50, 10, *state.stride(), *x.stride(),
                                                                     *B.stride(), BLOCK_M=16)
    close(state, want)
    close(out, (want * C[:, None]).sum(-1) + x * D)


@triton.jit
def paged_kernel(out, q, keys, values, table, lengths, scale, q0, q1, k_block, k_token, k_head, t0, G: tl.constexpr, GP: tl.constexpr,
                 HEAD: tl.constexpr, BLOCK: tl.constexpr):
    seq, head = tl.program_id(0), tl.program_id(1)
    n = tl.load(lengths + seq)
    g, d, t = tl.arange(0, GP), tl.arange(0, HEAD), tl.arange(0, BLOCK)
    rows = seq * q0 + (head * G + g)[:, None] * q1 + d[None, :]
    x = tl.load(q + rows, mask=(g < G)[:, None], other=0.0) * scale
    top, total = tl.full([GP], float("-inf"), tl.float32), tl.zeros([GP], tl.float32)
    acc = tl.zeros([GP, HEAD], tl.float32)
    for j in tl.range(0, tl.cdiv(n, BLOCK), num_stages=2):
        block = tl.load(table + seq * t0 + j).to(tl.int64)
        at = block * k_block + t[:, None] * k_token + head * k_head + d[None, :]
        s = tl.dot(x, tl.trans(tl.load(keys + at)), input_precision="ieee")
        s = tl.where((j * BLOCK + t)[None, :] < n, s, float("-inf"))
        higher = tl.maximum(top, tl.max(s, 1))
        p, keep = tl.exp(s - higher[:, None]), tl.exp(top - higher)
        total = total * keep + tl.sum(p, 1)
        v = tl.load(values + at)
        acc = tl.dot(p.to(v.dtype), v, acc * keep[:, None], input_precision="ieee")
        top = higher
    tl.store(out + rows, acc / total[:, None], mask=(g < G)[:, None])


def test_paged_attention(torch):
    q, keys, values = torch.randn(3, 6, 32), torch.randn(20, 16, 2, 32), torch.randn(20, 16, 2, 32)
    table, lengths, out = torch.randperm(20)[:15].reshape(3, 5).int(), torch.tensor([70, 16, 33]).int(), torch.empty(3, 6, 32)
    paged_kernel[(3, 2)](out, q, keys, values, table, lengths, 32**-.5, q.stride(0), q.stride(1), *keys.stride()[:3], table.stride(0),
                         G=3, GP=16, HEAD=32, BLOCK=16)
    for i in range(3):
        k, v = (x[table[i].long()].reshape(-1, 2, 32)[:lengths[i]].transpose(0, 1) for x in (keys, values))
        close(out[i], torch.nn.functional.scaled_dot_product_attention(q[i].reshape(2, 3, 32), k, v).reshape(6, 32))


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.autotune(configs=[triton.Config({"BM": 32, "BN": 32, "BK": 32, "GM": 4}, num_warps=4, num_stages=2)], key=["M", "N", "K"])
@triton.heuristics({"EVEN": lambda args: args["K"] % args["BK"] == 0})
@triton.jit
def quantised_kernel(a, b, scale_a, scale_b, bias, c, M, N, K, am, ak, bk, bn, cm, cn, ACT: tl.constexpr, EVEN: tl.constexpr,
                     BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GM: tl.constexpr):
    pid, tiles_m, tiles_n = tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN)
    group = pid // (GM * tiles_n)
    size = min(tiles_m - group * GM, GM)
    pm, pn = group * GM + (pid % (GM * tiles_n)) % size, (pid % (GM * tiles_n)) // size
    m, n, k = (pm * BM + tl.arange(0, BM)) % M, (pn * BN + tl.arange(0, BN)) % N, tl.arange(0, BK)
    ap, bp = a + (m[:, None] * am + k[None, :] * ak), b + (k[:, None] * bk + n[None, :] * bn)
    acc = tl.zeros((BM, BN), dtype=tl.int32)
    for i in range(0, tl.cdiv(K, BK)):
        if EVEN:
            x, y = tl.load(ap), tl.load(bp)
        else:
            x = tl.load(ap, mask=k[None, :] < K - i * BK, other=0)
            y = tl.load(bp, mask=k[:, None] < K - i * BK, other=0)
        acc = tl.dot(x, y, acc, out_dtype=tl.int32)
        ap += BK * ak
        bp += BK * bk
    r = acc.to(tl.float32) * tl.load(scale_a + m)[:, None] * tl.load(scale_b + n)[None, :]
    if bias is not None:
        r += tl.load(bias + n)[None, :]
    if ACT is not None:
        r = ACT(r)
    m, n = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN)
    tl.store(c + m[:, None] * cm + n[None, :] * cn, r.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def test_quantised_product_with_an_activation(torch):
    a, b = torch.randint(-127, 127, (70, 100), dtype=torch.int8), torch.randint(-127, 127, (100, 90), dtype=torch.int8)
    scale_a, scale_b, bias, c = torch.rand(70) * .01, torch.rand(90) * .01, torch.randn(90), torch.empty(70, 90, dtype=torch.float16)
    grid = lambda meta: (triton.cdiv(70, meta["BM"]) * triton.cdiv(90, meta["BN"]), )  # noqa: E731
    quantised_kernel[grid](a, b, scale_a, scale_b, bias, c, 70, 90, 100, *a.stride(), *b.stride(), *c.stride(), ACT=silu)
    close(c, torch.nn.functional.silu((a.int() @ b.int()).float() * scale_a[:, None] * scale_b + bias), 2e-3)


@triton.jit
def welford(mean1, sum1, n1, mean2, sum2, n2):
    d, n = mean2 - mean1, n1 + n2
    r = tl.where(n == 0.0, 0.0, n2 / n)
    return mean1 + d * r, sum1 + sum2 + d * d * n1 * r, n


@triton.jit
def compose(a1, b1, a2, b2):
    return a1 * a2, a2 * b1 + b2


@triton.jit
def statistics_kernel(x, mean, variance, recurrence, total, lock, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, mask=at < n, other=0.0)
    m, s, count = tl.reduce((v, tl.zeros_like(v), (at < n).to(tl.float32)), 0, welford)
    tl.store(mean + row, m)
    tl.store(variance + row, s / count)
    _, h = tl.associative_scan((tl.sigmoid(v), v), 0, compose)
    tl.store(recurrence + row * n + at, h, mask=at < n)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total + at, tl.load(total + at, mask=at < n) + v, mask=at < n)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


def test_statistics_a_recurrence_and_a_lock(torch):
    x, mean, variance, recurrence, total = torch.randn(20, 100), torch.empty(20), torch.empty(20), torch.empty(20, 100), torch.zeros(100)
    statistics_kernel[(20, )](x, mean, variance, recurrence, total, torch.zeros(1, dtype=torch.int32), 100, BLOCK=128)
    close(mean, x.mean(1))
    close(variance, x.var(1, unbiased=False))
    close(total, x.sum(0))
    h = torch.zeros(20)
    for t in range(100):
        h = torch.sigmoid(x[:, t]) * h + x[:, t]
        close(recurrence[:, t], h)


@triton.jit
def grouped_kernel(a_ptrs, b_ptrs, c_ptrs, sizes, groups, STEP: tl.constexpr, B: tl.constexpr):
    tile = tl.program_id(0)
    last = 0
    for g in range(groups):
        m, n, k = tl.load(sizes + g * 3), tl.load(sizes + g * 3 + 1), tl.load(sizes + g * 3 + 2)
        tiles = tl.cdiv(m, B) * tl.cdiv(n, B)
        while tile >= last and tile < last + tiles:
            a = tl.load(a_ptrs + g).to(tl.pointer_type(tl.float32))
            b = tl.load(b_ptrs + g).to(tl.pointer_type(tl.float32))
            c = tl.load(c_ptrs + g).to(tl.pointer_type(tl.float32))
            rows = (tile - last) // tl.cdiv(n, B) * B + tl.arange(0, B)
            columns = (tile - last) % tl.cdiv(n, B) * B + tl.arange(0, B)
            acc = tl.zeros((B, B), tl.float32)
            for i in range(0, tl.cdiv(k, B)):
                depth = i * B + tl.arange(0, B)
                x = tl.load(a + rows[:, None] * k + depth[None], mask=(rows[:, None] < m) & (depth[None] < k), other=0.0)
                y = tl.load(b + depth[:, None] * n + columns[None], mask=(depth[:, None] < k) & (columns[None] < n), other=0.0)
                acc += tl.dot(x, y, input_precision="ieee")
            tl.store(c + rows[:, None] * n + columns[None], acc, mask=(rows[:, None] < m) & (columns[None] < n))
            tile += STEP
        last = last + tiles


def test_grouped_product_through_pointers_in_memory(torch):
    a, b = [torch.randn(33, 40), torch.randn(64, 16), torch.randn(5, 70)], [torch.randn(40, 50), torch.randn(16, 32), torch.randn(70, 9)]
    c = [torch.empty(x.shape[0], y.shape[1]) for x, y in zip(a, b)]
    addresses = [torch.tensor([x.data_ptr() for x in group], dtype=torch.int64) for group in (a, b, c)]
    sizes = torch.tensor([[x.shape[0], y.shape[1], x.shape[1]] for x, y in zip(a, b)], dtype=torch.int32)
    grouped_kernel[(3, )](*addresses, sizes, 3, STEP=3, B=16)
    for x, y, z in zip(a, b, c):
        close(z, x @ y)
