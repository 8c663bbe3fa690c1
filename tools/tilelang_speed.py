#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tilelang_speed.py: TileLang's own examples, compiled here, on a GPU, beside what TileLang 0.1.13 itself reached with the same file.

    tools/tilelang_speed.py CHECKOUT [--match TEXT] [--jobs N] [--seconds S] [--compile] [--log FILE]

CHECKOUT is a clone of tile-ai/tilelang at tag v0.1.13. A row is an example file, its kernel at one size with the tiles that the file takes, its work, and the rate that
TileLang's own compiler had with it on an H200 (median of events, L2 flushed, best of two runs; another day, so a ratio says a few per cent and no more). What the rows
with a reference compute is compared with torch first. First all rows are compiled, --jobs at a time, each in a process of its own; then they are timed one by one.
--compile only compiles, for sm_90a, without a device.
"""
import argparse
import importlib.util
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import time
import traceback
import types

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = {}


class Row:
    """recorded: TileLang's rate; work: operations or bytes of a call; make: (kit, module) -> the call, or the call and what it must give."""

    def __init__(self, file, recorded, unit, work, make):
        self.file, self.recorded, self.unit, self.work, self.make = file, recorded, unit, work, make


def row(name, file, recorded, unit, work):
    def add(make):
        ROWS[name] = Row(file, recorded, unit, work, make)
        return make
    return add


class Kit:
    """Random tensors on the device."""

    def __init__(self, torch, device):
        self.t, self.device = torch, device

    def rand(self, *shape, dtype=None):
        return self.t.randn(*shape, device=self.device, dtype=self.t.float32).to(dtype or self.t.float16) if self.device == "meta" else self.t.randn(
            *shape, device=self.device, dtype=dtype or self.t.float16)

    def ints(self, low, high, *shape, dtype):
        return self.t.randint(low, high, shape, device=self.device, dtype=dtype)


def cube(n):
    return 2 * n ** 3


def products(name, file, recorded, n, call):
    """A product of f16 [n, n] and [n, n]."""
    @row(name, file, recorded, "TFLOP/s", cube(n))
    def make(c, m):
        a, b = c.rand(n, n), c.rand(n, n)
        run = call(m, a, b)
        return run, lambda: a @ b


@row("gemm f16 8192^3, quickstart", "quickstart.py", 396, "TFLOP/s", cube(8192))
def quickstart(c, m):
    a, b = c.rand(8192, 8192), c.rand(8192, 8192)
    return lambda: m.matmul(a, b, 128, 128, 32), lambda: (a @ b).relu()


products("gemm f16 8192^3, not persistent", "gemm/example_gemm_persistent.py", 727, 8192,
         lambda m, a, b: lambda: m.matmul_non_persistent(a, b, 128, 256, 64, 256, 3))
products("gemm f16 8192^3, persistent", "gemm/example_gemm_persistent.py", 710, 8192, lambda m, a, b: lambda: m.matmul_persistent(a, b, 128, 256, 64, 256, 3))
products("gemm f16 8192^3, sizes of the call", "dynamic_shape/example_dynamic.py", 384, 8192,
         lambda m, a, b: lambda: m.matmul_dynamic_mnk(a, b, 128, 128, 32, False, False, "float16", "float16", "float32", 3, 128))
products("gemm f16 8192^3, roles by hand", "warp_specialize/example_warp_specialize_gemm_barrierpipe_stage2.py", 376, 8192,
         lambda m, a, b: lambda: m.matmul(a, b, 128, 128, 64))


@row("gemm fp8 8192^3", "gemm_fp8/example_tilelang_gemm_fp8.py", 769, "TFLOP/s", cube(8192))
def fp8(c, m):
    a, b = c.rand(8192, 8192).to(c.t.float8_e4m3fn), c.rand(8192, 8192).to(c.t.float8_e4m3fn)
    return lambda: m.matmul(a, b, 128, 128, 64, "float8_e4m3fn")


@row("gemm int8 x int4 4096^3", "dequantize_gemm/example_dequant_gemm_w4a8.py", 238, "TFLOP/s", cube(4096))
def w4a8(c, m):
    a, b = c.ints(-100, 100, 4096, 4096, dtype=c.t.int8), c.ints(0, 255, 4096, 2048, dtype=c.t.uint8)
    # the file's own tuning chooses among these
    tiles = [dict(block_M=bm, block_N=bn, block_K=128, num_stages=2, threads=t) for bm, bn, t in ((64, 128, 128), (128, 128, 128), (128, 128, 256), (128, 64, 128))]
    kernels = [m.matmul_int8xint4(4096, 4096, 4096, "int8", "int32", "int32", num_bits=4, **each) for each in tiles]
    return [lambda kernel=kernel: kernel(a, b) for kernel in kernels]


@row("gemm f16 4096^3 in 4 parts of K", "gemm_splitk/example_tilelang_gemm_splitk.py", 243, "TFLOP/s", cube(4096))
def splitk(c, m):
    a, b, out = c.rand(4096, 4096), c.rand(4096, 4096), c.t.zeros(4096, 4096, device=c.device)
    return lambda: m.matmul(a, b, out, 128, 128, 32, 4)


@row("gemm f16 4096^3, half of the blocks", "blocksparse_gemm/example_blocksparse_gemm.py", 277, "TFLOP/s", cube(4096) / 2)
def sparse_blocks(c, m):
    a, b = c.rand(4096, 4096), c.rand(4096, 4096)
    mask = c.t.rand(4096 // m.DEFAULT_BLOCK_M, 4096 // m.DEFAULT_BLOCK_N, 4096 // m.DEFAULT_BLOCK_K, device=c.device) > 0.5
    return lambda: m.blocksparse_matmul(a, b, mask, m.DEFAULT_BLOCK_M, m.DEFAULT_BLOCK_N, m.DEFAULT_BLOCK_K, m.DEFAULT_NUM_STAGES, m.DEFAULT_THREAD_NUM, True)


@row("grouped gemm, 10000 rows x 4096 x 4096", "grouped_gemm/example_grouped_gemm_fwd.py", 240, "TFLOP/s", 2 * 10000 * 4096 * 4096)
def grouped(c, m):
    sizes = [1000, 2000, 3000, 4000]
    x, w, sizes_of, offsets, padded = m.construct_inputs(sizes, 4096, 4096, False, 64, c.device, c.t.float16)
    return (lambda: m.grouped_gemm(x, w, sizes_of, offsets, padded, tuple(sizes), 64, 128, 64, False, 2, 256),
            lambda: c.t.cat([part @ w[i] for i, part in enumerate(x.split(sizes))]))


@row("convolution n128 c128 64x64 f128 k3", "convolution/example_convolution.py", 271, "TFLOP/s", 2 * 128 * 64 * 64 * 128 * 9 * 128)
def convolution(c, m):
    x, w = c.rand(128, 64, 64, 128), c.rand(3, 3, 128, 128)
    return (lambda: m.convolution(x, w, 1, 1, 1, 64, 128, 32, 3, 256),
            lambda: c.t.nn.functional.conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), padding=1).permute(0, 2, 3, 1))


def attention(name, recorded, causal):
    heads, length, d, groups = 64, 8192, 128, 16

    @row(name, "flash_attention/example_gqa_fwd_bshd.py", recorded, "TFLOP/s", 4 * heads * length * length * d * (0.5 if causal else 1))
    def make(c, m):
        q, k, v = c.rand(1, length, heads, d), c.rand(1, length, heads // groups, d), c.rand(1, length, heads // groups, d)
        # the file's own tuning: 128x128, two stages, 256 threads
        kernel = m.flashattn(1, heads, length, d, causal, groups=groups, block_M=128, block_N=128, num_stages=2, threads=256)
        turned = [each.transpose(1, 2) for each in (q, k, v)]
        return lambda: kernel(q, k, v), lambda: c.t.nn.functional.scaled_dot_product_attention(*turned, is_causal=causal, enable_gqa=True).transpose(1, 2)


attention("attention h64/4 s8192 d128", 568, False)
attention("attention h64/4 s8192 d128, causal", 543, True)


@row("attention, packed lengths 8 x 2048 h64/4 d128", "flash_attention/example_gqa_fwd_varlen.py", 512, "TFLOP/s", 4 * 8 * 64 * 2048 * 2048 * 128)
def packed(c, m):
    lengths = [2048] * 8
    starts = c.t.tensor([2048 * i for i in range(9)], dtype=c.t.int32, device=c.device)
    q, k, v = c.rand(sum(lengths), 64, 128), c.rand(sum(lengths), 4, 128), c.rand(sum(lengths), 4, 128)
    kernel = m.flashattn(8, 16, len(q), len(k), 64, 128, False, block_M=128, block_N=128, num_stages=2, threads=256)
    return lambda: kernel(q, k, v, starts, starts, 2048)


@row("attention d64 b8 h32 s1024", "flash_attention/example_mha_bwd_bshd.py", 161, "TFLOP/s", 4 * 8 * 32 * 1024 * 1024 * 64)
def small_heads(c, m):
    q, k, v = (c.rand(8, 1024, 32, 64) for _ in range(3))
    kernel = m.flashattn_fwd(8, 32, 1024, 64, False, 64, 64)
    turned = [each.transpose(1, 2) for each in (q, k, v)]
    return lambda: kernel(q, k, v)[0], lambda: c.t.nn.functional.scaled_dot_product_attention(*turned).transpose(1, 2)


@row("attention backward d64 b8 h32 s1024", "flash_attention/example_mha_bwd_bshd.py", 227, "TFLOP/s", 10 * 8 * 32 * 1024 * 1024 * 64)
def backward(c, m):
    q, k, v, out, grad = (c.rand(8, 1024, 32, 64) for _ in range(5))
    sums = c.t.zeros(8, 32, 1024, device=c.device)
    before, kernel = m.flashattn_bwd_preprocess(8, 32, 1024, 64), m.flashattn_bwd(8, 32, 1024, 64, False, 64, 64)
    dq = c.t.zeros(8, 1024, 32, 64, device=c.device)
    dk, dv = c.t.zeros_like(k), c.t.zeros_like(v)
    delta = before(out, grad)
    return lambda: kernel(q, k, v, grad, sums, delta, dq, dk, dv)


@row("MLA decoding b128 h128 s8192", "deepseek_mla/example_mla_decode.py", 473, "TFLOP/s", 2 * 128 * 128 * 8192 * (512 + 64 + 512))
def latent(c, m):
    q, qe, kv, ke = c.rand(128, 128, 512), c.rand(128, 128, 64), c.rand(128, 8192, 1, 512), c.rand(128, 8192, 1, 64)
    kernel = m.flashattn(128, 128, 1, 8192, 512, 64, 64, 64, 1, 576 ** -0.5)
    return lambda: kernel(q, qe, kv, ke)


@row("GQA decoding b16 h32/8 s8192 d128", "flash_decoding/example_gqa_decode.py", 2655, "GB/s", 2 * 2 * 16 * 8192 * 8 * 128)
def decoding(c, m):
    q, k, v = c.rand(16, 32, 128), c.rand(16, 8192, 8, 128), c.rand(16, 8192, 8, 128)
    mask = c.ints(0, 2, 16, 8192, 8, dtype=c.t.uint8)
    kernel = m.flashattn(16, 32, 8, 8192, 128, block_N=128, block_H=64, num_split=8, num_stages=2, threads=128)
    return lambda: kernel(q, k, v, mask)


@row("gemv f16 16384^2", "gemv/example_gemv.py", 4036, "GB/s", 2 * 16384 * 16384)
def vector(c, m):
    x, w = c.rand(16384), c.rand(16384, 16384)
    kernels = [m.splitk_gemv_vectorized, m.splitk_gemv_vectorized_tvm]
    return [lambda kernel=kernel, n=n: kernel(x, w, n, 32) for kernel in kernels for n in (2, 4)], lambda: w @ x


@row("Mamba-2 chunk scan b8 s4096 h80 d64 n128", "linear_attention/example_mamba_chunk_scan.py", 125, "TFLOP/s", 2 * 8 * 4096 * 80 * 64 * (128 + 128))
def scan(c, m):
    z, length, h, p, n, size = 8, 4096, 80, 64, 128, 256
    count = length // size
    decay = (-c.t.rand(z, h, count, size, device=c.device).cumsum(-1) * 0.05).half()
    arrays = (c.rand(z, count, 1, size, size), c.rand(z, length, h, p), c.rand(z, h, count, size), decay, c.rand(z, length, 1, n), c.rand(z, count, h, p, n), c.rand(h))
    return lambda: m.chunk_scan_fwd(*arrays, block_M=64, block_N=64, block_K=64, block_Dstate=128, num_stages=2, threads=128)


@row("Mamba-2 chunk state b8 s4096 h80 d64 n128", "linear_attention/example_mamba_chunk_state.py", 130, "TFLOP/s", 2 * 8 * 4096 * 80 * 64 * 128)
def state(c, m):
    z, length, h, p, n, size = 8, 4096, 80, 64, 128, 256
    decay = (-c.t.rand(z, h, length // size, size, device=c.device).cumsum(-1) * 0.05).half()
    arrays = c.rand(z, length, 1, n), c.rand(z, length, h, p), c.rand(z, h, length // size, size), decay
    return lambda: m.chunk_state_fwd(*arrays, block_M=64, block_N=128, block_K=64, num_stages=4, threads=128)


@row("retention b8 s4096 h32 d128", "linear_attention/example_retention_fwd.py", 919, "GB/s", 4 * 2 * 8 * 4096 * 32 * 128)
def retention(c, m):
    q, k, v = (c.rand(8, 4096, 32, 128) for _ in range(3))
    kernel = m.chunk_retention_fwd_kernel(8, 4096, 32, 128, 128)
    return lambda: kernel(q, k, v)


@row("elementwise f32 16384x8192", "elementwise/example_elementwise_add.py", 4274, "GB/s", 3 * 4 * 16384 * 8192)
def add(c, m):
    a, b = c.rand(16384, 8192, dtype=c.t.float32), c.rand(16384, 8192, dtype=c.t.float32)
    return lambda: m.elementwise_add(a, b, 32, 32, "float32", "float32", 128), lambda: a + b


@row("rms_norm f32 8192x8192", "norm/rms_norm.py", 4062, "GB/s", 2 * 4 * 8192 * 8192)
def rms(c, m):
    a = c.rand(8192, 8192, dtype=c.t.float32)
    return lambda: m.rms_norm(a, 1), lambda: m.ref_program(a)


@row("softmax f16 16384x8192", "online_softmax/online_softmax.py", 4045, "GB/s", 2 * 2 * 16384 * 8192)
def softmax(c, m):
    x = c.rand(16384, 8192)
    m.M, m.N = x.shape  # its sizes are globals of the file
    return lambda: m.softmax_kernel(x), lambda: x.softmax(1)


@row("layernorm bf16 8192x8192", "norm/layernorm.py", 3369, "GB/s", 2 * 2 * 8192 * 8192)
def layers(c, m):
    x, g, b = c.rand(8192, 8192, dtype=c.t.bfloat16), c.rand(8192, dtype=c.t.bfloat16), c.rand(8192, dtype=c.t.bfloat16)
    kernel = m._layernorm_fwd(8192, 8192)
    return lambda: kernel(x, g, b)[0], lambda: c.t.nn.functional.layer_norm(x, (8192, ), g, b, 1e-5)


@row("layernorm backward bf16 8192x8192", "norm/layernorm.py", 2362, "GB/s", 3 * 2 * 8192 * 8192)
def layers_backward(c, m):
    grad, x, g = c.rand(8192, 8192, dtype=c.t.bfloat16), c.rand(8192, 8192, dtype=c.t.bfloat16), c.rand(8192, dtype=c.t.bfloat16)
    mean, rstd, dgamma, dbeta = (c.t.zeros(n, device=c.device) for n in (8192, ) * 4)
    kernel = m._layernorm_bwd(8192, 8192)
    return lambda: kernel(grad, x, g, mean, rstd, dgamma, dbeta)


@row("cast to fp8 8192x8192", "cast/example_per_token_cast_to_fp8.py", 3767, "GB/s", 5 * 8192 * 8192)
def cast(c, m):
    x = c.rand(8192, 8192, dtype=c.t.float32)
    return lambda: m.per_token_cast_to_fp8(x, 8)


@row("hadamard f32 4096x32768", "hadamard_transform/example_hadamard.py", 1146, "GB/s", 2 * 4 * 4096 * 32768)
def hadamard(c, m):
    x = c.rand(4096, 32768, dtype=c.t.float32)
    return lambda: m.hadamard(x, 32768, "float32")


@row("top-6 of 65536x128", "topk/example_topk.py", 1026, "GB/s", 4 * 65536 * 128)
def largest(c, m):
    x = c.t.rand(65536, 128, device=c.device)
    return lambda: m.tl_topk(x, 6, blk_m=64)[0], lambda: x.topk(6, 1)[0]


# A row in a process of its own


def distance(torch, got, wanted):
    got, wanted = got.double(), wanted.double()
    return float(((got - wanted).abs() / (wanted.abs().mean() + wanted.abs())).nan_to_num(math.inf).max())


def call_of(checkout, name, torch, device):
    """What a row calls, one or several to choose from, and what it must give, or None."""
    from tilelang_numbers import load
    row, path = ROWS[name], pathlib.Path(checkout).resolve() / "examples" / ROWS[name].file
    sys.argv = [str(path)]
    torch.manual_seed(1)
    made = row.make(Kit(torch, device), load(path))
    calls, wanted = made if isinstance(made, tuple) else (made, None)
    return calls if isinstance(calls, list) else [calls], wanted


def measure(checkout, name, how, torch):
    """How long a call takes, in ms; where nothing is timed, None."""
    calls, wanted = call_of(checkout, name, torch, "meta" if how == "compile" else "cuda")
    times = []
    for call in calls:
        got = call()
        if how == "time":
            from tilewright.triton.testing import do_bench
            times.append(do_bench(call, warmup=20, rep=100, return_mode="median"))
        elif how == "warm":
            torch.cuda.synchronize()
            off = distance(torch, got[:8192], wanted()[:8192]) if wanted else 0.0
            if not off < 0.2:
                raise AssertionError(f"WRONG: off by {off:.3g}")
    return min(times, default=None)


def some(checkout, names, how):
    """Rows in this process: a line of JSON for each."""
    from tilewright import stand_in
    stand_in.install()
    for package in [each for each in ("einops", "scipy") if not importlib.util.find_spec(each)]:  # what the files' references alone use
        sys.modules[package] = types.ModuleType(package)
        sys.modules[package].rearrange = sys.modules[package].repeat = sys.modules[package].einsum = None
    sys.path.insert(0, HERE)
    if how == "compile":
        import example_run
        from tilewright import cuda_on_cpu
        cuda_on_cpu.install("meta")
        example_run._only_compile("meta")
    import torch
    for name in names:
        result = {"row": name}
        try:
            result["ms"] = measure(checkout, name, how, torch)
        except Exception as error:
            traceback.print_exc()
            result["failed"] = (str(error).strip().split("error: ", 1)[-1].split("\n")[0] or type(error).__name__)[:300]
        print(json.dumps(result), flush=True)
        if how == "time":
            torch.cuda.empty_cache()
    os._exit(0)


class Process:
    """Rows in a process of their own, whose lines are read as they come."""

    def __init__(self, options, names, how):
        self.names = names
        command = [sys.executable, os.path.abspath(__file__), options.checkout, "--some", how, *names]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def results(self, until):
        """A result for each row, as it comes; of a process that ends early, for the row that it ended in."""
        watch = threading.Timer(max(1, until - time.monotonic()), self.process.kill)
        watch.start()
        refused, left = None, list(self.names)
        for line in self.process.stdout:
            if line.startswith("@compiled") and not line.endswith(" ok\n"):
                refused = line.strip()
            if line.startswith('{"row"'):
                result = json.loads(line)
                if refused:
                    result.setdefault("failed", refused)
                refused = None
                left.remove(result["row"])
                yield result
        status = self.process.wait()
        watch.cancel()
        if left:
            yield {"row": left[0], "failed": f"the process ended with {status}"}


def together(options, names, how, until):
    """Each row in a process of its own, --jobs of them at a time."""
    waiting, running, results = list(names), [], {}
    while waiting or running:
        while waiting and len(running) < options.jobs:
            running.append(Process(options, [waiting.pop(0)], how))
        for result in running.pop(0).results(until):
            results[result["row"]] = result
            print(f"{how}: {result['row']}: {result.get('failed', 'ok')}", flush=True)
    return results


def one_by_one(options, names, until):
    """Rows timed in one process, and behind a row that ends it in another one."""
    names = list(names)
    while names and time.monotonic() < until:
        for result in Process(options, names, "time").results(until):
            names = names[names.index(result["row"]) + 1:]
            yield result


def main():
    if sys.argv[2:3] == ["--some"]:
        return some(sys.argv[1], sys.argv[4:], sys.argv[3])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout")
    parser.add_argument("--match", default="")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--log")
    options = parser.parse_args()
    names = [name for name in ROWS if options.match in name]
    until = time.monotonic() + options.seconds
    warm = together(options, names, "compile" if options.compile else "warm", until)
    if options.compile:
        return 1 if any("failed" in each for each in warm.values()) else 0
    ratios, results = [], [each for each in warm.values() if "failed" in each]
    for result in one_by_one(options, [name for name in names if "failed" not in warm[name]], until):
        results.append(result)
        row = ROWS[result["row"]]
        if result.get("ms"):
            rate = row.work / result["ms"] / (1e9 if row.unit == "TFLOP/s" else 1e6)
            ratios.append(rate / row.recorded)
            result.update(rate=rate, ratio=ratios[-1])
            print(f"{result['row']:48} {result['ms']:9.4f} ms {rate:8.1f} {row.unit:8} TileLang {row.recorded:6}  ratio {ratios[-1]:.3f}", flush=True)
        else:
            print(f"{result['row']:48} {result.get('failed')}", flush=True)
    if ratios:
        print(f"geometric mean {statistics.geometric_mean(ratios):.3f} over {len(ratios)} of {len(names)} rows; below 0.95: {sum(each < 0.95 for each in ratios)}")
    if options.log:
        pathlib.Path(options.log).write_text(json.dumps(results, indent=1))
    return len(ratios) < len(names)


if __name__ == "__main__":
    sys.exit(main())
