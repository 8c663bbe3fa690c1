# SPDX-License-Identifier: Apache-2.0
"""tilelang.math: numbers of the host."""
from ... import _native
from ..language.builtins import ceildiv


def cdiv(a, b):
    """a / b, rounded up."""
    return ceildiv(a, b)


def next_power_of_2(n):
    """The least power of two that is not below n."""
    return 1 << (n - 1).bit_length() if n > 1 else 1


def next_power_of_two(n):
    return next_power_of_2(n)


for _function in (cdiv, next_power_of_2):
    _native.register(_function, f"tilelang.{_function.__name__}")
