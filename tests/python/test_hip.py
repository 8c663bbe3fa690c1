# SPDX-License-Identifier: Apache-2.0
"""test_hip.py: target hip from Python: on the emulator, and what is said where it cannot be."""
import numpy as np
import pytest
import tilewright.triton as triton
import tilewright.triton.language as tl


@triton.jit
def add(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@triton.jit
def say(x, BLOCK: tl.constexpr):
    tl.device_print("x", tl.load(x + tl.arange(0, BLOCK)))


@triton.jit
def square(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i[:, None] * N + i[None, :])
    tl.store(y + i[:, None] * N + i[None, :], tl.dot(a, a))


def numbers(n):
    return np.arange(n, dtype=np.float32)


@pytest.mark.parametrize("target", ["hip-emulated", "hip-emulated:gfx1100"])
def test_the_emulator_runs_the_text(monkeypatch, target):
    monkeypatch.setenv("TILEWRIGHT_TARGET", target)
    x, y = numbers(200), np.zeros(200, np.float32)
    add[(2, )](x, y, 150, 128)
    assert (y[:150] == x[:150] + 1).all() and not y[150:].any()


def test_what_is_not_there(monkeypatch):
    x = numbers(64)
    monkeypatch.setenv("TILEWRIGHT_TARGET", "hip:gfx803")
    with pytest.raises(ValueError, match="target hip knows no architecture `gfx803`; it knows hip:gfx90a, hip:gfx942, hip:gfx1100"):
        add[(1, )](x, x.copy(), 64, 64)
    monkeypatch.setenv("TILEWRIGHT_TARGET", "hip")
    monkeypatch.setenv("LD_LIBRARY_PATH", "")
    with pytest.raises(RuntimeError, match=r"no HIP driver here \(libamdhip64.so\); install AMD's ROCm, or use the emulator"):
        add[(1, )](x, x.copy(), 64, 64)


def test_what_the_chip_has_not(monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_TARGET", "hip-emulated")
    with pytest.raises(triton.CompilationError, match="target hip does not print yet"):
        say[(1, )](numbers(64), 64)
    a = np.zeros((256, 256), np.float32)
    with pytest.raises(triton.OutOfResources, match="shared memory, Required: 262144, Hardware limit: 65536"):
        square[(1, )](a, a.copy(), 256)
