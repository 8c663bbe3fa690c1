# SPDX-License-Identifier: Apache-2.0
"""gpu_turns_cases.py: what gpu_turns.py calls of other people's programs: a group is a function of the folder that gives pairs
(case, function that makes it) one after the other; what a case makes is a function without arguments that launches it. SHARES says among
how many processes a group's tuners are compiled by Triton; WAVES, which groups are compiled and raced together: the first ones first.

Nothing of the programs is here: they are imported from DIR/tutorials and DIR/pkgs as they are. A benchmark of a tutorial is run by its own
perf_report until it hands its function to do_bench, which is what races. SMALL (gpu_turns.py --dry) asks for sizes that a CPU can do."""
import os
import runpy
import sys
import types

GROUPS, SHARES, WAVES = {}, {}, {}
SMALL = False


def group(name, wave, shares=1):
    def keep(function):
        GROUPS[name], SHARES[name], WAVES[name] = function, shares, wave
        return function
    return keep


def size(usual, small):
    return small if SMALL else usual


def packages(folder, *names):
    """Their trees can be imported, and so can what they want beside torch (DIR/site, where this machine has no such package)."""
    for name in names:
        sys.path.insert(0, os.path.join(folder, "pkgs", name))
    sys.path.append(os.path.join(folder, "site"))


def hollow(folder, package, *names, **members):
    """Packages whose own __init__ is not run: it would ask for extensions that are not built."""
    for name in names:
        module = types.ModuleType(name)
        module.__path__ = [os.path.join(folder, "pkgs", package, *name.split("."))]
        module.__dict__.update(members)
        sys.modules[name] = module


# --- Triton's tutorials ---

class Handed(Exception):
    """The function that a benchmark would have timed."""

    def function(self):
        """With all that the benchmark holds: a kernel may be given nothing but addresses of it."""
        run, kept = self.args[0], self.__traceback__
        return lambda: (run(), kept)[0]


def script(folder, number):
    return next(os.path.join(folder, "tutorials", name) for name in sorted(os.listdir(os.path.join(folder, "tutorials"))) if name.startswith(number))


def benchmarks(folder, number, points, chosen=lambda given: True, **others):
    """The marks of a tutorial that is run as a script. points: values of the axis; others: arguments that are not the mark's own."""
    import triton
    marks = []
    if "pytest" not in sys.modules:
        try:
            import pytest  # noqa: F401
        except ImportError:
            mark = types.SimpleNamespace(parametrize=lambda *a, **k: lambda f: f, skipif=lambda *a, **k: lambda f: f)
            sys.modules["pytest"] = types.SimpleNamespace(mark=mark, skip=None)
    triton.testing.Mark.run = lambda self, **_: marks.append(self)
    if SMALL:  # a tutorial's own checks compare with torch, whose sums of 16-bit numbers on the CPU are farther off than they allow
        import torch
        torch.allclose = lambda *_, **__: True
    runpy.run_path(script(folder, number), run_name="__main__")

    def handed(fn, *_, grad_to_none=None, **__):
        def run():
            for each in grad_to_none or ():
                each.grad = None
            return fn()
        raise Handed(run)

    def maker(mark, given):
        def make():
            usual, triton.testing.do_bench = triton.testing.do_bench, handed
            try:
                mark.fn(**given)
            except Handed as found:
                return found.function()
            finally:
                triton.testing.do_bench = usual
            raise RuntimeError("this benchmark hands nothing to do_bench")
        return make
    for x in points:
        for mark in marks:
            for bench in mark.benchmarks if isinstance(mark.benchmarks, (list, tuple)) else [mark.benchmarks]:
                for line in bench.line_vals:
                    given = {**dict(zip(bench.x_names, [x] * len(bench.x_names))), bench.line_arg: line, **bench.args, **others}
                    if "triton" in str(line) and chosen(given):
                        yield f"{bench.plot_name} {x} {line}".replace("fused-attention-batch4-head32-", "").replace("-warp_specialize=False", ""), maker(mark, given)


def tutorial_06(mode, precision, points):
    def chosen(given):
        return not given.get("warp_specialize") and given["mode"] == mode and precision in given["provider"]
    return lambda folder: benchmarks(folder, "06", size(points, (128,)), chosen)


group("tutorial 06", 1, 8)(tutorial_06("fwd", "", (4096, 1024)))


@group("tutorial 03", 1, 4)
def tutorial_03(folder):
    return benchmarks(folder, "03", size((4096, 2048, 1024, 512), (128,)))


@group("tutorial 05", 1)
def tutorial_05(folder):
    yield from benchmarks(folder, "05", size((4096, 8192, 15872, 2048), (1024,)))
    yield from ((name + " forward", make) for name, make in benchmarks(folder, "05", size((4096, 8192), (1024,)), mode="forward"))


@group("tutorial 09", 1, 4)
def tutorial_09(folder):
    import torch
    sys.argv = ["09"]
    for name in ("triton.profiler", "triton.profiler.viewer"):
        try:
            __import__(name)
        except ImportError:
            sys.modules[name] = types.ModuleType(name)
    names = runpy.run_path(script(folder, "09"), run_name="tutorial")
    inside = names["bench"].__globals__

    def bench(precision, K, met):
        """Runs its benchmark; met(label, function) is called for each line, while the loop around it stands there."""
        inside["bench_fn"] = lambda label, reps, warmup, fn, *args: met(label, lambda: fn(*args))
        usual = torch.randn
        torch.randn = lambda shape, **given: usual([size(n, min(n, 256)) for n in shape], **given)
        try:
            names["bench"](K, precision)
        finally:
            torch.randn = usual

    def maker(precision, K, wanted):
        def met(label, run):
            if label == wanted:
                raise Handed(run)

        def make():
            try:
                bench(precision, K, met)
            except Handed as found:
                return found.function()
            raise RuntimeError(f"its benchmark has no line {wanted}")
        return make
    for precision, K in ((torch.float16, 512), (torch.float8_e4m3fn, 512), (torch.float16, 4096)):
        labels = []
        bench(precision, K, lambda label, run: labels.append(label))
        for label in labels:
            if label not in ("cublas", "torch"):
                yield f"{label} {str(precision)[6:]} K{K}", maker(precision, K, label)


@group("tutorial 08", 1, 2)
def tutorial_08(folder):
    return benchmarks(folder, "08", size((1024, 512, 128), (128,)))


# --- packages ---

def tensors(*shapes, dtype="bfloat16"):
    import torch
    return [torch.randn(shape, device="cuda", dtype=getattr(torch, dtype)) for shape in shapes]


def both(name, forward, inputs):
    """Forward, and backward through it alone. inputs() makes the tensors; each case has its own."""
    import torch

    def made():
        return [t.detach().requires_grad_() if t.is_floating_point() else t for t in inputs()]

    def make_forward():
        given = made()

        def run():
            with torch.no_grad():
                return forward(*given)
        return run

    def make_backward():
        given = made()
        out = forward(*given)
        out = out[0] if isinstance(out, (tuple, list)) else out
        gradient, wanted = torch.randn_like(out), [t for t in given if t.requires_grad]
        return lambda: torch.autograd.grad(out, wanted, gradient, retain_graph=True, allow_unused=True)
    yield name, make_forward
    yield name + " backward", make_backward


def sage(d, lengths):
    def cases(folder):
        import torch
        packages(folder, "SageAttention")
        hollow(folder, "SageAttention", "sageattention")
        from sageattention.triton import attn_qk_int8_per_block as full
        from sageattention.triton import attn_qk_int8_per_block_causal as causal
        from sageattention.triton.quant_per_block import per_block_int8

        def maker(n, module):
            def make():
                q, k, v = tensors(*[(4, size(32 if n < 16384 else 16, 2), n, d)] * 3, dtype="float16")
                q8, qs, k8, ks = per_block_int8(q, k)
                return lambda: module.forward(q8, k8, v, qs, ks, output_dtype=torch.float16)[0]
            return make
        for n in size(lengths, (256,)):
            for label, module in (("", full), (" causal", causal)):
                yield f"D{d} N{n}{label}", maker(n, module)
    return cases


group("SageAttention D64", 1)(sage(64, (4096, 1024, 16384)))


def liger(*wanted):
    """The cases of Liger of these names."""
    def cases(folder):
        import torch
        packages(folder, "Liger-Kernel/src")
        hollow(folder, "Liger-Kernel/src", "liger_kernel", "liger_kernel.ops")
        from importlib import import_module

        def op(file, name):
            return getattr(import_module("liger_kernel.ops." + file), name).apply
        m, n, wide = size((8192, 4096, 11008), (16, 256, 512))
        batch, channels, groups, row = size((64, 512, 32, 4096), (2, 8, 2, 64))
        tokens, words = size((4096, 32000), (8, 512))

        def shares():
            p = torch.softmax(tensors((tokens, words), dtype="float32")[0], -1)
            return p, p.flip(0)

        def selective():
            from liger_kernel.ops.grpo_loss import fused_selective_log_softmax
            length = size(512, 8)
            logits, ids = tensors((4, length + 1, words))[0], torch.randint(0, words, (4, length), device="cuda")
            return lambda: fused_selective_log_softmax(logits, ids, 0.9)
        rows = {
            "layernorm": (lambda x, w, b: op("layer_norm", "LigerLayerNormFunction")(x, w, b, 1e-5), lambda: tensors((m, n), (n,), (n,))),
            "groupnorm": (lambda x, w, b: op("group_norm", "LigerGroupNormFunction")(x, w, b, channels, groups, 1e-5),
                          lambda: tensors((batch, channels, row), (channels,), (channels,), dtype="float32")),
            "rmsnorm": (lambda x, w: op("rms_norm", "LigerRMSNormFunction")(x, w, 1e-5, 0.0, "llama", False), lambda: tensors((m, n), (n,))),
            "softmax": (op("softmax", "LigerSoftmaxFunction"), lambda: tensors((m, n))),
            "polynorm": (lambda x, w, b: op("poly_norm", "LigerPolyNormFunction")(x, w, b, 1e-6, False), lambda: tensors((m, n), (3,), ())),
            "SwiGLU": (op("swiglu", "LigerSiLUMulFunction"), lambda: tensors((m, wide), (m, wide))),
            "GeGLU": (op("geglu", "LigerGELUMulFunction"), lambda: tensors((m, wide), (m, wide))),
            "TVD": (lambda p, q: op("tvd", "LigerTVDLossFunction")(p, q, None, "batchmean", -100), shares),
            "JSD": (lambda p, q: op("jsd", "LigerJSDFunction")(p, q, None, 0.5, -100), lambda: [p.log() for p in shares()]),
            "attention residuals": (lambda v, q, w: op("attn_res", "LigerAttnResFunction")(v, q, w, 1e-6),
                                    lambda: tensors((8, m, n // 2), (n // 2,), (n // 2,))),
            "hyper-connections before": (op("mhc", "LigerMHCPreFunction"),
                                         lambda: tensors((tokens, 4, n // 2)) + tensors((tokens, 4), dtype="float32")),
            "hyper-connections after": (op("mhc", "LigerMHCPostResFunction"),
                                        lambda: tensors((tokens, 4, n // 2), (tokens, n // 2)) + tensors((tokens, 4), (tokens, 4, 4), dtype="float32")),
        }
        for name in wanted:
            yield from ((name, selective),) if name == "selective log softmax" else both(name, *rows[name])
    return cases


group("Liger norms", 1)(liger("layernorm", "groupnorm"))


def bitsandbytes(kind):
    def cases(folder):
        import torch
        packages(folder, "bitsandbytes")
        hollow(folder, "bitsandbytes", "bitsandbytes", "bitsandbytes.backends")
        from bitsandbytes.backends.triton import ops
        n = size(8192, 256)

        def quantise():
            x, = tensors((n, n))
            return lambda: ops.quantize_4bit(x, 64, kind, torch.uint8)[1]

        def dequantise():
            x, = tensors((n, n))
            packed, absmax = ops.quantize_4bit(x, 64, kind, torch.uint8)
            return lambda: ops.dequantize_4bit(packed, absmax, 64, kind, x.shape, x.dtype)
        yield f"{kind} quantise", quantise
        yield f"{kind} dequantise", dequantise
    return cases


group("bitsandbytes nf4", 1)(bitsandbytes("nf4"))


@group("attorch", 1, 2)
def attorch(folder):
    packages(folder, "attorch")
    hollow(folder, "attorch", "attorch")
    from attorch.layer_norm_layer import LayerNormAutoGrad
    m, n = size((8192, 4096), (16, 256))
    yield from both("layernorm", lambda x, w, b: LayerNormAutoGrad.apply(x, w, b, 1e-5, False), lambda: tensors((m, n), (n,), (n,), dtype="float16"))


def fla(folder):
    packages(folder, "flash-linear-attention")
    hollow(folder, "flash-linear-attention", "fla", "fla.ops", "fla.modules", __version__="0")


@group("fla token shift", 1)
def token_shift(folder):
    fla(folder)
    from fla.modules.token_shift import token_shift
    yield from both("token shift", token_shift, lambda: tensors(size((8, 4096, 2048), (2, 64, 128))))


# --- the second wave: what stood at 0.97 and above, and long cases of the first ---

group("tutorial 06, 16384", 2, 8)(tutorial_06("fwd", "", (16384,)))
group("tutorial 06, backward", 2)(tutorial_06("bwd", "fp16", (4096, 16384)))
group("Liger, others", 2)(liger("TVD", "JSD", "rmsnorm", "softmax", "polynorm", "SwiGLU", "GeGLU", "attention residuals", "hyper-connections before",
                                "hyper-connections after", "selective log softmax"))
group("SageAttention D128", 2)(sage(128, (4096,)))
group("bitsandbytes fp4", 2)(bitsandbytes("fp4"))


@group("DeepSeek-V3", 2, 3)
def deepseek(folder):
    import torch
    packages(folder, "DeepSeek-V3/inference")
    import kernel
    n = size(4096, 256)

    def quantise():
        x, = tensors((n, n))
        return lambda: kernel.act_quant(x)[1]

    def weights():
        return tensors((n, n))[0].to(torch.float8_e4m3fn), torch.rand((n // 128, n // 128), device="cuda", dtype=torch.float32)

    def dequantise():
        b, b_s = weights()
        return lambda: kernel.weight_dequant(b, b_s)

    def product():
        torch.set_default_dtype(torch.bfloat16)  # of its result
        try:
            a, a_s = kernel.act_quant(tensors((n, n))[0])
            b, b_s = weights()
            return in_bfloat16(lambda: kernel.fp8_gemm(a, a_s, b, b_s))
        finally:
            torch.set_default_dtype(torch.float32)

    def in_bfloat16(call):
        def run():
            torch.set_default_dtype(torch.bfloat16)
            try:
                return call()
            finally:
                torch.set_default_dtype(torch.float32)
        return run
    yield "quantise", quantise
    yield "dequantise", dequantise
    yield "fp8 product", product


@group("AQLM", 2, 4)
def aqlm(folder):
    import torch
    packages(folder, "AQLM/inference_lib/src")
    hollow(folder, "AQLM/inference_lib/src", "aqlm", "aqlm.inference_kernels")
    from aqlm.inference_kernels.triton_kernel import triton_matmul

    def maker(books, entries):
        def make():
            out, groups = size((4096, 512), (64, 16))
            codes = torch.randint(0, entries, (out, groups, books), device="cuda").to(torch.int16 if entries > 256 else torch.uint8)
            book, scales, x = tensors((books, entries, 1, 8), (out, 1, 1, 1), (1, groups * 8), dtype="float16")
            return lambda: triton_matmul(x, codes, book, scales, None)
        return make
    for books, entries in ((1, 65536), (2, 256)):
        yield f"{books} of {entries}", maker(books, entries)


# --- the third: many configurations to compile ---

@group("Liger experts", 3, 8)
def liger_experts(folder):
    import torch
    packages(folder, "Liger-Kernel/src")
    hollow(folder, "Liger-Kernel/src", "liger_kernel", "liger_kernel.ops")
    from liger_kernel.ops.fused_moe import LigerFusedMoEFunction
    tokens, width, experts, inner = size((4096, 2048, 32, 1024), (32, 128, 4, 64))

    def inputs():
        x, up, down = tensors((tokens, width), (experts, 2 * inner, width), (experts, width, inner))
        weights, index = torch.topk(torch.softmax(torch.randn(tokens, experts, device="cuda"), -1), size(4, 2))
        return x, up * 0.02, down * 0.02, index.to(torch.int32), weights.to(x.dtype)
    yield from both("4096 tokens, 4 of 32, 2048x1024", LigerFusedMoEFunction.apply, inputs)


@group("mamba", 3, 6)
def mamba(folder):
    import torch
    packages(folder, "mamba")
    hollow(folder, "mamba", "mamba_ssm", "mamba_ssm.utils")
    from mamba_ssm.ops.triton.ssd_combined import mamba_chunk_scan_combined
    batch, length, heads, chunk = size((4, 4096, 64, 256), (1, 128, 2, 64))

    def inputs():
        x, B, C, dt = tensors((batch, length, heads, 64), (batch, length, 1, 128), (batch, length, 1, 128), (batch, length, heads))
        return x, dt, B, C, -torch.rand(heads, device="cuda")
    yield from both("chunk scan, whole", lambda x, dt, B, C, A: mamba_chunk_scan_combined(x, dt, A, B, C, chunk, dt_softplus=True), inputs)


@group("fla", 3, 8)
def linear_attention(folder):
    import torch
    fla(folder)
    from fla.ops.gated_delta_rule import chunk_gated_delta_rule
    from fla.ops.gla import chunk_gla
    batch, length, heads = size((4, 4096, 16), (1, 128, 2))

    def delta():
        q, k, v = tensors(*[(batch, length, heads, 128)] * 3)
        beta, g = torch.rand((batch, length, heads), device="cuda").bfloat16(), -torch.rand((batch, length, heads), device="cuda")
        return q, torch.nn.functional.normalize(k, dim=-1), v, g, beta

    def gated():
        return (*tensors(*[(batch, length, heads, 128)] * 3), -torch.rand((batch, length, heads, 128), device="cuda") * 0.1)
    yield from both("gated delta rule", lambda q, k, v, g, beta: chunk_gated_delta_rule(q, k, v, g, beta)[0], delta)
    yield from both("gated linear attention", lambda q, k, v, g: chunk_gla(q, k, v, g)[0], gated)
