# SPDX-License-Identifier: Apache-2.0
"""T.ieee_*: one operation, rounded once as its mode says; compared with exact fractions."""
import fractions
import math

import numpy as np
import pytest

import tilewright.tilelang as tilelang
import tilewright.tilelang.language as T

OPS = {"add": 2, "sub": 2, "mul": 2, "fdiv": 2, "fmaf": 3, "fsqrt": 1, "frcp": 1}
N = 512


def kernel_of(name, mode, dtype):
    function, count = getattr(T, f"ieee_{name}"), OPS[name]

    @T.prim_func
    def main(X: T.Tensor((N, ), dtype), Y: T.Tensor((N, ), dtype), Z: T.Tensor((N, ), dtype), O: T.Tensor((N, ), dtype)):
        with T.Kernel(1, threads=128):
            for i in T.Parallel(N):
                if count == 1:
                    O[i] = function(X[i], mode)
                elif count == 2:
                    O[i] = function(X[i], Y[i], mode)
                else:
                    O[i] = function(X[i], Y[i], Z[i], mode)

    return tilelang.compile(main, out_idx=[3], target="c")


def numbers(dtype, seed):
    rng = np.random.default_rng(seed)
    low, high = (-40, 40) if dtype == np.float32 else (-200, 200)
    x = (rng.standard_normal(N) * np.exp2(rng.integers(low, high, N).astype(np.float64))).astype(dtype)
    x[:8] = [0, 1, 3, np.finfo(dtype).max, np.finfo(np.float32).tiny, 5, 7, 0.1]
    return x


def is_right(name, mode, x, y, z, out):
    """Is out the number next to the exact result that the mode asks for?"""
    x, y, z = (fractions.Fraction(float(each)) for each in (x, y, z))
    if name == "fdiv" and not y or name == "frcp" and not x:
        return True
    exact = {"add": lambda: x + y, "sub": lambda: x - y, "mul": lambda: x * y, "fdiv": lambda: x / y, "frcp": lambda: 1 / x, "fmaf": lambda: x * y + z,
             "fsqrt": lambda: None}[name]()

    def below(value):  # is a number not above the exact result? Roots are compared by their squares.
        if math.isinf(value):
            return value < 0
        value = fractions.Fraction(float(value))
        return (value <= 0 or value * value <= x) if exact is None else value <= exact

    def above(value):
        if math.isinf(value):
            return value > 0
        value = fractions.Fraction(float(value))
        return (value >= 0 and value * value >= x) if exact is None else value >= exact

    up, down = np.nextafter(out, out.dtype.type(np.inf)), np.nextafter(out, out.dtype.type(-np.inf))
    is_exact = below(out) and above(out)
    positive = exact is None or exact > 0
    if mode == "rz":
        mode = "rd" if positive else "ru"
    if mode == "rd":
        return is_exact or below(out) and not below(up)
    if mode == "ru":
        return is_exact or above(out) and not above(down)
    return below(down) and above(up)  # rn: one of the two neighbours; which is what the plain operation says


@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("mode", ("rn", "rz", "ru", "rd"))
@pytest.mark.parametrize("dtype", ("float32", "float64"))
def test_rounding(name, mode, dtype):
    x, y, z = (numbers(np.dtype(dtype).type, seed) for seed in (1, 2, 3))
    if name == "fsqrt":
        x = np.abs(x)
    if name == "fmaf":
        with np.errstate(over="ignore"):
            z[64:128] = (-(x.astype(np.float64) * y)[64:128]).astype(dtype)  # what is left is the product's error
        z = np.where(np.isfinite(z), z, 1).astype(dtype)
    out = kernel_of(name, mode, dtype)(x, y, z)
    with np.errstate(all="ignore"):
        wrong = [i for i in range(N) if not is_right(name, mode, x[i], y[i], z[i], out[i])]
    assert not wrong, [(x[i], y[i], z[i], out[i]) for i in wrong[:4]]


def test_zeros_have_the_sign_of_the_mode():
    x, y = np.array([1.5, 0.0, -0.0, 0.0] * (N // 4), np.float32), np.array([-1.5, 0.0, -0.0, -0.0] * (N // 4), np.float32)
    down = kernel_of("add", "rd", "float32")(x, y, x)
    assert (np.signbit(down) == [True, False, True, True] * (N // 4)).all()
    up = kernel_of("add", "ru", "float32")(x, y, x)
    assert (np.signbit(up) == [False, False, True, False] * (N // 4)).all()


def test_mistakes():
    with pytest.raises(tilelang.CompilationError, match="rounding mode"):
        kernel_of("add", "up", "float32")
    with pytest.raises(tilelang.CompilationError, match="16 bits"):
        kernel_of("add", "rz", "float16")
    with pytest.raises(tilelang.CompilationError, match="floats"):
        kernel_of("mul", "rn", "int32")
