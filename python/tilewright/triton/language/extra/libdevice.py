# SPDX-License-Identifier: Apache-2.0
"""triton.language.extra.libdevice: what C's math library has, made from the compiler's table of builtins."""
from .. import core

globals().update(core.TABLES["L"])
core.register_module(__name__, "triton.language.extra.libdevice")
