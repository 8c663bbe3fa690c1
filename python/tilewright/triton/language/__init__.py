# SPDX-License-Identifier: Apache-2.0
"""triton.language: what kernels are written in.

The functions are made from the compiler's own table of builtins; calling one outside of a kernel is an error.
"""
from ... import _native
from . import core
from .core import *  # noqa: F401,F403
from .core import PLACES, TABLES, _unwrap_if_constexpr, str_to_ty  # noqa: F401


def _register_module(module, name):
    _native.register(module, name)


globals().update({name: value for name, value in vars(core).items() if not name.startswith("_") and name not in ("PLACES", "TABLES", "enum", "inspect",
                                                                                                   "operator", "sys")})
core.register_module(__name__, "triton.language")
core.register_module(core.__name__, "triton.language.core")
from . import extra, math, random, standard, target_info  # noqa: E402,F401
