# SPDX-License-Identifier: Apache-2.0
"""cache_key: the digest of a kernel's source, of what it calls and of the constants that it reads; what is kept by it; and warmups that
would compile the same kernel."""
import concurrent.futures
import os

import numpy as np
import pytest

import tilewright.triton as triton
import tilewright.triton.language as tl
from tilewright.triton.runtime import tuning

STEP = tl.constexpr(1)


@triton.constexpr_function
def flag():
    return False


@triton.jit
def leaf(i):
    return i + STEP


@triton.jit
def middle(i):
    return leaf(i) if not flag() else i


@triton.jit
def kernel(x, i):
    tl.store(x, middle(i))


def other_text(function, old, new):
    """The key of the kernel while that function has another text."""
    text = function.src
    function._unsafe_update_src(text.replace(old, new))
    try:
        return kernel.cache_key
    finally:
        function._unsafe_update_src(text)


def test_what_a_key_depends_on(monkeypatch):
    key = kernel.cache_key
    keys = {key, other_text(leaf, "i +", "i -"), other_text(middle, "else i", "else 2 * i"), other_text(kernel, "(i)", "(i + 1)"),
            other_text(flag, "False", "True")}
    assert len(keys) == 5 and kernel.cache_key == key
    monkeypatch.setitem(globals(), "STEP", tl.constexpr(2))
    assert kernel.cache_key not in keys


def test_a_function_that_asks_elsewhere_has_no_key():

    @triton.constexpr_function
    def machine():
        return os.cpu_count()

    with pytest.raises(RuntimeError, match="`machine` reads `os.cpu_count`"):
        machine.cache_key

    @triton.jit
    def asks(x):
        tl.store(x, machine())

    assert len(asks.cache_key) == 64


def test_kept_choices_go_with_what_they_were_made_for():
    config = triton.Config({})
    first = tuning.Store(kernel, [config], "cpu").path
    text = leaf.src
    leaf._unsafe_update_src(text.replace("i +", "i -"))
    try:
        assert tuning.Store(kernel, [config], "cpu").path != first
    finally:
        leaf._unsafe_update_src(text)
    assert tuning.Store(kernel, [config], "cpu").path == first


class Later(concurrent.futures.Executor):
    """Does nothing until it is told."""

    def __init__(self):
        self.jobs = []

    def submit(self, function, *args):
        future = concurrent.futures.Future()
        self.jobs.append(lambda: future.set_result(function(*args)))
        return future


def test_the_same_kernel_is_compiled_ahead_once():
    pool, x, y = Later(), np.zeros(4, np.float32), np.zeros(4, np.int32)
    with triton.AsyncCompileMode(pool):
        made = [kernel.warmup(array, 5, grid=(1, )) for array in (x, y, x, y, x)]
        assert len(pool.jobs) == 2 and made[0] is made[2] and made[0] is not made[1]
        for job in pool.jobs:
            job()
    assert made[0].result().name == "kernel"


def test_an_error_beside_it_does_not_wait_for_compiles():
    with pytest.raises(ZeroDivisionError):
        with triton.AsyncCompileMode(Later()):
            kernel.warmup(np.zeros(4, np.float32), 7, grid=(1, ))
            1 // 0


def test_a_changed_closure_is_told_as_what_it_is():
    value = tl.constexpr(42)

    @triton.jit
    def closure(x):
        tl.store(x, value)

    closure[(1, )](np.zeros(1, np.int32))
    value.value = 43
    with pytest.raises(RuntimeError, match=r"value has changed since we compiled this kernel, from constexpr\[42\] to constexpr\[43\]"):
        closure[(1, )](np.zeros(1, np.int32))
