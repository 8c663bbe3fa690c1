# SPDX-License-Identifier: Apache-2.0
"""Threads that launch a kernel for the first time at once: one of them parses it, each gets its result."""
import importlib.util
import threading

import numpy as np

TEXT = """
import tilewright.triton as triton
import tilewright.triton.language as tl


@triton.jit
def double(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)
"""


def test_first_launches_at_once(tmp_path):
    for turn in range(6):
        path = tmp_path / f"double_{turn}.py"
        path.write_text(TEXT)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        x = np.arange(100, dtype="f4")
        failed = []

        def launch(block):
            try:
                y = np.zeros(100, "f4")
                module.double[(-(-100 // block),)](x, y, 100, B=block)
                assert np.array_equal(y, 2 * x)
            except BaseException as error:  # noqa: B902 -- a thread's errors are lost otherwise
                failed.append(error)

        threads = [threading.Thread(target=launch, args=(32 << i % 3,)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed, failed


WRONG = """
import tilewright.triton as triton
import tilewright.triton.language as tl


@triton.jit
def wrong_{0}(x, n):
    tl.store(x + tl.arange(0, 16), missing_{0})
"""


def test_each_thread_gets_the_messages_of_its_own_call(tmp_path):
    kernels = []
    for i in range(4):
        path = tmp_path / f"wrong_{i}.py"
        path.write_text(WRONG.format(i))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        kernels.append(getattr(module, f"wrong_{i}"))
    others = []

    def launch(i):
        x = np.zeros(16, "f4")
        for n in range(30):
            try:
                kernels[i][(1,)](x, n)
                others.append("no error")
            except Exception as error:
                if f"missing_{i}" not in str(error):
                    others.append(f"{i}: {error}")

    threads = [threading.Thread(target=launch, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not others
