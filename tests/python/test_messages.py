# SPDX-License-Identifier: Apache-2.0
"""Broken kernels: each message stands at its place, says the rule, and what to write instead."""
import importlib.util
import re

import numpy as np
import pytest

import tilewright.triton as triton

HEAD = "import tilewright.triton as triton\nimport tilewright.triton.language as tl\nfrom tilewright.triton.language.extra import libdevice\n\n\n" \
       "@triton.jit\ndef helper(a, b):\n    return a + b\n\n\n@triton.jit\ndef kernel(p, n, N: tl.constexpr):\n    "
CASES = [
    ("x = tl.lod(p)", "did you mean `tl.load`"),
    ("x = tl.load(p, masc=True)", "did you mean `mask`"),
    ("x = tl.zeros([4], float32)", "did you mean `tl.float32`"),
    ("x = n.to(tl.flaot16)", "did you mean `tl.float16`"),
    ("x = tl.math.tanhh(1.0)", "did you mean `tl.math.tanh`"),
    ("x = libdevice.tanhh(1.0)", "did you mean `libdevice.tanh`"),
    ("x = tl.arange(0, 4).sumn(0)", "did you mean `.sum`"),
    ("x = tl.float32.is_fp23()", "did you mean `.is_fp32`"),
    ("x = tl.arange(0, n)", "pass it as a tl.constexpr parameter"),
    ("x: tl.constexpr = n; y = tl.arange(0, x)", "pass it as a tl.constexpr parameter"),
    ("y = helper(1)", r"it is `helper\(a, b\)`"),
    ("y = helper(1, 2, 3)", r"it is `helper\(a, b\)`"),
    ("x = tl.arange(0, 4) + tl.arange(0, 8)", r"int32\[4\] and int32\[8\]"),
    ("x = tl.dot(tl.zeros([4, 8], tl.float32), tl.zeros([4, 8], tl.float32))", r"\[M, K\] and \[K, N\]"),
    ("x = tl.sum(tl.zeros([4, 4], tl.float32), axis=2)", "the tensor has 2"),
    ("x = tl.broadcast_to(tl.arange(0, 4), [2, 4])", "expand_dims"),
    ("x = tl.cat(tl.arange(0, 4), tl.zeros([4], tl.float32))", "of one type"),
    ("p[0] = 1", "use tl.store"),
    ("p.x = 1", "aggregate_replace"),
    ("x = tl.arange(0, 4)[1]", "tl.where"),
    ("x = lambda a: a", "define a function with @triton.jit"),
    ("x = {1: 2}", "use a tuple"),
    ("x = tl.arange(0, 4) @ tl.arange(0, 4)", r"tl.dot\(a, b\)"),
    ("x = tl.arange(0, 4) ** 2", r"libdevice.pow"),
    ("x = ~1.5", "bits of integers"),
    ("x = -p", "cast a pointer"),
    ("x = 'a' + 1", "both must be numbers"),
    ("return 5", "store it through a pointer"),
    ("raise ValueError", "tl.device_assert"),
    ("a, *b = (1, 2, 3)", "slice of the tuple"),
    ("x = len(n)", "^len wants a tuple"),
    ("x = tl.load(p).to(int)", r"^\.to wants a dtype"),
    ("x = f'{N:q}'", "is no format"),
    ("with helper: pass", "context manager"),
    ("x = tl.atomic_add(p, 1, sem='aquire')", "'acquire'"),
    ("tl.store(p, 1, mask=tl.arange(0, 4) < 2)", "scalar pointer"),
]


@pytest.mark.parametrize("statement,words", CASES, ids=[statement for statement, _ in CASES])
def test_message(tmp_path, statement, words):
    file = tmp_path / "broken.py"
    file.write_text(HEAD + statement + "\n")
    spec = importlib.util.spec_from_file_location("broken", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(triton.CompilationError) as caught:
        module.kernel[(1, )](np.zeros(4, np.float32), 3, 16)
    assert re.search(words, caught.value.error_message), caught.value.error_message
    report = caught.value.report
    line = len(HEAD.split("\n"))
    assert re.match(rf"{re.escape(str(file))}:{line}:\d+: error: .* \[[\w-]+\]\n +{line} \|     {re.escape(statement)}\n +\| +\^", report), report


@triton.jit
def of_triton_1(p, n, **meta):
    BLOCK = meta["BLOCK"]


def test_keywords_of_any_name_are_refused_at_the_launch():
    for launch in (of_triton_1[(1, )], triton.autotune([triton.Config({})], key=[])(of_triton_1)[(1, )]):
        with pytest.raises(triton.CompilationError, match=r"cannot take `\*\*meta`.*`NAME: tl.constexpr`"):
            launch(np.zeros(4, np.float32), 3, BLOCK=16)
