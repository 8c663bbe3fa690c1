# SPDX-License-Identifier: Apache-2.0
"""table_matmul of kernels/triton: products whose matrices lie wherever a table says, on the CPU and on the emulator, against float64.

What is stored may be what a later tile reads, or the table itself: then one program sees its tiles in order, whatever runs ahead."""
import os
import pathlib
import subprocess
import sys

import pytest

KERNELS = pathlib.Path(__file__).resolve().parents[2] / "kernels" / "triton"
HEAD = """
import sys
import torch
sys.path.insert(0, sys.argv[1])
from table_matmul import table_matmul, table_matmul_kernel, table_matmul_box_kernel, tables
torch.manual_seed(1)

class Memory:
    def __init__(self, dtype=torch.float16, size=1 << 20):
        self.all, self.used = torch.full((size,), float("nan"), dtype=dtype), 0

    def matrix(self, rows, columns, stride, fill=True):
        at, self.used = self.all[self.used:], self.used + -(-(rows * stride + 8) // 64) * 64
        made = at[:rows * stride].view(rows, stride)[:, :columns]
        return made.copy_(torch.randn(rows, columns)) if fill else made

    def problem(self, m, n, k, boxes):
        a = self.matrix(m, k, (k + 15) // 8 * 8)
        b = self.matrix(n, k, (k + 23) // 8 * 8) if boxes else self.matrix(k, n, (n + 15) // 8 * 8)
        return a, b, self.matrix(m, n, (n + 7) // 8 * 8 if boxes else n + 3, False)

def check(problems, boxes, scale=1):
    for a, b, c in problems:
        wanted = a.double() @ (b.T if boxes else b).double()
        torch.testing.assert_close(c.double() / scale, wanted / scale, rtol=2e-2, atol=2e-2 * max(1, a.shape[1]) ** 0.5)
"""
PROGRAMS = {
    "sizes": """
for shapes in ([], [(128, 64, 96), (64, 128, 0), (0, 64, 64), (64, 192, 256)]):
    memory = Memory()
    problems = [memory.problem(*shape, False) for shape in shapes]
    for programs in (1, 3)[len(shapes) < 2:]:
        table_matmul(memory.all, problems, programs)
        check(problems, False)
""",
    "wide": """
memory = Memory(torch.bfloat16)
problems = [memory.problem(128, 128, 192, False), memory.problem(256, 128, 64, False)]
table_matmul(memory.all, problems, 2, 128, 128, 64, num_warps=8)
check(problems, False)
""",
    "boxes": """
for shapes in ([], [(70, 40, 50), (1, 8, 1), (5, 136, 0), (0, 64, 64), (130, 72, 200)]):
    memory = Memory()
    problems = [memory.problem(*shape, True) for shape in shapes]
    for programs in (1, 3)[len(shapes) < 2:]:
        table_matmul(memory.all, problems, programs, boxes=True)
        check(problems, True)
""",
    # each product of one tile is an operand of the next: one program has them in order
    "chain": """
for boxes in (False, True):
    memory, links = Memory(), []
    left = memory.matrix(64, 64, 64)
    for _ in range(4):
        links.append((left, memory.matrix(64, 64, 64).div_(8), memory.matrix(64, 64, 64, False)))
        left = links[-1][2]
    table_matmul(memory.all, links, 1, boxes=boxes)
    check(links, boxes)
""",
    # C of the first problem, which has no trips and is 0, lies where the sizes of the second are: it is gone
    "overwritten": """
for kernel in (table_matmul_kernel, table_matmul_box_kernel):
    memory = Memory()
    second = memory.problem(64, 64, 512, kernel is table_matmul_box_kernel)
    target = memory.matrix(64, 64, 64, False)
    first = (memory.matrix(64, 0, 8), memory.matrix(64, 0, 8), target)
    addresses, given, strides = tables([first, second], "cpu")
    sizes = target.reshape(-1).view(torch.int32)
    sizes[:6] = given
    kernel[(1,)](memory.all, addresses, sizes, strides, 2, BM=64, BN=64, BK=32)
    assert (sizes == 0).all() and torch.isnan(second[2]).all(), kernel
""",
}


BROKEN = """
memory = Memory()
a, b, c = memory.problem(64, 64, 64, False)
table_matmul(memory.all, [(memory.all[1:].as_strided(a.shape, a.stride()), b, c)], 1)
"""


BROKEN_BOX = """
memory = Memory()
a, b, c = memory.problem(64, 64, 64, True)
table_matmul(memory.all, [(memory.all[1:].as_strided(a.shape, a.stride()), b, c)], 1, boxes=True)
"""


def run(program, where):
    env = {**os.environ, "TILEWRIGHT_EMULATE": str(int(where == "emulator"))}
    return subprocess.run([sys.executable, "-m", "tilewright", "-c", HEAD + program, str(KERNELS)], capture_output=True, text=True, env=env)


@pytest.mark.parametrize("where", ["cpu", "emulator"])
def test_table_matmul(where, torch):
    done = run("".join(PROGRAMS.values()), where)
    assert done.returncode == 0, done.stderr


def test_a_broken_promise_is_a_fault(torch):
    done = run(BROKEN, "emulator")
    assert done.returncode == 1 and "cp.async of 16 bytes" in done.stderr and "aligned" in done.stderr, done.stderr


def test_a_descriptor_that_tma_cannot_take_ends_the_kernel(torch):
    done = run(BROKEN_BOX, "emulator")
    assert done.returncode == 1 and "a tensor descriptor made in the kernel" in done.stderr and "multiples of 16 bytes" in done.stderr, done.stderr
