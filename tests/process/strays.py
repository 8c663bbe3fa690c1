# SPDX-License-Identifier: Apache-2.0
"""strays.py: kernels that leave their arrays, on every target that runs here, by `run` and `check`.

Whatever a kernel does to its pointers, the command says so in words and ends with status 1 (or 0, where a stray read of a few bytes
is harmless and nobody compared): never a signal, never a status of 128 or more, never "internal error".
"""
import itertools
import pathlib
import subprocess

TRITON = """
import triton
import triton.language as tl

@triton.jit
def k(x_ptr, y_ptr, out_ptr, n, stride, B: tl.constexpr):
    pid = tl.program_id(0)
    o = pid * B + tl.arange(0, B)
{body}
"""
LANG = """
import tilelang.language as T

@T.prim_func
def k(x_ptr: T.Tensor(({n},), "float32"), out_ptr: T.Tensor(({n},), "float32"), at: T.Tensor((64,), "int32")):
    with T.Kernel({grid}, threads=64) as bx:
{body}
"""

# name, body: indices are computed from arguments, so that no compiler can know them
TRITON_BODIES = {
    "too many elements": "tl.store(out_ptr + o, tl.load(x_ptr + o, mask=o < n) + tl.load(y_ptr + o, mask=o < n), mask=o < n)",
    "no mask": "tl.store(out_ptr + o, tl.load(x_ptr + o) * 2)",
    "loads without a mask": "tl.store(out_ptr + o % 1000, tl.load(x_ptr + o))",
    "negative": "tl.store(out_ptr + o % 1000, tl.load(x_ptr + o - n))",
    "negative store": "tl.store(out_ptr + o - n, 1.0)",
    "far": "tl.store(out_ptr + o % 1000, tl.load(x_ptr + o + n.to(tl.int64) * 1000000))",
    "far store": "tl.store(out_ptr + o + n.to(tl.int64) * 1000000, 1.0)",
    "beyond all addresses": "tl.store(out_ptr + o % 1000, tl.load(x_ptr + o + n.to(tl.int64) * 1000000000000000))",
    "gather": "tl.store(out_ptr + o % 1000, tl.load(x_ptr + (o * 7919) % n))",
    "scatter": "tl.store(out_ptr + (o * 7919) % n, 1.0)",
    "gather by data": "tl.store(out_ptr + o % 1000, tl.load(x_ptr + tl.load(y_ptr + o % 1000).to(tl.int32) * n))",
    "rows": "tl.store(out_ptr + pid, tl.sum(tl.load(x_ptr + pid * stride + tl.arange(0, B))))",
    "columns": "tl.store(out_ptr + o % 1000, tl.load(x_ptr + o * stride))",
    "matrix": "a = tl.load(x_ptr + tl.arange(0, 64)[:, None] * stride + tl.arange(0, 64)[None, :])\n"
              "    tl.store(out_ptr + tl.arange(0, 64), tl.sum(a, 1))",
    "dot": "a = tl.load(x_ptr + tl.arange(0, 32)[:, None] * stride + tl.arange(0, 32)[None, :])\n"
           "    tl.store(out_ptr + tl.arange(0, 32)[:, None] * stride + tl.arange(0, 32)[None, :], tl.dot(a, a))",
    "loop": "s = tl.zeros((B,), tl.float32)\n    for i in range(n):\n        s += tl.load(x_ptr + i * B + tl.arange(0, B))\n"
            "    tl.store(out_ptr + o % 1000, s)",
    "while": "i = 0\n    while i < n:\n        tl.store(out_ptr + i, 1.0)\n        i += 1",
    "atomic": "tl.atomic_add(out_ptr + o * stride, 1.0)",
    "atomic before": "tl.atomic_add(out_ptr - n + pid, 1.0)",
    "compare and swap": "tl.atomic_cas(out_ptr.to(tl.pointer_type(tl.int32)) + n + pid, 0, 1)",
    "block pointer": "b = tl.make_block_ptr(x_ptr, (n, stride), (stride, 1), (0, 0), (32, 32), (1, 0))\n"
                     "    tl.store(out_ptr + tl.arange(0, 32), tl.sum(tl.load(tl.advance(b, (n // 2, 0))), 1))",
    "null": "p = (x_ptr.to(tl.int64) * 0).to(tl.pointer_type(tl.float32))\n    tl.store(out_ptr + o % 1000, tl.load(p + o))",
    "one array for another": "d = out_ptr.to(tl.int64) - x_ptr.to(tl.int64)\n    tl.store(out_ptr + o % 1000, tl.load(x_ptr + d // 4 + n + o))",
    "scan": "tl.store(out_ptr + o + n, tl.cumsum(tl.load(x_ptr + o + n), 0))",
}
LANG_BODIES = {
    "behind the end": "        for i in T.Parallel(64):\n            out_ptr[i] = x_ptr[at[i] * 1000 + i] + 1.0\n",
    "negative": "        for i in T.Parallel(64):\n            out_ptr[i] = x_ptr[at[i] - 100000]\n",
    "by data": "        for i in T.Parallel(64):\n            out_ptr[at[i] * 100000 + i] = 1.0\n",
    "a copy from afar": "        t = T.alloc_fragment((64,), \"float32\")\n        T.copy(x_ptr[at[0] * 100000], t)\n"
                        "        T.copy(t, out_ptr[at[1] * 100000 - 7])\n",
}
TILE_C = """
#include "tile.h"
typedef struct { gl(float, 1, 1, -1, -1) x_ptr, out_ptr; int n; } globals;
tile_kernel(32) tile_grid(4) void k(globals g) {
    rt_fl(32, 32) t;
    load(&t, g.x_ptr, at(0, 0, g.n + blockIdx.x, -g.n));
    store(g.out_ptr, &t, at(0, 0, blockIdx.x - g.n, g.n));
}
"""


def cases():
    """(file name, text, arguments)"""
    arrays = ["--arg", "x_ptr=randn:f32[1000]", "--arg", "y_ptr=full(3):f32[1000]", "--arg", "out_ptr=zeros:f32[1000]"]
    for name, body in TRITON_BODIES.items():
        arguments = [*arrays, "--arg", "n=10000", "--arg", "stride=100000", "--arg", "B=128", "--grid", "80"]
        yield name, ".py", TRITON.format(body="    " + body), arguments
    for name, body in LANG_BODIES.items():
        arguments = ["--arg", "x_ptr=randn:f32[1000]", "--arg", "out_ptr=zeros:f32[1000]", "--arg", "at=full(7):i32[64]"]
        yield "TileLang " + name, ".py", LANG.format(body=body, n=1000, grid=1), arguments
    yield "Tile C", ".tile.c", TILE_C, ["--arg", "g.x_ptr=randn:f32[30,30]", "--arg", "g.out_ptr=zeros:f32[30,30]", "--arg", "g.n=100000"]


TARGETS = {"cpu": [], "interp": ["--target", "interp"], "sanitized": ["--sanitize"], "emulated": ["--target", "cuda", "--emulate"],
           "tenstorrent": ["--target", "tenstorrent"]}


def judge(command, name, status, said):
    """What is wrong with how it ended; None: nothing."""
    if status < 0 or status > 1:
        return f"status {status}"
    if "internal error" in said or "Sanitizer" in said:
        return "an internal error"
    if status == 1 and not said.startswith("error: ") and ": error: " not in said and "MISMATCH" not in said:
        return "a failure without words"
    if status == 0 and command == "check" and not name.startswith("Tile"):  # whose accesses outside are dropped
        return "check says that it is right"
    return None


def main(tilewright, folder, say):
    folder = pathlib.Path(folder)
    count = wrong = native = 0
    for number, (name, ending, text, arguments) in enumerate(cases()):
        file = folder / f"stray_{number}{ending}"
        file.write_text(text)
        for (target, options), command in itertools.product(TARGETS.items(), ("run", "check")):
            if command == "check" and target not in ("cpu", "emulated"):
                continue
            done = subprocess.run([tilewright, command, str(file), *arguments, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, errors="replace", timeout=120)
            count += 1
            native += "touched memory outside of" in done.stdout
            fault = judge(command, name, done.returncode, done.stdout)
            if fault:
                wrong += 1
                say(f"{name}: {command} on {target}: {fault}\n{done.stdout[-1500:]}")
    if native < 12:
        wrong += 1
        say(f"only {native} faults of native code were told: the guard pages do not work")
    return count, wrong
