# SPDX-License-Identifier: Apache-2.0
"""tilelang.language: T.

Inside a kernel the compiler says what a name means. On the host dtypes, sizes (T.dynamic), annotations (T.Tensor), decorators and what
computes with numbers (T.ceildiv) are objects that work; every other name is there, and says that it is for kernels where it is called.
"""
import sys as _sys

from ... import _native
from . import builtins as _builtins, dtypes
from .builtins import GemmWarpPolicy
from .dtypes import dtype
from .functions import Macro, PrimFunc, macro, prim_func
from .symbols import Expr as PrimExpr, Var, const, dynamic, symbolic
from .tensors import Buffer, FragmentBuffer, LocalBuffer, SharedBuffer, StridedTensor, Tensor

_native.register(_sys.modules[__name__], "tilelang.language")
for _name, _object in (("dtype", dtype), ("const", const), ("dynamic", dynamic), ("Tensor", Tensor), ("Buffer", Buffer),
                       ("StridedTensor", StridedTensor), ("SharedBuffer", SharedBuffer), ("FragmentBuffer", FragmentBuffer), ("LocalBuffer", LocalBuffer),
                       ("macro", macro), ("prim_func", prim_func)):
    _native.register(_object, f"tilelang.language.{_name}")


def __getattr__(name):
    if name.startswith("__") and name.endswith("__") or name in ("_pytestfixturefunction", "pytestmark"):
        raise AttributeError(f"module 'tilelang.language' has no attribute {name!r}")
    made = dtypes.NAMES.get(name)
    if made is None:
        made = _builtins.Builtin(name, _builtins.HOST.get(name))
    globals()[name] = made
    return made
