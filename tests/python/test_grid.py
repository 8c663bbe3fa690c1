# SPDX-License-Identifier: Apache-2.0
"""Grids that are functions: they are called before anything is read off the arguments."""
import numpy as np
import pytest

from tilewright import triton
from tilewright.triton import language as tl

torch = pytest.importorskip("torch")


@triton.jit
def copy(src, dst, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dst + at, tl.load(src + at, mask=at < n), mask=at < n)


def test_a_tensor_that_the_grid_resizes():
    src, dst = torch.zeros(1), torch.zeros(5000)

    def grid(meta):
        meta["src"].resize_(5000).copy_(torch.arange(5000.0))
        return (triton.cdiv(5000, meta["BLOCK"]),)

    copy[grid](src, dst, 5000, BLOCK=256)
    assert torch.equal(dst, torch.arange(5000.0))


def test_an_argument_that_the_grid_replaces():
    dst = torch.zeros(700)

    def grid(meta):
        meta["src"] = torch.full((700,), 3.0)
        return (triton.cdiv(meta["n"], meta["BLOCK"]),)

    copy[grid](torch.zeros(700), dst, 700, BLOCK=tl.constexpr(128))
    assert torch.equal(dst, torch.full((700,), 3.0))


@triton.jit
def copy_of(pair, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(pair[1] + at, tl.load(pair[0] + at, mask=at < n), mask=at < n)


def test_a_tuple_of_which_the_grid_changes_a_part():
    src, dst = torch.zeros(1), torch.zeros(900)

    def grid(meta):
        src.resize_(900).fill_(2.0)
        meta["pair"] = (src, dst)
        return (triton.cdiv(meta["n"], meta["BLOCK"]), 1)

    copy_of[grid]((src, dst), 900, BLOCK=128)
    assert torch.equal(dst, torch.full((900,), 2.0))


def test_a_grid_that_fails():
    with pytest.raises(ZeroDivisionError):
        copy[lambda meta: (1 // 0,)](torch.zeros(4), torch.zeros(4), 4, BLOCK=16)
    with pytest.raises(TypeError, match="returned it"):
        copy[lambda meta: ("x",)](np.zeros(4, "f4"), np.zeros(4, "f4"), 4, BLOCK=16)
