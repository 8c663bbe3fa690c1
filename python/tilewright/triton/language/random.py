# SPDX-License-Identifier: Apache-2.0
"""triton.language.random: made from the compiler's table of builtins."""
from . import core

globals().update(core.TABLES["T"])
core.register_module(__name__, "triton.language.random")
N_ROUNDS_DEFAULT = core.constexpr(10)
