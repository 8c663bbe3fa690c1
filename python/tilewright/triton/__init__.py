# SPDX-License-Identifier: Apache-2.0
"""tilewright.triton: Triton's interface, on Tilewright's compiler.

    import tilewright.triton as triton
    import tilewright.triton.language as tl

`python -m tilewright script.py` runs a script that says `import triton` with it.
"""
__version__ = "3.6.0"

from .. import _native
from . import knobs
from .errors import TritonError
from .compiler.errors import CompilationError
from .runtime.errors import InterpreterError, OutOfResources
from .runtime.jit import JITFunction, KernelInterface, MockTensor, TensorWrapper, aggregate, aggregate_replace, constexpr_function, jit, reinterpret
from .runtime.autotuner import Config, autotune, heuristics
from .runtime._async_compile import AsyncCompileMode, FutureKernel
from .runtime._allocation import set_allocator
from .compiler.compiler import compile
from . import _C, _utils, backends, compiler, language, runtime, testing, tools
from .runtime import interpreter
from .tools import ragged_tma
from . import _absent  # the last one: it fills up the others

_native.configure(plain_globals=knobs.plain_globals)
must_use_result = language.core.must_use_result


def cdiv(x: int, y: int):
    """x / y rounded up."""
    return (x + y - 1) // y


def next_power_of_2(n: int):
    """The least power of two that is not below n."""
    return 1 << (n - 1).bit_length() if n > 1 else 1 if n == 1 else 0


language._register_module(__import__("sys").modules[__name__], "triton")
for _function in (aggregate_replace, cdiv, next_power_of_2):
    _native.register(_function, "triton." + _function.__name__)

__all__ = ["AsyncCompileMode", "CompilationError", "Config", "FutureKernel", "InterpreterError", "JITFunction", "KernelInterface", "MockTensor", "OutOfResources",
           "TensorWrapper", "TritonError", "aggregate", "aggregate_replace", "autotune", "backends", "cdiv", "compile", "compiler", "constexpr_function", "heuristics",
           "jit", "knobs", "language", "must_use_result", "next_power_of_2", "reinterpret", "runtime", "set_allocator", "testing", "tools"]
