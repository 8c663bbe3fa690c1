# SPDX-License-Identifier: Apache-2.0
"""Attention of kernels/triton, forward and backward, against torch and its autograd, at a length that blocks do not divide."""
import pathlib
import subprocess
import sys

KERNELS = pathlib.Path(__file__).resolve().parents[2] / "kernels" / "triton"
PROGRAM = """
import sys
import torch
sys.path.insert(0, sys.argv[1])
from attention import attention
from attention_backward import attention_backward
torch.manual_seed(1)
heads, n, d, bm, bn = 1, 75, 16, 16, 32
for causal in (False, True):
    q, k, v = (torch.randn(heads, n, d, requires_grad=True) for _ in range(3))
    s = q @ k.transpose(1, 2) * d ** -0.5
    if causal:
        s = s.masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), float("-inf"))
    o = torch.softmax(s, -1) @ v
    do = torch.randn_like(o)
    o.backward(do)
    inputs = [x.detach() for x in (q, k, v)]
    got = [attention(*inputs, causal, BM=bm, BN=bn), *attention_backward(*inputs, o.detach(), do, causal, BM=bm, BN=bn)]
    for name, x, want in zip(("o", "dq", "dk", "dv"), got, (o.detach(), q.grad, k.grad, v.grad)):
        error = ((x - want).norm() / want.norm()).item()
        assert error < 1e-5, (name, causal, error)
"""


def test_attention(torch):
    done = subprocess.run([sys.executable, "-m", "tilewright", "-c", PROGRAM, str(KERNELS)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
