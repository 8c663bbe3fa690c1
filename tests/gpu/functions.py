# SPDX-License-Identifier: Apache-2.0
"""functions.py: functions that C's math library has for few."""
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def functions(x_ptr, y_ptr, z_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    z = libdevice.lgamma(x) + libdevice.tgamma(x) + libdevice.j0(x) + libdevice.j1(x) + libdevice.y0(x) + libdevice.y1(x)
    z += libdevice.cyl_bessel_i0(x) + libdevice.cyl_bessel_i1(x) + libdevice.erfinv(x) + libdevice.erfcinv(x) + libdevice.erfcx(x)
    z += libdevice.normcdf(x) + libdevice.normcdfinv(x) + libdevice.sinpi(x) + libdevice.cospi(x) + libdevice.rcbrt(x)
    tl.store(z_ptr + i, z + libdevice.rhypot(x, y) + libdevice.pow(x, y) + libdevice.erfc(x))
