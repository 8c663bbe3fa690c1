# SPDX-License-Identifier: Apache-2.0
"""installed.py: is the package that pip installed whole? Launches a kernel, runs a child through `python -m tilewright`, and the
command."""
import os
import subprocess
import sys

import numpy as np

import tilewright
import tilewright.tilelang as tilelang
import tilewright.tilelang.language as T
import tilewright.triton as triton
import tilewright.triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
out = np.zeros_like(x)
add[(4, )](x, y, out, 1000, BLOCK=256)
assert (out == x + 1).all()


@tilelang.jit
def doubled(A):
    N = T.const("N")
    A: T.Tensor((N, ), T.float32)
    B = T.empty((N, ), T.float32)
    with T.Kernel(T.ceildiv(N, 64), threads=64) as bx:
        for i in T.Parallel(64):
            B[bx * 64 + i] = A[bx * 64 + i] * 2
    return B


assert (doubled(x) == 2 * x).all()
code = "import subprocess, sys; subprocess.check_call([sys.executable, '-c', 'import triton.language; print(triton.__version__)'])"
said = subprocess.run([sys.executable, "-m", "tilewright", "-c", code], capture_output=True, text=True, check=True).stdout
assert said.strip() == triton.__version__, said
command = os.path.join(os.environ["PYTHONPATH"], "bin", "tilewright")
said = subprocess.run([sys.executable, command, "--version"], capture_output=True, text=True, check=True).stdout
assert said.strip() == f"tilewright {tilewright.__version__}", said
print(f"tilewright {tilewright.__version__} is installed and launches")
