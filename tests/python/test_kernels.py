"""Kernels of kernels/triton that train and run language models, against torch in float64: activations, losses, a norm's gradient, and the
chunks of a state-space model, at sizes that blocks do not divide."""
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
batch, length, size, heads, groups, P, N = 1, 75, 32, 4, 2, 24, 16
chunks = -(-length // size)
x, b, c = torch.randn(batch, length, heads, P), torch.randn(batch, length, groups, N), torch.randn(batch, length, groups, N)
dt, d = torch.rand(batch, heads, chunks, size), torch.randn(heads)
a = (-dt * torch.rand(heads)[:, None, None]).cumsum(-1)
states = torch.zeros(batch, chunks, heads, P, N, dtype=torch.float64)
y = torch.zeros_like(x, dtype=torch.float64)
cb = torch.zeros(batch, chunks, groups, size, size)
before = torch.randn(batch, chunks, heads, P, N)
for i in range(chunks):
    at = slice(i * size, min((i + 1) * size, length))
    n = at.stop - at.start
    cb[:, i, :, :n, :n] = torch.einsum("bmgn,bkgn->bgmk", c[:, at], b[:, at])
    for h in range(heads):
        g, xs, steps = h // (heads // groups), x[:, at, h].double(), a[:, h, i, :n].double()
        weight = (steps[:, -1:] - steps).exp() * dt[:, h, i, :n].double()
        states[:, i, h] = torch.einsum("bkp,bk,bkn->bpn", xs, weight, b[:, at, g].double())
        decay = (steps[:, :, None] - steps[:, None, :]).exp() * dt[:, h, i, None, :n].double()
        inner = (cb[:, i, g, :n, :n].double() * decay).tril() @ xs
        outer = torch.einsum("bmn,bpn->bmp", c[:, at, g].double(), before[:, i, h].double()) * steps.exp()[:, :, None]
        y[:, at, h] = inner + outer + d[h].double() * xs
same(1e-5, states=(chunk_state(x, b, dt, a, BM=16, BN=16, BK=16), states), y=(chunk_scan(cb, x, dt, a, c, before, d, BM=16, BN=16, BK=16), y))
"""
PROGRAM = "".join([HEAD, GATED.format("swiglu", "torch.nn.functional.silu(g)"), LOSS, NORM, CHUNKS,
                   GATED.format("geglu", "torch.nn.functional.gelu(g, approximate='tanh')")])


def test_kernels(torch):
    done = subprocess.run([sys.executable, "-m", "tilewright", "-c", PROGRAM, str(KERNELS)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
