# SPDX-License-Identifier: Apache-2.0
"""Threads and roles that run as they are written (tests/gpu/written.py), against numpy."""
import pathlib

import numpy as np
import pytest

import tilewright

FILE = pathlib.Path(__file__).parent.parent / "gpu" / "written.py"
SOURCE = np.random.default_rng(3)


def run(kernel, target, options=None, **given):
    tilewright.run(f"{FILE}:{kernel}", target=target, options=options, **given)


@pytest.mark.parametrize("target", ["interp", "cpu"])
@pytest.mark.parametrize("kernel", ["pairs", "late", "halves"])
def test_products(kernel, target):
    a, b = (SOURCE.standard_normal(shape).astype("f2") for shape in [(100, 130), (130, 72)])
    c = np.zeros((2, 100, 72) if kernel == "halves" else (100, 72), "f4")
    run(kernel, target, A=a, B=b, C=c)
    want = a.astype("f8") @ b.astype("f8")
    if kernel == "halves":  # every other 32 columns
        first = np.arange(130) // 32 % 2 == 0
        want = np.stack([a[:, part].astype("f8") @ b[part].astype("f8") for part in (first, ~first)])
    assert np.abs(c - want).max() < 1e-3


@pytest.mark.parametrize("target", ["interp", "cpu"])
def test_threads(target):
    counts, a = np.arange(4, dtype="i4"), SOURCE.integers(-9, 9, (2, 128)).astype("i4")
    b = np.zeros_like(a)
    run("turns", target, counts=counts, A=a, B=b)
    own = [a.copy(), np.zeros_like(a)]
    lane = np.arange(128)
    for i in range(4):
        on = counts[lane // 32] > i
        shown = own[0][:, lane ^ 1 << i % 5]
        own[i % 2] = np.where(on, own[(i + 1) % 2] + shown * (i + 1), own[i % 2])
    assert np.array_equal(b, own[0] - own[1])


@pytest.mark.parametrize("target", ["interp", "cpu"])
def test_barriers_in_a_loop_of_the_data(target):
    counts, a = np.repeat(np.array([[0], [1], [3]], "i4"), 96, 1), SOURCE.standard_normal((3, 96)).astype("f4")
    b, h = np.zeros_like(a), np.zeros((3, 4), "f4")
    run("steps", target, counts=counts, A=a, B=b, H=h)
    for row in range(3):
        x = a[row].copy()
        for i in range(counts[row, 0]):
            x = np.float32(0.5) * x + np.roll(x, -(i + 1))
        assert np.allclose(b[row], x, atol=1e-5)
    assert np.array_equal(h, np.repeat(24.0 * counts[:, :1], 4, 1))


@pytest.mark.parametrize("target", ["interp", "cpu"])
def test_hand_overs(target):
    a = SOURCE.standard_normal((64, 64)).astype("f4")
    b = np.zeros_like(a)
    run("trade", target, {"unproved": "on"}, A=a, B=b, trips=4)  # right where `trips` is even, which nobody says
    want = a.astype("f8")
    for i in range(4):
        want = want / 2 + i
    assert np.allclose(b, want, atol=1e-5)
    x, y = a[0].repeat(2), np.zeros(128, "f4")
    run("single", target, A=x, B=y)
    assert np.array_equal(y, 3 * x[::-1])
