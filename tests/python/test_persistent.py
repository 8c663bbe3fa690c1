# SPDX-License-Identifier: Apache-2.0
"""Products by few programs that go from tile to tile in a loop of their own, on the emulator, against float64.

The tile is counted twice, for what is loaded and for what is stored. Each warpgroup stores its own rows (by TMA, where C allows it) and waits for no
other: rows that overlap in memory are stored in the order of the tiles all the same."""
import os
import subprocess
import sys

PROGRAM = """
import torch
import triton
import triton.language as tl
torch.manual_seed(1)

@triton.jit
def place(tile, columns):
    return tile // columns, tile % columns

@triton.jit
def persistent(a, b, c, M, N, K, stride_c, PROGRAMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, HALVES: tl.constexpr):
    columns = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * columns
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    stored = tl.program_id(0) - PROGRAMS
    for tile in tl.range(tl.program_id(0), tiles, PROGRAMS, flatten=True):
        m, n = place(tile, columns)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(tl.cdiv(K, BK)):
            acc = tl.dot(da.load([m * BM, k * BK]), db.load([n * BN, k * BK]).T, acc)
        stored += PROGRAMS
        m, n = place(stored, columns)
        rows = (m * BM + tl.arange(0, BM))[:, None]
        if HALVES:
            left, right = tl.split(tl.permute(tl.reshape(acc, (BM, 2, BN // 2)), (0, 2, 1)))
            at = (n * BN + tl.arange(0, BN // 2))[None, :]
            tl.store(c + rows * stride_c + at, left.to(c.dtype.element_ty), mask=(rows < M) & (at < N))
            at += BN // 2
            tl.store(c + rows * stride_c + at, right.to(c.dtype.element_ty), mask=(rows < M) & (at < N))
        else:
            at = (n * BN + tl.arange(0, BN))[None, :]
            tl.store(c + rows * stride_c + at, acc.to(c.dtype.element_ty), mask=(rows < M) & (at < N))

def check(M, N, K, programs, stride=None, halves=False, stages=3):
    a, b, stride = torch.randn(M, K).half(), torch.randn(N, K).half(), stride or N
    c = torch.full((M * stride + N,), 7.0).half()
    wanted = c.double()
    kernel = persistent[(programs,)](a, b, c, M, N, K, stride, programs, 128, 128, 64, halves, num_warps=8, num_stages=stages)
    product, columns = a.double() @ b.T.double(), -(-N // 128)
    for tile in range(-(-M // 128) * columns):  # one program: in order
        m, n = tile // columns * 128, tile % columns * 128
        part = product[m:m + 128, n:n + 128]
        wanted.as_strided((M, N), (stride, 1))[m:m + 128, n:n + 128] = part
    torch.testing.assert_close(c.double(), wanted, rtol=2e-3, atol=2e-2 * max(1, K) ** 0.5)
    return kernel.asm["cu"]

for halves in (False, True):
    text = check(384, 136, 128, 2, halves=halves)
    assert "tw_tma_store_2d" in text and "tw_bar_sync(10 + (warp >> 2), 128)" in text, text
check(130, 136, 64, 5, stride=144)   # one of the programs has no tile
check(300, 128, 0, 2)                # no trips
check(256, 200, 64, 1, stride=203)   # nothing that TMA takes
check(130, 131, 64, 2, stride=136)   # rows end within 16 bytes: what lies behind them stays
check(384, 192, 64, 1, stride=128)   # columns from 128 on are the next row: the later tile's
"""


def test_persistent(torch, tmp_path):
    script = tmp_path / "persistent.py"
    script.write_text(PROGRAM)
    done = subprocess.run([sys.executable, "-m", "tilewright", str(script)], capture_output=True, text=True, env={**os.environ, "TILEWRIGHT_EMULATE": "1"})
    assert done.returncode == 0, done.stderr
