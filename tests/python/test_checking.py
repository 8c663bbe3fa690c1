# SPDX-License-Identifier: Apache-2.0
"""Checking and looking from Python: sanitized launches, TRITON_INTERPRET, emit, explain, tilewright.run; and structured errors."""
import os
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import tilewright
import tilewright.triton as triton
import tilewright.triton.language as tl
from tilewright.triton.runtime.errors import InterpreterError, SanitizerError

ROOT = pathlib.Path(__file__).parent.parent.parent


@triton.jit
def off_by_one(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at <= n), mask=at < n)


@triton.jit
def racing(out):
    tl.store(out, tl.program_id(0))


@triton.jit
def sums(x, out, BLOCK: tl.constexpr):
    tl.store(out, tl.sum(tl.load(x + tl.arange(0, BLOCK))))


def line_of(function, text):
    """The line of this file on which a function says something."""
    return function.starting_line_number + next(i for i, line in enumerate(function.src.split("\n")) if text in line)


def test_a_sanitized_launch_names_line_index_and_argument():
    x, out = np.ones(100, np.float32), np.zeros(100, np.float32)
    with pytest.raises(SanitizerError) as info:
        off_by_one.sanitize[(4, )](x, out, 100, BLOCK=32)
    error = info.value
    assert isinstance(error, InterpreterError) and isinstance(error, RuntimeError)
    first = error.diagnostics[0]
    assert (first.code, first.file, first.line) == ("out-of-bounds", __file__, line_of(off_by_one, "at <= n"))
    assert "index 100 of `x`, which has 100 elements" in first.text and "program (3, 0, 0)" in first.text
    assert str(pickle.loads(pickle.dumps(error))) == str(error) and __file__ in str(error)
    with pytest.raises(SanitizerError, match="write-race"):
        racing.sanitize[(2, )](out)
    off_by_one.sanitize[(4, )](np.ones(101, np.float32), out, 100, BLOCK=32)  # nothing is wrong with that one
    assert (out == 1).all()
    off_by_one[(4, )](np.ones(101, np.float32), out, 100, BLOCK=32)


def test_triton_interpret(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import numpy as np, triton, triton.language as tl\n"
                       "@triton.jit\ndef k(x, n):\n    at = tl.arange(0, 8)\n    tl.store(x + at, 1, mask=at < n)\n"
                       "x = np.zeros(4, np.float32)\nk[(1,)](x, 4)\nprint(x)\n"
                       "try:\n    k[(1,)](x, 5)\nexcept triton.InterpreterError as e:\n    print(e.diagnostics[0][1:6:2], e.diagnostics[0].line)\n")
    done = subprocess.run([sys.executable, "-m", "tilewright", str(program)], capture_output=True, text=True,
                          env={**os.environ, "TRITON_INTERPRET": "1"})
    assert done.stdout == f"[1. 1. 1. 1.]\n('out-of-bounds', '{program}', 5) 5\n", done.stderr


def test_strides_of_one_are_constants():
    """What is 1 is a constant already, so no variant is compiled that hopes that another stride is 1."""

    @triton.jit
    def moved(X, Y, rows, columns, N: tl.constexpr):
        i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
        tl.store(Y + i * N + j, tl.load(X + i * rows + j * columns))

    x, y = np.arange(4096, dtype=np.float32), np.zeros((16, 16), np.float32)
    moved[(1, )](x, y, 64, 3, N=16)
    assert (y == x[np.arange(16)[:, None] * 64 + np.arange(16)[None, :] * 3]).all()
    assert "= 1" not in moved.explain() and "columns = 1" not in moved.explain(x, y, 64, 1, N=16)


def test_emit_and_explain():

    @triton.jit
    def fresh(x, BLOCK: tl.constexpr):
        tl.store(x + tl.arange(0, BLOCK), 1)

    with pytest.raises(ValueError, match="`fresh` was not compiled yet: launch it, or pass the arguments"):
        fresh.explain()
    x = np.zeros(64, np.float32)
    texts = fresh.emit("cuda", x, BLOCK=64)
    assert "__global__" in texts["fresh.cu"]
    assert "tw_run" in fresh.emit("cpu", x, BLOCK=64)["fresh.c"]
    assert "store" in fresh.explain(x, BLOCK=32)
    kernel = fresh[(1, )](x, BLOCK=64)
    assert "store" in fresh.explain()
    assert kernel.emit("cuda:sm_80")["fresh.cu"] != "" and kernel.explain() == fresh.explain(x, BLOCK=64)
    with pytest.raises(ValueError, match="vulkan"):
        kernel.emit("vulkan")
    fresh.sanitize[(1, )](x, BLOCK=16)  # what was compiled last; the text is that of a plain launch
    assert "__global__" in fresh.emit("cuda")["fresh.cu"] and "tw_run" in fresh.emit("cpu")["fresh.c"]


@triton.jit
def of_a_gpu(x, n: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    values = tl.load(x[0] + offsets)
    tl.store(x[1] + offsets, tl.inline_asm_elementwise("add.s32 $0, $1, 1;", "=r,r", [values], tl.int32, is_pure=True, pack=1))


def test_texts_for_a_target_need_no_kernel_for_this_machine():
    x = np.arange(64, dtype=np.int32)
    with pytest.raises(triton.CompilationError, match="target cpu does not run"):
        of_a_gpu[(1, )]((x, x), 64, BLOCK=64)
    assert "add.s32" in of_a_gpu.emit("cuda", (x, x), 64, BLOCK=64)["of_a_gpu.cu"]
    assert "add.s32" in of_a_gpu.emit("cuda:sm_80", (x, x), 64, 64)["of_a_gpu.cu"]


def test_run():
    x, y, out = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32), np.zeros(1000, np.float32)
    add = ROOT / "kernels" / "triton" / "add.py"
    given = dict(x_ptr=x, y_ptr=y, output_ptr=out, n_elements=1000, BLOCK_SIZE=256)
    tilewright.run(add, grid=4, **given)
    np.testing.assert_array_equal(out, x + 1)
    out[:] = 0
    tilewright.run(f"{add}:add_kernel", grid=(4, ), target="interp", **given)
    np.testing.assert_array_equal(out, x + 1)
    with pytest.raises(SanitizerError, match="out-of-bounds"):
        tilewright.run(add, grid=4, sanitize=True, **{**given, "x_ptr": x[:999].copy()})
    with pytest.raises(TypeError, match="lacks arguments: .*BLOCK_SIZE"):
        tilewright.run(add, grid=4, **{name: value for name, value in given.items() if name != "BLOCK_SIZE"})
    with pytest.raises(TypeError, match="kernel `add_kernel` has no parameter `block`; it has `x_ptr`, "):
        tilewright.run(add, grid=4, block=1, **given)
    with pytest.raises(ValueError, match="did you mean `num_warps`"):
        tilewright.run(add, grid=4, options={"num_warp": 4}, **given)
    with pytest.raises(OSError, match="nothing.py"):
        tilewright.run("nothing.py")
    with pytest.raises(ValueError, match="holds no kernel `adder`"):
        tilewright.run(f"{add}:adder", grid=4)


DOUBLED = """#include "kittens.h"
typedef struct { gl(float, 1, 1, -1, -1, st_fl(16, 16)) x, o; } G;
tile_grid(2, 1) __global__ __launch_bounds__(32, 1) void doubled(const __grid_constant__ G g) {
    rt_fl(16, 16) a;
    load(&a, g.x, at(blockIdx.x, 0));
    add(&a, &a, &a);
    store(g.o, &a, at(blockIdx.x, 0));
}
"""


@pytest.mark.parametrize("target", ["interp", "cpu", "cuda", "cuda:sm_80", "tenstorrent"])
def test_run_on_views(tmp_path, target):
    """An array is what numpy says of it: steps back and gaps are followed, or refused; what may not be written is not."""
    file = tmp_path / "doubled.tile.c"
    file.write_text(DOUBLED)

    def run(x, o):
        tilewright.run(file, target=target, emulate=target.startswith("cuda"), **{"g.x": x, "g.o": o})

    def place():
        return np.arange(8192, dtype=np.float32)

    views = {
        "whole": lambda a: a[1024:1536].reshape(32, 16),
        "rows": lambda a: a[1024:1536].reshape(32, 16)[::-1],
        "columns": lambda a: a[1024:1536].reshape(32, 16)[:, ::-1],
        "gaps": lambda a: a[1024:3072].reshape(32, 64)[:, ::-4],
        "turned": lambda a: a[1024:1536].reshape(16, 32).T,
        "record": lambda a: a.view([("first", np.float32), ("second", np.float32)])["second"][512:1024].reshape(32, 16),
    }
    for name, view in views.items():
        memory, out = place(), np.zeros((32, 16), np.float32)
        run(view(memory), out)
        assert (out == 2 * view(place())).all() and (memory == place()).all(), name
        memory, expected = place(), place()
        run(np.ones((32, 16), np.float32), view(memory))
        view(expected)[:] = 2
        assert (memory == expected).all(), name
    packed = np.zeros((32, 16), [("number", np.float32), ("flag", np.int8)])["number"]
    fixed = np.zeros((32, 16), np.float32)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="argument `g.x`: its strides .* are no multiples of its items of 4 bytes"):
        run(packed, np.zeros((32, 16), np.float32))
    with pytest.raises(ValueError, match="argument `g.o` is read-only, and kernel `doubled` writes to it"):
        run(np.ones((32, 16), np.float32), fixed)
    run(fixed, np.ones((32, 16), np.float32))
    assert (fixed == 0).all()

    class Short:  # says less of its strides than of its shape
        dtype, shape = "float32", (32, 16)

        def stride(self):
            return (16, )

        def data_ptr(self):
            return fixed.ctypes.data

    with pytest.raises(ValueError, match="argument `g.x` has 2 extents and 1 strides"):
        run(Short(), np.zeros((32, 16), np.float32))


@triton.jit
def helper(x):
    return tl.lod(x)


def test_a_mistake_in_a_helper_shows_its_line_and_the_call():

    @triton.jit
    def kernel(x, BLOCK: tl.constexpr):
        tl.store(x, helper(x))

    with pytest.raises(triton.CompilationError) as info:
        kernel[(1, )](np.zeros(4, np.float32), BLOCK=16)
    error = info.value
    first, call = error.diagnostics[:2]
    assert (first.severity, first.code, first.file, first.line) == ("error", "unknown-name", __file__, line_of(helper, "tl.lod"))
    assert first.column == 12 and first.length == 6 and "tl.load" in first.text and "\n" not in first.text
    assert (call.severity, call.line) == ("note", line_of(kernel, "helper(x)")) and "helper" in call.text
    text = str(error)
    assert text.startswith("at 2:11:\ndef helper(x):\n    return tl.lod(x)\n           ^\n")
    assert "it was called with x: *fp32, BLOCK: 16" in text  # the specialization that led there
    assert "--" not in text and "-D" not in text


def test_errors_without_a_place_and_with_numbers():
    with pytest.raises(OverflowError, match="does not fit"):

        @triton.jit
        def narrow(x, n: tl.int8):
            tl.store(x, n)

        narrow[(1, )](np.zeros(1, np.int32), 300)

    from tilewright.host import _make_error
    row = ("error", "shared-memory", "too much", None, 0, 0, 0, 300000, 232448, "")
    error = _make_error("TW_ERROR_UNSUPPORTED", "too much", [row], None, None, None)
    assert isinstance(error, triton.OutOfResources) and (error.required, error.limit) == (300000, 232448)


def test_perf_report_saves_table_and_picture(tmp_path, monkeypatch, capsys):

    @triton.testing.perf_report(
        triton.testing.Benchmark(x_names=["n"], x_vals=[1, 2, 4], line_arg="who", line_vals=["a", "b"], line_names=["A", "B & C"],
                                 plot_name="plot", args={}, ylabel="GB/s", x_log=True))
    def bench(n, who):
        return float(n * (2 if who == "a" else 3))

    bench.run(save_path=str(tmp_path / "out"), print_data=True)
    assert [line.split() for line in capsys.readouterr().out.splitlines()[:3]] == [["plot:"], "n A (GB/s) B & C (GB/s)".split(), "0 1 2.000000 3.000000".split()]
    files = sorted(os.listdir(tmp_path / "out"))
    picture = next(name for name in files if name.endswith((".png", ".svg")))
    assert files == sorted(["plot.csv", picture, "results.html"])
    assert (tmp_path / "out" / "plot.csv").read_text().splitlines()[:2] == ["n,A (GB/s),B & C (GB/s)", "1,2.000000,3.000000"]
    content = (tmp_path / "out" / picture).read_bytes()
    assert len(content) > 500 and (picture.endswith("png") or b"B &amp; C" in content)
    assert picture in (tmp_path / "out" / "results.html").read_text()
    monkeypatch.setenv("TILEWRIGHT_BENCH", "1")
    bench.run(save_path=str(tmp_path / "short"))
    assert len((tmp_path / "short" / "plot.csv").read_text().splitlines()) == 2
    calls = []
    triton.testing.do_bench(lambda: calls.append(1))
    assert len(calls) <= 5


def test_figures_of_the_cpu_can_be_divided_by():
    kernel = sums.warmup(np.zeros(16, np.float32), np.zeros(1, np.float32), BLOCK=16, grid=(1, ))
    properties = triton.runtime.driver.active.utils.get_device_properties(0)
    assert kernel.n_regs > 0 and kernel.metadata.shared > 0 and all(value > 0 for value in properties.values())
    assert triton.testing.get_dram_gbps() > 0 and triton.testing.get_max_tensorcore_tflops(np.dtype("float16"), 1_000_000) > 0
    assert triton.testing.get_max_simd_tflops(np.dtype("float32"), 1_000_000) > 0
