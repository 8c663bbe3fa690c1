# SPDX-License-Identifier: Apache-2.0
"""Kernels of kernels/triton that train and run language models, against torch in float64: activations, losses, a norm's gradient, the
chunks of a state-space model with their gradients, and the gated delta rule, at sizes that blocks do not divide."""
import pathlib
import subprocess
import sys

KERNELS = pathlib.Path(__file__).resolve().parents[2] / "kernels" / "triton"
HEAD = """
import sys
import torch
sys.path.insert(0, sys.argv[1])
torch.manual_seed(1)

def same(bound, **pairs):
    for name, (got, want) in pairs.items():
        error = ((got.double() - want).norm() / want.norm()).item()
        assert error < bound, (name, error)

def wide(*tensors):
    return [t.double().requires_grad_() for t in tensors]
"""
GATED = """
from {0} import {0}, {0}_backward
gate, up, dout = (torch.randn(5, 300) for _ in range(3))
g, u = wide(gate, up)
out = {1} * u
out.backward(dout.double())
dgate, dup = {0}_backward(dout, gate, up, BLOCK=128)
same(1e-6, out=({0}(gate, up, BLOCK=128), out.detach()), dgate=(dgate, g.grad), dup=(dup, u.grad))
"""
LOSS = """
from cross_entropy import cross_entropy, cross_entropy_backward
logits, target, dloss = torch.randn(7, 1000) * 3, torch.tensor([3, 0, 999, -100, 512, 511, 1]), torch.rand(7)
x, = wide(logits)
want = torch.nn.functional.cross_entropy(x, target, reduction="none")
want.backward(dloss.double())
loss, lse = cross_entropy(logits, target, BLOCK=256)
same(1e-6, loss=(loss, want.detach()), lse=(lse, torch.logsumexp(x.detach(), 1)),
     dlogits=(cross_entropy_backward(logits, target, lse, dloss, BLOCK=256), x.grad))
"""
NORM = """
from rmsnorm_backward import rmsnorm_backward
rows, w, dy = torch.randn(37, 200), torch.rand(200), torch.randn(37, 200)
x, weight = wide(rows, w)
rstd = (x.square().mean(1) + 1e-5).rsqrt()
(x * rstd[:, None] * weight).backward(dy.double())
dx, dw = rmsnorm_backward(dy, rows, w, rstd.detach().float(), programs=5, BM=4, BN=64)
same(1e-6, dx=(dx, x.grad), dw=(dw, weight.grad))
"""
CHUNKS = """
from chunk_scan import chunk_scan
from chunk_state import chunk_state
from chunk_backward import chunk_dcb, chunk_dstates, chunk_dx
batch, length, size, heads, groups, P, N = 1, 75, 32, 4, 2, 24, 16
chunks = -(-length // size)
x, b, c = torch.randn(batch, length, heads, P), torch.randn(batch, length, groups, N), torch.randn(batch, length, groups, N)
dt, d = torch.rand(batch, heads, chunks, size), torch.randn(heads)
a = (-dt * torch.rand(heads)[:, None, None]).cumsum(-1)
cb = torch.zeros(batch, chunks, groups, size, size)
before = torch.randn(batch, chunks, heads, P, N)
for i in range(chunks):
    at = slice(i * size, min((i + 1) * size, length))
    cb[:, i, :, :at.stop - at.start, :at.stop - at.start] = torch.einsum("bmgn,bkgn->bgmk", c[:, at], b[:, at])

def forward(x, b, c, dt, a, cb, before, d):
    states, y = torch.zeros(batch, chunks, heads, P, N, dtype=torch.float64), torch.zeros(x.shape, dtype=torch.float64)
    for i in range(chunks):
        at = slice(i * size, min((i + 1) * size, length))
        n = at.stop - at.start
        for h in range(heads):
            g, xs, steps = h // (heads // groups), x[:, at, h], a[:, h, i, :n]
            weight = (steps[:, -1:] - steps).exp() * dt[:, h, i, :n]
            states[:, i, h] = torch.einsum("bkp,bk,bkn->bpn", xs, weight, b[:, at, g])
            decay = (steps[:, :, None] - steps[:, None, :]).exp() * dt[:, h, i, None, :n]
            inner = (cb[:, i, g, :n, :n] * decay).tril() @ xs
            outer = torch.einsum("bmn,bpn->bmp", c[:, at, g], before[:, i, h]) * steps.exp()[:, :, None]
            y[:, at, h] = inner + outer + d[h] * xs
    return states, y

arrays = wide(x, b, c, dt, a, cb, before, d)
states, y = forward(*arrays)
same(1e-5, states=(chunk_state(x, b, dt, a, BM=16, BN=16, BK=16), states.detach()),
     y=(chunk_scan(cb, x, dt, a, c, before, d, BM=16, BN=16, BK=16), y.detach()))
dy, dstates = torch.randn(y.shape), torch.randn(states.shape)
torch.autograd.backward([states, y], [dstates.double(), dy.double()])
dx, ddt = chunk_dx(cb, x, dt, a, b, dy, dstates, d, BM=16, BK=16)
same(1e-5, dbefore=(chunk_dstates(dy, c, a, BM=16, BN=16, BK=16), arrays[6].grad), dcb=(chunk_dcb(dy, x, dt, a, groups, BM=16, BN=16), arrays[5].grad),
     dx=(dx, arrays[0].grad), ddt=(ddt, arrays[3].grad))
"""
DELTA = """
from gated_delta import delta_back, delta_output, delta_state
batch, length, heads, K, V, size = 2, 75, 3, 16, 24, 32
q, k, w = (torch.randn(batch, length, heads, K) / 4 for _ in range(3))
u, gate = torch.randn(batch, length, heads, V), -torch.rand(batch, length, heads)
g = torch.cat([part.cumsum(1) for part in gate.split(size, 1)], 1)
h, new = delta_state(k, w, u, g, size=size, BV=16)
o = delta_output(q, k, new, h, g, 0.5, size=size, BV=16)
do = torch.randn(batch, length, heads, V)
inner = torch.cat([0.5 * ((q[:, at].transpose(1, 2) @ k[:, at].transpose(1, 2).mT * (g[:, at].mT[..., :, None] - g[:, at].mT[..., None, :]).exp())
                          .tril().mT @ do[:, at].transpose(1, 2)) for at in torch.arange(length).split(size)], 2).transpose(1, 2).contiguous()
dh, dnew = delta_back(q, k, w, g, do, inner, 0.5, size=size, BV=16)
q, k, w, u, g = (t.double().transpose(1, 2) for t in (q, k, w, u, g))
u.requires_grad_()
state, all_h, all_new, all_o = torch.zeros(batch, heads, K, V, dtype=torch.float64), [], [], []
for i in range(0, length, size):
    at = slice(i, min(i + size, length))
    all_h.append(state)
    fresh, steps = u[:, :, at] - w[:, :, at] @ state, g[:, :, at]
    weights = (q[:, :, at] @ k[:, :, at].mT * (steps[..., :, None] - steps[..., None, :]).exp()).tril()
    all_o.append(0.5 * (q[:, :, at] @ state * steps.exp()[..., None] + weights @ fresh))
    state = state * steps[..., -1:, None].exp() + k[:, :, at].mT @ (fresh * (steps[..., -1:] - steps).exp()[..., None])
    all_new.append(fresh)
    [t.retain_grad() for t in (fresh, state)]
torch.cat(all_o, 2).backward(do.double().transpose(1, 2))
all_dh = [torch.zeros_like(h) if h.grad is None else h.grad for h in (*all_h[1:], state)]
same(1e-5, dh=(dh, torch.stack(all_dh, 1)), dnew=(dnew.transpose(1, 2), torch.cat([t.grad for t in all_new], 2)))
all_h, all_new, all_o = ([t.detach() for t in ts] for ts in (all_h, all_new, all_o))
same(1e-5, h=(h, torch.stack(all_h, 1)), new=(new.transpose(1, 2), torch.cat(all_new, 2)), o=(o.transpose(1, 2), torch.cat(all_o, 2)))
"""
PROGRAM = "".join([HEAD, GATED.format("swiglu", "torch.nn.functional.silu(g)"), LOSS, NORM, CHUNKS, DELTA,
                   GATED.format("geglu", "torch.nn.functional.gelu(g, approximate='tanh')")])


def test_kernels(torch):
    done = subprocess.run([sys.executable, "-m", "tilewright", "-c", PROGRAM, str(KERNELS)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
