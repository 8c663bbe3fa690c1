# SPDX-License-Identifier: Apache-2.0
"""Subarrays of unequal size, through triton.tools.ragged_tma: boxes that hang over an end read zeros and write nothing there."""
import numpy as np
import pytest

import tilewright.triton as triton
import tilewright.triton.language as tl
from tilewright.triton.tools.ragged_tma import atomic_add_ragged, create_ragged_descriptor, load_ragged, store_ragged


@triton.jit
def move(X, Y, x_off, x_size, y_off, y_size, ADD: tl.constexpr):
    data = load_ragged(X, x_off, x_size, [0, 0])
    if ADD:
        atomic_add_ragged(Y, y_off, y_size, [0, 0], data)
    else:
        store_ragged(Y, y_off, y_size, [0, 0], data)


@pytest.mark.parametrize("dtype,add", [("float32", False), ("float32", True), ("int8", False), ("bfloat16", False)])
def test_rows_of_one_subarray_into_another(torch, dtype, add):
    source, target = (torch.randn(100, 24).mul(9).to(getattr(torch, dtype)) for _ in range(2))
    for x_off, x_size, y_off, y_size in ((42, 17, 51, 24), (0, 32, 68, 32), (99, 1, 3, 0), (60, 40, 0, 5)):
        want, rows = target.clone(), min(32, y_size)
        data = torch.zeros(32, 24, dtype=want.dtype)
        data[:min(32, x_size)] = source[x_off:x_off + min(32, x_size)]
        want[y_off:y_off + rows] = data[:rows] + (want[y_off:y_off + rows] if add else 0)
        move[(1, )](create_ragged_descriptor(source, [32, 32]), create_ragged_descriptor(target, [32, 32]), x_off, x_size, y_off, y_size, add)
        assert torch.equal(target, want)


@triton.jit
def middle(X, out, off, size, row):
    tile = load_ragged(X, off, size, [1, row, 4], ragged_dim=1)
    at = tl.arange(0, 2)[:, None, None] * 32 + tl.arange(0, 8)[None, :, None] * 4 + tl.arange(0, 4)[None, None, :]
    tl.store(out + at, tile)


def test_the_middle_axis_of_three(torch):
    x, out = torch.randn(3, 20, 8), torch.empty(2, 8, 4)
    middle[(1, )](create_ragged_descriptor(x, [2, 8, 4], ragged_dim=1), out, 5, 7, 3)
    want = torch.zeros(2, 8, 4)
    want[:, :4] = x[1:, 8:12, 4:]
    assert torch.equal(out, want)


def test_what_is_no_ragged_tensor(torch):
    x = torch.zeros(4, 8)
    with pytest.raises(AssertionError, match="last dimension cannot be ragged"):
        create_ragged_descriptor(x, [2, 8], ragged_dim=1)
    with pytest.raises(AssertionError, match="same length"):
        create_ragged_descriptor(x, [2])
    with pytest.raises(triton.CompilationError, match="must be a read-write ragged descriptor"):
        middle[(1, )](create_ragged_descriptor(x, [2, 8]), np.zeros(64, np.float32), 0, 1, 0)
