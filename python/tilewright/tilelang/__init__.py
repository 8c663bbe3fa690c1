# SPDX-License-Identifier: Apache-2.0
"""tilewright.tilelang: TileLang's interface, on Tilewright's compiler.

    import tilewright.tilelang as tilelang
    import tilewright.tilelang.language as T

`python -m tilewright script.py` runs a script that says `import tilelang` with it.
"""
__version__ = "0.1.13"

import logging as _logging
import sys as _sys

from .. import _native, host  # noqa: F401
from . import language
from .language import dtypes
from .language.dtypes import dtype as DataType
from .errors import CompilationError, LaunchError, TileLangError
from .env import disable_cache, enable_cache, env, is_cache_enabled
from .math import cdiv, next_power_of_2
from .utils import TensorSupplyType, build_date, deprecated
from .jit import JITImpl, JITKernel, compile, jit, lazy_jit, par_compile
from .profiler import Profiler
from .layout import Fragment, Layout
from .transform import PassConfigKey
from .autotuner import autotune
from .engine import lower, register_c_postproc, register_cuda_postproc, register_hip_postproc
from . import autotuner, backend, cache, carver, contrib, engine, errors, layout, math, profiler, testing, tools, transform, tt, tvm, utils
from ._absent import absent_attribute as _absent_attribute

logger = _logging.getLogger("tilelang")
_native.register(_sys.modules[__name__], "tilelang")
for _module in (layout, math, utils, carver, carver.arch, carver.arch.driver):
    _native.register(_module, "tilelang." + _module.__name__.partition("tilelang.")[2])
_native.register(tvm, "tvm")


def set_log_level(level):
    """Of the logger `tilelang`, which says little: the compiler's warnings are Python's."""
    logger.setLevel(level.upper() if isinstance(level, str) else level)


def __getattr__(name):
    return _absent_attribute("tilelang", name)


__all__ = ["CompilationError", "DataType", "Fragment", "JITImpl", "JITKernel", "LaunchError", "Layout", "PassConfigKey", "Profiler", "TensorSupplyType",
           "TileLangError", "autotune", "autotuner", "backend", "build_date", "cache", "carver", "cdiv", "compile", "contrib", "deprecated", "disable_cache", "dtypes",
           "enable_cache", "engine", "env", "errors", "is_cache_enabled", "jit", "language", "layout", "lazy_jit", "lower", "math", "next_power_of_2", "par_compile",
           "profiler", "register_c_postproc", "register_cuda_postproc", "register_hip_postproc", "set_log_level", "testing", "tools", "transform", "tt", "tvm", "utils"]
