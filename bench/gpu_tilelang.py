#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpu_tilelang.py: the kernels of kernels/tilelang on a GPU, each beside what torch has for the same (cuBLAS, cuDNN, flash attention).

    PYTHONPATH=build/python python3 bench/gpu_tilelang.py [--only TEXT,..] [--except TEXT] [--small] [--ahead N]

A row is a kernel at a size, the configurations that are tried (the fastest counts), its work, and the rival. The result is compared with the rival's before
anything is timed. --ahead compiles all configurations in N processes first, into the disk cache. --small takes tiny sizes on whatever device there is, and times nothing: a check of the rows themselves.
Mamba-2 races kernels/triton's kernels under Triton, where there is one: a process of its own (--triton), whose `triton` is not ours, times them.
TileLang itself is not raced: it is not on the machines that run this (tools/tilelang_speed.py has its recorded figures)."""
import argparse
import importlib.util
import itertools
import json
import math
import os
import pathlib
import subprocess
import sys

if "--triton" not in sys.argv:
    from tilewright import stand_in
    stand_in.install()
KERNELS = pathlib.Path(__file__).resolve().parent.parent / "kernels" / "tilelang"


def load(name):
    spec = importlib.util.spec_from_file_location(f"kernels_tilelang_{name}", KERNELS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def spread(**choices):
    """Every combination, as a list of dicts."""
    return [dict(zip(choices, values)) for values in itertools.product(*choices.values())]


class Row:
    """sizes: of the factory; arrays: (torch, sizes, device) -> tensors, the outputs last; rival: (torch, inputs) -> results; work: (sizes) -> operations or bytes;
    timed: what is timed in the rival's place; triton: (module of kernels/triton, sizes, arrays) -> a call of (tile), and its tiles."""

    def __init__(self, name, factory, sizes, small, configs, outputs, arrays, rival, work, unit="TFLOP/s", bound=2e-2, timed=None, triton=None):
        self.timed, self.triton = timed or rival, triton
        self.name, self.factory, self.sizes, self.small, self.configs, self.outputs = name, factory, sizes, small, configs, outputs
        self.arrays, self.rival, self.work, self.unit, self.bound = arrays, rival, work, unit, bound


GEMM_TILES = spread(block_M=[128], block_N=[128, 256], block_K=[64], num_stages=[3, 4])


def rows(torch):
    def randn(device, *shape, dtype=torch.float16, scale=1.0):
        return (torch.randn(*shape, device=device) * scale).to(dtype)

    def pair(s, device, **more):
        return [randn(device, s["M"], s["K"]), randn(device, s["K"], s["N"]), torch.empty(s["M"], s["N"], device=device, dtype=more.get("out", torch.float16))]

    def gemm_work(s):
        return 2 * s["M"] * s["N"] * s["K"]

    for n in (4096, 8192):
        yield Row(f"gemm with relu {n}^3", ("gemm", "matmul"), {"M": n, "N": n, "K": n}, {"M": 70, "N": 90, "K": 50}, GEMM_TILES, 1, lambda t, s, d: pair(s, d),
                  lambda t, a, b: t.relu_(a @ b), gemm_work, timed=lambda t, a, b: a @ b)
        yield Row(f"gemm persistent {n}^3", ("gemm_persistent", "gemm_persistent"), {"M": n, "N": n, "K": n}, {"M": 70, "N": 90, "K": 50}, GEMM_TILES, 1,
                  lambda t, s, d: pair(s, d), lambda t, a, b: a @ b, gemm_work)
    yield Row("gemm split-K 512x512x16384", ("gemm_splitk", "gemm_splitk"), {"M": 512, "N": 512, "K": 16384}, {"M": 40, "N": 50, "K": 200},
              spread(parts=[4, 8, 16], block_M=[128], block_N=[128], block_K=[64]), 1, lambda t, s, d: pair(s, d, out=t.float32), lambda t, a, b: a @ b, gemm_work)

    def narrow(kind):
        def make(t, s, d):
            a, b = (t.randint(-128, 128, shape, device=d, dtype=t.int32) for shape in ((s["M"], s["K"]), (s["N"], s["K"])))
            if kind == "int8":
                a, b = a.to(t.int8), b.to(t.int8)
            else:
                a, b = (a / 64).to(t.float8_e4m3fn), (b / 64).to(t.float8_e4m3fn)
            return [a, b, t.rand(s["M"], device=d) + 0.5, t.rand(s["N"], device=d) + 0.5, t.empty(s["M"], s["N"], device=d)]

        def rival(t, a, b, sa, sb):
            if a.dtype == t.int8:
                product = t._int_mm(a, b.T).float() if a.is_cuda else a.float() @ b.float().T
            else:
                one = t.ones((), device=a.device)
                product = t._scaled_mm(a, b.T, one, one, out_dtype=t.bfloat16).float() if a.is_cuda else a.float() @ b.float().T
            return product * sa[:, None] * sb[None, :]
        return make, rival
    for kind, dtype in (("int8", "int8"), ("fp8", "float8_e4m3")):
        make, rival = narrow(kind)
        yield Row(f"gemm {kind} with scales 4096^3", ("gemm_scaled", "gemm_scaled"), {"M": 4096, "N": 4096, "K": 4096, "dtype": dtype}, {"M": 32, "N": 48, "K": 64, "dtype": dtype},
                  spread(block_M=[128], block_N=[128, 256], block_K=[128], num_stages=[3, 4]), 1, make, rival, gemm_work)

    def dequant(t, s, d):
        n, k = s["N"], s["K"]
        groups = math.ceil(k / 32)
        return [randn(d, s["M"], k), t.randint(0, 256, (n, k // 2), device=d, dtype=t.int32).to(t.uint8), randn(d, n, groups, scale=0.05),
                t.randint(5, 10, (n, groups), device=d, dtype=t.int32).to(t.uint8), t.empty(s["M"], n, device=d, dtype=t.float16)]

    def dequant_rival(t, a, w, scale, zero):
        weights = t.stack([w & 15, w >> 4], -1).reshape(w.shape[0], -1).float()
        spread_out = [x.repeat_interleave(32, 1)[:, :weights.shape[1]].float() for x in (zero, scale)]
        return a @ ((weights - spread_out[0]) * spread_out[1]).half().T
    for m in (16, 4096):
        yield Row(f"gemm int4 weights {m}x4096x4096", ("gemm_dequant", "gemm_dequant"), {"M": m, "N": 4096, "K": 4096}, {"M": 20, "N": 40, "K": 64},
                  spread(block_M=[16 if m < 64 else 128], block_N=[64, 128], block_K=[64], num_stages=[3]), 1, dequant, dequant_rival, gemm_work)

    def row_bytes(s):
        return 4 * s["M"] * s["N"]
    row_blocks = spread(block_M=[1, 4], block_N=[1024, 2048], threads=[128, 256])
    big, little = {"M": 8192, "N": 8192}, {"M": 5, "N": 300}
    yield Row("softmax 8192x8192", ("softmax", "softmax"), big, little, row_blocks, 1, lambda t, s, d: [randn(d, s["M"], s["N"]), t.empty(s["M"], s["N"], device=d, dtype=t.float16)],
              lambda t, x: t.softmax(x, 1), row_bytes, "GB/s")
    yield Row("rmsnorm 8192x8192", ("rmsnorm", "rmsnorm"), big, little, row_blocks, 1,
              lambda t, s, d: [randn(d, s["M"], s["N"]), randn(d, s["N"]), t.empty(s["M"], s["N"], device=d, dtype=t.float16)],
              lambda t, x, w: t.nn.functional.rms_norm(x, (x.shape[1], ), w, 1e-6), row_bytes, "GB/s")
    yield Row("layernorm 8192x8192", ("layernorm", "layernorm"), big, little, row_blocks, 1,
              lambda t, s, d: [randn(d, s["M"], s["N"]), randn(d, s["N"]), randn(d, s["N"]), t.empty(s["M"], s["N"], device=d, dtype=t.float16)],
              lambda t, x, w, b: t.nn.functional.layer_norm(x, (x.shape[1], ), w, b, 1e-5), row_bytes, "GB/s")

    yield Row("swiglu 8192x8192", ("swiglu", "swiglu"), big, little, spread(block_M=[2, 8], block_N=[1024, 2048], threads=[128, 256]), 1,
              lambda t, s, d: [*(randn(d, s["M"], s["N"]) for _ in range(2)), t.empty(s["M"], s["N"], device=d, dtype=t.float16)],
              lambda t, a, b: t.nn.functional.silu(a) * b, lambda s: 6 * s["M"] * s["N"], "GB/s")
    yield Row("row sum 8192x8192", ("row_sum", "row_sum"), big, little, row_blocks, 1, lambda t, s, d: [randn(d, s["M"], s["N"]), t.empty(s["M"], device=d)],
              lambda t, x: x.sum(1, dtype=t.float32), lambda s: 2 * s["M"] * s["N"], "GB/s")

    # Mamba-2: sequences in chunks; the rivals are its formulas as products of torch.
    def chunks(t, s, d):
        z, h, count, chunk = s["Z"], s["H"], s["L"] // s["chunk"], s["chunk"]
        decay = (-t.rand(z, h, count, chunk, device=d) * 0.05).cumsum(-1)
        return randn(d, z, s["L"], h, s["P"]), t.rand(z, h, count, chunk, device=d).half(), decay

    def cut(x, chunk, heads):
        """(batch, length, groups, n) as (batch, chunks, heads, chunk, n)"""
        z, length, groups, n = x.shape
        return x.view(z, length // chunk, chunk, groups, n).transpose(2, 3).repeat_interleave(heads // groups, 2)

    def state_arrays(t, s, d):
        x, dt, decay = chunks(t, s, d)
        return [randn(d, s["Z"], s["L"], s["G"], s["N"]), x, dt, decay, t.empty(s["Z"], s["L"] // s["chunk"], s["H"], s["P"], s["N"], device=d, dtype=t.float16)]

    def state_rival(t, b, x, dt, decay):
        weight = ((decay[..., -1:] - decay).exp() * dt).half().transpose(1, 2)[..., None]
        chunk, count = decay.shape[-1], decay.shape[1]
        return (cut(x, chunk, count) * weight).transpose(-1, -2) @ cut(b, chunk, count)

    def scan_arrays(t, s, d):
        x, dt, decay = chunks(t, s, d)
        z, count, chunk = s["Z"], s["L"] // s["chunk"], s["chunk"]
        return [randn(d, z, count, s["G"], chunk, chunk), x, dt, decay, randn(d, z, s["L"], s["G"], s["N"]), randn(d, z, count, s["H"], s["P"], s["N"]), randn(d, s["H"]),
                t.empty_like(x)]

    def scan_rival(t, cb, x, dt, decay, c, before, d):
        z, length, count, p = x.shape
        chunk, a = decay.shape[-1], decay.transpose(1, 2)
        parts = cut(x, chunk, count)
        gaps = (a[..., :, None] - a[..., None, :]).tril().exp().tril()
        inner = (cb.repeat_interleave(count // cb.shape[2], 2) * gaps * dt.transpose(1, 2)[..., None, :]).half() @ parts
        out = inner + (cut(c, chunk, count) @ before.transpose(-1, -2)) * a.exp()[..., None] + parts * d[:, None, None]
        return out.transpose(2, 3).reshape(z, length, count, p)

    def state_triton(m, s, b, x, dt, decay, out):
        def call(BM, BN, BK, **options):
            grid = (-(-s["P"] // BM) * -(-s["N"] // BN), s["Z"] * s["L"] // s["chunk"], s["H"])
            m.chunk_state_kernel[grid](x, b, dt, decay, out, s["L"], s["chunk"], s["H"], s["G"], s["P"], s["N"], BM=BM, BN=BN, BK=BK, **options)
        return call, spread(BM=[64], BN=[64, 128], BK=[32, 64])

    def scan_triton(m, s, cb, x, dt, decay, c, before, d, out):
        def call(BM, BN, BK, **options):
            grid = (-(-s["chunk"] // BM) * -(-s["P"] // BN), s["Z"] * s["L"] // s["chunk"], s["H"])
            m.chunk_scan_kernel[grid](cb, x, dt, decay, c, before, d, out, s["L"], s["chunk"], s["H"], s["G"], s["P"], s["N"], BM=BM, BN=BN, BK=BK, BD=s["N"], **options)
        return call, spread(BM=[64, 128], BN=[64], BK=[32, 64])
    big, little = {"Z": 8, "L": 4096, "H": 80, "G": 1, "P": 64, "N": 128, "chunk": 256}, {"Z": 1, "L": 128, "H": 4, "G": 2, "P": 20, "N": 12, "chunk": 64}
    chunk_blocks = {"block_P": [64], "block_L": [32, 64], "num_stages": [2, 3], "threads": [128]}
    yield Row("chunk state 8x4096, 80 heads of 64, 128 states", ("chunk_state", "chunk_state"), big, little, spread(block_N=[64, 128], **chunk_blocks), 1, state_arrays, state_rival,
              lambda s: 2 * s["Z"] * s["L"] * s["H"] * s["P"] * s["N"], triton=state_triton)
    yield Row("chunk scan 8x4096, 80 heads of 64, 128 states", ("chunk_scan", "chunk_scan"), big, little, spread(block_M=[64, 128], block_N=[64], **chunk_blocks), 1, scan_arrays,
              scan_rival, lambda s: 2 * s["Z"] * s["L"] * s["H"] * s["P"] * (s["N"] + s["chunk"] / 2), triton=scan_triton)

    def heads(s, d, *counts):
        return [randn(d, s["Z"], count, s["M" if place == 0 else "N"], s["D"]) for place, count in enumerate(counts)]

    def sdpa(t, q, k, v, causal):
        return t.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1])

    def attention_work(s):
        return 4 * s["Z"] * s["H"] * s["M"] * s["N"] * s["D"] * (0.5 if s["causal"] else 1)
    for causal in (False, True):
        for d in (64, 128):
            sizes = {"Z": 4, "H": 32, "G": 4, "M": 4096, "N": 4096, "D": d, "causal": causal}
            small = {"Z": 1, "H": 4, "G": 2, "M": 40, "N": 40, "D": 16, "causal": causal}
            what = f"D{d}{' causal' if causal else ''} 4x32x4096, groups of 4"
            yield Row(f"attention {what}", ("attention", "attention"), sizes, small, spread(block_M=[128], block_N=[64, 128], num_stages=[2, 3], threads=[256]), 1,
                      lambda t, s, dev: [*heads(s, dev, s["H"], s["H"] // s["G"], s["H"] // s["G"]), t.empty(s["Z"], s["H"], s["M"], s["D"], device=dev, dtype=t.float16)],
                      lambda t, q, k, v, causal=causal: sdpa(t, q, k, v, causal), attention_work)

            def backward(t, s, dev, causal=causal):
                q, k, v = heads(s, dev, s["H"], s["H"] // s["G"], s["H"] // s["G"])
                out, grad = sdpa(t, q, k, v, causal), randn(dev, *q.shape)
                sums = t.empty(q.shape[:3], device=dev, dtype=t.float32)
                for z, h in itertools.product(range(s["Z"]), range(s["H"])):  # one head at a time: its scores are large
                    scores = (q[z, h].float() @ k[z, h // s["G"]].float().T) * s["D"] ** -0.5
                    if causal:
                        scores = scores.masked_fill(~t.ones_like(scores, dtype=t.bool).tril(), -math.inf)
                    sums[z, h] = t.logsumexp(scores, -1) / math.log(2)
                return [q, k, v, out, grad, sums, *(t.empty_like(x) for x in (q, k, v))]

            def backward_rival(t, q, k, v, out, grad, sums, causal=causal):
                q, k, v = (x.detach().requires_grad_() for x in (q, k, v))
                return t.autograd.grad(sdpa(t, q, k, v, causal), (q, k, v), grad)
            yield Row(f"attention backward {what}", ("attention_backward", "attention_backward"), sizes, small,
                      spread(block_M=[64], block_N=[64, 128], num_stages=[1, 2], threads=[128, 256]), 3, backward, backward_rival, lambda s: 2.5 * attention_work(s), bound=4e-2)
    sizes = {"Z": 32, "H": 32, "G": 8, "N": 8192, "D": 128}
    yield Row("flash decoding 32x32, 8192 keys, groups of 8", ("flash_decoding", "flash_decoding"), sizes, {"Z": 2, "H": 4, "G": 2, "N": 100, "D": 32},
              spread(parts=[4, 8, 16], block_N=[64, 128]), 1,
              lambda t, s, d: [randn(d, s["Z"], s["H"], s["D"]), *(randn(d, s["Z"], s["H"] // s["G"], s["N"], s["D"]) for _ in range(2)),
                               t.empty(s["Z"], s["H"], s["D"], device=d, dtype=t.float16)],
              lambda t, q, k, v: sdpa(t, q[:, :, None], k, v, False)[:, :, 0], lambda s: 4 * s["Z"] * s["H"] // s["G"] * s["N"] * s["D"], "GB/s")
    yield Row("convolution 32x56x56, 128 to 128 channels", ("conv2d", "conv2d"), {"N": 32, "H": 56, "W": 56, "C": 128, "O": 128}, {"N": 2, "H": 5, "W": 6, "C": 3, "O": 4},
              spread(block_M=[128], block_N=[128], block_K=[32, 64], num_stages=[3]), 1,
              lambda t, s, d: [randn(d, s["N"], s["H"], s["W"], s["C"]), randn(d, 3, 3, s["C"], s["O"], scale=0.1), t.empty(s["N"], s["H"], s["W"], s["O"], device=d, dtype=t.float16)],
              lambda t, x, f: t.nn.functional.conv2d(x.permute(0, 3, 1, 2), f.permute(3, 2, 0, 1), padding=1).permute(0, 2, 3, 1),
              lambda s: 2 * 9 * s["N"] * s["H"] * s["W"] * s["C"] * s["O"])
    yield Row("top-8 of 512, 8192 rows", ("topk", "topk"), {"M": 8192, "N": 512, "k": 8}, {"M": 10, "N": 50, "k": 4}, spread(block_M=[4, 8, 16]), 2,
              lambda t, s, d: [t.randn(s["M"], s["N"], device=d), t.empty(s["M"], s["k"], device=d), t.empty(s["M"], s["k"], device=d, dtype=t.int32)],
              lambda t, x, k=None: t.topk(x, 8 if x.shape[1] == 512 else 4, dim=1), lambda s: 4 * s["M"] * s["N"], "GB/s")


def distance(torch, got, wanted):
    got, wanted = got.double(), wanted.double()
    return float(((got - wanted).abs() / (wanted.abs().mean() + wanted.abs())).max()) if got.numel() else 0.0


def run(torch, row, small, device):
    import tilelang
    from tilewright.triton.testing import do_bench
    sizes = row.small if small else row.sizes
    arrays = row.arrays(torch, sizes, device)
    inputs, outputs = arrays[:-row.outputs], arrays[-row.outputs:]
    wanted = row.rival(torch, *inputs)
    wanted = list(wanted) if isinstance(wanted, (tuple, list)) else [wanted]
    factory = getattr(load(row.factory[0]), row.factory[1])
    best, failed = None, []
    for config in [{}] if small else row.configs:
        try:
            kernel = factory(**sizes, **config)
        except tilelang.CompilationError as error:  # a configuration that does not fit
            failed.append(str(error).strip().split("\n")[0])
            continue
        for output in outputs:
            output.zero_()
        kernel(*arrays)
        off = max(distance(torch, got, want) for got, want in zip(outputs, wanted))
        if not off <= row.bound * 10:
            return f"{row.name}: WRONG, {config} is {off:.3g} from the rival's"
        if small:
            return f"{row.name}: right"
        took = do_bench(lambda: kernel(*arrays), warmup=20, rep=100)
        if best is None or took < best[0]:
            best = took, config
    if best is None:
        return f"{row.name}: no configuration: {failed[-1] if failed else ''}"
    who, rival = "torch", do_bench(lambda: row.timed(torch, *inputs), warmup=20, rep=100)
    if row.triton:
        theirs = subprocess.run([sys.executable, os.path.abspath(__file__), "--triton", "--only", row.name], stdout=subprocess.PIPE, text=True).stdout
        times = json.loads(theirs.strip().split("\n")[-1]) if theirs.strip() else None
        who, rival = ("Triton", min(times.values())) if times else ("torch alone", rival)
    rate = row.work(sizes) / best[0] / (1e9 if row.unit == "TFLOP/s" else 1e6)
    return f"{row.name:48} {best[0]:8.3f} ms {rate:8.1f} {row.unit:8} {who} {rival:8.3f} ms  ratio {rival / best[0]:.3f}  {best[1]}"


def compile_part(chosen, part, parts):
    """Every parts-th configuration of the rows."""
    import tilelang
    for row, config in [(row, config) for row in chosen for config in row.configs][part::parts]:
        try:
            getattr(load(row.factory[0]), row.factory[1])(**row.sizes, **config)
        except tilelang.CompilationError:  # told when the row is run
            pass


def under_triton(torch, row):
    """Prints a line of JSON: tile -> ms of the row's kernel under the Triton that is installed."""
    import triton
    torch.manual_seed(1)
    arrays, times = row.arrays(torch, row.sizes, "cuda"), {}
    spec = importlib.util.spec_from_file_location(f"kernels_triton_{row.factory[0]}", KERNELS.parent / "triton" / f"{row.factory[0]}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    call, tiles = row.triton(module, row.sizes, *arrays)
    for tile in tiles:
        for options in spread(num_warps=[4, 8], num_stages=[2, 3]):
            try:
                times[f"{tile} {options}"] = triton.testing.do_bench(lambda: call(**tile, **options), warmup=20, rep=60, return_mode="median")
            except Exception as error:  # a configuration that does not fit
                print(f"{row.name}: {tile} {options}: {error}", file=sys.stderr)
    print(json.dumps(times))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--except", dest="without", default=None)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--triton", action="store_true", help="times the row's kernel of kernels/triton under Triton")
    parser.add_argument("--ahead", type=int, default=0)
    parser.add_argument("--part", type=int, help="of --ahead: compiles this part, and no more")
    options = parser.parse_args()
    import torch
    chosen = [row for row in rows(torch) if any(each in row.name for each in options.only.split(",")) and (options.without is None or options.without not in row.name)]
    if options.triton:
        return under_triton(torch, next(row for row in chosen if row.triton))
    if options.part is not None:
        return compile_part(chosen, options.part, options.ahead)
    for process in [subprocess.Popen([sys.executable, *sys.argv, "--part", str(part)]) for part in range(options.ahead)]:
        process.wait()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu" and not options.small:
        sys.exit("there is no CUDA device; --small checks the rows on the CPU")
    torch.manual_seed(1)
    wrong = 0
    for row in chosen:
        said = run(torch, row, options.small, device)
        wrong += "WRONG" in said or "no configuration" in said
        print(said, flush=True)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
