# SPDX-License-Identifier: Apache-2.0
"""grouped_matmul of kernels/triton against torch: problems of unlike sizes, an empty one among them, in one launch."""
import pathlib
import subprocess
import sys

KERNELS = pathlib.Path(__file__).resolve().parents[2] / "kernels" / "triton"
PROGRAM = """
import sys
import torch
sys.path.insert(0, sys.argv[1])
from grouped_matmul import grouped_matmul
torch.manual_seed(1)
problems = [(70, 33, 50), (1, 100, 1), (0, 5, 7), (64, 64, 64), (17, 130, 0)]
pairs = [(torch.randn(m, k), torch.randn(k, n)) for m, n, k in problems]
sizes = torch.tensor(problems, dtype=torch.int32)
lengths = torch.tensor([(m * k, k * n, m * n) for m, n, k in problems], dtype=torch.int32)
starts = (torch.cumsum(lengths, 0) - lengths).to(torch.int32)
a, b = (torch.cat([pair[i].flatten() for pair in pairs]) for i in (0, 1))
for programs in (1, 3, 64):
    c = torch.full((int(lengths[:, 2].sum()),), float("nan"))
    grouped_matmul(a, b, c, sizes, starts, programs=programs, BM=32, BN=32, BK=32)
    torch.testing.assert_close(c, torch.cat([(x @ y).flatten() for x, y in pairs]), rtol=1e-4, atol=1e-4)
"""


def test_grouped_matmul(torch):
    done = subprocess.run([sys.executable, "-m", "tilewright", "-c", PROGRAM, str(KERNELS)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
