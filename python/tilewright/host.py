# SPDX-License-Identifier: Apache-2.0
"""tilewright.host: what the extension asks of Python, for all languages: names of dtypes, exceptions, texts of functions.

A function that was compiled says itself which exceptions its mistakes are (`make_error`); what belongs to none is plain.
"""
import collections
import inspect
import re
import textwrap

from . import _native

# What the library says, in parts: severity ("error", "warning", "performance", "note": it belongs to the one before), a code that
# stays, the text, its place (file None: none; line and column from 1), how many bytes it is about, and where something does not
# suffice how much is needed and how much there is; the end of the text that says what to write instead ("": none by itself).
Diagnostic = collections.namedtuple("Diagnostic", "severity code text file line column length needed available fix")

LAUNCH, WARMUP, SANITIZE, PREPARE, EMIT = range(5)  # what a launch of the extension is for; EMIT: its target stands for the grid

type_canonicalisation_dict = {
    "bool": "i1", "int1": "i1", "uint1": "u1", "i1": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "float8e4nv": "fp8e4nv", "float8e5": "fp8e5",
    "float8e4b15": "fp8e4b15", "float8e4b8": "fp8e4b8", "float8e5b16": "fp8e5b16", "float8_e4m3fn": "fp8e4nv",
    "float8_e4m3fnuz": "fp8e4b8", "float8_e5m2": "fp8e5", "float8_e5m2fnuz": "fp8e5b16", "float4_e2m1fn_x2": "u8", "half": "fp16", "float16": "fp16",
    "bfloat16": "bf16", "float": "fp32", "float32": "fp32", "double": "fp64", "float64": "fp64", "void": "void",
}
type_canonicalisation_dict.update({name: name for name in list(type_canonicalisation_dict.values())})

# What the library calls them, where it is not the name above.
_LIBRARY_NAMES = {"fp16": "f16", "fp32": "f32", "fp64": "f64", "fp8e4nv": "f8e4m3", "fp8e5": "f8e5m2", "fp8e4b8": "f8e4b8",
                  "fp8e5b16": "f8e5b16", "fp8e4b15": "f8e4b15"}
_BUFFER_FORMATS = {"?": "i1", "b": "i8", "h": "i16", "i": "i32", "q": "i64", "l": "i64", "B": "u8", "H": "u16", "I": "u32", "Q": "u64",
                   "L": "u64", "e": "f16", "f": "f32", "d": "f64"}


_ARRAY_KINDS = {"b": "i", "i": "i", "u": "u", "f": "f"}


def dtype_name(dtype):
    """The library's name of a dtype object of torch, numpy, ml_dtypes or triton.language, of a buffer's format, or of an array
    interface's type ("<f4")."""
    name = str(dtype)
    format = name[1:] if name[:1] in ("<", "=", "@") else name  # ctypes states the order of bytes
    if format in _BUFFER_FORMATS:
        return _BUFFER_FORMATS[format]
    if name[:1] in "<|=" and name[1:2] in _ARRAY_KINDS and name[2:].isdigit():
        return "i1" if name[1] == "b" else f"{_ARRAY_KINDS[name[1]]}{8 * int(name[2:])}"
    name = name.rsplit(".", 1)[-1]
    name = type_canonicalisation_dict.get(name, name)
    return _LIBRARY_NAMES.get(name, name)


def function_text(fn):
    """The text of a function from its `def` on, dedented, and the number of that line; OSError: there is none, ValueError: no def."""
    fn = inspect.unwrap(fn)
    lines, first = inspect.findsource(fn)
    begins = re.compile(rf"\s*(async\s+)?def\s+{re.escape(fn.__code__.co_name)}\s*[(\[]")
    at = next((i for i in range(first, len(lines)) if begins.match(lines[i])), None)
    if at is None:
        raise ValueError(f"{fn!r} is not made by `def`")
    # from the def on: in CPython 3.9 a lambda among the decorators would end the block
    return textwrap.dedent("".join(inspect.getblock(lines[at:]))), at + 1


def cells(fn):
    """The closure of a function by name, or None."""
    return dict(zip(fn.__code__.co_freevars, fn.__closure__ or ())) or None


def plain_error(status, message, found, cause):
    """The exception for a status that says nothing of a kernel's source."""
    if status == "TW_ERROR_ARGUMENT":
        return OverflowError(message) if any(row.code == "argument-range" for row in found) else TypeError(message)
    kinds = {"TW_ERROR_MEMORY": MemoryError, "TW_ERROR_NOT_FOUND": ValueError, "TW_ERROR_IO": OSError}
    error = kinds.get(status, RuntimeError)(message)
    error.__cause__ = cause
    return error


default_maker = None  # of mistakes that belong to no function: f(status, message, diagnostics, function, cause, note) -> exception


def _make_error(status, message, rows, function, cause, note):
    """The exception for a status of the library and its diagnostics; `note` is what a hook said of the compile under way, or None."""
    found = [Diagnostic(*row) for row in rows]
    maker = getattr(function, "make_error", None) or default_maker
    return maker(status, message, found, function, cause, note) if maker else plain_error(status, message, found, cause)


_native.configure(make_error=_make_error, dtype_name=dtype_name)
