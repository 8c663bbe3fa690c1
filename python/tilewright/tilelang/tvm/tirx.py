# SPDX-License-Identifier: Apache-2.0
"""tvm.tirx: expressions. On the host they are numbers; inside a kernel a function of it is the one of that name of T."""
from ... import _native
from .. import language
from .._absent import absent_attribute
from ..language.functions import PrimFunc
from ..language.symbols import Expr as PrimExpr, Var


def const(value, dtype=None):
    """A number of the host; inside a kernel one of that dtype."""
    return value


_native.register(const, "tilelang.language.cast")


def IntImm(dtype, value):
    return int(value)


def FloatImm(dtype, value):
    return float(value)


def all(*conditions):
    """Do all hold?"""
    return conditions[0] if len(conditions) == 1 else all(conditions[0] and conditions[1], *conditions[2:])


def any(*conditions):
    """Does one hold?"""
    return conditions[0] if len(conditions) == 1 else any(conditions[0] or conditions[1], *conditions[2:])


__all__ = ["FloatImm", "IntImm", "PrimExpr", "PrimFunc", "Var", "all", "any", "const"]


def __getattr__(name):
    if name in ("Cast", "Select") or name.islower() and not name.startswith("_"):
        return getattr(language, name)
    return absent_attribute("tvm.tirx", name)
