# SPDX-License-Identifier: Apache-2.0
"""triton.profiler: launches and scopes as a tree with counts and times, written and read again."""
import json
import subprocess
import sys

import numpy as np
import pytest

import tilewright.triton as triton
import tilewright.triton.language as tl
import tilewright.triton.profiler as proton
from tilewright.triton.profiler import viewer


def describe(grid, kernel, args):
    assert grid == (2, ) and kernel.num_warps == 4
    return {"name": f"{kernel.name} [n={args['n']}, {args['BLOCK']}]", "flops32": 1000.0 * args["n"], "bytes": 8 * args["n"]}


@triton.jit(launch_metadata=describe)
def double(x, n, BLOCK: tl.constexpr = 8):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


def tree_of(path):
    with open(path) as file:
        return json.load(file)[0]


def test_what_is_counted(tmp_path, capsys):
    name = str(tmp_path / "run")
    session = proton.start(name, hook="triton")
    proton.deactivate(session)
    x = np.ones(16, np.float32)
    double[(2, )](x, 16)  # not seen
    proton.activate(session)
    for _ in range(3):
        with proton.scope("outer", {"steps": 1}):
            double[lambda meta: (16 // meta["BLOCK"], )](x, n=16)
    double[(2, )](x, 16)
    with proton.cpu_timed_scope("inner"):
        pass
    proton.finalize()
    assert x[0] == 32
    root = tree_of(f"{name}.hatchet")
    outer, kernel, inner = root["children"]
    assert outer["metrics"] == {"count": 3, "steps": 3} and kernel["metrics"]["count"] == 1
    launched, = outer["children"]
    assert launched["frame"]["name"] == kernel["frame"]["name"] == "double [n=16, 8]"
    assert launched["metrics"]["count"] == 3 and launched["metrics"]["flops32"] == 48000 and launched["metrics"]["time (ns)"] > 0
    assert inner["metrics"]["cpu_time (ns)"] > 0

    tree, metrics = viewer.parse(["gflop32/s", "avg_time/us", "count"], f"{name}.hatchet", include="double")
    viewer.print_tree(tree, metrics, print_sorted=True)
    told = capsys.readouterr().out
    assert "   `- " not in told and "|  `- " in told and "inner" not in told and told.count("double [n=16, 8]") == 4
    seconds = launched["metrics"]["time (ns)"] * 1e-9
    assert abs(tree.children[0].value("gflop32/s") - 48000 / seconds / 1e9) < 1e-9
    with pytest.raises(ValueError, match="'util' is no metric of this file.*bytes, count, cpu_time"):
        viewer.parse(["util"], f"{name}.hatchet")
    command = [sys.executable, "-m", "tilewright", "-m", "triton.profiler.viewer", "-m", "time/ms", f"{name}.hatchet"]
    assert "outer" in subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_kernels_go_by_their_own_names_without_the_hook(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    @proton.profile(name="plain")
    def work(x):
        double[(2, )](x, 16)

    work(np.ones(16, np.float32))
    kernel, = tree_of("plain.hatchet")["children"]
    assert kernel["frame"]["name"] == "double" and "flops32" not in kernel["metrics"]
    double[(2, )](np.ones(16, np.float32), 16)  # nobody watches any more
    assert not triton.knobs.runtime.hooked()


@pytest.mark.parametrize("call, words", [(lambda: proton.start("x", data="trace"), "data='trace' is not there"),
                                         (lambda: proton.start("x", backend="instrumentation"), "backend='instrumentation' is not there"),
                                         (lambda: proton.finalize(7), "there is no session 7"),
                                         (lambda: proton.cpu_timed_scope("x", {"cpu_time": 1}), "'cpu_time' is reserved")])
def test_what_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("text", ["{", "[1]", "[]", '[{"frame": {}}]'])
def test_a_file_that_is_no_profile(text, tmp_path):
    path = tmp_path / "broken.hatchet"
    path.write_text(text)
    with pytest.raises(ValueError, match="broken.hatchet is no file of profiler.finalize"):
        viewer.parse(["time/ms"], path)
