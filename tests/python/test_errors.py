# SPDX-License-Identifier: Apache-2.0
"""Errors of a kernel's source, as Python sees them."""
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import tilewright.triton as triton
import tilewright.triton.language as tl


def failure(kernel, *args, **kwargs):
    with pytest.raises(triton.CompilationError) as info:
        kernel[(1, )](np.zeros(16, np.float32), *args, **kwargs)
    return info.value


def test_place_and_message():

    @triton.jit
    def kernel(out):
        x = tl.arange(0, 4)
        tl.store(out + x, tl.lod(out))

    error = failure(kernel)
    text = str(error)
    assert "at 3:22:" in text and "tl.load" in text and __file__ in text
    assert error.error_message in text and str(error.__cause__) == error.error_message
    assert isinstance(error, triton.TritonError)
    assert str(pickle.loads(pickle.dumps(error))) == text


def test_syntax_errors_of_a_changed_source():

    @triton.jit
    def kernel(out):
        tl.store(out, 1.0)

    kernel._unsafe_update_src("def kernel(out):\n    tl.store(out, (1.0\n")
    failure(kernel)


def test_static_assert():

    @triton.jit
    def kernel(out, N: tl.constexpr):
        tl.static_assert(N == 4, "N is four")
        tl.store(out, 1.0)

    error = failure(kernel, N=5)
    assert isinstance(error, triton.compiler.CompileTimeAssertionFailure) and "N is four" in str(error)


def test_an_exception_of_the_host_is_the_cause():

    @triton.constexpr_function
    def refuse(n):
        raise ValueError(f"{n} is not to our taste")

    @triton.jit
    def kernel(out):
        tl.store(out, refuse(3))

    error = failure(kernel)
    assert "3 is not to our taste" in str(error) and isinstance(error.__cause__, ValueError)


def test_functions_without_a_file():
    scope = {}
    exec("def kernel(out): pass", scope)
    with pytest.raises(ValueError, match="should be defined in a Python file"):
        triton.jit(scope["kernel"])


def test_a_cache_that_cannot_be_used_is_said_once(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import warnings\nimport numpy as np\nimport tilewright.triton as triton\nimport tilewright.triton.language as tl\n"
                       "@triton.jit\ndef one(x):\n    tl.store(x, 1)\n@triton.jit\ndef two(x):\n    tl.store(x, 2)\n"
                       "x = np.zeros(4, np.int32)\nwith warnings.catch_warnings(record=True) as seen:\n    warnings.simplefilter('always')\n"
                       "    one[(1,)](x)\n    two[(1,)](x)\nprint(x[0], [str(w.message) for w in seen])\n")
    done = subprocess.run([sys.executable, str(program)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "TILEWRIGHT_CACHE_DIR": "/dev/null"})
    assert done.stdout == "2 ['compiled kernels are not kept: the cache folder /dev/null is not a folder [cache]']\n"
    program.write_text(program.read_text().replace("simplefilter('always')", "simplefilter('error')"))
    done = subprocess.run([sys.executable, str(program)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "TILEWRIGHT_CACHE_DIR": "/dev/null"})
    assert done.returncode == 1 and "RuntimeWarning: compiled kernels are not kept" in done.stdout
