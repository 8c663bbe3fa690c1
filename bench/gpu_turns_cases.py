# SPDX-License-Identifier: Apache-2.0
"""gpu_turns_cases.py: what gpu_turns.py calls of other people's programs: a group is a function of the folder that gives
(case, function without arguments) one after the other; SHARES says among how many processes a group's tuners are compiled by Triton.

Nothing of the programs is here: they are imported from DIR/tutorials and DIR/pkgs as they are. A benchmark of a tutorial is run by its own
perf_report until it hands its function to do_bench, which is what races."""
import os
import runpy
import sys
import types

GROUPS, SHARES = {}, {}


def group(name, shares=1):
    def keep(function):
        GROUPS[name], SHARES[name] = function, shares
        return function
    return keep


def packages(folder, *names):
    """Their trees can be imported, and so can what they want beside torch (DIR/site, where this machine has no such package)."""
    for name in names:
        sys.path.insert(0, os.path.join(folder, "pkgs", name))
    sys.path.append(os.path.join(folder, "site"))


def hollow(name, path, **members):
    """A package whose own __init__ is not run: it would ask for extensions that are not built."""
    module = types.ModuleType(name)
    module.__path__ = [path]
    module.__dict__.update(members)
    sys.modules[name] = module


# --- Triton's tutorials ---

class Handed(Exception):
    """The function that a benchmark would have timed."""


def benchmarks(folder, number, points, chosen=lambda given: True):
    """(name, function) of the marks of a tutorial that is run as a script; points: values of the axis."""
    import triton
    path = next(os.path.join(folder, "tutorials", name) for name in sorted(os.listdir(os.path.join(folder, "tutorials"))) if name.startswith(number))
    marks = []
    if "pytest" not in sys.modules:
        try:
            import pytest  # noqa: F401
        except ImportError:
            mark = types.SimpleNamespace(parametrize=lambda *a, **k: lambda f: f, skipif=lambda *a, **k: lambda f: f)
            sys.modules["pytest"] = types.SimpleNamespace(mark=mark, skip=None)
    triton.testing.Mark.run = lambda self, **_: marks.append(self)
    runpy.run_path(path, run_name="__main__")

    def handed(fn, *_, **__):
        raise Handed(fn)
    for mark in marks:
        benches = mark.benchmarks if isinstance(mark.benchmarks, (list, tuple)) else [mark.benchmarks]
        for bench in benches:
            for x in points:
                for line in bench.line_vals:
                    given = {**dict(zip(bench.x_names, [x] * len(bench.x_names))), bench.line_arg: line, **bench.args}
                    if "triton" not in str(line) or not chosen(given):
                        continue
                    usual, triton.testing.do_bench = triton.testing.do_bench, handed
                    try:
                        mark.fn(**given)
                    except Handed as found:
                        yield f"{bench.plot_name} {x} {line}"[-60:], found.args[0]
                    finally:
                        triton.testing.do_bench = usual


@group("tutorial 03", 4)
def tutorial_03(folder):
    yield from benchmarks(folder, "03", (512, 1024, 2048, 4096))


@group("tutorial 05")
def tutorial_05(folder):
    yield from benchmarks(folder, "05", (2048, 4096, 8192, 15872))


@group("tutorial 06", 8)
def tutorial_06(folder):
    def chosen(given):
        if given.get("warp_specialize"):
            return False
        return given["mode"] == "fwd" or "fp16" in given["provider"] and given["N_CTX"] != 1024
    yield from benchmarks(folder, "06", (1024, 4096, 16384), chosen)


@group("tutorial 09", 6)
def tutorial_09(folder):
    import torch
    sys.argv = ["09"]
    for name in ("triton.profiler", "triton.profiler.viewer"):
        try:
            __import__(name)
        except ImportError:
            sys.modules[name] = types.ModuleType(name)
    names = runpy.run_path(os.path.join(folder, "tutorials", "09-persistent-matmul.py"), run_name="tutorial")
    found = []
    for precision, K in ((torch.float16, 512), (torch.float8_e4m3fn, 512), (torch.float16, 4096)):
        names["bench"].__globals__["bench_fn"] = lambda label, reps, warmup, fn, *args: found.append((label, fn, args))
        names["bench"](K, precision)
        while found:
            label, fn, args = found.pop(0)
            if label not in ("cublas", "torch"):
                yield f"{label} {str(precision)[6:]} K{K}", lambda: fn(*args)


# --- packages ---

def tensors(*shapes, dtype="bfloat16"):
    import torch
    return [torch.randn(shape, device="cuda", dtype=getattr(torch, dtype)) for shape in shapes]


def both(name, forward, inputs):
    """Forward, and backward through it alone."""
    import torch
    inputs = [t.detach().requires_grad_() if t.is_floating_point() else t for t in inputs]

    def run():
        with torch.no_grad():
            return forward(*inputs)
    yield f"{name}", run
    out = forward(*inputs)
    out = out[0] if isinstance(out, (tuple, list)) else out
    gradient, wanted = torch.randn_like(out), [t for t in inputs if t.requires_grad]
    yield f"{name} backward", lambda: torch.autograd.grad(out, wanted, gradient, retain_graph=True, allow_unused=True)


@group("SageAttention")
def sage(folder):
    import torch
    packages(folder, "SageAttention")
    hollow("sageattention", os.path.join(folder, "pkgs", "SageAttention", "sageattention"))
    from sageattention.triton import attn_qk_int8_per_block as full
    from sageattention.triton import attn_qk_int8_per_block_causal as causal
    from sageattention.triton.quant_per_block import per_block_int8
    for d in (64, 128):
        for n in (1024, 4096, 16384) if d == 64 else (4096,):
            q, k, v = tensors(*[(4, 32 if n < 16384 else 16, n, d)] * 3, dtype="float16")
            q8, qs, k8, ks = per_block_int8(q, k)
            for label, module in (("", full), (" causal", causal)):
                yield f"D{d} N{n}{label}", lambda: module.forward(q8, k8, v, qs, ks, output_dtype=torch.float16)[0]


@group("Liger")
def liger(folder):
    import torch
    packages(folder, "Liger-Kernel/src")
    hollow("liger_kernel", os.path.join(folder, "pkgs", "Liger-Kernel", "src", "liger_kernel"))
    hollow("liger_kernel.ops", os.path.join(folder, "pkgs", "Liger-Kernel", "src", "liger_kernel", "ops"))
    from importlib import import_module

    def op(file, name):
        return getattr(import_module("liger_kernel.ops." + file), name).apply
    m, n = 8192, 4096
    x, w, b = tensors((m, n), (n,), (n,))
    yield from both("layernorm", lambda x, w, b: op("layer_norm", "LigerLayerNormFunction")(x, w, b, 1e-5), (x, w, b))
    yield from both("rmsnorm", lambda x, w: op("rms_norm", "LigerRMSNormFunction")(x, w, 1e-5, 0.0, "llama", False), (x, w))
    yield from both("softmax", op("softmax", "LigerSoftmaxFunction"), (x,))
    yield from both("polynorm", lambda x, w, b: op("poly_norm", "LigerPolyNormFunction")(x, w, b, 1e-6, False), (x, *tensors((3,), ())))
    yield from both("SwiGLU", op("swiglu", "LigerSiLUMulFunction"), tensors((m, 11008), (m, 11008)))
    yield from both("GeGLU", op("geglu", "LigerGELUMulFunction"), tensors((m, 11008), (m, 11008)))
    yield from both("groupnorm", lambda x, w, b: op("group_norm", "LigerGroupNormFunction")(x, w, b, 512, 32, 1e-5),
                    tensors((64, 512, 4096), (512,), (512,), dtype="float32"))
    p = torch.softmax(tensors((4096, 32000), dtype="float32")[0], -1)
    yield from both("TVD", lambda p, q: op("tvd", "LigerTVDLossFunction")(p, q, None, "batchmean", -100), (p, p.flip(0)))
    yield from both("JSD", lambda p, q: op("jsd", "LigerJSDFunction")(p, q, None, 0.5, -100), (p.log(), p.flip(0).log()))
    blocks, query, norm = tensors((8, 8192, 2048), (2048,), (2048,))
    yield from both("attention residuals", lambda v, q, w: op("attn_res", "LigerAttnResFunction")(v, q, w, 1e-6), (blocks, query, norm))
    x, f = tensors((4096, 4, 2048), (4096, 2048))
    h, r = tensors((4096, 4), (4096, 4, 4), dtype="float32")
    yield from both("hyper-connections before", op("mhc", "LigerMHCPreFunction"), (x, h))
    yield from both("hyper-connections after", op("mhc", "LigerMHCPostResFunction"), (x, f, h, r))
    from liger_kernel.ops.grpo_loss import fused_selective_log_softmax
    logits, ids = tensors((4, 513, 32000))[0], torch.randint(0, 32000, (4, 512), device="cuda")
    yield "selective log softmax", lambda: fused_selective_log_softmax(logits, ids, 0.9)


@group("Liger experts", 8)
def liger_experts(folder):
    import torch
    packages(folder, "Liger-Kernel/src")
    hollow("liger_kernel", os.path.join(folder, "pkgs", "Liger-Kernel", "src", "liger_kernel"))
    hollow("liger_kernel.ops", os.path.join(folder, "pkgs", "Liger-Kernel", "src", "liger_kernel", "ops"))
    from liger_kernel.ops.fused_moe import LigerFusedMoEFunction
    x, up, down = tensors((4096, 2048), (32, 2 * 1024, 2048), (32, 2048, 1024))
    weights, index = torch.topk(torch.softmax(torch.randn(4096, 32, device="cuda"), -1), 4)
    index = index.to(torch.int32)
    up, down = up * 0.02, down * 0.02
    yield from both("4096 tokens, 4 of 32, 2048x1024", lambda x, up, down: LigerFusedMoEFunction.apply(x, up, down, index, weights.to(x.dtype)), (x, up, down))


@group("attorch", 2)
def attorch(folder):
    packages(folder, "attorch")
    from attorch.layer_norm_layer import LayerNormAutoGrad
    yield from both("layernorm", lambda x, w, b: LayerNormAutoGrad.apply(x, w, b, 1e-5, False), tensors((8192, 4096), (4096,), (4096,), dtype="float16"))


@group("DeepSeek-V3", 3)
def deepseek(folder):
    import torch
    packages(folder, "DeepSeek-V3/inference")
    import kernel
    torch.set_default_dtype(torch.bfloat16)
    x, w = tensors((4096, 4096), (4096, 4096))
    a, a_s = kernel.act_quant(x)
    b = w.to(torch.float8_e4m3fn)
    b_s = torch.rand((32, 32), device="cuda", dtype=torch.float32)
    yield "quantise", lambda: kernel.act_quant(x)[1]
    yield "dequantise", lambda: kernel.weight_dequant(b, b_s)
    yield "fp8 product", lambda: kernel.fp8_gemm(a, a_s, b, b_s)


@group("bitsandbytes", 2)
def bitsandbytes(folder):
    import torch
    packages(folder, "bitsandbytes")
    for name in ("bitsandbytes", "bitsandbytes.backends"):
        hollow(name, os.path.join(folder, "pkgs", "bitsandbytes", *name.split(".")))
    from bitsandbytes.backends.triton import ops
    x, = tensors((8192, 8192))
    for kind in ("nf4", "fp4"):
        packed, absmax = ops.quantize_4bit(x, 64, kind, torch.uint8)
        yield f"{kind} quantise", lambda: ops.quantize_4bit(x, 64, kind, torch.uint8)[1]
        yield f"{kind} dequantise", lambda: ops.dequantize_4bit(packed, absmax, 64, kind, x.shape, x.dtype)


@group("AQLM", 4)
def aqlm(folder):
    import torch
    packages(folder, "AQLM/inference_lib/src")
    hollow("aqlm", os.path.join(folder, "pkgs", "AQLM", "inference_lib", "src", "aqlm"))
    hollow("aqlm.inference_kernels", os.path.join(folder, "pkgs", "AQLM", "inference_lib", "src", "aqlm", "inference_kernels"))
    from aqlm.inference_kernels.triton_kernel import triton_matmul
    for books, size in ((1, 65536), (2, 256)):
        codes = torch.randint(0, size, (4096, 512, books), device="cuda").to(torch.int16 if size > 256 else torch.uint8)
        book, scales, x = tensors((books, size, 1, 8), (4096, 1, 1, 1), (1, 4096), dtype="float16")
        yield f"{books} of {size}", lambda: triton_matmul(x, codes, book, scales, None)


@group("mamba", 6)
def mamba(folder):
    import torch
    packages(folder, "mamba")
    for name in ("mamba_ssm", "mamba_ssm.utils"):
        hollow(name, os.path.join(folder, "pkgs", "mamba", *name.split(".")))
    from mamba_ssm.ops.triton.ssd_combined import mamba_chunk_scan_combined
    x, B, C = tensors((4, 4096, 64, 64), (4, 4096, 1, 128), (4, 4096, 1, 128))
    dt, = tensors((4, 4096, 64))
    A = -torch.rand(64, device="cuda")
    yield from both("chunk scan, whole", lambda x, dt, B, C: mamba_chunk_scan_combined(x, dt, A, B, C, 256, dt_softplus=True), (x, dt, B, C))


@group("fla", 8)
def fla(folder):
    import torch
    packages(folder, "flash-linear-attention")
    hollow("fla", os.path.join(folder, "pkgs", "flash-linear-attention", "fla"), __version__="0")
    hollow("fla.ops", os.path.join(folder, "pkgs", "flash-linear-attention", "fla", "ops"))
    hollow("fla.modules", os.path.join(folder, "pkgs", "flash-linear-attention", "fla", "modules"))
    from fla.modules.token_shift import token_shift
    yield from both("token shift", token_shift, tensors((8, 4096, 2048)))
    from fla.ops.gated_delta_rule import chunk_gated_delta_rule
    q, k, v = tensors(*[(4, 4096, 16, 128)] * 3)
    k = torch.nn.functional.normalize(k, dim=-1)
    beta, g = torch.rand((4, 4096, 16), device="cuda").bfloat16(), -torch.rand((4, 4096, 16), device="cuda")
    yield from both("gated delta rule", lambda q, k, v, g, beta: chunk_gated_delta_rule(q, k, v, g, beta)[0], (q, k, v, g, beta))
    from fla.ops.gla import chunk_gla
    gates = -torch.rand((4, 4096, 16, 128), device="cuda") * 0.1
    yield from both("gated linear attention", lambda q, k, v, g: chunk_gla(q, k, v, g)[0], (q, k, v, gates))
