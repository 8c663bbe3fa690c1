# SPDX-License-Identifier: Apache-2.0
"""Tensors of the host on the model of a Tenstorrent card: TILEWRIGHT_TARGET chooses it for a whole program."""
import os
import subprocess
import sys

import pytest

PROGRAM = """
import torch, triton, triton.language as tl

@triton.jit
def norm(x, y, C, B: tl.constexpr):
    c = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * C + c, mask=c < C, other=0.0)
    mean = tl.sum(v, axis=0) / C
    d = tl.where(c < C, v - mean, 0.0)
    tl.store(y + tl.program_id(0) * C + c, d / tl.sqrt(tl.sum(d * d, axis=0) / C + 1e-5), mask=c < C)

torch.manual_seed(1)
x = 100 + torch.randn(33, 200)
y = torch.empty_like(x)
norm[(33,)](x, y, 200, B=256)
right = torch.nn.functional.layer_norm(x.double(), (200,))
print("error", ((y - right).pow(2).mean() / right.pow(2).mean()).sqrt().item())
"""


@pytest.mark.torch
def test_program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    done = subprocess.run([sys.executable, "-m", "tilewright", str(path)], capture_output=True, text=True, env={**os.environ, "TILEWRIGHT_TARGET": "tenstorrent"})
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split("error")[1]) < 1e-3
