# SPDX-License-Identifier: Apache-2.0
"""What names in a kernel mean: globals, closures, builtins and modules of the running program, under any alias."""
import enum
import inspect
import math
import pickle
import types

import numpy as np
import pytest

import tilewright.triton as triton
import tilewright.triton.language as tl
import tilewright.triton.language as another_name
from tilewright.triton.language import arange as first_numbers, store

CONSTANT = tl.constexpr(7)
PLAIN = 3
SETTINGS = types.SimpleNamespace(width=tl.constexpr(4), plain=5)


def read(kernel, *args, **kwargs):
    out = np.zeros(4, np.float32)
    kernel[(1, )](out, *args, **kwargs)
    return out[0]


@triton.jit
def twice(x):
    return x * 2


def test_aliases():

    @triton.jit
    def kernel(out, BLOCK: another_name.constexpr):
        at = first_numbers(0, BLOCK)
        store(out + at, another_name.full((BLOCK, ), 3, another_name.float32))

    assert read(kernel, BLOCK=4) == 3


def test_constants_of_the_module():

    @triton.jit
    def kernel(out):
        tl.store(out, CONSTANT + math.pi * 0)

    assert read(kernel) == 7


def test_plain_globals_are_refused():

    @triton.jit
    def kernel(out):
        tl.store(out, PLAIN)

    with pytest.raises(triton.CompilationError, match="PLAIN"):
        read(kernel)


def test_plain_globals_by_request(monkeypatch):
    monkeypatch.setenv("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS", "1")

    @triton.jit
    def kernel(out):
        tl.store(out, PLAIN)

    assert read(kernel) == 3


def test_attributes_of_objects():

    @triton.jit
    def kernel(out):
        tl.store(out, SETTINGS.width + SETTINGS.plain)

    assert read(kernel) == 9


class Kind(enum.Enum):
    HALF = 1
    FULL = 2


DTYPES = {Kind.HALF: tl.float16, Kind.FULL: tl.float32}


def test_members_of_enumerations_as_constants():
    """`value` of a parameter is tl.constexpr's, as in Triton: the member itself, and its number is behind it; of the class it is the member's."""

    @triton.jit
    def kernel(out, kind: tl.constexpr):
        x = tl.full((), 1.0009765625 + 0.000244140625, DTYPES[kind.value]).to(tl.float32)
        if kind == Kind.HALF:
            x += kind.value.value
        tl.store(out, x + 10 * Kind.FULL.value)

    assert read(kernel, kind=Kind.HALF) == 22.0009765625
    assert read(kernel, kind=Kind.FULL) == np.float32(21.001220703125)


def test_what_an_object_lacks_is_its_own_error():

    @triton.jit
    def kernel(out, kind: tl.constexpr):
        tl.store(out, DTYPES[kind])

    with pytest.raises(triton.CompilationError, match="KeyError: 7"):
        read(kernel, kind=7)


def test_closures():
    inner = tl.constexpr(11)

    @triton.jit
    def helper(x):
        return x + inner

    @triton.jit
    def kernel(out):
        tl.store(out, helper(twice(1.0)))

    assert read(kernel) == 13


def test_names_in_dead_code_are_not_looked_up():

    @triton.jit
    def kernel(out, FLAG: tl.constexpr):
        if FLAG:
            tl.store(out, tl.no_such_function(nothing_of_that_name))  # noqa: F821
        tl.store(out, 1.0)

    assert read(kernel, FLAG=False) == 1
    with pytest.raises(triton.CompilationError, match="no_such_function|nothing_of_that_name"):
        read(kernel, FLAG=True)


def test_functions_and_dtypes_as_constants():

    @triton.jit
    def kernel(out, f: tl.constexpr, dtype: tl.constexpr):
        tl.store(out, f(tl.full((), 3, dtype)).to(tl.float32))

    assert read(kernel, f=twice, dtype=tl.int32) == 6
    assert read(kernel, twice, tl.float16) == 6


def test_constexpr_function():

    @triton.constexpr_function
    def shape(n):
        return max(2, n // 2)

    @triton.jit
    def kernel(out, N: tl.constexpr):
        BLOCK: tl.constexpr = shape(N)
        tl.store(out, tl.sum(tl.full((BLOCK, ), 1.0, tl.float32)))

    assert read(kernel, N=16) == 8
    assert shape(tl.constexpr(16)) == 8


def test_a_global_that_changes():
    scope = {"tl": tl}

    @triton.jit
    def kernel(out):
        tl.store(out, CHANGING)  # noqa: F821

    kernel.fn.__globals__["CHANGING"] = tl.constexpr(1)
    assert read(kernel) == 1
    kernel.fn.__globals__["CHANGING"] = tl.constexpr(1)
    assert read(kernel) == 1
    kernel.fn.__globals__["CHANGING"] = tl.constexpr(2)
    with pytest.raises(RuntimeError, match=r"CHANGING has changed since we compiled this kernel, from constexpr\[1\] to constexpr\[2\]"):
        read(kernel)
    del kernel.fn.__globals__["CHANGING"], scope


def test_another_source():

    @triton.jit
    def kernel(out):
        tl.store(out, 1.0)

    assert read(kernel) == 1
    other = triton.JITFunction(kernel.fn)
    other._unsafe_update_src(kernel.src.replace("1.0", "5.0"))
    assert read(other) == 5 and read(kernel) == 1


def test_defaults():

    @triton.jit
    def kernel(out, x=4, BLOCK: tl.constexpr = 2):
        tl.store(out, x * BLOCK)

    assert read(kernel) == 8
    assert read(kernel, 3) == 6
    assert read(kernel, BLOCK=1) == 4


def test_what_kernels_call_is_no_function_of_python():
    with pytest.raises(ValueError, match="forget to add @triton.jit"):
        tl.load(3)


def test_constexpr_arithmetic():
    x = tl.constexpr(6)
    assert (x + 1).value == 7 and (2 * x).value == 12 and (x // 4).value == 1 and (-x).value == -6
    assert bool(x == 6) and not bool(x < 6) and [1, 2, 3][tl.constexpr(1)] == 2


def test_dtypes_on_the_host():
    assert tl.float32.primitive_bitwidth == 32 and tl.bfloat16.itemsize == 2 and tl.int1.is_bool()
    assert str(tl.float16) == "fp16" and repr(tl.uint8) == "triton.language.uint8"
    assert tl.float8e4nv.is_fp8() and tl.float8e4nv.fp_mantissa_width == 3
    assert tl.str_to_ty("*fp32", None) == tl.pointer_type(tl.float32)
    assert tl.dtype("int8") is tl.int8 and pickle.loads(pickle.dumps(tl.float16)) is tl.float16
    assert tl.dtype("int8") == tl.int8 and tl.int8 in {tl.int8: 1}


def test_signatures_are_for_help():
    assert str(inspect.signature(tl.load)).startswith("(pointer, mask=None, other=None")
    for name in dir(tl):
        if type(getattr(tl, name)).__name__ == "_Builtin":
            inspect.signature(getattr(tl, name))


def test_constants_that_change_inside():
    size = tl.constexpr(3)

    @triton.jit
    def kernel(out):
        tl.store(out, size)

    out = np.zeros(1, np.int32)
    kernel[(1, )](out)
    size.value = 4
    with pytest.raises(RuntimeError, match=r"size has changed since we compiled this kernel, from constexpr\[3\] to constexpr\[4\]"):
        kernel[(1, )](out)


def test_text_of_a_called_function():

    @triton.jit
    def inner():
        return 3

    @triton.jit
    def kernel(out, FN: tl.constexpr):
        tl.store(out, FN() + inner())

    out = np.zeros(1, np.int32)
    kernel[(1, )](out, inner)
    assert out[0] == 6
    inner._unsafe_update_src(inner.src.replace("3", "4"))
    kernel[(1, )](out, inner)
    assert out[0] == 8
