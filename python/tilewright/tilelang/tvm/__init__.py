# SPDX-License-Identifier: Apache-2.0
"""tvm: the little of TVM that programs written in TileLang use: dtypes, targets, a kernel as a module. Calling anything else says its name."""
from .._absent import absent_attribute
from ..errors import CompilationError as TVMError
from ..language.dtypes import dtype as DataType
from ..language.functions import PrimFunc as _PrimFunc
from . import ir, target, testing, tirx

tir = tirx
DLDataType = DataType
__version__ = "0.22.0"


class IRModule:
    """Kernels as they are written, by name."""

    def __init__(self, functions=None):
        self.functions = dict(functions or {})
        self.attrs = {}

    @staticmethod
    def from_expr(func):
        return IRModule({func.__name__: function_of(func)})

    def __getitem__(self, name):
        return self.functions[str(name)]

    def script(self, *args, **kwargs):
        return "\n\n".join(func.source for func in self.functions.values())

    def show(self, *args, **kwargs):
        print(self.script())

    def __str__(self):
        return self.script()


ir.IRModule = IRModule


def function_of(func):
    """The kernel of a module that holds one, or the kernel itself."""
    if isinstance(func, IRModule):
        if len(func.functions) != 1:
            raise ValueError(f"the module holds {len(func.functions)} kernels; pass one of them")
        return next(iter(func.functions.values()))
    if not isinstance(func, _PrimFunc):
        raise TypeError(f"this takes a kernel as it is written (T.prim_func), not {func!r}")
    return func


def cuda(device=0):
    import torch
    return torch.device("cuda", device)


def __getattr__(name):
    return absent_attribute("tvm", name)


__all__ = ["DataType", "IRModule", "TVMError", "ir", "target", "testing", "tir", "tirx"]
