# SPDX-License-Identifier: Apache-2.0
"""gpu_rivals.py: whom the rows race, made ready: Triton on the same file, torch, torch.compile, cuBLAS, cuDNN, Triton's tutorials.

Triton's tutorials are read from the folder TILEWRIGHT_BASELINES (03-matrix-multiplication.py, 06-fused-attention.py); without it
they are not measured. All that can be compiled before the race is compiled by `prepare`, in as many processes as there are
processors, into the disk caches of each compiler."""
import ast
import concurrent.futures
import importlib.util
import multiprocessing
import os
import sys
import types

from gpu_library import ROOT, Library
from gpu_rows import Bar
from gpu_rows import ROWS as TRITON_ROWS
from gpu_tilec import ROWS as TILE_C_ROWS

ROWS = TRITON_ROWS + TILE_C_ROWS

LAUNCH_BAR = Bar("cuLaunchKernel", ("cuLaunchKernel",), 1 / 1.15)
BUILT_BAR = Bar("cuLaunchKernel", ("cuLaunchKernel",), 1 / 1.05)  # by the function of `tilewright build`
KERNELS, TILE_C = os.path.join(ROOT, "kernels", "triton"), os.path.join(ROOT, "kernels", "tilec")
BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "float8_e4m3fn": 1, "int8": 1, "int32": 4, "int64": 8}


def load(path):
    spec = importlib.util.spec_from_file_location("bench_" + os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_tutorial(number):
    """The functions of a tutorial, without what it runs and tests; None where it is not there."""
    folder = os.environ.get("TILEWRIGHT_BASELINES")
    names = sorted(name for name in os.listdir(folder) if name.startswith(number) and name.endswith(".py")) if folder else []
    if not names:
        return None
    path = os.path.join(folder, names[0])
    with open(path) as file:
        tree = ast.parse(file.read(), path)
    kept = []
    for node in tree.body:
        called = isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
        if called or isinstance(node, ast.FunctionDef) and node.name.startswith(("test_", "bench")):
            break
        if not (isinstance(node, ast.Import) and node.names[0].name == "pytest"):
            kept.append(node)
    tree.body = kept
    module = types.ModuleType("tutorial_" + number)
    module.__file__ = path
    sys.modules[module.__name__] = module
    exec(compile(tree, path, "exec"), module.__dict__)
    return module


class Standin:
    """An array that is only compiled for: shape and dtype, and an address that nobody reads."""

    def __init__(self, array, dtype=None):
        self.shape, self.dtype, self.bytes = array.shape, dtype or array.dtype, BYTES[array.dtype]

    def data_ptr(self):
        return 1 << 32

    def ptr_range(self):
        return self.numel() * self.bytes

    def numel(self):
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    def element_size(self):
        return self.bytes

    def stride(self):
        strides = [1]
        for extent in reversed(self.shape[1:]):
            strides.insert(0, strides[0] * extent)
        return tuple(strides)


def values_of(step, arrays, constants):
    values = {name: arrays[value] if isinstance(value, str) else value for name, value in step.args.items()}
    return {**values, **constants, "grid": step.grid(constants)} if step.grid else {**values, "grid": None}


def make_arrays(torch, row):
    torch.manual_seed(1)
    arrays = {}
    for name, a in row.arrays.items():
        dtype = getattr(torch, a.dtype)
        if a.after:
            arrays[name] = a.after(torch, arrays)
        elif callable(a.fill):
            arrays[name] = a.fill(torch).to("cuda", dtype)
        elif a.fill == "empty":
            arrays[name] = torch.empty(a.shape, device="cuda", dtype=dtype)
        else:
            small = dtype.itemsize == 1
            arrays[name] = torch.randn(a.shape, device="cuda", dtype=torch.bfloat16 if small else dtype).to(dtype)
    return arrays


# --- the contestants: each gives a function without arguments that launches ---

def ours(library, row, arrays, constants, options):
    def build(s):
        if s.file.endswith(".tile.c"):  # constants are definitions
            return library.compile(os.path.join(TILE_C, s.file), s.kernel, values_of(s, arrays, constants), options, constants.items())
        return library.compile(os.path.join(KERNELS, s.file), s.kernel, values_of(s, arrays, constants), options)
    runs = [build(s) for s in row.steps]
    return runs[0] if len(runs) == 1 else lambda: [run() for run in runs] and None


def same_file(row, arrays, constants, options):
    runs = []
    for s in row.steps:
        kernel = getattr(load(os.path.join(KERNELS, s.file)), s.kernel)
        values = values_of(s, arrays, constants)
        grid = values.pop("grid")
        values = {name: value for name, value in values.items() if name in kernel.arg_names}
        runs.append((kernel[grid], values))

    def run():
        for launch, given in runs:
            launch(**given, **options)
    return run


def compiled_by_torch(torch, row, arrays):
    torch._dynamo.reset()  # else the ninth row would be one recompilation too many, and run uncompiled
    function = torch.compile(lambda a: row.function(torch, a), dynamic=False)
    return lambda: function(arrays)


def cublas(torch, row, arrays):
    a, b = arrays["a"], arrays["b"]
    if row.arrays["a"].dtype.startswith("float8"):
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(a, b.t(), one, one, out_dtype=torch.bfloat16, use_fast_accum=True)
    if row.arrays["a"].dtype == "float32":
        torch.backends.cuda.matmul.allow_tf32 = True
    other = b if b.shape[0] == a.shape[1] and "nt" not in row.steps[0].kernel else b.t()
    return lambda: torch.mm(a, other)


def cudnn(torch, row, arrays):
    def forward(q, k, v):
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=row.facts["causal"])
    return backward_of(torch, arrays, forward) if "do" in arrays else lambda: forward(*(arrays[x] for x in "qkv"))


def mamba(torch, row, arrays):
    """Two of the five launches of mamba_ssm's forward pass by Triton (the other three are small), and its C B^T by torch."""
    f = row.facts
    names = dict(x_ptr="x", dt_ptr="dt", a_ptr="ca", b_ptr="b", c_ptr="c", states_ptr="states", before_ptr="before", d_ptr="d", y_ptr="y")
    given = {**{k: arrays[v] for k, v in names.items()}, "length": f["length"], "size": f["size"], "heads": f["heads"], "groups": 1, "P": f["p"], "N": f["state"]}
    state, scan = (getattr(load(os.path.join(KERNELS, name + ".py")), name + "_kernel") for name in ("chunk_state", "chunk_scan"))
    whole = f["batch"] * f["count"]

    def launch(kernel, grid, more):
        values = {name: value for name, value in {**given, **more}.items() if name in kernel.arg_names}
        kernel[grid](**values, num_warps=4, num_stages=2)

    def run(bk=64):
        c, b = (arrays[name].view(whole, f["size"], f["state"]) for name in ("c", "b"))
        cb = torch.bmm(c, b.transpose(1, 2)).view(f["batch"], f["count"], 1, f["size"], f["size"])
        launch(state, (-(-f["state"] // 64), whole, f["heads"]), dict(BM=64, BN=64, BK=bk))
        launch(scan, (-(-f["size"] // 128), whole, f["heads"]), dict(cb_ptr=cb, BM=128, BN=64, BK=bk, BD=f["state"]))
    return run


def backward_of(torch, arrays, forward):
    q, k, v = (arrays[x].detach().requires_grad_() for x in "qkv")
    out = forward(q, k, v)
    return lambda: torch.autograd.grad(out, (q, k, v), arrays["do"], retain_graph=True)


def tutorial(torch, number, row, arrays, time_one=None, share=None):
    """share = (i, n): compiles each n-th configuration from the i-th on, and measures none."""
    module = load_tutorial(number)
    if module is None:
        return None
    tuner = module.matmul_kernel if number == "03" else module._attn_fwd
    tuner.configs = tuner.configs[share[0]::share[1]] or tuner.configs[:1] if share else tuner.configs
    measure = (lambda call: call()) if share else time_one
    tuner._do_bench = lambda call, quantiles: [measure(call) or 0.0] * 3
    if number == "03":
        a, b = arrays["a"], arrays["b"]
        return lambda: module.matmul(a, b)
    causal, scale = row.facts["causal"], row.facts["scale"]
    halves = {name: array.half() for name, array in arrays.items() if name in ("q", "k", "v", "do")}  # it knows no bf16

    def forward(q, k, v):
        return module.attention(q, k, v, causal, scale, False)
    if "do" in halves:
        return backward_of(torch, halves, forward)
    return lambda: forward(*(halves[x] for x in "qkv"))


# --- compiling ahead ---

_worker = {}


def prepare_one(job):
    """Compiles one thing into the disk cache; gives None, or what went wrong."""
    kind, index, at = job
    row = ROWS[index]
    try:
        if kind == "ours":
            library = _worker.setdefault("library", None) or Library()
            _worker["library"] = library
            ours(library, row, {name: Standin(a) for name, a in row.arrays.items()}, *row.configs[at])
            return None
        import torch
        if kind == "triton":
            constants, options = row.configs[at]
            for s in row.steps:
                kernel = getattr(load(os.path.join(KERNELS, s.file)), s.kernel)
                values = values_of(s, {name: Standin(a, getattr(torch, a.dtype)) for name, a in row.arrays.items()}, constants)
                values.pop("grid")
                values = {name: value for name, value in values.items() if name in kernel.arg_names}
                kernel.warmup(**values, **options, grid=(1,))
            return None
        # zeros, since torch's own kernels trap at labels that are none
        arrays = {name: torch.zeros(a.shape, device="cuda", dtype=getattr(torch, a.dtype)) for name, a in row.arrays.items()}
        (compiled_by_torch(torch, row, arrays) if kind == "torch.compile" else tutorial(torch, kind.split()[1], row, arrays, share=at))()
        torch.cuda.synchronize()
        del arrays
        torch.cuda.empty_cache()
    except Exception as fault:  # the race will meet it again, and say so
        return f"{kind} {row.name}: {(str(fault).strip().splitlines() or [type(fault).__name__])[-1][:160]}"


def prepare(rows, with_torch, with_triton, processes):
    jobs = []
    for row in rows:
        index = ROWS.index(row)
        if "tutorial 06" in row.rivals and with_triton and os.environ.get("TILEWRIGHT_BASELINES"):
            jobs += [("tutorial 06", index, (i, 12)) for i in range(12)]
        jobs += [("ours", index, at) for at in range(len(row.configs))]
        if with_triton and "triton" in row.rivals:
            jobs += [("triton", index, at) for at in range(len(row.configs))]
        if with_torch and "torch.compile" in row.rivals:
            jobs.append(("torch.compile", index, None))
    first = next((row for row in rows if "tutorial 03" in row.rivals), None)
    if first and with_triton and os.environ.get("TILEWRIGHT_BASELINES"):
        jobs += [("tutorial 03", ROWS.index(first), (i, 6)) for i in range(6)]
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    with concurrent.futures.ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        return sorted({fault for fault in pool.map(prepare_one, jobs) if fault})
