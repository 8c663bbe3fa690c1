# SPDX-License-Identifier: Apache-2.0
"""triton.language.standard: made from the compiler's table of builtins, with the small functions on constants that kernels of
others import from here.
"""
from ...triton.runtime.jit import constexpr_function
from . import core

globals().update(core.TABLES["T"])
core.register_module(__name__, "triton.language.standard")


@constexpr_function
def _log2(i):
    return int(i).bit_length() - 1 if i > 0 else 0


@constexpr_function
def _is_power_of_two(i):
    return i > 0 and i & (i - 1) == 0


_get_int_dtype = constexpr_function(core.get_int_dtype)
