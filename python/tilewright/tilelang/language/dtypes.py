# SPDX-License-Identifier: Apache-2.0
"""tilelang.language.dtypes: dtypes as objects of the host: texts ("float16") with a size, one object a name.

    T.float16.bits, T.float16 == "float16", T.dtype(torch.float16) is T.float16, T.float32(1) == 1.0
"""
import functools
import re
import sys

from ... import _native

_ALIASES = {"half": "float16", "float": "float32", "double": "float64", "int": "int32", "uint": "uint32", "short": "int16", "long": "int64",
            "ushort": "uint16", "ulong": "uint64", "char": "int8", "uchar": "uint8", "boolean": "bool", "e4m3_float8": "float8_e4m3fn",
            "e5m2_float8": "float8_e5m2", "e4m3_float8x2": "float8_e4m3fnx2", "bool_": "bool"}
_BASES = ["bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (1, 2, 4, 8, 16, 32, 64)), "float16", "float32", "float64", "bfloat16",
          "tfloat32", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
          "float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn", "float4_e2m1_unpacked", "handle", "ptr", "void"]
_STORED = {"int4": "int8", "uint4": "uint8", "float4_e2m1fn": "uint8", "float4_e2m1fnx2": "uint8", "tfloat32": "float32", "float8_e4m3": "float8_e4m3fn", "ptr": "int64"}
_LANES = (2, 3, 4, 8, 16, 32, 64)
_objects = {}


class dtype(str):
    """A dtype of TileLang; dtype(x) finds the one of a name, of a dtype of torch or numpy, or of Python's own types."""

    def __new__(cls, of):
        if isinstance(of, dtype):
            return of
        name = of if isinstance(of, str) else _name_of(of)
        name = _canonical(name)
        if name not in _objects:
            raise ValueError(f"there is no dtype {of!r}")
        return _objects[name]

    @property
    def bits(self):
        return self._bits

    @property
    def lanes(self):
        return self._lanes

    @property
    def bytes(self):
        return (self._bits * self._lanes + 7) // 8

    itemsize = bytes

    @property
    def name(self):
        return str(self)

    @property
    def element(self):
        """Of a vector the dtype of its elements."""
        return dtype(str(self).rpartition("x")[0]) if self._lanes > 1 else self

    def with_lanes(self, lanes):
        return dtype(str(self.element) + (f"x{lanes}" if lanes > 1 else ""))

    @property
    def stored(self):
        """The dtype of arrays of it: two numbers of 4 bits are a byte."""
        return dtype(_STORED.get(str(self), self))

    def stored_shape(self, shape):
        """The shape of an array of so many."""
        shape = tuple(shape)
        return (*shape[:-1], shape[-1] // 2) if shape and self._bits == 4 and self._lanes == 1 else shape

    @functools.lru_cache(maxsize=None)  # every output of a call asks
    def as_torch(self):
        import torch
        if self in ("float4_e2m1fn", "float4_e2m1fnx2") and hasattr(torch, "float4_e2m1fn_x2"):
            return torch.float4_e2m1fn_x2
        found = getattr(torch, str(self.stored), None)
        if not isinstance(found, torch.dtype):
            raise ValueError(f"torch has no dtype {self}")
        return found

    def as_numpy(self):
        import numpy
        try:
            return numpy.dtype(str(self))
        except TypeError:
            raise ValueError(f"numpy has no dtype {self}") from None

    def is_float4(self):
        return self.startswith("float4")

    def is_float4_e2m1fn(self):
        return self == "float4_e2m1fn"

    def is_float4_e2m1_unpacked(self):
        return self == "float4_e2m1_unpacked"

    def is_float8(self):
        return self.startswith("float8")

    def __call__(self, value=None, *rest):
        """A number of the host as the dtype's; inside a kernel it is a conversion."""
        from .symbols import Expr, Var
        if value is None:
            return Var("v", self)
        if isinstance(value, Expr):
            return value
        if rest or self._lanes > 1:
            raise TypeError(f"T.{self}(..) of several numbers is for kernels")
        if self == "bool":
            return bool(value)
        return float(value) if "float" in self else int(value)

    def __repr__(self):
        return f"dtype('{self}')"

    def __reduce__(self):
        return dtype, (str(self), )

    __hash__ = str.__hash__

    def __eq__(self, other):
        if type(other) is str:
            return str.__eq__(self, _canonical(other))
        return str.__eq__(self, other) if isinstance(other, str) else NotImplemented

    def __ne__(self, other):
        same = self.__eq__(other)
        return same if same is NotImplemented else not same


def _name_of(of):
    """The name of a dtype object of torch or numpy, or of bool, int, float."""
    if of in (bool, int, float):
        return {bool: "bool", int: "int32", float: "float32"}[of]
    name = getattr(of, "__name__", None) if isinstance(of, type) else getattr(of, "name", None)
    return name if isinstance(name, str) else str(of).rsplit(".", 1)[-1]


def _canonical(name):
    name = name.strip().removeprefix("torch.").removeprefix("T.")
    return _ALIASES.get(name, name)


def _make(name, lanes):
    base = re.sub(r"x\d+$", "", name) if lanes > 1 else name
    digits = re.search(r"\d+", base)
    made = str.__new__(dtype, name)
    made._bits = 1 if base == "bool" else 64 if base in ("handle", "ptr") else 32 if base == "tfloat32" else 0 if base == "void" else int(digits.group())
    made._lanes = lanes
    _objects[name] = made
    _native.register(made, f"tilelang.language.{name}")
    globals()[name] = made


for _base in _BASES:
    _make(_base, 1)
    for _lanes in _LANES if _base not in ("handle", "void") else ():
        _make(f"{_base}x{_lanes}", _lanes)

NAMES = {**_objects, **{alias: _objects[name] for alias, name in _ALIASES.items() if name in _objects}}
AnyDType = object
_known = set()


def follow_torch():
    """Kernels know torch's dtypes by their names."""
    torch = sys.modules.get("torch")
    if torch is None or "torch" in _known or not hasattr(torch, "dtype"):
        return
    _known.add("torch")
    for name in dir(torch):
        found = getattr(torch, name, None)
        if isinstance(found, torch.dtype):
            _native.register(found, f"torch.{str(found).removeprefix('torch.')}")


class _TorchNames(dict):
    """torch's dtypes -> names."""

    def __missing__(self, of):
        return str(dtype(of))


_TORCH_DTYPE_TO_STR = _TorchNames()


def __getattr__(name):
    if name in NAMES:
        return NAMES[name]
    raise AttributeError(f"tilelang.language.dtypes has no {name}")
