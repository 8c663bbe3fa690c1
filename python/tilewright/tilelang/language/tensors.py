# SPDX-License-Identifier: Apache-2.0
"""tilelang.language.tensors: annotations of parameters: T.Tensor((M, K), T.float16), T.Tensor[(M, K), "float16"], T.StridedTensor.

Python evaluates them where a kernel is defined; the compiler reads what they are (__tilelang__).
"""
from .dtypes import dtype as _dtype
from .symbols import Expr


def _extents(shape, what):
    rows = tuple(shape) if isinstance(shape, (tuple, list)) or hasattr(shape, "__iter__") and not isinstance(shape, str) else (shape, )
    made = []
    for extent in rows:
        if isinstance(extent, Expr):
            made.append(extent)
        elif hasattr(extent, "__index__") and not isinstance(extent, bool):
            made.append(extent.__index__())
        else:
            raise TypeError(f"{what}: an extent is an integer or T.dynamic(..), not {extent!r}")
    return tuple(made)


class Tensor:
    """A parameter that is an array of a stated shape."""
    _what = "T.Tensor"

    def __init__(self, shape, dtype="float32", data=None, strides=None, **hints):
        self.shape = _extents(shape, self._what)
        self.dtype = _dtype(dtype)
        self.strides = None if strides is None else _extents(strides, self._what)
        self.__tilelang__ = ("Tensor", self.shape, self.dtype, self.strides)

    def __class_getitem__(cls, parts):
        return cls(*parts) if isinstance(parts, tuple) and len(parts) > 1 and not hasattr(parts[-1], "__index__") else cls(parts)

    @property
    def ndim(self):
        return len(self.shape)

    def scope(self):
        return "global"

    def __repr__(self):
        return f"{self._what}({self.shape}, {str(self.dtype)!r})"


class Buffer(Tensor):
    _what = "T.Buffer"


class StridedTensor(Tensor):
    """An array whose strides are stated, too."""
    _what = "T.StridedTensor"

    def __init__(self, shape, strides, dtype="float32", **hints):
        super().__init__(shape, dtype, strides=strides)


class _Tile(Tensor):
    """A parameter of a macro: a tile, of any shape where none is stated."""

    def __init__(self, shape=(), dtype="float32", **hints):
        super().__init__(shape, dtype)


class SharedBuffer(_Tile):
    _what = "T.SharedBuffer"


class FragmentBuffer(_Tile):
    _what = "T.FragmentBuffer"


class LocalBuffer(_Tile):
    _what = "T.LocalBuffer"
