# SPDX-License-Identifier: Apache-2.0
"""What someone meets in the first hour: mistakes in helper functions, words printed while compiling, and how long tuning takes."""
import importlib.util
import re
import sys
import textwrap
import types

import numpy as np
import pytest

import tilewright.triton as triton
import tilewright.triton.language as tl

HEAD = "import tilewright.triton as triton\nimport tilewright.triton.language as tl\n"


def load(tmp_path, name, text, monkeypatch=None):
    file = tmp_path / f"{name}.py"
    file.write_text(HEAD + textwrap.dedent(text))
    if monkeypatch:
        monkeypatch.syspath_prepend(str(tmp_path))
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def failure(kernel, *args, **kwargs):
    with pytest.raises(triton.CompilationError) as info:
        kernel[(1, )](*args, **kwargs)
    return info.value


@pytest.fixture
def zeros():
    return np.zeros(8, np.float32)


# --- a mistake in a helper function is shown there, and where it was called from ---

@pytest.mark.parametrize("order", ["before", "behind"])
def test_mistake_in_a_helper_of_the_same_file(tmp_path, zeros, order):
    helper = "\n@triton.jit\ndef helper(x):\n    y = x + 1\n    return tl.lod(y)\n"
    kernel = "\n@triton.jit\ndef kernel(p):\n    tl.store(p, helper(p))\n"
    module = load(tmp_path, f"same_{order}", helper + kernel if order == "before" else kernel + helper)
    error = failure(module.kernel, zeros)
    assert str(error).startswith("at 3:11:\ndef helper(x):\n    y = x + 1\n    return tl.lod(y)\n           ^\n`tl.lod` is not known")
    assert "return tl.lod(y)" in error.report and "note: in the call of `helper`" in error.report
    assert "tl.store(p, helper(p))" in error.report.split("note:")[1]


def test_mistake_in_a_helper_of_another_module(tmp_path, zeros, monkeypatch):
    load(tmp_path, "helpers_of_a_friend", "\nif True:\n    @triton.jit\n    def helper(x):\n        return tl.lod(x)\n", monkeypatch)
    module = load(tmp_path, "uses_a_friend", "\nimport helpers_of_a_friend as friend\n@triton.jit\ndef kernel(p):\n"
                  "    tl.store(p, friend.helper(p))\n")
    error = failure(module.kernel, zeros)
    assert str(error).startswith("at 2:11:\ndef helper(x):\n    return tl.lod(x)\n           ^\n")
    first = error.report.split("note:")[0]
    assert "helpers_of_a_friend.py:7:12: error" in first and "uses_a_friend.py:7:17" in first


def test_mistake_behind_two_calls_and_in_a_combine_function(tmp_path, zeros):
    module = load(tmp_path, "deep", """
        @triton.jit
        def inner(a, b):
            return a.foo + b

        @triton.jit
        def outer(x):
            return tl.reduce(x, 0, inner)

        @triton.jit
        def kernel(p):
            tl.store(p, outer(tl.load(p + tl.arange(0, 8))))
        """)
    error = failure(module.kernel, zeros)
    assert str(error).startswith("at 2:11:\ndef inner(a, b):\n    return a.foo + b\n")
    assert "in the call of `inner`" in error.report and "in the call of `outer`" in error.report


def test_static_assert_in_a_helper(tmp_path, zeros):
    module = load(tmp_path, "asserts", """
        @triton.jit
        def helper(N: tl.constexpr):
            tl.static_assert(N == 4, "four, please")

        @triton.jit
        def kernel(p):
            helper(5)
        """)
    error = failure(module.kernel, zeros)
    assert isinstance(error, triton.compiler.CompileTimeAssertionFailure)
    assert str(error).startswith("at 2:4:\ndef helper(N: tl.constexpr):\n") and "four, please" in str(error)


# --- what kernels print ---

@triton.jit
def talks(p, N: tl.constexpr):
    for i in tl.static_range(2):
        tl.static_print("N is", N)
    tl.static_print("a", 1.5, p.dtype, sep="-", end=".\n")
    tl.store(p, 1.0)


def test_static_print_speaks_while_compiling(zeros, capsys):
    talks[(1, )](zeros, 8)
    assert capsys.readouterr().out == "N is 8\nN is 8\na-1.5-*float32.\n"
    talks[(1, )](zeros, 8)
    assert capsys.readouterr().out == ""
    talks[(1, )](zeros, 16)
    assert capsys.readouterr().out == "N is 16\nN is 16\na-1.5-*float32.\n"


@triton.jit
def talks_then_fails(p):
    tl.static_print("so far")
    tl.static_assert(False)


def test_static_print_before_a_mistake(zeros, capsys):
    failure(talks_then_fails, zeros)
    assert capsys.readouterr().out == "so far\n"


@triton.jit
def reports(p):
    tl.device_print("value", tl.load(p).to(tl.int32))


def test_device_print_speaks_at_each_launch(zeros, capsys):
    reports[(1, )](zeros)
    reports[(1, )](zeros)
    assert capsys.readouterr().out == "pid (0, 0, 0) idx () value: 0\n" * 2


# --- do_bench: the flush of the cache is part of the time that is spent ---

class Clock:
    """A device on which time passes only by what is asked of it."""

    def __init__(self, flush, call):
        self.now, self.flush, self.call, self.calls, self.flushes = 0.0, flush, call, 0, 0
        clock = self

        class Event:
            def __init__(self, enable_timing=False):
                self.at = None

            def record(self):
                self.at = clock.now

            def elapsed_time(self, other):
                return other.at - self.at

        self.torch = types.SimpleNamespace(cuda=types.SimpleNamespace(Event=Event, synchronize=lambda: None))

    def get_empty_cache_for_benchmark(self):
        return self

    def clear_cache(self, cache):
        self.now += self.flush
        self.flushes += 1

    def fn(self):
        self.now += self.call
        self.calls += 1


@pytest.mark.parametrize("flush,call", [(1.0, 0.001), (0.1, 0.01), (0.0, 2.0), (0.0, 200.0)])
def test_do_bench_spends_what_it_was_given(monkeypatch, flush, call):
    clock = Clock(flush, call)
    monkeypatch.setitem(sys.modules, "torch", clock.torch)
    monkeypatch.setattr(triton.testing, "_active_cuda", lambda: clock)
    assert triton.testing.do_bench(clock.fn, warmup=25, rep=100) == pytest.approx(call)
    spent = 25 + 100 + 6 * (flush + call)  # and the estimate
    assert clock.now <= spent + 2 * (flush + call) + 1e-6, "the estimate leaves something out"
    assert clock.calls >= 7


# --- calls that cannot be meant ---

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


def ones(dtype=np.float32):
    return np.ones(100, dtype)


def frozen():
    array = ones()
    array.flags.writeable = False
    return array


CALLS = [
    # arrays
    (lambda: add[2](np.array([None] * 100), ones(), ones(), 100, 64), TypeError, "`x` has the dtype object, .* convert it"),
    (lambda: add[2](np.array(["a"] * 100), ones(), ones(), 100, 64), TypeError, "`x` has the dtype <U1"),
    (lambda: add[2](ones(np.complex64), ones(), ones(), 100, 64), TypeError, "`x` has the dtype complex64"),
    (lambda: add[2](ones(">f4"), ones(), ones(), 100, 64), TypeError, "`x` has the dtype >f4"),
    (lambda: add[2](ones(), ones(), frozen(), 100, 64), ValueError, "`out` is read-only, and kernel `add` writes to it; pass a copy"),
    (lambda: add[2]([1.0] * 100, ones(), ones(), 100, 64), triton.CompilationError, "a tuple of 100 and an int32"),
    (lambda: add[2]({}, ones(), ones(), 100, 64), triton.CompilationError, "called with x: an object of type builtins.dict, y: \\*fp32"),
    (lambda: add[2](5, ones(), ones(), 100, 64), triton.CompilationError, "called with x: i32, y: \\*fp32"),
    (lambda: add[2](None, ones(), ones(), 100, 64), triton.CompilationError, "called with x: None, y"),
    # numbers and constants
    (lambda: add[2](ones(), ones(), ones(), "100", 64), triton.CompilationError, "the string '100'.*\n(.*\n)*note: .*n: '100', BLOCK: 64"),
    (lambda: add[2](ones(), ones(), ones(), np.array(100), 64), triton.CompilationError, "called with .*, n: \\*i64"),
    (lambda: add[2](ones(), ones(), ones(), 2**70, 64), OverflowError, "`n` does not fit 64 bits"),
    (lambda: add[2](ones(), ones(), ones(), 100, ones()), triton.CompilationError, "BLOCK: an object of type numpy.ndarray"),
    (lambda: add[2](ones(), ones(), ones(), 100, 64.0), triton.CompilationError, "wants an integer known at compile time, here is 64.0"),
    (lambda: add[2](ones(), ones(), ones(), 100, "64"), triton.CompilationError, "BLOCK: '64'"),
    # which arguments
    (lambda: add[2](ones(), ones(), ones()), TypeError, "^missing required arguments: 'n', 'BLOCK' of `add`$"),
    (lambda: add[2](ones(), ones(), ones(), 100), TypeError, "^missing a required argument: 'BLOCK' of `add`$"),
    (lambda: add[2](ones(), ones(), ones(), 100, 64, 5), TypeError, "6 for the 5 parameters of `add`"),
    (lambda: add[2](ones(), ones(), ones(), 100, BLOK=64), KeyError, "BLOK was .* unrecognised; `add` takes 'x', .*, 'BLOCK', and options"),
    (lambda: add[2](ones(), ones(), ones(), 100, 64, n=5), TypeError, "multiple values for argument 'n' of `add`"),
    # the grid
    (lambda: add(ones(), ones(), ones(), 100, 64), RuntimeError, r"launch it on a grid: add\[\(programs,\)\]\(\.\.\)"),
    (lambda: add[(1.5, )](ones(), ones(), ones(), 100, 64), TypeError, "`add` has the extent 1.5; extents are integers"),
    (lambda: add[None](ones(), ones(), ones(), 100, 64), TypeError, "the extent None; extents are integers, and a grid is 1 to 3 of them"),
    (lambda: add["2"](ones(), ones(), ones(), 100, 64), TypeError, "the extent '2'"),
    (lambda: add[(1, 1, 1, 1)](ones(), ones(), ones(), 100, 64), ValueError, "`add` has 4; a grid has 1 to 3 extents"),
    (lambda: add[()](ones(), ones(), ones(), 100, 64), ValueError, "`add` has 0; a grid has 1 to 3 extents"),
    (lambda: add[(-1, )](ones(), ones(), ones(), 100, 64), TypeError, "-1 x 1 x 1; each extent must lie in 0"),
    (lambda: add[(2**31, )](ones(), ones(), ones(), 100, 64), TypeError, "each extent must lie in 0"),
    (lambda: add[(2**70, )](ones(), ones(), ones(), 100, 64), ValueError, "the extent 1180591620717411303424; each must lie in 0"),
    (lambda: add[lambda meta: None](ones(), ones(), ones(), 100, 64), TypeError, "the extent None; .* of them \\(the function that was given returned it\\)"),
    (lambda: add[lambda meta: (meta["BLOK"], )](ones(), ones(), ones(), 100, 64), KeyError, "BLOK"),
    (lambda: triton.jit(lambda x: x), ValueError, "made by `def`"),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_a_call_that_cannot_be_meant(number):
    call, kind, words = CALLS[number]
    with pytest.raises(kind) as caught:
        call()
    text = str(caught.value)
    assert re.search(words, text), text
    assert not re.search(r"(^|\s)--[a-z]|\s-D\b", text), f"the command line's words: {text}"


def test_calls_that_can_be_meant():
    for grid in (2, (2, ), [2], (np.int64(2), ), lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]), )):
        out = np.zeros(100, np.float32)
        add[grid](frozen(), ones(np.float64), out, np.int32(100), 64)
        assert (out == 2).all()
    out = np.zeros(100, np.float32)
    add[(0, )](ones(), ones(), out, 100, 64)
    assert (out == 0).all()


def test_tensors_elsewhere(torch):
    here = torch.ones(100)
    with pytest.raises(TypeError, match="`x` lies on the device meta; kernels run on the CPU and on CUDA devices"):
        add[2](torch.ones(100, device="meta"), here, here, 100, 64)
    with pytest.raises(TypeError, match="`x` has the dtype torch.complex64"):
        add[2](here.to(torch.complex64), here, here, 100, 64)
    with pytest.raises(triton.CompilationError, match=r"called with .*, n: \*i64"):
        add[2](here, here, here, torch.tensor(100), 64)
