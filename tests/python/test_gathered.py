# SPDX-License-Identifier: Apache-2.0
"""Kernels of kernels/triton whose rows are picked by data, against float64: embeddings, mixture of experts, attention over pages. On the CPU
from Python, and on the emulator, where their loads run through rings, from the command line."""
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNELS = ROOT / "kernels" / "triton"
COMMON = """
import sys
import torch
sys.path.insert(0, sys.argv[1])
torch.manual_seed(3)

def attend(q, k, v, seen):
    s = (q @ k.T) * q.shape[-1] ** -0.5
    return torch.softmax(s.masked_fill(~seen, -float("inf")), -1) @ v

def cache(seqs, most, page, groups, d, dtype):
    pages = torch.randperm(seqs * most).reshape(seqs, most).to(torch.int32)
    return torch.randn(seqs * most, page, groups, d).to(dtype), torch.randn(seqs * most, page, groups, d).to(dtype), pages

def rows(cache, pages, length, group):
    return cache[pages.long()].flatten(0, 1)[:length, group].double()
"""
EXPERTS = """
from moe_matmul import moe_matmul, sort_pairs
for tokens, n, k, count, top, dtype in ((50, 72, 80, 5, 2, torch.float32), (7, 40, 100, 16, 4, torch.bfloat16)):
    a, b = torch.randn(tokens, k).to(dtype), torch.randn(count, n, k).to(dtype)
    experts = torch.stack([torch.randperm(count)[:top] for _ in range(tokens)])
    factors = torch.rand(tokens, top)
    wanted = torch.einsum("tk,tjnk->tjn", a.double(), b.double()[experts])
    for scaled in (False, True):
        got = moe_matmul(a, b, experts, factors if scaled else None, BM=32, BN=32, BK=32).view(tokens, top, n)
        want = wanted * factors[:, :, None].double() if scaled else wanted
        torch.testing.assert_close(got.double(), want, rtol=2e-2, atol=1e-3 if dtype == torch.float32 else 6e-2)
for narrow in (torch.int8, torch.float8_e4m3fn):
    a, b, scales = torch.randn(23, 100).bfloat16(), (torch.randn(5, 72, 100) * 40).to(narrow), torch.rand(5, 72) / 40
    experts = torch.stack([torch.randperm(5)[:2] for _ in range(23)])
    got = moe_matmul(a, b, experts, scales=scales, BM=32, BN=64, BK=32).view(23, 2, 72)
    want = torch.einsum("tk,tjnk->tjn", a.double(), (b.double() * scales.double()[:, :, None])[experts])
    torch.testing.assert_close(got.double(), want, rtol=2e-2, atol=6e-2)
"""
INT4 = """
from int4_matmul import int4_matmul, pack
for m, n, k, group, dtype in ((37, 50, 128, 32, torch.float16), (5, 72, 64, 64, torch.bfloat16)):
    a, q, scales = torch.randn(m, k).to(dtype), torch.randint(16, (k, n)), (torch.rand(k // group, n) / 8).to(dtype)
    wanted = a.double() @ ((q.double() - 8) * scales.double().repeat_interleave(group, 0)).to(dtype).double()
    torch.testing.assert_close(int4_matmul(a, pack(q), scales).double(), wanted, rtol=2e-2, atol=6e-2)
"""
ROWS = """
from rows import embedding, scatter_add
for n, table, width, dtype in ((100, 37, 200, torch.float32), (65, 300, 129, torch.bfloat16), (3, 5, 7, torch.float16)):
    x, index = torch.randn(table, width).to(dtype), torch.randint(table, (n,)).to(torch.int32)
    assert torch.equal(embedding(x, index), x[index.long()])
    y = torch.randint(-3, 4, (n, width)).to(dtype)
    wanted = torch.zeros(table, width, dtype=torch.float64).index_add_(0, index.long(), y.double())
    torch.testing.assert_close(scatter_add(y, index, table).double(), wanted, rtol=0, atol=0)
"""
PREFILL = """
from paged_attention import paged_attention
for queries, heads, groups, page, d, lengths, dtype in ((40, 4, 2, 16, 64, (40, 97), torch.float32), (70, 2, 1, 64, 32, (200, 71), torch.bfloat16)):
    k, v, pages = cache(len(lengths), 16, page, groups, d, dtype)
    q = torch.randn(len(lengths), queries, heads, d).to(dtype)
    got = paged_attention(q, k, v, pages, torch.tensor(lengths, dtype=torch.int32), BM=32, BN=32)
    for s, length in enumerate(lengths):
        seen = torch.arange(length) <= torch.arange(queries)[:, None] + length - queries
        for h in range(heads):
            parts = [rows(x, pages[s], length, h * groups // heads) for x in (k, v)]
            torch.testing.assert_close(got[s, :, h].double(), attend(q[s, :, h].double(), *parts, seen), rtol=2e-2, atol=2e-2)
"""
DECODE = """
from paged_decode import paged_decode
for heads, groups, page, d, lengths, dtype in ((8, 2, 16, 64, (1, 40, 131), torch.float32), (6, 1, 32, 32, (200, 33), torch.bfloat16)):
    k, v, pages = cache(len(lengths), 16, page, groups, d, dtype)
    q = torch.randn(len(lengths), heads, d).to(dtype)
    for parts in (1, 4):
        got = paged_decode(q, k, v, pages, torch.tensor(lengths, dtype=torch.int32), PARTS=parts)
        for s, length in enumerate(lengths):
            for h in range(heads):
                pair = [rows(x, pages[s], length, h * groups // heads) for x in (k, v)]
                want = attend(q[s, h:h + 1].double(), *pair, torch.ones(1, length, dtype=torch.bool))
                torch.testing.assert_close(got[s, h:h + 1].double(), want, rtol=2e-2, atol=2e-2)
"""


def test_on_the_cpu(torch):
    program = COMMON + ROWS + EXPERTS + INT4 + PREFILL + DECODE
    done = subprocess.run([sys.executable, "-m", "tilewright", "-c", program, str(KERNELS)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def emulate(folder, torch, kernel, result, wanted, arrays, numbers, grid, options):
    """Checks what the kernel computes on the emulator."""
    import numpy
    command = [str(ROOT / "build" / "tilewright"), "check", str(KERNELS / kernel), "--target", "cuda", "--emulate", "--grid", grid]
    for name, tensor in arrays.items():
        numpy.save(folder / f"{name}.npy", tensor.numpy())
        command += ["--arg", f"{name}=file:{folder / name}.npy"]
    for name, value in numbers.items():
        command += ["--arg", f"{name}={value}"]
    numpy.save(folder / "wanted.npy", wanted.numpy())
    done = subprocess.run(command + ["--expect", f"{result}={folder / 'wanted.npy'}", "--tolerance", "0.01", *options],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not shutil.which("c++"), reason="no C++ compiler for the emulator")
@pytest.mark.parametrize("options", ((), ("--set", "roles=off")), ids=("roles", "skew"))
def test_experts_on_the_emulator(torch, tmp_path, options):
    source = (KERNELS / "moe_matmul.py").read_text()
    helper = {"torch": torch}
    exec(source[source.index("def sort_pairs"):source.index("def moe_matmul(")], helper)
    torch.manual_seed(4)
    tokens, n, k, count, top, block = 100, 136, 200, 3, 2, 64
    a, b = torch.randn(tokens, k).half(), torch.randn(count, n, k).half()
    experts = torch.stack([torch.randperm(count)[:top] for _ in range(tokens)])
    order, of_block, total = helper["sort_pairs"](experts, count, block)
    wanted = torch.einsum("tk,tjnk->tjn", a.float(), b.float()[experts]).reshape(-1, n).half()
    emulate(tmp_path, torch, "moe_matmul.py", "c_ptr", wanted,
            dict(a_ptr=a, b_ptr=b, c_ptr=torch.zeros(tokens * top, n).half(), factor_ptr=torch.ones(tokens * top), order_ptr=order,
                 expert_ptr=of_block, count_ptr=total),
            dict(N=n, K=k, pairs=tokens * top, stride_a=k, stride_e=n * k, stride_b=k, stride_c=n, TOP=top, SCALE="True", BM=block, BN=64, BK=64),
            str(-(-order.numel() // block) * -(-n // 64)), options)
