# SPDX-License-Identifier: Apache-2.0
"""Functions of libdevice that C's math library does not have, on all targets of the host."""
import math

import numpy as np
import pytest

import tilewright.triton as triton
import tilewright.triton.language as tl
from tilewright.triton.language.extra import libdevice

INF, NAN = math.inf, math.nan
# name -> (x, what it gives): to 17 digits.
VALUES = {
    "j0": [(0.0, 1.0), (1.0, 0.76519768655796655), (-2.0, 0.22389077914123567), (30.0, -0.086367983581040211), (INF, 0.0), (NAN, NAN)],
    "j1": [(0.0, 0.0), (1.0, 0.44005058574493352), (-2.0, -0.57672480775687339), (30.0, -0.11875106261662292)],
    "y0": [(0.0, -INF), (1.0, 0.088256964215676958), (30.0, -0.11729573168666403), (-1.0, NAN)],
    "y1": [(0.0, -INF), (1.0, -0.78121282130028872), (30.0, 0.084425570661747224), (-1.0, NAN)],
    "cyl_bessel_i0": [(0.0, 1.0), (1.0, 1.2660658777520083), (-3.5, 7.3782034322254797), (30.0, 781672297823.97749), (INF, INF), (-INF, INF), (NAN, NAN)],
    "cyl_bessel_i1": [(0.0, 0.0), (1.0, 0.56515910399248503), (-3.5, -6.2058349222583655), (30.0, 768532038938.95700), (-INF, -INF)],
    "erfinv": [(0.0, 0.0), (0.5, 0.47693627620446987), (-0.75, -0.81341984759761852), (1.0, INF), (-1.0, -INF), (1.5, NAN)],
    "erfcinv": [(0.0, INF), (0.5, 0.47693627620446987), (1.0, 0.0), (2.0, -INF), (-0.5, NAN)],
    "erfcx": [(0.0, 1.0), (1.0, 0.42758357615580701), (-1.0, 5.0089800807622835), (30.0, 0.018795888861416751), (-INF, INF), (INF, 0.0)],
    "normcdf": [(0.0, 0.5), (1.0, 0.84134474606854293), (-3.0, 0.0013498980316300945), (INF, 1.0), (-INF, 0.0)],
    "normcdfinv": [(0.5, 0.0), (0.25, -0.67448975019608174), (0.0, -INF), (1.0, INF)],
    "sinpi": [(0.5, 1.0), (3.0, 0.0), (0.25, 0.70710678118654752), (-1.5, 1.0), (INF, NAN)],
    "cospi": [(0.5, 0.0), (3.0, -1.0), (0.25, 0.70710678118654752), (1e9, 1.0), (INF, NAN)],
    "rcbrt": [(8.0, 0.5), (-27.0, -1 / 3), (0.0, INF)],
}


@triton.jit
def apply(x, y, n, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, getattr(libdevice, FUNCTION)(tl.load(x + at, at < n, 0.0)), at < n)


@triton.jit
def one_over_length(x, y, z):
    tl.store(z, libdevice.rhypot(tl.load(x), tl.load(y)))


@pytest.mark.parametrize("name, value", [("TILEWRIGHT_TARGET", "cpu"), ("TILEWRIGHT_TARGET", "interp"), ("TILEWRIGHT_EMULATE", "1")])
@pytest.mark.parametrize("dtype, bound", [(np.float32, 6e-8), (np.float64, 1e-14)])
def test_functions_beyond_the_math_library(name, value, dtype, bound, monkeypatch):
    monkeypatch.setenv(name, value)
    kernel = triton.jit(apply.fn)  # not what was compiled for another target
    for function, rows in VALUES.items():
        x, wanted = np.array(rows, dtype).T.copy()
        y = np.zeros_like(x)
        kernel[(1, )](x, y, len(x), function, 8)
        np.testing.assert_allclose(y, wanted, rtol=bound, atol=0, err_msg=function)
    z = np.zeros(1, dtype)
    triton.jit(one_over_length.fn)[(1, )](np.array([3], dtype), np.array([4], dtype), z)
    assert z[0] == dtype(0.2)
