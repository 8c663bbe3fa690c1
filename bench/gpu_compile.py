# SPDX-License-Identifier: Apache-2.0
"""gpu_compile.py: two rows of the GPU bench that are about the host: cold compiles, and launches from Python.

A cold compile goes from source text to a kernel that is loaded on the device, without any cache, in a process that has compiled
before: Tilewright and Triton in turns, from the same file. A launch from Python is kernel[grid](..) of a kernel that is compiled."""
import os
import statistics
import sys
import tempfile
import time

from gpu_library import ROOT, Library
from gpu_rivals import KERNELS, Standin, load, values_of
from gpu_rows import ROWS, Bar

# What is compiled: the row whose name begins so, and which of its configurations.
COLD = {"add": ("add bf16 2^28", 0), "softmax": ("softmax 8192x4096", 1), "matmul": ("matmul bfloat16 8192x", 0),
        "attention": ("attention causal B4 H16", 0), "attention backward": ("attention backward", 0), "SwiGLU": ("SwiGLU 8192x", 0),
        "SwiGLU backward": ("SwiGLU backward", 0), "cross entropy": ("cross entropy 4096x", 0), "rmsnorm backward": ("rmsnorm backward", 0),
        "chunk state": ("chunk state", 0), "chunk scan": ("chunk scan", 0), "experts": ("experts bf16", 0),
        "paged attention": ("paged attention", 0), "paged decode": ("paged decode", 0)}


def renamed(path, kernel, folder, turn):
    """A copy of the file in which the kernel has another name: NVRTC keeps a cache of its own, by content."""
    with open(path) as file:
        text = file.read()
    name = f"{kernel}_{os.getpid()}_{turn}"
    copy = os.path.join(folder, f"{name}.py")
    with open(copy, "w") as file:
        file.write(text.replace(kernel, name))
    return copy, name


def with_triton(triton, path, name, values, options):
    """Seconds from the text to a kernel that is loaded."""
    kernel = getattr(load(path), name)
    given = {key: value for key, value in values.items() if key in kernel.arg_names}
    triton.knobs.compilation.always_compile = True
    start = time.perf_counter()
    kernel.warmup(**given, **options, grid=(1,))._init_handles()
    seconds = time.perf_counter() - start
    triton.knobs.compilation.always_compile = False
    return seconds


def cold_compile(make_row, torch, triton, turns):
    library = Library(cache=False)
    for label, (row_name, number) in COLD.items():
        row = [row for row in ROWS if row.name.startswith(row_name)][0]
        constants, options = row.configs[number]
        ours, theirs = [], []
        with tempfile.TemporaryDirectory() as folder:
            for turn in range(turns + 2):
                ours.append(0.0)
                theirs.append(0.0)
                for step in row.steps:
                    path, name = renamed(os.path.join(KERNELS, step.file), step.kernel, folder, turn)
                    start = time.perf_counter()
                    library.compile_once(path, name, values_of(step, {key: Standin(a) for key, a in row.arrays.items()}, constants), options)
                    ours[-1] += time.perf_counter() - start
                    if triton:
                        arrays = {key: Standin(a, getattr(torch, a.dtype)) for key, a in row.arrays.items()}
                        theirs[-1] += with_triton(triton, path, name, values_of(step, arrays, constants), options)
        ours, theirs = ours[2:], theirs[2:] if triton else []  # the first ones warm the compilers up
        figures = {"ours": statistics.median(ours) * 1e3, **({"triton": statistics.median(theirs) * 1e3} if theirs else {})}
        yield make_row(f"cold compile {label}", "ms", figures, "triton", Bar("Triton", ("triton",), 1.0), [b / a for a, b in zip(ours, theirs)])


def host_us(torch, launch, count=300):
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(count):
        launch()
    us = (time.perf_counter() - start) * 1e6 / count
    torch.cuda.synchronize()
    return us


def python_launch(make_row, torch, triton):
    package = os.path.join(ROOT, os.environ.get("TILEWRIGHT_BUILD", "build"), "python")
    if not os.path.isdir(package):
        return
    sys.path.insert(0, package)
    try:
        import tilewright.triton  # noqa: F401
    except ImportError as fault:
        print("launch from Python: not measured,", fault)
        return
    with open(os.path.join(KERNELS, "add.py")) as file:
        text = file.read()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "add_here.py")
        with open(path, "w") as file:
            file.write(text.replace("import triton\n", "import tilewright.triton as triton\n").replace("import triton.", "import tilewright.triton."))
        kernels = {"ours": load(path).add_kernel}
    if triton:
        kernels["triton"] = load(os.path.join(KERNELS, "add.py")).add_kernel
    x, y, out = (torch.randn(1024, device="cuda") for _ in range(3))
    launches = {name: lambda kernel=kernel: kernel[(1,)](x, y, out, 1024, BLOCK_SIZE=1024) for name, kernel in kernels.items()}
    times = {name: [] for name in launches}
    for launch in launches.values():
        host_us(torch, launch, 50)
    for _ in range(9):
        for name, launch in launches.items():
            times[name].append(host_us(torch, launch))
    ratios = [b / a for a, b in zip(times["ours"], times["triton"])] if "triton" in times else []
    yield make_row("launch from Python, 5 arguments", "us", {name: statistics.median(t) for name, t in times.items()}, "triton", None, ratios)
