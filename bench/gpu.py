"""gpu.py: the CUDA target against Triton, torch and cuBLAS, in one process, on the same arrays.

    python3 bench/gpu.py [--only TEXT] [--quick]

Each row takes a kernel of kernels/triton/, compiles it by Tilewright (build/libtilewright.so) and by Triton where that is
installed, each over the same configurations, keeps each one's fastest, checks both against torch in float64, and times them
and the other rivals in turn (ABAB..): the L2 is flushed before every launch, the figure is the median of all turns, the
ratio is rival's time / ours. Without torch or a GPU it says so and ends."""
import argparse
import ctypes
import importlib.util
import os
import statistics
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
c_int, c_size, c_text, c_void = ctypes.c_int32, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_void_p


class Arg(ctypes.Structure):
    _fields_ = [("kind", c_int), ("reserved", c_int), ("i", ctypes.c_int64)]


class Pair(ctypes.Structure):
    _fields_ = [("name", c_text), ("value", c_text)]


class CompileOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_size), ("target", c_text), ("args", ctypes.POINTER(Arg)), ("arg_count", c_size),
                ("options", ctypes.POINTER(Pair)), ("option_count", c_size), ("passes", c_text), ("stop_after", c_text)] + \
               [(name, c_int) for name in ("stage", "emulate", "sanitize", "verify_each", "keep_ir")]


class BufferOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_size), ("target", c_text), ("data", c_void), ("size", c_size), ("strides", c_void)]


class ParamInfo(ctypes.Structure):
    _fields_ = [("struct_size", c_size), ("name", c_text), ("kind", c_int), ("dtype", c_int), ("rank", c_int), ("optional", c_int)]


class Library:
    """libtilewright.so, as much of it as a bench needs."""

    def __init__(self):
        self.lib = lib = ctypes.CDLL(os.path.join(ROOT, "build", "libtilewright.so"))
        lib.tw_context_message.restype = lib.tw_dtype_name.restype = c_text
        lib.tw_context_message.argtypes = [c_void]
        lib.tw_module_kernel_find.restype = lib.tw_module_param_count.restype = c_size
        lib.tw_module_kernel_find.argtypes = [c_void, c_text]
        lib.tw_module_param_count.argtypes = [c_void, c_size]
        lib.tw_module_param_at.argtypes = [c_void, c_size, c_size, ctypes.POINTER(ParamInfo)]
        lib.tw_module_load_file.argtypes = [c_void, c_text, c_void, ctypes.POINTER(c_void)]
        lib.tw_kernel_compile.argtypes = [c_void, c_text, ctypes.POINTER(CompileOptions), ctypes.POINTER(c_void)]
        lib.tw_kernel_launch.argtypes = [c_void, c_void, c_void, ctypes.POINTER(Arg), c_size]
        lib.tw_buffer_create.argtypes = [c_void, c_int, c_int, c_void, ctypes.POINTER(BufferOptions), ctypes.POINTER(c_void)]
        lib.tw_dtype_find.argtypes = [c_text]
        self.context = c_void()
        lib.tw_context_create(None, ctypes.byref(self.context))
        self.modules = {}

    def check(self, status):
        if status:
            raise RuntimeError(self.lib.tw_context_message(self.context).decode())

    def module(self, path):
        if path not in self.modules:
            module = c_void()
            self.check(self.lib.tw_module_load_file(self.context, path.encode(), None, ctypes.byref(module)))
            self.modules[path] = module
        return self.modules[path]

    def arg(self, value):
        if value is None:
            return Arg(1, 0, 0)
        if isinstance(value, bool):
            return Arg(2, 0, value)
        if isinstance(value, int):
            return Arg(3, 0, value)
        if isinstance(value, float):
            return Arg(4, 0, ctypes.c_int64.from_buffer_copy(ctypes.c_double(value)).value)
        shape = (ctypes.c_int64 * value.dim())(*value.shape)
        strides = (ctypes.c_int64 * value.dim())(*value.stride())
        size = value.untyped_storage().nbytes() - value.storage_offset() * value.element_size()
        options = BufferOptions(ctypes.sizeof(BufferOptions), b"cuda", value.data_ptr(), size, ctypes.cast(strides, c_void))
        buffer = c_void()
        dtype = self.lib.tw_dtype_find(str(value.dtype).split(".")[-1].encode())
        self.check(self.lib.tw_buffer_create(self.context, dtype, value.dim(), shape, ctypes.byref(options), ctypes.byref(buffer)))
        return Arg(6, 0, buffer.value)

    def compile(self, path, name, values, options):
        """A function without arguments that launches; values: parameter name -> tensor, number or None, and "grid"."""
        module, lib = self.module(path), self.lib
        kernel = lib.tw_module_kernel_find(module, name.encode())
        args, info = [], ParamInfo(ctypes.sizeof(ParamInfo))
        for i in range(lib.tw_module_param_count(module, kernel)):
            lib.tw_module_param_at(module, kernel, i, ctypes.byref(info))
            key = info.name.decode()
            args.append(self.arg(values[key]) if key in values else Arg(0, 0, 0))
        args = (Arg * len(args))(*args)
        pairs = (Pair * len(options))(*[Pair(k.encode(), str(v).encode()) for k, v in options.items()])
        request = CompileOptions(ctypes.sizeof(CompileOptions), b"cuda", args, len(args), pairs, len(options))
        out = c_void()
        self.check(lib.tw_kernel_compile(module, name.encode(), ctypes.byref(request), ctypes.byref(out)))
        grid = (ctypes.c_int64 * 3)(*(tuple(values["grid"]) + (1, 1))[:3])
        launch, count = lib.tw_kernel_launch, len(args)

        def run():
            status = launch(out, None, grid, args, count)
            if status:
                self.check(status)
        return run


def load(path):
    spec = importlib.util.spec_from_file_location("bench_" + os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Clock:
    def __init__(self, torch):
        self.torch = torch
        self.flush = torch.empty(256 << 20, dtype=torch.int8, device="cuda")

    def once(self, run):
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.flush.zero_()
        begin.record()
        run()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e3  # us

    def race(self, runs, budget_ms, turns=5):
        """name -> median us; the runs take turns."""
        times = {name: [] for name in runs}
        for run in runs.values():
            self.once(run)
        each = {name: max(3, min(200, int(budget_ms * 1e3 / turns / max(self.once(run), 1)))) for name, run in runs.items()}
        for _ in range(turns):
            for name, run in runs.items():
                times[name] += [self.once(run) for _ in range(each[name])]
        return {name: statistics.median(t) for name, t in times.items()}


# --- rows ---

class Row:
    """A kernel of a file, its configurations [(constants, options)], and make(torch): a dict of arguments (values), grid(constants),
    the output (out), the checked part of it (got) and what that should be (want, bound), bytes or flops (work), and rivals."""

    def __init__(self, name, file, kernel, make, configs, unit="GB/s"):
        self.name, self.file, self.kernel, self.make, self.configs, self.unit = name, file, kernel, make, configs, unit


def configs(blocks, warps, stages=(None,)):
    return [(dict(b), dict([("num_warps", w)] + ([("num_stages", s)] if s else []))) for b in blocks for w in warps for s in stages]


def elementwise(name, file, kernel, inputs, fn):
    def make(torch):
        n = 1 << 28
        tensors = [torch.randn(n, device="cuda", dtype=torch.bfloat16) for _ in inputs]
        out = torch.empty_like(tensors[0])
        values = dict(zip(inputs, tensors))
        values["output_ptr" if file == "add.py" else "out_ptr"] = out
        values["n_elements" if file == "add.py" else "n"] = n
        block = "BLOCK_SIZE" if file == "add.py" else "BLOCK"
        return dict(values=values, grid=lambda c: (-(-n // c[block]),), out=out, want=lambda: fn(*[t[:1 << 22].double() for t in tensors]),
                    got=lambda: out[:1 << 22], work=2 * n * (len(inputs) + 1), bound=1e-2,
                    rivals={"torch": lambda: fn(*tensors)})
    block = "BLOCK_SIZE" if file == "add.py" else "BLOCK"
    return Row(name, file, kernel, make, configs([{block: b} for b in (1024, 2048, 4096)], (4, 8)))


def rows_of(name, file, kernel, m, n, dtype, fn, extra=(), blocks=None, out_dtype=None, warps=(4, 8, 16)):
    def make(torch):
        x = torch.randn(m, n, device="cuda", dtype=getattr(torch, dtype))
        weights = {w: torch.randn(n, device="cuda", dtype=x.dtype) for w in extra}
        out = torch.empty(m, device="cuda", dtype=torch.float32) if out_dtype else torch.empty_like(x)
        values = dict(weights)
        if file == "softmax.py":
            values.update(in_ptr=x, out_ptr=out, in_stride=n, out_stride=n, n_cols=n)
        else:
            values.update(x_ptr=x, stride=n, n_cols=n, eps=1e-5)
            values["out_ptr" if out_dtype else "y_ptr"] = out
        few = slice(0, 64)
        work = m * n * x.element_size() * (1 if out_dtype else 2)
        return dict(values=values, grid=lambda c: (m,), out=out, got=lambda: out[few],
                    want=lambda: fn(torch, x[few].double(), *[w.double() for w in weights.values()]), work=work, bound=2e-2,
                    rivals={"torch": lambda: fn(torch, x, *weights.values())})
    power = 1 << (n - 1).bit_length()
    return Row(name, file, kernel, make, configs(blocks or [{"BLOCK": power}], warps))


def matmul(m, n, k, dtype, tiles):
    def make(torch):
        a = torch.randn(m, k, device="cuda", dtype=getattr(torch, dtype))
        b = torch.randn(k, n, device="cuda", dtype=a.dtype)
        c = torch.empty(m, n, device="cuda", dtype=a.dtype)
        values = dict(a_ptr=a, b_ptr=b, c_ptr=c, M=m, N=n, K=k, stride_am=k, stride_ak=1, stride_bk=n, stride_bn=1, stride_cm=n,
                      stride_cn=1)
        few = min(m, 256)
        return dict(values=values, grid=lambda t: (-(-m // t["BM"]) * -(-n // t["BN"]),), out=c, got=lambda: c[:few],
                    want=lambda: a[:few].double() @ b.double(), work=2.0 * m * n * k, bound=2e-2, rivals={"cublas": lambda: torch.mm(a, b)})
    return Row(f"matmul {dtype} {m}x{n}x{k}", "matmul.py", "matmul_kernel", make, tiles, "TFLOP/s")


def attention(batch, heads, n, d, causal):
    def make(torch):
        q, k, v = (torch.randn(batch * heads, n, d, device="cuda", dtype=torch.bfloat16) for _ in range(3))
        o = torch.empty_like(q)
        scale = d ** -0.5
        values = dict(q_ptr=q, k_ptr=k, v_ptr=v, o_ptr=o, scale=scale, N=n, stride_h=n * d, stride_n=d, D=d, CAUSAL=causal)
        sdpa = torch.nn.functional.scaled_dot_product_attention
        q4, k4, v4 = (t.view(batch, heads, n, d) for t in (q, k, v))

        def want():
            s = q[:1].double() @ k[:1].double().transpose(1, 2) * scale
            if causal:
                s += torch.full((n, n), float("-inf"), device="cuda", dtype=torch.float64).triu(1)
            return torch.softmax(s, -1) @ v[:1].double()

        def cudnn():
            with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION):
                return sdpa(q4, k4, v4, is_causal=causal)
        return dict(values=values, grid=lambda t: (-(-n // t["BM"]), batch * heads), out=o, got=lambda: o[:1], want=want,
                    work=4.0 * batch * heads * n * n * d * (0.5 if causal else 1), bound=2e-2, rivals={"cudnn": cudnn})
    return Row(f"attention {'causal ' if causal else ''}B{batch} H{heads} N{n} D{d}", "attention.py", "attention_kernel", make,
               configs([{"BM": 128, "BN": 128}, {"BM": 128, "BN": 64}, {"BM": 64, "BN": 128}, {"BM": 64, "BN": 64}], (4, 8), (2, 3)), "TFLOP/s")


LARGE = configs([{"BM": 128, "BN": 256, "BK": 64}, {"BM": 256, "BN": 128, "BK": 64}, {"BM": 128, "BN": 128, "BK": 64}], (8,), (3, 4))
SMALL = configs([{"BM": 16, "BN": 128, "BK": 128}, {"BM": 64, "BN": 64, "BK": 128}, {"BM": 128, "BN": 64, "BK": 64},
                 {"BM": 64, "BN": 128, "BK": 64}, {"BM": 128, "BN": 128, "BK": 64}], (4, 8), (3, 5))


def softmax_fn(torch, x):
    return torch.softmax(x, -1)


def layernorm_fn(torch, x, w, b):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b, 1e-5)


def rmsnorm_fn(torch, x, w):
    return torch.nn.functional.rms_norm(x, x.shape[-1:], w, 1e-5)


def sum_fn(torch, x):
    return x.sum(-1, dtype=torch.float64 if x.dtype == torch.float64 else torch.float32)


ROWS = [
    elementwise("add bf16 2^28", "add.py", "add_kernel", ["x_ptr", "y_ptr"], lambda x, y: x + y),
    elementwise("x*y+z bf16 2^28", "fma.py", "fma_kernel", ["x_ptr", "y_ptr", "z_ptr"], lambda x, y, z: x * y + z),
] + [rows_of(f"softmax {m}x{n}", "softmax.py", "softmax_kernel", m, n, "bfloat16", softmax_fn, warps=(4, 8, 16) if n < 16384 else (8, 16, 32))
     for m, n in ((8192, 1024), (8192, 4096), (8192, 8192), (4096, 16384), (2048, 65536))
] + [rows_of(f"rmsnorm 8192x{n}", "rmsnorm.py", "rmsnorm_kernel", 8192, n, "bfloat16", rmsnorm_fn, ["w_ptr"]) for n in (4096, 8192)
] + [rows_of(f"layernorm 8192x{n}", "layernorm.py", "layernorm_kernel", 8192, n, "bfloat16", layernorm_fn, ["w_ptr", "b_ptr"]) for n in (4096, 8192)
] + [rows_of("row sum 16384x16384 f16", "row_sum.py", "row_sum_kernel", 16384, 16384, "float16", sum_fn, out_dtype="float32",
             blocks=[{"BLOCK": b} for b in (2048, 4096, 8192)]),
     matmul(4096, 4096, 4096, "bfloat16", LARGE), matmul(8192, 8192, 8192, "bfloat16", LARGE), matmul(8192, 28672, 8192, "float16", LARGE),
     matmul(16, 8192, 8192, "bfloat16", SMALL), matmul(128, 8192, 8192, "bfloat16", SMALL), matmul(4096, 4096, 320, "bfloat16", LARGE),
     matmul(1000, 777, 1234, "bfloat16", SMALL),
     attention(4, 16, 4096, 128, False), attention(4, 16, 4096, 128, True), attention(1, 16, 16384, 128, False),
     attention(4, 32, 4096, 64, False), attention(4, 32, 4096, 64, True)]


def best_of(clock, case, row, build):
    """The fastest correct configuration: (run, config) or (None, why)."""
    best, why = None, "no configuration"
    for constants, options in row.configs:
        try:
            run = build(constants, options)
            case["out"].fill_(float("nan"))
            run()
            got, want = case["got"]().double(), case["want_value"]
            error = ((got - want).norm() / want.norm()).item()
            if not error < case["bound"]:
                why = f"{constants} {options}: error {error:.3g}"
                print("WRONG", row.name, why, flush=True)
                continue
            us = statistics.median(clock.once(run) for _ in range(5))
            if best is None or us < best[0]:
                best = (us, run, {**constants, **options})
        except Exception as fault:  # a configuration that does not fit is no row's end
            why = str(fault).strip().splitlines()[0][:140] if str(fault).strip() else type(fault).__name__
    return best[1:] if best else (None, why)


def measure(row, torch, triton, library, clock, budget_ms):
    torch.manual_seed(1)
    case = row.make(torch)
    case["want_value"] = case["want"]()
    path = os.path.join(ROOT, "kernels", "triton", row.file)

    def ours(constants, options):
        return library.compile(path, row.kernel, {**case["values"], **constants, "grid": case["grid"](constants)}, options)

    runs = {}
    ours_run, ours_config = best_of(clock, case, row, ours)
    if ours_run:
        runs["ours"] = ours_run
    triton_config = None
    if triton:
        kernel = getattr(load(path), row.kernel)
        names = set(kernel.arg_names)

        def theirs(constants, options):
            values = {k: v for k, v in {**case["values"], **constants}.items() if k in names}
            return lambda: kernel[case["grid"](constants)](**values, **options)
        triton_run, triton_config = best_of(clock, case, row, theirs)
        if triton_run:
            runs["triton"] = triton_run
    runs.update(case["rivals"])
    times = clock.race(runs, budget_ms)
    scale = 1e-3 if row.unit == "GB/s" else 1e-6
    parts = [f"{name} {us:8.1f} us {case['work'] / us * scale:7.0f}" for name, us in times.items()]
    ratios = [f"{name} {us / times['ours']:.3f}x" for name, us in times.items() if name != "ours"] if ours_run else [f"ours: {ours_config}"]
    print(f"{row.name:34s} {row.unit:7s} | {' | '.join(parts)} || {', '.join(ratios)} || ours {ours_config} triton {triton_config}", flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--only", default="", help="rows whose name contains this; several with commas")
    options.add_argument("--quick", action="store_true", help="short races")
    chosen = options.parse_args()
    try:
        import torch
    except ImportError:
        sys.exit("bench/gpu.py needs torch: it makes the arrays and is a rival")
    if not torch.cuda.is_available():
        sys.exit("bench/gpu.py: no CUDA device here; nothing was measured")
    try:
        import triton
    except ImportError:
        triton = None
        print("triton is not installed: its column is not measured")
    library, clock = Library(), Clock(torch)
    print(torch.cuda.get_device_name(), "torch", torch.__version__, "triton", triton and triton.__version__, flush=True)
    for row in ROWS:
        if not any(part in row.name for part in chosen.only.split(",")):
            continue
        try:
            measure(row, torch, triton, library, clock, 30 if chosen.quick else 150)
        except Exception as fault:
            print(f"{row.name}: {type(fault).__name__}: {str(fault).splitlines()[0] if str(fault) else ''}", flush=True)
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
