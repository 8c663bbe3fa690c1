# SPDX-License-Identifier: Apache-2.0
"""TILEWRIGHT_RECORD: what was launched, as arguments of the command line."""
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = """
import numpy as np, triton, triton.language as tl
@triton.jit
def scale(x, y, n, f, BLOCK: tl.constexpr, MODE: tl.constexpr, NONE: tl.constexpr = None):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    if MODE == "a 'b'":
        v = v * 2
    tl.store(y + i, v * f, mask=i < n)
x, y = np.ones(1000, np.float16), np.zeros(1000, np.float32)
for n in 1000, 999, 1:
    scale[(4,)](x, y, n, 0.5, BLOCK=256, MODE="a 'b'", num_warps=8)
"""


def recorded(tmp_path, script):
    (tmp_path / "script.py").write_text(script)
    subprocess.run([sys.executable, "-m", "tilewright", "script.py"], cwd=tmp_path, check=True,
                   env=dict(os.environ, PYTHONPATH=os.path.abspath(os.environ.get("PYTHONPATH", ROOT)), TILEWRIGHT_RECORD=str(tmp_path / "launches.txt")))
    return (tmp_path / "launches.txt").read_text().splitlines()


def test_what_is_launched_is_a_line_for_the_command_line(tmp_path):
    lines = [shlex.split(line) for line in recorded(tmp_path, SCRIPT)]
    assert [line[0] for line in lines] == [f"{tmp_path}/script.py:scale"] * 2  # 1000 and 999 are one kernel
    assert lines[0][1:] == shlex.split("""--arg x=*f16 --arg y=*f32 --arg n=i32 --arg f=f32 --arg BLOCK=256 --arg "MODE=a 'b'" --arg NONE=none --set num_warps=8""")
    assert "n=1" in lines[1]
    for line in lines:
        done = subprocess.run([ROOT / "build/tilewright", "emit", *line, "--target", "cuda", "-o", tmp_path / "out"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "256 threads" in (tmp_path / "out/scale.cu").read_text()


CONSTANTS = """
import numpy as np, triton, triton.language as tl
@triton.jit
def relu(x):
    return tl.maximum(x, 0.0)
class Tree:
    pass
@triton.jit
def apply(x, y, n, BLOCK: tl.constexpr, F: tl.constexpr, DT: tl.constexpr, PAIR: tl.constexpr, WORD: tl.constexpr, BIG: tl.constexpr, TREE: tl.constexpr = None):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n).to(DT) * PAIR[0] + PAIR[1][0]
    if WORD == "none":
        v = F(v)
    tl.store(y + i, v, mask=i < n)
x, y = np.ones(1000, np.float32), np.zeros(1000, np.float32)
for word in "none", "fp16", "it's: (1", "a\\nb":
    apply[(4,)](x, y, 1000, BLOCK=256, F=relu, DT=tl.float16, PAIR=(2, (tl.constexpr(3), None)), WORD=word, BIG=float("-inf"))
apply[(4,)](x, y, 1000, BLOCK=256, F=relu, DT=tl.float16, PAIR=(2, (3,)), WORD="", BIG=2**63, TREE=Tree())
def inside():
    @triton.jit
    def copy(x, y):
        tl.store(y, tl.load(x))
    copy[(1,)](x, y)
inside()
"""


def test_constants_that_are_no_plain_values(tmp_path):
    *lines, tree, nested = recorded(tmp_path, CONSTANTS)
    assert tree == f"# {tmp_path}/script.py:apply: the constant `TREE`: an object of type __main__.Tree has no name in its module, and cannot be written as an argument"
    assert nested == f"# {tmp_path}/script.py:copy: it is made by a function, and the command line knows kernels of the module alone"
    assert "--arg 'F=(relu)' --arg 'DT=(tl.float16)' --arg 'PAIR=(2, (3, None))'" in lines[0] and "BIG=-inf" in lines[0]
    words = [next(word for word in shlex.split(line) if word.startswith("WORD=")) for line in lines]
    assert words == ["WORD=('none')", "WORD=('fp16')", """WORD=("it's: (1")""", "WORD=('a\\nb')"]
    texts = []
    for line in lines:
        done = subprocess.run([ROOT / "build/tilewright", "ir", *shlex.split(line)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        texts.append(done.stdout)
    assert "max" in texts[0] and not any("max" in text for text in texts[1:])  # "none" is the string


TILELANG = """
import numpy as np, tilelang, tilelang.language as T
n = T.dynamic("n")
@tilelang.jit(out_idx=[-1], pass_configs={"tl.disable_warp_specialized": True})
def scale(N, factor, block=128, dtype=T.float32, extras=(1, 2), act=None):
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype)):
        with T.Kernel(T.ceildiv(N, block), threads=128) as bx:
            for i in T.Parallel(block):
                B[bx * block + i] = A[bx * block + i] * factor + extras[1]
    return main
def plain(N, block, unused=3):
    @T.prim_func
    def twice(A: T.Tensor((N,), "float16"), B: T.Tensor((N,), "float16"), s: T.float32):
        with T.Kernel(T.ceildiv(N, block), threads=128) as bx:
            for i in T.Parallel(block):
                B[bx * block + i] = A[bx * block + i] * s
    return twice
@tilelang.jit
def eager(A, B, block: int = 128):
    N = T.const("N")
    A: T.Tensor((N,), T.float32)
    B: T.Tensor((N,), T.float32)
    with T.Kernel(T.ceildiv(N, block), threads=128) as bx:
        for i in T.Parallel(block):
            B[bx * block + i] = A[bx * block + i] + 1
@tilelang.jit(out_idx=[1])
def open_sizes(block):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, block), threads=128) as bx:
            for i in T.Parallel(block):
                B[bx * block + i] = A[bx * block + i]
    return main
def deep():
    def deeper(N):
        @T.prim_func
        def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
            with T.Kernel(1, threads=128) as bx:
                T.copy(A, B)
        return main
    return deeper(256)
a, b, h = np.ones(256, np.float32), np.zeros(256, np.float32), np.ones(256, np.float16)
for kernel in scale(256, 2.5), scale(256, 2.5):
    kernel(a), kernel(a)
tilelang.compile(plain(256, 64))(h, h.copy(), 3.0)
eager(a, b)
open_sizes(64)(a)
tilelang.compile(deep())(a, b)
"""


def test_launches_of_tilelang(tmp_path):
    *lines, deep = recorded(tmp_path, TILELANG)
    script = f"{tmp_path}/script.py"
    assert deep == (f"# {script}:deep.<locals>.deeper.<locals>.main: it is made by a function inside of another one, or by a method, whose arguments are "
                    "not known")
    lines = [shlex.split(line) for line in lines]
    assert lines == [
        [f"{script}:scale", *"--arg N=256 --arg factor=2.5 --arg block=128 --arg dtype=('float32') --arg".split(), "extras=(1, 2)",
         *"--arg act=none --arg A=empty:f32[256] --set roles=off".split()],
        [f"{script}:plain", *"--arg N=256 --arg block=64 --arg unused=3 --arg A=empty:f16[256] --arg B=empty:f16[256] --arg s=f32".split()],
        [f"{script}:eager", *"--arg A=empty:f32[256] --arg B=empty:f32[256] --arg block=128".split()],
        [f"{script}:open_sizes", *"--arg block=64 --arg A=empty:f32[256]".split()],
    ]
    for line in lines:
        done = subprocess.run([ROOT / "build/tilewright", "emit", *line, "--target", "cuda", "-o", tmp_path / "out"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "256" in next((tmp_path / "out").glob("*.cu")).read_text()
