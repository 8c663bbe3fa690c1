# SPDX-License-Identifier: Apache-2.0
"""torch.compile around functions that launch our kernels, under `python -m tilewright`."""
import os
import pathlib
import subprocess
import sys

import tilewright

PROGRAM = """
import warnings; warnings.simplefilter("ignore")
import torch, triton, triton.language as tl
from torch.library import triton_op, wrap_triton

@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)

@triton.autotune(configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"])
@triton.jit
def tuned_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)

def plain(x, y):
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 64),)](x, y, out, x.numel(), BLOCK=64)
    return out

def tuned(x, y):
    out = torch.empty_like(x)
    n = x.numel()
    tuned_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n)
    return out

@triton_op("mine::add", mutates_args={})
def op(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    wrap_triton(add_kernel)[(triton.cdiv(x.numel(), 64),)](x, y, out, x.numel(), BLOCK=64)
    return out

torch.manual_seed(0)
x, y = torch.randn(1000), torch.randn(1000)
for add in (plain, tuned, op):
    torch._dynamo.reset()
    made = torch.compile(lambda a, b: add(a * 3, b) * 2, fullgraph=True)
    torch.testing.assert_close(made(x, y), (x * 3 + y) * 2)
    print(add.__name__ if add is not op else "op", "ok")

@triton.jit
def accumulate_kernel(x, total, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total + at, tl.load(x + at, mask=at < n), mask=at < n)

def accumulate(x, total):
    accumulate_kernel[(triton.cdiv(x.numel(), 64),)](x, total, x.numel(), BLOCK=64)
    return total * 2

total, want = y.clone(), y.clone()
for turn in (1, 2):  # in place: the caller's tensor changes, and only that
    torch.testing.assert_close(torch.compile(accumulate, fullgraph=True)(x, total), (y + turn * x) * 2)
    torch.testing.assert_close(total, y + turn * x)
from tilewright.torch_compile import written
print(sorted(written(accumulate_kernel, {"x": x, "total": y, "n": 1000, "BLOCK": 64})), sorted(written(tuned_kernel, {"x": x, "y": y, "out": x, "n": 1000})))
torch._dynamo.reset()
with torch._inductor.config.patch(cpu_backend="triton"):  # Inductor would write Triton kernels for it
    torch.testing.assert_close(torch.compile(lambda a: torch.sin(a) * 2)(x), torch.sin(x) * 2)
assert "torch._inductor.compile_fx" in __import__("sys").modules
from tilewright.torch_compile import needs_no_inductor
graph = torch.fx.symbolic_trace(lambda a: a + 1)
print(needs_no_inductor(graph, [x]), needs_no_inductor(graph, [torch.empty(1, device="meta")]))
"""


def test_fullgraph_autotune_and_triton_op(torch, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    package = str(pathlib.Path(tilewright.__file__).resolve().parents[1])
    done = subprocess.run([sys.executable, "-m", "tilewright", str(program)], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": package, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path)})
    assert done.stdout == "plain ok\ntuned ok\nop ok\n['total'] ['out']\nFalse False\n", done.stderr[-3000:]
    assert "Traceback" not in done.stderr
