"""tvm.tirx: expressions of the host."""
from .._absent import absent_attribute
from ..language.functions import PrimFunc
from ..language.symbols import Expr as PrimExpr, Var


def const(value, dtype=None):
    """A number of the host."""
    return value


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
    return absent_attribute("tvm.tirx", name)
