# SPDX-License-Identifier: Apache-2.0
"""TILEWRIGHT_CUDA_ON_CPU=1: programs that want a GPU, on a machine without one."""
import os
import subprocess
import sys

import pytest

PROGRAM = '''
import subprocess
import sys

import torch
import triton
import triton.language as tl


@triton.jit
def twice(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


assert torch.cuda.is_available() and triton.runtime.driver.active.get_current_target().backend == "cuda"
x = torch.randn(1000, device="cuda")
out = torch.empty_like(x, device=torch.device("cuda:0"))
assert x.is_cuda and out.is_cuda and torch.ones(3).cuda().is_cuda
start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
start.record()
with torch.cuda.device(x.device):
    twice[(4, )](x, out, x.numel(), BLOCK=256)
end.record()
torch.cuda.synchronize()
assert start.elapsed_time(end) > 0
torch.testing.assert_close(out.cpu(), 2 * x.to("cpu"))
if len(sys.argv) == 1:
    subprocess.run([sys.executable, __file__, "child"], check=True)
'''


@pytest.mark.torch
def test_a_program_that_wants_a_gpu(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "TILEWRIGHT_CUDA_ON_CPU": "1", "CUDA_VISIBLE_DEVICES": ""}
    run = subprocess.run([sys.executable, "-m", "tilewright", str(tmp_path / "program.py")], capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
