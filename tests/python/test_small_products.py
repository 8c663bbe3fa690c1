# SPDX-License-Identifier: Apache-2.0
"""Kernels of kernels/triton off the beaten path, at odd sizes against float64: convolutions by // and %, sums shared by atomics, products of
many small matrices, tiles of 16 and 32 rows. On the CPU from Python, and as CUDA text on the emulator. And rows of odd lengths, which other
launches of a kernel do not have: each array has vectors as far as its own rows allow."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
import torch
sys.path.insert(0, sys.argv[1])
from batched_matmul import batched_matmul
from convolution import convolution
from matmul import matmul
from matmul_split import matmul_split
torch.manual_seed(7)

def close(got, want):
    error = (got.double() - want).norm() / want.norm()
    assert error < (1e-5 if got.dtype == torch.float32 else 6e-3), (got.shape, error)

for images, h, w, c, f, r, s, stride, pad, tiles in (
        (2, 9, 7, 12, 20, 3, 3, 1, 1, {}), (1, 11, 10, 32, 70, 3, 5, 2, 2, {}), (3, 6, 5, 64, 24, 1, 1, 1, 0, dict(BM=32, BN=32)),
        (2, 8, 9, 64, 40, 3, 3, 1, 1, dict(BM=128, BK=64, num_warps=8))):
    x, wt = torch.randn(images, h, w, c).half(), torch.randn(r, s, c, f).half()
    want = torch.nn.functional.conv2d(x.double().permute(0, 3, 1, 2), wt.double().permute(3, 2, 0, 1), stride=stride, padding=pad)
    close(convolution(x, wt, stride, pad, **tiles), want.permute(0, 2, 3, 1))
for m, n, k, tiles in ((70, 100, 330, {}), (33, 65, 257, dict(SPLIT=3)), (16, 128, 500, dict(BM=16, BN=128, BK=64, SPLIT=8))):
    a, b = torch.randn(m, k).bfloat16(), torch.randn(k, n).bfloat16()
    close(matmul_split(a, b, **tiles), a.double() @ b.double())
for count, m, n, k, tiles in ((5, 40, 70, 50, {}), (7, 33, 30, 65, dict(BB=2, BM=32, BN=32)), (3, 16, 16, 16, dict(BB=4, BM=16, BN=16, BK=16))):
    a, b = torch.randn(count, m, k).bfloat16(), torch.randn(count, k, n).bfloat16()
    close(batched_matmul(a, b, **tiles), a.double() @ b.double())
for m, n, k, tiles in ((16, 200, 300, dict(BM=16, BN=64, BK=128)), (5, 72, 100, dict(BM=16, BN=32, BK=64)), (70, 50, 90, dict(BM=32, BN=32, BK=32))):
    a, b = torch.randn(m, k).half(), torch.randn(k, n).half()
    close(matmul(a, b, **tiles), a.double() @ b.double())
"""


@pytest.mark.parametrize("where", ("cpu", "emulator"))
def test_at_odd_sizes(torch, where):
    if where == "emulator" and not shutil.which("c++"):
        pytest.skip("no C++ compiler for the emulator")
    env = {**os.environ, **({"TILEWRIGHT_EMULATE": "1"} if where == "emulator" else {})}
    done = subprocess.run([sys.executable, "-m", "tilewright", "-c", PROGRAM, str(ROOT / "kernels" / "triton")], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr


ODD = """
import torch
import triton
import triton.language as tl

@triton.jit
def multiply(x_ptr, w_ptr, out_ptr, n, width, stride_x, stride_w, stride_o, BM: tl.constexpr, BC: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.arange(0, BC)
    inside = (rows < n)[:, None] & (cols < width)[None, :]
    x = tl.load(x_ptr + rows[:, None] * stride_x + cols[None, :], mask=inside)
    w = tl.load(w_ptr + rows[:, None] * stride_w + cols[None, :], mask=inside)
    tl.store(out_ptr + rows[:, None] * stride_o + cols[None, :], x * w, mask=inside)

whole = 64, (64, 72, 80)
for width, strides in (whole, (64, (64, 72, 65)), (64, (64, 67, 80)), (63, (64, 72, 80)), (61, (63, 65, 67)), whole):
    x, w, out = (torch.randint(-8, 8, (20, stride)).half()[:, :width] for stride in strides)
    multiply[(2,)](x, w, out, 20, width, *strides, BM=16, BC=64)
    assert torch.equal(out, x * w), (width, strides)
"""


def test_rows_of_odd_lengths(torch, tmp_path):
    if not shutil.which("c++"):
        pytest.skip("no C++ compiler for the emulator")
    (tmp_path / "odd.py").write_text(ODD)
    done = subprocess.run([sys.executable, "-m", "tilewright", str(tmp_path / "odd.py")], capture_output=True, text=True,
                          env={**os.environ, "TILEWRIGHT_EMULATE": "1"})
    assert done.returncode == 0, done.stderr
