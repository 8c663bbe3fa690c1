# SPDX-License-Identifier: Apache-2.0
"""tilelang.language.functions: functions that become kernels, or parts of kernels: T.prim_func, T.macro, and plain ones that a kernel calls.

A PrimFunc is a function with the values that its names had when it was decorated; what it means is found when it is compiled
(jit.kernel). The compiler reads its text and asks for its names (tilewright._native).
"""
import ast
import builtins
import inspect
import sys
import types
import weakref

from ... import _native, host, record
from .dtypes import NAMES, dtype as _dtype, follow_torch
from .tensors import Tensor


def _lambda_text(fn):
    """A lambda as the text of a function made by `def`, and the number of its line; ValueError: it cannot be told from others of its line."""
    lines, first = inspect.findsource(fn)
    line = fn.__code__.co_firstlineno
    tree = ast.parse("".join(lines))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda) and node.lineno == line
             and [arg.arg for arg in node.args.args] == list(fn.__code__.co_varnames[:fn.__code__.co_argcount])]
    codes = {ast.unparse(node) for node in found}
    if len(codes) > 1:  # several on one line: by what they do
        codes = {text for text in codes if compile(text, "", "eval").co_consts[0].co_code == fn.__code__.co_code
                 and compile(text, "", "eval").co_consts[0].co_consts == fn.__code__.co_consts and compile(text, "", "eval").co_consts[0].co_names == fn.__code__.co_names}
    if len(codes) != 1:
        raise ValueError(f"{fn!r} cannot be told from others of its line")
    made = ast.parse(codes.pop(), mode="eval").body
    return f"def anonymous({ast.unparse(made.args)}):\n    return {ast.unparse(made.body)}\n", line


def text_of(fn, what):
    """The text of a function from its `def` on and the number of that line."""
    try:
        if fn.__name__ == "<lambda>":
            return _lambda_text(fn)
        return host.function_text(fn)
    except OSError as error:
        raise ValueError(f"{what}: the source of `{fn.__name__}` is not there: define it in a Python file") from error
    except ValueError as error:
        raise ValueError(f"{what} is for functions made by `def`") from error


def _names_used(code):
    """Global names of a function's code and of what is defined inside of it."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names_used(constant)
    return names


def captured(fn):
    """(globals, closure) of a function with the values that they have now; a name that has none yet is looked up later."""
    space, names = fn.__globals__, _names_used(fn.__code__)
    found = {name: space[name] for name in names if name in space}
    closure = {}
    for name, cell in (host.cells(fn) or {}).items():
        try:
            closure[name] = types.CellType(cell.cell_contents)
        except ValueError:  # bound later: a function that calls itself
            closure[name] = cell
    builtin = vars(builtins)
    unbound = any(name not in found and name not in builtin for name in fn.__code__.co_names)
    return (space if unbound else found), closure or None


class KernelParam:
    """A parameter of a kernel: a tensor of a shape, or (no shape) a number."""

    def __init__(self, dtype, shape, name=None):
        self.dtype = _dtype(dtype)
        self.shape = list(shape)
        self.name = name

    def torch_dtype(self):
        return self.dtype.as_torch()

    def is_scalar(self):
        return not self.shape

    def is_unsigned(self):
        return self.dtype.startswith("uint")

    def is_float8(self):
        return self.dtype.is_float8()

    def is_float4(self):
        return self.dtype.is_float4()

    def is_boolean(self):
        return self.dtype == "bool"

    def __repr__(self):
        return f"KernelParam({self.name}: {self.dtype}{self.shape})"


def _evaluated(fn, names):
    """The annotations of a function; those that are texts (from __future__ import annotations) evaluated among the names around it."""
    notes = dict(getattr(fn, "__annotations__", {}))
    for name, note in notes.items():
        if isinstance(note, str) and note not in NAMES:
            try:
                notes[name] = eval(note, fn.__globals__, names)
            except NameError:
                pass  # a name of the function's own: the compiler looks for it
    return notes


class PrimFunc:
    """A kernel as it is written. tilelang.compile makes it one that runs."""
    eager = False

    def __init__(self, fn, names=None, around=None):
        self.fn = self.orig_func = fn
        self.__name__ = fn.__name__
        self.__qualname__ = fn.__qualname__
        self.__module__ = fn.__module__
        self.__doc__ = fn.__doc__
        self.source, self.line = text_of(fn, "T.prim_func")
        self.signature = inspect.signature(fn)
        self.globals, self.closure = captured(fn)
        self.annotations = _evaluated(fn, names or {})
        self.attrs = {"global_symbol": fn.__name__}
        self.around = around  # (record) the arguments of the function that made it
        follow_torch()

    @property
    def params(self):
        """Its parameters, where annotations are objects (not texts)."""
        made = []
        for name in self.signature.parameters:
            note = self.annotations.get(name)
            if isinstance(note, Tensor):
                made.append(KernelParam(note.dtype, note.shape, name))
            else:
                try:
                    made.append(KernelParam(_dtype(note) if note is not None else "int32", (), name))
                except ValueError:
                    raise TypeError(f"parameter `{name}` of `{self.__name__}` has the annotation {note!r}; write T.Tensor(shape, dtype) or a dtype") from None
        return made

    @property
    def buffer_map(self):
        return {name: note for name, note in self.annotations.items() if isinstance(note, Tensor)}

    def with_attr(self, name, value=None):
        """The same kernel with another attribute (a name and a value, or a dict)."""
        made = object.__new__(PrimFunc)
        made.__dict__.update(self.__dict__)
        made.attrs = {**self.attrs, **(name if isinstance(name, dict) else {name: value})}
        return made

    def without_attr(self, name):
        made = self.with_attr({})
        made.attrs.pop(name, None)
        return made

    def script(self, *args, **kwargs):
        """Its text."""
        return self.source

    def show(self, *args, **kwargs):
        print(self.source)

    def __str__(self):
        return self.source

    def __repr__(self):
        return f"<T.prim_func {self.__qualname__}>"

    def __call__(self, *args, **kwargs):
        raise TypeError(f"`{self.__name__}` is a kernel as it is written; tilelang.compile({self.__name__}) makes it one that runs")


def prim_func(func=None, private=None, check_well_formed=None, **options):
    """Makes a function a kernel: @T.prim_func."""
    frame = sys._getframe(1)
    names = frame.f_locals
    code = frame.f_code
    parameters = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    around = {name: names[name] for name in parameters if name in names} if record.wanted() else None
    if func is None:
        return lambda fn: prim_func(fn) if not isinstance(fn, types.FunctionType) else PrimFunc(fn, names, around)
    if isinstance(func, PrimFunc):
        return func
    if not isinstance(func, types.FunctionType):
        raise TypeError(f"T.prim_func decorates a function, not {func!r}")
    return PrimFunc(func, names, around)


class _Text(_native.Function):
    """A function that kernels call; its names are its own."""
    eager = False

    def __init__(self, fn, what, late):
        text, line = text_of(fn, what)
        space, closure = (fn.__globals__, host.cells(fn)) if late else captured(fn)
        super().__init__(fn.__name__, fn.__code__.co_filename, text, line, space, closure, [], [], [], {})
        self.__name__ = fn.__name__
        self.__doc__ = fn.__doc__
        self.__wrapped__ = fn
        self.__annotations__ = {}


class Macro(_Text):
    """What T.macro makes: a function that is run where a kernel calls it."""

    def __init__(self, fn):
        super().__init__(fn, "T.macro", False)

    def __call__(self, *args, **kwargs):
        raise TypeError(f"`{self.__name__}` is a macro: it is called inside of a kernel")

    def __get__(self, owner, cls=None):
        if owner is not None:
            raise TypeError(f"`{self.__name__}`: macros are functions; a method cannot be one")
        return self


def macro(func=None, **options):
    """Makes a function one that is run where kernels call it: @T.macro."""
    if func is None:
        return lambda fn: macro(fn)
    if isinstance(func, Macro):
        return func
    if not isinstance(func, types.FunctionType):
        raise TypeError(f"T.macro decorates a function, not {func!r}")
    return Macro(func)


_texts = weakref.WeakKeyDictionary()


def _source_of(object):
    """A plain function of the program as one that kernels call; None: it is none."""
    if not isinstance(object, types.FunctionType):
        return None
    if object not in _texts:
        try:
            _texts[object] = _Text(object, "a function that a kernel calls", True)
        except ValueError:
            return None
    return _texts[object]


_native.configure(source_of=_source_of)
