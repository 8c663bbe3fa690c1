# SPDX-License-Identifier: Apache-2.0
"""triton.language.math: made from the compiler's table of builtins."""
from . import core

globals().update(core.TABLES["M"])
core.register_module(__name__, "triton.language.math")
