# SPDX-License-Identifier: Apache-2.0
"""Tuning: compiles side by side, choices that are stable, kept, pinned and exported; failed configurations by name."""
import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import tilewright.triton as triton
import tilewright.triton.language as tl
from tilewright.triton.runtime import tuning
from tilewright.triton.runtime.errors import AutotunerError


def make(configs, times=None, **options):
    """A kernel whose configurations take the given times; the calls of do_bench are written down."""
    seen = []

    def bench(fn, quantiles, **kwargs):
        fn()
        config = list(kernel.configs)[len(seen) % len(kernel.configs)] if times is None else None
        seen.append(config)
        return times[(len(seen) - 1) % len(times)] if times else [1.0, 1.0, 1.0]

    @triton.autotune(configs=configs, key=["n"], do_bench=bench, restore_value=["x"], **options)
    @triton.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)

    kernel.seen = seen
    return kernel


def blocks(*sizes):
    return [triton.Config({"BLOCK": size}) for size in sizes]


def launch(kernel, n=100):
    x = np.zeros(n, np.float32)
    kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]), )](x, n)
    np.testing.assert_array_equal(x, 1)
    return kernel.best_config.kwargs["BLOCK"]


def test_the_fastest_wins_where_times_tell():
    assert launch(make(blocks(16, 32, 64), [[3, 2.9, 3.1], [1, 0.9, 1.1], [2, 1.9, 2.1]])) == 32


def test_the_first_wins_where_times_overlap():
    kernel = make(blocks(16, 32, 64), [[1.05, 1.0, 1.2], [1.0, 0.95, 1.1], [5, 5, 5], [1.05, 1.0, 1.2], [1.0, 0.95, 1.1]])
    assert launch(kernel) == 16 and len(kernel.seen) == 5  # the two are timed once more
    kernel = make(blocks(16, 32, 64), [[1.05, 1.0, 1.2], [1.0, 0.95, 1.1], [5, 5, 5], [1.05, 1.04, 1.06], [1.0, 0.99, 1.01]])
    assert launch(kernel) == 32  # which tells them apart
    assert tuning.equals({"a": 2.0, "b": 1.0, "c": 1.0}) == ["b", "c"]


def test_configurations_compile_side_by_side(monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_COMPILE_THREADS", "3")
    kernel = make(blocks(16, 32, 64, 128))
    threads, meeting = set(), threading.Barrier(3, timeout=60)
    inner = kernel.fn.prepare

    def prepare(*args, **kwargs):
        threads.add(threading.get_ident())
        if len(threads) <= 3 and kwargs["BLOCK"] != 128:
            meeting.wait()  # three are under way at once, or this breaks
        return inner(*args, **kwargs)

    kernel.fn.prepare = prepare
    launch(kernel)
    assert len(threads) == 3 and threading.get_ident() not in threads


def test_compiled_ahead_is_not_compiled_again(tmp_path, monkeypatch):
    monkeypatch.setattr(triton.knobs.cache, "dir", str(tmp_path))

    @triton.jit
    def kernel(x, K: tl.constexpr):
        tl.store(x, K)

    x = np.zeros(1, np.int32)
    kernel.prepare(x, 4711)

    def kept():
        return sorted(name for _, _, names in os.walk(tmp_path) for name in names)

    before = kept()
    assert any(name.endswith(".so") for name in before) and not kernel.results()
    kernel[(1, )](x, 4711)
    assert x[0] == 4711 and kept() == before


def test_failed_configurations_are_named(capsys, monkeypatch):
    monkeypatch.setenv("TRITON_PRINT_AUTOTUNING", "1")

    @triton.autotune(configs=blocks(16, 32), key=[], warmup=0, rep=0)
    @triton.jit
    def kernel(x, BLOCK: tl.constexpr):
        tl.static_assert(BLOCK < 32, "BLOCK is too large")
        tl.store(x + tl.arange(0, BLOCK), 1)

    kernel[(1, )](np.zeros(64, np.float32))
    assert kernel.best_config.kwargs == {"BLOCK": 16}
    (config, error), = kernel.config_errors.items()
    assert repr(config) == f"Config({config})" and str(config).startswith("BLOCK: ")
    assert config.kwargs == {"BLOCK": 32} and "BLOCK is too large" in str(error)
    assert "for the configuration BLOCK: 32" in capsys.readouterr().out

    @triton.autotune(configs=blocks(64, 128), key=[], warmup=0, rep=0)
    @triton.jit
    def hopeless(x, BLOCK: tl.constexpr):
        tl.static_assert(BLOCK < 32, "BLOCK is too large")

    with pytest.raises(AutotunerError) as info:
        hopeless[(1, )](np.zeros(64, np.float32))
    assert "none of the 2 configurations of `hopeless`" in str(info.value) and "BLOCK: 128" in str(info.value)


def test_configurations_that_cannot_be_compiled_are_passed_over():

    @triton.autotune(configs=blocks(1 << 30, 16), key=[], warmup=0, rep=0)
    @triton.jit
    def kernel(x, BLOCK: tl.constexpr):
        tl.store(x + tl.arange(0, BLOCK), 1)

    with pytest.warns(RuntimeWarning, match="the configuration BLOCK: 1073741824.* of `kernel` cannot be compiled and is passed over: a tile"):
        kernel[(1, )](np.zeros(64, np.float32))
    assert kernel.best_config.kwargs == {"BLOCK": 16} and [config.kwargs["BLOCK"] for config in kernel.config_errors] == [1 << 30]

    @triton.autotune(configs=blocks(16, 32), key=[], warmup=0, rep=0)
    @triton.jit
    def misspelt(x, BLOCK: tl.constexpr):
        tl.stoer(x + tl.arange(0, BLOCK), 1)

    with pytest.raises(triton.CompilationError, match="did you mean `tl.store`"):  # no configuration's fault
        misspelt[(1, )](np.zeros(64, np.float32))


def test_results_on_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(triton.knobs.cache, "dir", str(tmp_path))
    times = [[3, 3, 3], [2, 2, 2], [1, 1, 1]]
    first = make(blocks(16, 32, 64), times, cache_results=True)
    assert launch(first) == 64 and len(first.seen) == 3
    again = make(blocks(16, 32, 64), times, cache_results=True)
    assert launch(again) == 64 and not again.seen
    assert launch(again, 200) == 64 and len(again.seen) == 3  # another key
    other = make(blocks(16, 32), times, cache_results=True)  # other configurations are another kernel
    assert launch(other) == 32
    plain = make(blocks(16, 32, 64), times)
    launch(plain)
    assert len(plain.seen) == 3
    monkeypatch.setenv("TRITON_CACHE_AUTOTUNING", "1")
    by_variable = make(blocks(16, 32, 64), times)
    assert launch(by_variable) == 64 and not by_variable.seen
    for folder, _, names in os.walk(tmp_path / "tilewright" / "autotune"):
        for name in names:
            with open(os.path.join(folder, name), "w") as file:
                file.write("{ broken")
    broken = make(blocks(16, 32, 64), times, cache_results=True)
    assert launch(broken) == 64 and len(broken.seen) == 3


def test_pin_and_export(tmp_path, monkeypatch):
    kernel = make(blocks(16, 32, 64), [[3, 3, 3], [2, 2, 2], [1, 1, 1]])
    kernel.pin({"BLOCK": 32})
    assert launch(kernel) == 32 and not kernel.seen
    kernel.pin(kernel.configs[0])
    assert launch(kernel) == 16
    with pytest.raises(ValueError, match="names 0 of the 3 configurations"):
        kernel.pin({"BLOCK": 7})
    tuned = make(blocks(16, 32, 64), [[3, 3, 3], [2, 2, 2], [1, 1, 1]])
    launch(tuned)
    path = tmp_path / "tuned.json"
    assert tuned.export(path) == json.load(open(path)) and list(tuned.export()["kernels"]) == ["test_tuned.make.<locals>.kernel"]
    fresh = make(blocks(16, 32, 64), [[1, 1, 1], [2, 2, 2], [3, 3, 3]])
    fresh.pin(path)
    assert launch(fresh) == 64 and not fresh.seen
    assert launch(fresh, 300) == 16 and len(fresh.seen) == 3  # that key was not exported
    fresh.pin({"BLOCK": 32})  # for all keys, those of the file among them
    assert launch(fresh) == 32 and launch(fresh, 300) == 32
    monkeypatch.setenv("TILEWRIGHT_TUNED", str(path))
    assert launch(make(blocks(16, 32, 64), [[1, 1, 1], [2, 2, 2], [3, 3, 3]])) == 64
    with pytest.raises(ValueError, match="is the configuration .* which it has no more"):
        make(blocks(16, 32))

    @triton.autotune(configs=blocks(8), key=[])  # a kernel of that name at another place is another kernel
    @triton.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        pass


def test_what_cannot_be_pinned(tmp_path, monkeypatch):
    path = tmp_path / "tuned.json"
    kernel = make(blocks(16, 32), [[1, 1, 1], [2, 2, 2]])
    for text in ("", "[]", "{}", '{"kernels": 3}'):
        path.write_text(text)
        with pytest.raises(ValueError, match="tuned.json is no file of choices"):
            kernel.pin(path)
    path.write_text('{"kernels": {"other.kernel": []}}')
    with pytest.raises(ValueError, match="tuned.json has no choice for `test_tuned.make.<locals>.kernel`; tune it"):
        kernel.pin(path)
    monkeypatch.setenv("TILEWRIGHT_TUNED", str(path))  # of a program's kernels some may be there
    assert launch(make(blocks(16, 32), [[1, 1, 1], [2, 2, 2]])) == 16


def test_choices_of_the_command_line(tmp_path):
    rows = [{"key": None, "target": target, "values": {"BLOCK": block}, "options": {"num_warps": 2}, "us": 1.5}
            for target, block in (("cuda:sm_90a", 64), ("cpu", 8))]
    kernel = make(blocks(16, 32), [])
    kernel.pin({"kernels": {"test_tuned.make.<locals>.kernel": rows}})
    assert launch(kernel) == 8 and launch(kernel, 300) == 8 and not kernel.seen and kernel.best_config.num_warps == 2
    rows[1]["options"] = {"vector_bits": 256}
    with pytest.raises(ValueError, match="sets vector_bits, which a launch from Python does not take"):
        kernel.pin({"kernels": {"test_tuned.make.<locals>.kernel": rows}})
    path = tmp_path / "tuned.json"
    path.write_text(json.dumps({"kernels": {"test_tuned.make.<locals>.kernel": rows}}))
    with pytest.raises(ValueError, match="in .*tuned.json sets vector_bits"):
        kernel.pin(path)
    rows[1] = {**rows[1], "options": {}, "values": {"BLOK": 8}}
    path.write_text(json.dumps({"kernels": {"test_tuned.make.<locals>.kernel": rows}}))
    with pytest.raises(ValueError, match="in .*tuned.json gives BLOK, and the kernel takes"):
        kernel.pin(path)


def test_a_tuned_launch_keeps_to_its_key():
    kernel = make(blocks(16, 32), [[1, 1, 1], [2, 2, 2], [2, 2, 2], [1, 1, 1]])
    assert [launch(kernel, n) for n in (100, 200, 100, 200, 100)] == [16, 32, 16, 32, 16]
    x = np.zeros(100, np.float64)  # another dtype is another key
    kernel[lambda meta: (triton.cdiv(100, meta["BLOCK"]), )](x, 100)
    assert len(kernel.cache) == 3 and (x == 1).all()
    with pytest.raises(ValueError, match="Conflicting meta-parameters: BLOCK"):
        kernel[(1, )](x, 100, BLOCK=16)


PROGRAM = """
import os, pty, sys, numpy as np, tilewright.triton as triton, tilewright.triton.language as tl
@triton.autotune(configs=[triton.Config({"B": n}) for n in (16, 32)], key=[], warmup=0, rep=0)
@triton.jit
def shown(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 1)
shown[(1,)](np.zeros(64, np.float32))
"""


def test_progress_on_a_terminal(tmp_path):
    import pty
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    ours, theirs = pty.openpty()
    done = subprocess.Popen([sys.executable, str(program)], stderr=theirs)
    os.close(theirs)
    text = b""
    while True:
        try:
            part = os.read(ours, 1000)
        except OSError:
            break
        if not part:
            break
        text += part
    assert done.wait() == 0 and b"tuning shown: 2 of 2 timed" in text and b"best" in text
    quiet = subprocess.run([sys.executable, str(program)], capture_output=True, text=True)
    assert quiet.stderr == ""


def test_an_interrupted_tuning_leaves_no_threads():

    def stop(fn, quantiles, **kwargs):
        raise KeyboardInterrupt

    @triton.autotune(configs=blocks(16, 32, 64), key=[], do_bench=stop)
    @triton.jit
    def kernel(x, BLOCK: tl.constexpr):
        tl.store(x + tl.arange(0, BLOCK), 1)

    with pytest.raises(KeyboardInterrupt):
        kernel[(1, )](np.zeros(64, np.float32))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("tilewright-compile")]
    kernel._do_bench = lambda fn, quantiles: fn() or [1.0] * 3
    kernel[(1, )](np.zeros(64, np.float32))
    assert kernel.best_config.kwargs == {"BLOCK": 16}


def test_the_benchmark_counts_the_flush():
    """A kernel of no time behind a flush of 1 ms: rep milliseconds are filled with both."""
    from tilewright.triton import testing

    class Event:
        clock = 0.0

        def __init__(self, **kwargs):
            self.at = None

        def record(self):
            self.at = Event.clock

        def elapsed_time(self, other):
            return other.at - self.at

    class Driver:
        get_empty_cache_for_benchmark = staticmethod(lambda: None)

        @staticmethod
        def clear_cache(cache):
            Event.clock += 1.0

    calls = []
    torch = type(sys)("torch")
    torch.cuda = type(sys)("torch.cuda")
    torch.cuda.Event, torch.cuda.synchronize = Event, lambda: None
    kept = sys.modules.get("torch")
    sys.modules["torch"] = torch
    try:
        times = testing._bench_cuda(lambda: calls.append(1), Driver, 25, 100, None)
    finally:
        if kept is None:
            del sys.modules["torch"]
        else:
            sys.modules["torch"] = kept
    assert len(times) == 100 and len(calls) < 200


def test_hook_of_a_configuration_runs_before_every_launch():
    """Also before those whose configuration is known; what it does to descriptors is what the kernel is compiled for."""
    from tilewright.triton.tools.tensor_descriptor import TensorDescriptor
    calls = []

    def hook(named):
        calls.append(sorted(named))
        named["desc"].block_shape = [named["BLOCK"], 16]
        if len(calls) == 5:
            raise ArithmeticError("the hook says no")

    @triton.autotune(configs=[triton.Config({"BLOCK": 8}, pre_hook=hook)], key=["n"])
    @triton.jit
    def kernel(desc, n, BLOCK: tl.constexpr):
        desc.store([tl.program_id(0) * BLOCK, 0], desc.load([tl.program_id(0) * BLOCK, 0]) + n)

    x = np.zeros((16, 16), np.float32)
    for _ in range(4):
        kernel[lambda meta: (16 // meta["BLOCK"], )](TensorDescriptor(x, [16, 16], [16, 1], [1, 1]), n=2)
    assert (x == 8).all() and len(calls) == 4 and calls[0] == calls[3] and {"desc", "n", "BLOCK", "grid", "warmup"} <= set(calls[3])
    with pytest.raises(ArithmeticError, match="says no"):
        kernel[(2, )](TensorDescriptor(x, [16, 16], [16, 1], [1, 1]), n=2)
    assert (x == 8).all()
    with pytest.raises(ValueError, match="elements 0 to 271 of an array of 256"):
        kernel[(2, )](TensorDescriptor(x, [17, 16], [16, 1], [1, 1]), n=2)
