# SPDX-License-Identifier: Apache-2.0
"""gpu_rows.py: the rows of the GPU bench: kernel, arrays, configurations, what the result should be, and whom it races.

A row names its arrays (Array: shape, dtype, contents), its launches (Step: a kernel of kernels/triton, arguments, grid) and the
configurations that both compilers choose among. `rivals` are made by gpu_rivals.py from their names; a bar is a set of rivals
(the fastest of them counts) and the ratio rival's time / ours that must be reached."""
import dataclasses
import math
import typing


@dataclasses.dataclass
class Array:
    shape: tuple
    dtype: str = "bfloat16"
    fill: typing.Any = "randn"  # or "empty", or a function of torch that makes it, on the CPU
    after: typing.Callable = None  # (torch, the arrays before it) -> it, where it says something of those


@dataclasses.dataclass
class Step:
    file: str
    kernel: str
    args: dict  # parameter -> name of an array, or a number
    grid: typing.Callable  # constants -> extents


@dataclasses.dataclass
class Bar:
    label: str
    rivals: tuple
    ratio: float


@dataclasses.dataclass
class Row:
    name: str
    unit: str  # GB/s or TFLOP/s
    work: float  # bytes or operations
    arrays: dict
    steps: list
    configs: list  # (constants, options)
    outputs: tuple  # names of arrays that are poisoned before a check
    check: typing.Callable  # (torch, arrays) -> [(name, got -> part of it, wanted part in float64)]
    rivals: tuple
    bars: list
    function: typing.Callable = None  # (torch, arrays) -> result: what torch and torch.compile run
    facts: dict = dataclasses.field(default_factory=dict)  # for the rivals
    bound: float = 2e-2


def configs(blocks, warps, stages=(None,), **more):
    return [(dict(b), {"num_warps": w, **({"num_stages": s} if s else {}), **more}) for b in blocks for w in warps for s in stages]


TRITON = ("triton", "torch.compile")  # the faster one of the two


def elementwise(name, file, kernel, inputs, fn):
    n, first = 1 << 28, 1 << 22
    block = "BLOCK_SIZE" if file == "add.py" else "BLOCK"
    args = {f"{x}_ptr": x for x in inputs}
    args.update({"output_ptr": "out", "n_elements": n} if file == "add.py" else {"out_ptr": "out", "n": n})
    return Row(name, "GB/s", 2.0 * n * (len(inputs) + 1), {**{x: Array((n,)) for x in inputs}, "out": Array((n,), fill="empty")},
               [Step(file, kernel, args, lambda c: (-(-n // c[block]),))], configs([{block: b} for b in (1024, 2048, 4096)], (4, 8)),
               ("out",), lambda torch, a: [("out", lambda t: t[:first], fn(*[a[x][:first].double() for x in inputs]))],
               ("triton", "torch", "torch.compile"), [Bar("Triton", TRITON, 0.98)],
               function=lambda torch, a: fn(*[a[x] for x in inputs]), bound=1e-2)


def rows_of(name, file, kernel, m, n, fn, dtype="bfloat16", weights=(), blocks=None, sums=False, warps=(4, 8, 16)):
    few = 64
    arrays = {"x": Array((m, n), dtype), **{w: Array((n,), dtype) for w in weights}}
    arrays["out"] = Array((m,), "float32", "empty") if sums else Array((m, n), dtype, "empty")
    if file == "softmax.py":
        args = dict(in_ptr="x", out_ptr="out", in_stride=n, out_stride=n, n_cols=n)
    else:
        args = {"x_ptr": "x", "stride": n, "n_cols": n, "eps": 1e-5, "out_ptr" if sums else "y_ptr": "out"}
        args.update({f"{w}_ptr": w for w in weights})
    return Row(name, "GB/s", 2.0 * m * n * (1 if sums else 2), arrays, [Step(file, kernel, args, lambda c: (m,))],
               configs(blocks or [{"BLOCK": 1 << (n - 1).bit_length()}], warps), ("out",),
               lambda torch, a: [("out", lambda t: t[:few], fn(torch, a["x"][:few].double(), *[a[w].double() for w in weights]))],
               ("triton", "torch", "torch.compile"),
               [Bar("Triton", TRITON if file == "softmax.py" else TRITON + ("torch",), 0.97)], function=lambda torch, a: fn(torch, a["x"], *[a[w] for w in weights]))


def softmax_fn(torch, x):
    return torch.softmax(x, -1)


def layernorm_fn(torch, x, w, b):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b, 1e-5)


def rmsnorm_fn(torch, x, w):
    return torch.nn.functional.rms_norm(x, x.shape[-1:], w, 1e-5)


def sum_fn(torch, x):
    return x.sum(-1, dtype=torch.float64 if x.dtype == torch.float64 else torch.float32)


LARGE = configs([{"BM": 128, "BN": 256, "BK": 64}, {"BM": 256, "BN": 128, "BK": 64}, {"BM": 128, "BN": 128, "BK": 64}], (8,), (3, 4))
SKINNY = configs([{"BM": 16, "BN": 128, "BK": 128}, {"BM": 16, "BN": 64, "BK": 128}, {"BM": 16, "BN": 64, "BK": 256},
                  {"BM": 64, "BN": 64, "BK": 128}, {"BM": 64, "BN": 32, "BK": 64}], (4, 8), (3, 5))
SMALL = configs([{"BM": 64, "BN": 64, "BK": 128}, {"BM": 64, "BN": 64, "BK": 64}, {"BM": 64, "BN": 32, "BK": 64}, {"BM": 128, "BN": 64, "BK": 64},
                 {"BM": 64, "BN": 128, "BK": 64}, {"BM": 128, "BN": 128, "BK": 64}], (4, 8), (3, 5))
DEEP = SMALL + configs([{"BM": 128, "BN": 64, "BK": 64}], (8,), (7, 8))


NEAR = [Bar("Triton", ("triton",), 0.97)]  # off the path that products usually take


def matmul(m, n, k, dtype, tiles, bars):
    few = min(m, 256)
    rivals = ("triton", "cublas") + (("tutorial 03",) if any("tutorial 03" in bar.rivals for bar in bars) else ())
    return Row(f"matmul {dtype} {m}x{n}x{k}", "TFLOP/s", 2.0 * m * n * k,
               {"a": Array((m, k), dtype), "b": Array((k, n), dtype), "c": Array((m, n), dtype, "empty")},
               [Step("matmul.py", "matmul_kernel", dict(a_ptr="a", b_ptr="b", c_ptr="c", M=m, N=n, K=k, stride_am=k, stride_ak=1, stride_bk=n,
                                                        stride_bn=1, stride_cm=n, stride_cn=1),
                     lambda t: (-(-m // t["BM"]) * -(-n // t["BN"]),))],
               tiles, ("c",), lambda torch, a: [("c", lambda c: c[:few], a["a"][:few].double() @ a["b"].double())], rivals, bars)


def tiles_of(m, n, k, tiles):
    """The matmul of matmul.py in tiles of a given shape, against Triton."""
    row = matmul(m, n, k, "bfloat16", tiles, NEAR)
    shape = tiles[0][0]
    return dataclasses.replace(row, name=f"{shape['BM']}-row tiles {m}x{n}x{k}", rivals=("triton",))


def matmul_nt(label, m, n, k, dtype, out_dtype, tiles, bars):
    """B is stored with K contiguous: what 8-bit floats and tf32 need."""
    few = min(m, 256)
    return Row(f"matmul {label} {m}x{n}x{k}", "TFLOP/s", 2.0 * m * n * k,
               {"a": Array((m, k), dtype), "b": Array((n, k), dtype), "c": Array((m, n), out_dtype, "empty")},
               [Step("matmul_nt.py", "matmul_nt_kernel", dict(a_ptr="a", b_ptr="b", c_ptr="c", M=m, N=n, K=k, stride_am=k, stride_bn=k,
                                                              stride_cm=n), lambda t: (-(-m // t["BM"]), -(-n // t["BN"])))],
               tiles, ("c",), lambda torch, a: [("c", lambda c: c[:few], a["a"][:few].double() @ a["b"].double().t())],
               ("triton", "cublas"), bars)


def convolution(images, size, c, f, taps, kernel="convolution_kernel"):
    """A convolution with as many pixels out as in; the rows of its product are found by // and %."""
    few, pad, m = 2, taps // 2, images * size * size

    def check(torch, a):
        x, w = a["x"][:few].double().permute(0, 3, 1, 2), a["w"].double().permute(3, 2, 0, 1)
        return [("y", lambda y: y[:few], torch.nn.functional.conv2d(x, w, padding=pad).permute(0, 2, 3, 1))]
    return Row(f"{'taps' if 'taps' in kernel else 'im2col'} {images}x{size}x{size}x{c} to {f}, {taps}x{taps}", "TFLOP/s", 2.0 * m * f * taps * taps * c,
               {"x": Array((images, size, size, c)), "w": Array((taps, taps, c, f)), "y": Array((images, size, size, f), fill="empty")},
               [Step("convolution.py", kernel, dict(x_ptr="x", w_ptr="w", y_ptr="y", images=images, H=size, W=size, P=size, Q=size, F=f, C=c,
                                                    R=taps, S=taps, STRIDE=1, PAD=pad), lambda t: (-(-m // t["BM"]), -(-f // t["BN"])))],
               configs([{"BM": 128, "BN": 128, "BK": 64}, {"BM": 128, "BN": 128, "BK": 32}, {"BM": 64, "BN": 64, "BK": 32}], (4, 8), (3, 4)),
               ("y",), check, ("triton",), NEAR)


def matmul_split(m, n, k):
    """The sum over k is shared by programs that add to C, which is zero before."""
    zero = Step("rows.py", "zero_kernel", {"out_ptr": "c", "count": m * n, "BLOCK": 4096}, lambda t: (-(-m * n // 4096),))
    return Row(f"split matmul {m}x{n}x{k}", "TFLOP/s", 2.0 * m * n * k, {"a": Array((m, k)), "b": Array((k, n)), "c": Array((m, n), "float32", "empty")},
               [zero, Step("matmul_split.py", "matmul_split_kernel", dict(a_ptr="a", b_ptr="b", c_ptr="c", M=m, N=n, K=k, stride_am=k, stride_bk=n, stride_cm=n),
                           lambda t: (-(-m // t["BM"]), -(-n // t["BN"]), t["SPLIT"]))],
               configs([{"BM": 128, "BN": 128, "BK": 64, "SPLIT": s} for s in (4, 8, 16)] +
                       [{"BM": min(m, 64), "BN": 64, "BK": 64, "SPLIT": s} for s in (4, 8)] if m > 16 else
                       [{"BM": 16, "BN": w, "BK": 128, "SPLIT": s} for w in (64, 128) for s in (2, 4, 8)], (4,) if m <= 16 else (4, 8), (3, 4)),
               ("c",), lambda torch, a: [("c", lambda c: c, a["a"].double() @ a["b"].double())], ("triton",), NEAR)


def batched(count, m, n, k, tiles, kernel="batched_matmul_kernel"):
    few = 16
    arrays = {"a": Array((count, m, k)), "b": Array((count, k, n)), "c": Array((count, m, n), fill="empty")}
    args = dict(a_ptr="a", b_ptr="b", c_ptr="c", count=count, M=m, N=n, K=k, stride_ab=m * k, stride_am=k, stride_bb=k * n, stride_bk=n, stride_cb=m * n,
                stride_cm=n)
    if "dots" not in kernel:
        del args["count"]
    return Row(f"batched {'dots' if 'dots' in kernel else 'matmul'} {count}x{m}x{n}x{k}", "TFLOP/s", 2.0 * count * m * n * k, arrays,
               [Step("batched_matmul.py", kernel, args, lambda t: (-(-m // t["BM"]), -(-n // t["BN"]), -(-count // t.get("BB", 1))))],
               tiles, ("c",), lambda torch, a: [("c", lambda c: c[:few], a["a"][:few].double() @ a["b"][:few].double())], ("triton",), NEAR)


ATTENTION = configs([{"BM": 128, "BN": 128}, {"BM": 128, "BN": 64}, {"BM": 64, "BN": 128}, {"BM": 64, "BN": 64}], (4, 8), (2, 3))


def attention(batch, heads, n, d, causal):
    shape, scale = (batch, heads, n, d), d ** -0.5

    def check(torch, a):
        q, k, v = (a[x][0, :1].double() for x in "qkv")
        s = q @ k.transpose(1, 2) * scale
        if causal:
            s += torch.full((n, n), -math.inf, device=s.device, dtype=s.dtype).triu(1)
        return [("o", lambda o: o[0, :1], torch.softmax(s, -1) @ v)]
    return Row(f"attention {'causal ' if causal else ''}B{batch} H{heads} N{n} D{d}", "TFLOP/s",
               4.0 * batch * heads * n * n * d * (0.5 if causal else 1),
               {**{x: Array(shape) for x in "qkv"}, "o": Array(shape, fill="empty")},
               [Step("attention.py", "attention_kernel", dict(q_ptr="q", k_ptr="k", v_ptr="v", o_ptr="o", scale=scale, N=n, stride_h=n * d,
                                                              stride_n=d, D=d, CAUSAL=causal), lambda t: (-(-n // t["BM"]), batch * heads))],
               ATTENTION, ("o",), check, ("triton", "cudnn", "tutorial 06"), [Bar("Triton's tutorial 06", ("tutorial 06",), 1.0)],
               facts=dict(causal=causal, scale=scale))


def attention_tiles(batch, heads, n, d, bm, bn, warps):
    """f16 in one configuration, which is what tuners that know fewer have (64 columns of keys where D is 64)."""
    row = attention(batch, heads, n, d, False)
    return dataclasses.replace(row, name=f"attention f16 B{batch} H{heads} N{n} D{d}, {bm}x{bn} tiles, {warps} warps", rivals=("triton",),
                               arrays={name: dataclasses.replace(a, dtype="float16") for name, a in row.arrays.items()},
                               configs=configs([{"BM": bm, "BN": bn}], (warps,), (3,)), bars=[Bar("Triton", ("triton",), 1.0)])


def attention_narrow(kind, batch, heads, n, d, causal):
    """fp8: all operands, V along its keys; int8: the scores' factors, a scale a block."""
    fp8, shape = kind == "fp8", (batch * heads, n, d)
    dtype = "float8_e4m3fn" if fp8 else "int8"
    scale = d ** -0.5 if fp8 else 0.01

    def whole(torch):
        return torch.randint(-60, 60, shape, dtype=torch.int8)

    def check(torch, a):
        q, k, v = (a[x][0].double() for x in "qkv")
        s = q @ k.T * (scale if fp8 else scale * 0.05 * math.log(2))
        if causal:
            s += torch.full((n, n), -math.inf, device=s.device, dtype=s.dtype).triu(1)
        return [("o", lambda o: o[0], torch.softmax(s, -1) @ (v.T if fp8 else v))]

    def blocks(value):
        return Array((batch * heads, n // 64), "float32", lambda torch: torch.full((batch * heads, n // 64), value))
    arrays = {x: Array(shape, dtype, "randn" if fp8 else whole) for x in "qk"}
    arrays |= {"v": Array((batch * heads, d, n), dtype) if fp8 else Array(shape, "float16"), "o": Array(shape, "bfloat16" if fp8 else "float16", "empty")}
    args = dict(q_ptr="q", k_ptr="k", v_ptr="v", o_ptr="o", N=n, stride_h=n * d, stride_n=d, D=d, CAUSAL=causal)
    if fp8:
        args |= dict(scale=scale, stride_vh=n * d, stride_vd=n, stride_oh=n * d, stride_on=d)
    else:
        arrays |= {"q_scale": blocks(scale), "k_scale": blocks(0.05)}
        args |= dict(q_scale_ptr="q_scale", k_scale_ptr="k_scale")
    return Row(f"attention {kind} {'causal ' if causal else ''}B{batch} H{heads} N{n} D{d}", "TFLOP/s",
               4.0 * batch * heads * n * n * d * (0.5 if causal else 1), arrays,
               [Step("attention_narrow.py", f"attention_{'f8' if fp8 else 'i8'}_kernel", args, lambda t: (-(-n // t["BM"]), batch * heads))],
               configs([{"BM": 128, "BN": 128}, {"BM": 128, "BN": 64}], (4, 8), (3,)) + configs([{"BM": 64, "BN": 128}], (4,), (2,)),
               ("o",), check, ("triton",), [Bar("Triton", ("triton",), 1.0)], bound=5e-2)


def attention_backward(batch, heads, n, d):
    """Causal; the forward pass has left o and lse."""
    shape, scale = (batch, heads, n, d), d ** -0.5

    def check(torch, a):
        q, k, v, o, do, lse = (a[x][0, :1].double() for x in ("q", "k", "v", "o", "do", "lse"))
        p = torch.exp2(q @ k.transpose(1, 2) * scale * 1.44269504 - lse[:, :, None]).tril()
        ds = p * (do @ v.transpose(1, 2) - (o * do).sum(-1, keepdim=True))
        first = lambda x: x[0, :1]  # noqa: E731
        return [("dq", first, ds @ k * scale), ("dk", first, ds.transpose(1, 2) @ q * scale), ("dv", first, p.transpose(1, 2) @ do)]
    common = dict(N=n, stride_h=n * d, stride_n=d, D=d)
    inputs = dict(q_ptr="q", k_ptr="k", v_ptr="v", do_ptr="do", lse_ptr="lse", delta_ptr="delta", scale=scale, CAUSAL=True, **common)

    def step(kernel, args, block):
        return Step("attention_backward.py", f"attention_{kernel}_kernel", args, lambda t: (-(-n // t[block]), batch * heads))
    return Row(f"attention backward causal B{batch} H{heads} N{n} D{d}", "TFLOP/s", 5.0 * batch * heads * n * n * d,
               {**{x: Array(shape) for x in ("q", "k", "v", "o", "do")}, "lse": Array(shape[:3], "float32"),
                "delta": Array(shape[:3], "float32", "empty"), **{x: Array(shape, fill="empty") for x in ("dq", "dk", "dv")}},
               [step("delta", dict(o_ptr="o", do_ptr="do", delta_ptr="delta", **common), "BM"),
                step("dkdv", dict(dk_ptr="dk", dv_ptr="dv", **inputs), "BN1"), step("dq", dict(dq_ptr="dq", **inputs), "BM2")],
               configs([{"BM": 32, "BM1": 64, "BN1": 128, "BM2": 128, "BN2": n2} for n2 in (128, 64)], (8,), (2,)),
               ("dq", "dk", "dv"), check, ("triton", "cudnn", "tutorial 06"), [Bar("Triton's tutorial 06", ("tutorial 06",), 1.5)],
               facts=dict(causal=True, scale=scale))


SAME = [Bar("Triton", ("triton",), 1.0)]
RIVALS = ("triton", "torch", "torch.compile")


def gated(name, file, m, n, activate):
    """Forward and backward of activate(gate) * up."""
    few, kernel = 64, file[:-3]
    inputs = {x: Array((m, n)) for x in ("gate", "up")}
    common = dict(gate_ptr="gate", up_ptr="up", stride_in=n, stride_out=n, n_cols=n)
    tiles = configs([{"BLOCK": b} for b in (1024, 2048, 4096)], (4, 8))

    def grid(c):
        return m, -(-n // c["BLOCK"])

    def slopes(torch, a):
        gate, up = (a[x][:few].double().requires_grad_() for x in ("gate", "up"))
        return torch.autograd.grad(activate(torch, gate) * up, (gate, up), a["dout"][:few].double())
    return [
        Row(f"{name} {m}x{n}", "GB/s", 6.0 * m * n, {**inputs, "out": Array((m, n), fill="empty")},
            [Step(file, f"{kernel}_kernel", dict(out_ptr="out", **common), grid)], tiles, ("out",),
            lambda torch, a: [("out", lambda t: t[:few], activate(torch, a["gate"][:few].double()) * a["up"][:few].double())],
            RIVALS, SAME, function=lambda torch, a: activate(torch, a["gate"]) * a["up"]),
        Row(f"{name} backward {m}x{n}", "GB/s", 10.0 * m * n,
            {**inputs, "dout": Array((m, n)), "dgate": Array((m, n), fill="empty"), "dup": Array((m, n), fill="empty")},
            [Step(file, f"{kernel}_backward_kernel", dict(dout_ptr="dout", dgate_ptr="dgate", dup_ptr="dup", **common), grid)], tiles,
            ("dgate", "dup"), lambda torch, a: list(zip(("dgate", "dup"), [lambda t: t[:few]] * 2, slopes(torch, a))), ("triton",), SAME)]


def cross_entropy(m, n):
    few = 64
    arrays = {"logits": Array((m, n)), "target": Array((m,), "int64", lambda torch: torch.randint(n, (m,))), "lse": Array((m,), "float32", "empty")}
    common = dict(logits_ptr="logits", target_ptr="target", lse_ptr="lse", stride=n, n_cols=n, ignored=-100)

    def loss(torch, a):
        x = a["logits"][:few].double()
        lse = torch.logsumexp(x, 1)
        return [("loss", lambda t: t[:few], lse - x.gather(1, a["target"][:few, None])[:, 0]), ("lse", lambda t: t[:few], lse)]

    def slope(torch, a):
        x, hit = a["logits"][:few].double(), a["target"][:few, None]
        share = torch.exp(x - a["given"][:few, None].double())
        return [("dlogits", lambda t: t[:few], share.scatter_add(1, hit, -torch.ones_like(hit, dtype=x.dtype)) * a["dloss"][:few, None].double())]
    return [
        Row(f"cross entropy {m}x{n}", "GB/s", 2.0 * m * n, {**arrays, "loss": Array((m,), "float32", "empty")},
            [Step("cross_entropy.py", "cross_entropy_kernel", dict(loss_ptr="loss", **common), lambda c: (m,))],
            configs([{"BLOCK": b} for b in (2048, 4096, 8192, 16384)], (4, 8, 16)), ("loss", "lse"), loss, RIVALS, SAME,
            function=lambda torch, a: torch.nn.functional.cross_entropy(a["logits"], a["target"], reduction="none")),
        Row(f"cross entropy backward {m}x{n}", "GB/s", 4.0 * m * n,
            {**arrays, "given": Array((m,), "float32"), "dloss": Array((m,), "float32"), "dlogits": Array((m, n), fill="empty")},
            [Step("cross_entropy.py", "cross_entropy_backward_kernel", dict(common, lse_ptr="given", dloss_ptr="dloss", dlogits_ptr="dlogits"),
                  lambda c: (m, -(-n // c["BLOCK"])))],
            configs([{"BLOCK": b} for b in (1024, 2048, 4096)], (4, 8)), ("dlogits",), slope, ("triton",), SAME)]


def rmsnorm_backward(m, n):
    each = 21  # rows a program: three programs of 256 threads a multiprocessor, once
    parts = -(-m // each)

    def slopes(torch, a):
        x, w = (a[name].double().requires_grad_() for name in ("x", "w"))
        rstd = (x.square().mean(1) + 1e-5).rsqrt()
        a["rstd"].copy_(rstd.detach())
        dx, dw = torch.autograd.grad(x * rstd[:, None] * w, (x, w), a["dy"].double())
        return [("dx", lambda t: t, dx), ("dw", lambda t: t, dw)]
    return Row(f"rmsnorm backward {m}x{n}", "GB/s", 6.0 * m * n,
               {"dy": Array((m, n)), "x": Array((m, n)), "w": Array((n,)), "rstd": Array((m,), "float32"), "dx": Array((m, n), fill="empty"),
                "parts": Array((parts, n), "float32", "empty"), "dw": Array((n,), fill="empty")},
               [Step("rmsnorm_backward.py", "rmsnorm_backward_kernel",
                     dict(dy_ptr="dy", x_ptr="x", w_ptr="w", rstd_ptr="rstd", dx_ptr="dx", dw_ptr="parts", stride=n, n_rows=m, n_cols=n, rows_each=each),
                     lambda c: (parts,)),
                Step("rmsnorm_backward.py", "add_parts_kernel", dict(parts_ptr="parts", out_ptr="dw", n_parts=parts, n_cols=n),
                     lambda c: (-(-n // c["BN"]),))],
               configs([{"BLOCK": 1 << (n - 1).bit_length(), "BM": 32, "BN": 32}], (4, 8, 16)), ("dx", "dw"), slopes, ("triton",), SAME)


def chunks(batch, length, heads, groups, p, n, size):
    """Mamba-2: what each chunk leaves, and what it gives, and their gradients."""
    count = length // size
    steps = (batch, heads, count, size)
    arrays = {"x": Array((batch, length, heads, p)), "dt": Array(steps, "float32"), "a": Array(steps, "float32")}
    common = dict(x_ptr="x", dt_ptr="dt", a_ptr="a", length=length, size=size, heads=heads, groups=groups, P=p, N=n)

    def first(a):
        return a["x"][0, :size, 0].double(), a["dt"][0, 0, 0].double(), a["a"][0, 0, 0].double()

    def states(torch, a):
        x, dt, decay = first(a)
        return [("states", lambda t: t[0, 0, 0], x.t() @ (a["b"][0, :size, 0].double() * ((decay[-1] - decay).exp() * dt)[:, None]))]

    def outputs(torch, a):
        x, dt, decay = first(a)
        inner = (a["cb"][0, 0, 0].double() * (decay[:, None] - decay).exp() * dt).tril() @ x
        outer = a["c"][0, :size, 0].double() @ a["before"][0, 0, 0].double().t() * decay.exp()[:, None]
        return [("y", lambda t: t[0, :size, 0], inner + outer + a["d"][0].double() * x)]

    def dstates(torch, a):
        _, _, decay = first(a)
        return [("dstates", lambda t: t[0, 0, 0], a["dy"][0, :size, 0].double().t() @ (a["c"][0, :size, 0].double() * decay.exp()[:, None]))]

    def dcb(torch, a):
        x, dy, dt, decay = (a[n][0, :size].double().transpose(0, 1) if n in ("x", "dy") else a[n][0, :, 0].double() for n in ("x", "dy", "dt", "a"))
        each = heads // groups
        weight = (decay[:each, :, None] - decay[:each, None]).exp() * dt[:each, None]
        return [("dcb", lambda t: t[0, 0, 0], (dy[:each] @ x[:each].mT * weight).sum(0).tril())]

    def dx(torch, a):
        x, dt, decay = first(a)
        dy = a["dy"][0, :size, 0].double()
        inner = (a["cb"][0, 0, 0].double() * (decay[:, None] - decay).exp()).tril().t() @ dy
        g = inner + a["b"][0, :size, 0].double() @ a["dstates"][0, 0, 0].double().t() * (decay[-1] - decay).exp()[:, None]
        return [("dx", lambda t: t[0, :size, 0], g * dt[:, None] + a["d"][0].double() * dy), ("ddt", lambda t: t[0, 0, 0], (g * x).sum(1))]

    def row(name, file, kernel, work, more, out, args, grid, tiles, check):
        return Row(f"{name} B{batch} L{length} H{heads} P{p} N{n}", "TFLOP/s", work * batch * count * heads, {**arrays, **more},
                   [Step(file, kernel, {**common, **args}, grid)], tiles, out, check, ("triton",), SAME)
    b, c = Array((batch, length, groups, n)), Array((batch, length, groups, n))
    cb, states_of = Array((batch, count, groups, size, size)), (batch, count, heads, p, n)
    outer = configs([{"BM": 64, "BN": 128, "BK": 32}, {"BM": 64, "BN": 128, "BK": 64}, {"BM": 64, "BN": 64, "BK": 32}, {"BM": 64, "BN": 64, "BK": 64}],
                    (4, 8), (2, 3, 4))
    without = {name: value for name, value in common.items() if name not in ("x_ptr", "dt_ptr")}
    depth = 1 << (n - 1).bit_length()
    rows = [
        row("chunk state", "chunk_state.py", "chunk_state_kernel", 2.0 * size * p * n, {"b": b, "states": Array(states_of, fill="empty")},
            ("states",), dict(b_ptr="b", states_ptr="states"), lambda c: (-(-p // c["BM"]) * -(-n // c["BN"]), batch * count, heads), outer, states),
        row("chunk scan", "chunk_scan.py", "chunk_scan_kernel", 2.0 * size * n * p + size * size * p,
            {"cb": cb, "c": c, "before": Array(states_of), "d": Array((heads,), "float32"), "y": Array((batch, length, heads, p), fill="empty")},
            ("y",), dict(cb_ptr="cb", c_ptr="c", before_ptr="before", d_ptr="d", y_ptr="y", BD=depth),
            lambda c: (-(-size // c["BM"]) * -(-p // c["BN"]), batch * count, heads),
            configs([{"BM": 128, "BN": 64, "BK": 64}, {"BM": 128, "BN": 64, "BK": 32}, {"BM": 64, "BN": 64, "BK": 32}, {"BM": 64, "BN": 64, "BK": 64}],
                    (4, 8), (2, 3, 4)), outputs)]
    dy = Array((batch, length, heads, p))
    more = [
        Row(f"chunk dstates B{batch} L{length} H{heads} P{p} N{n}", "TFLOP/s", 2.0 * size * p * n * batch * count * heads,
            {"dy": dy, "c": c, "x": arrays["x"], "dt": arrays["dt"], "a": arrays["a"], "dstates": Array(states_of, fill="empty")},
            [Step("chunk_backward.py", "chunk_dstates_kernel", {**without, "dy_ptr": "dy", "c_ptr": "c", "dstates_ptr": "dstates"},
                  lambda c: (-(-p // c["BM"]) * -(-n // c["BN"]), batch * count, heads))], outer, ("dstates",), dstates, ("triton",), SAME),
        Row(f"chunk dcb B{batch} L{length} H{heads} P{p}", "TFLOP/s", 1.0 * size * size * p * batch * count * heads,
            {**arrays, "dy": dy, "dcb": Array((batch, count, groups, size, size), fill="empty")},
            [Step("chunk_backward.py", "chunk_dcb_kernel",
                  {**{name: value for name, value in common.items() if name != "N"}, "dy_ptr": "dy", "dcb_ptr": "dcb", "BK": max(1 << (p - 1).bit_length(), 16)},
                  lambda c: (-(-size // c["BM"]) * -(-size // c["BN"]), batch * count, groups))],
            configs([{"BM": 64, "BN": 64}, {"BM": 128, "BN": 64}, {"BM": 64, "BN": 128}, {"BM": 128, "BN": 128}], (4, 8), (2, 3, 4)), ("dcb",), dcb,
            ("triton",), SAME),
        Row(f"chunk dx B{batch} L{length} H{heads} P{p} N{n}", "TFLOP/s", (2.0 * size * n * p + size * size * p) * batch * count * heads,
            {**arrays, "cb": cb, "b": b, "dy": dy, "dstates": Array(states_of), "d": Array((heads,), "float32"),
             "dx": Array((batch, length, heads, p), fill="empty"), "ddt": Array(steps, "float32", "empty")},
            [Step("chunk_backward.py", "chunk_dx_kernel",
                  {**common, "cb_ptr": "cb", "b_ptr": "b", "dy_ptr": "dy", "dstates_ptr": "dstates", "d_ptr": "d", "dx_ptr": "dx", "ddt_ptr": "ddt",
                   "BN": max(1 << (p - 1).bit_length(), 16), "BD": depth}, lambda c: (-(-size // c["BM"]), batch * count, heads))],
            configs([{"BM": 128, "BK": 64}, {"BM": 128, "BK": 32}, {"BM": 64, "BK": 32}, {"BM": 64, "BK": 64}], (4, 8), (2, 3, 4)), ("dx", "ddt"), dx,
            ("triton",), SAME)]
    return rows + more


def delta(batch, length, heads, k, v, size=64):
    """The gated delta rule: the states before the chunks of a sequence, one after the other, the outputs of all chunks, and the states'
    gradients, from the last chunk to the first."""
    count = -(-length // size)

    def gate(torch):
        return -torch.rand(batch, count, size, heads).cumsum(2).reshape(batch, -1, heads)[:, :length] / 8

    def small(torch):
        return torch.randn(batch, length, heads, k) / k

    arrays = {"k": Array((batch, length, heads, k), fill=small), "g": Array((batch, length, heads), "float32", gate)}
    values = (batch, length, heads, v)

    def states(torch, a):
        ks, w, u, g = (a[name][0, :, 0].double() for name in ("k", "w", "u", "g"))
        h, all_h, all_new = torch.zeros(k, v, dtype=torch.float64, device=ks.device), [], []
        for i in range(0, length, size):
            at = slice(i, i + size)
            all_h.append(h)
            all_new.append(u[at] - w[at] @ h)
            h = h * g[at][-1].exp() + ks[at].t() @ (all_new[-1] * (g[at][-1] - g[at]).exp()[:, None])
        return [("h", lambda t: t[0, :, 0], torch.stack(all_h)), ("new", lambda t: t[0, :, 0], torch.cat(all_new))]

    def outputs(torch, a):
        q, ks, new, g = (a[name][0, :size, 0].double() for name in ("q", "k", "new", "g"))
        inner = (q @ ks.t() * (g[:, None] - g).exp()).tril() @ new
        return [("o", lambda t: t[0, :size, 0], q @ a["h"][0, 0, 0].double() * g.exp()[:, None] + inner)]

    def gradients(torch, a):
        q, ks, w, do, inner, g = (a[name][0, :, 0].double() for name in ("q", "k", "w", "do", "inner", "g"))
        dh, all_dh, all_dnew = torch.zeros(k, v, dtype=torch.float64, device=ks.device), [], []
        for i in reversed(range(0, length, size)):
            at = slice(i, i + size)
            last = g[at][-1]
            all_dh.append(dh)
            all_dnew.append(ks[at] @ dh * (last - g[at]).exp()[:, None] + inner[at])
            dh = dh * last.exp() + q[at].t() @ (do[at] * g[at].exp()[:, None]) - w[at].t() @ all_dnew[-1]
        return [("dh", lambda t: t[0, :, 0], torch.stack(all_dh[::-1])), ("dnew", lambda t: t[0, :, 0], torch.cat(all_dnew[::-1]))]

    # not BV 32 with one stage: an illegal memory access comes up in Triton's kernel, and the device is lost
    tiles = [*configs([{"BV": 32}], (2, 4), (2, 3)), *configs([{"BV": 64}], (2, 4), (1, 2, 3)), *configs([{"BV": 64}], (8,), (2, 3)),
             *configs([{"BV": 128}], (4, 8), (1, 2, 3))]
    shape = f"B{batch} L{length} H{heads} K{k} V{v}"
    sizes = dict(length=length, heads=heads, V=v, K=k, BT=size)
    return [
        Row(f"delta rule states {shape}", "TFLOP/s", 4.0 * k * v * length * heads * batch,
            {**arrays, "w": Array((batch, length, heads, k), fill=small), "u": Array(values),
             "h": Array((batch, count, heads, k, v), fill="empty"), "new": Array(values, fill="empty")},
            [Step("gated_delta.py", "delta_state_kernel", dict(k_ptr="k", w_ptr="w", u_ptr="u", g_ptr="g", h_ptr="h", new_ptr="new", **sizes),
                  lambda c: (-(-v // c["BV"]), batch * heads))], tiles, ("h", "new"), states, ("triton",), SAME),
        Row(f"delta rule outputs {shape}", "TFLOP/s", (2.0 * k * v + 1.0 * size * (k + v)) * length * heads * batch,
            {**arrays, "q": Array((batch, length, heads, k)), "new": Array(values), "h": Array((batch, count, heads, k, v)),
             "o": Array(values, fill="empty")},
            [Step("gated_delta.py", "delta_output_kernel", dict(q_ptr="q", k_ptr="k", new_ptr="new", h_ptr="h", g_ptr="g", o_ptr="o", scale=1.0, **sizes),
                  lambda c: (-(-v // c["BV"]), count, batch * heads))], tiles, ("o",), outputs, ("triton",), SAME),
        Row(f"delta rule gradients {shape}", "TFLOP/s", 6.0 * k * v * length * heads * batch,
            {**arrays, "q": Array((batch, length, heads, k), fill=small), "w": Array((batch, length, heads, k), fill=small), "do": Array(values),
             "inner": Array(values), "dh": Array((batch, count, heads, k, v), fill="empty"), "dnew": Array(values, fill="empty")},
            [Step("gated_delta.py", "delta_back_kernel", dict(q_ptr="q", k_ptr="k", w_ptr="w", g_ptr="g", do_ptr="do", inner_ptr="inner", dh_ptr="dh",
                                                              dnew_ptr="dnew", scale=1.0, **sizes),
                  lambda c: (-(-v // c["BV"]), batch * heads))], tiles, ("dh", "dnew"), gradients, ("triton",), SAME)]


def experts_of(torch, tokens, count, top):
    torch.manual_seed(5)
    return torch.rand(tokens, count).topk(top).indices


def moe(tokens, count, top, n, k, block=128, weights="bfloat16"):
    """Gathered rows times the weights of their expert, scattered again; the pairs are sorted before (sort_pairs of the file).
    Weights of 8 bits have a scale a row."""
    narrow = weights != "bfloat16"
    sorted_pairs = tokens * top + count * (block - 1)

    def part(index):
        def make(torch):
            from gpu_rivals import KERNELS, load
            return load(f"{KERNELS}/moe_matmul.py").sort_pairs(experts_of(torch, tokens, count, top), count, block)[index]
        return make

    def check(torch, a):
        chosen = experts_of(torch, tokens, count, top)[:2].to(a["b"].device)
        own = a["b"].view(torch.uint8)[chosen].view(a["b"].dtype) if narrow else a["b"][chosen]
        want = torch.einsum("tk,tjnk->tjn", a["a"][:2].double(), own.double()).reshape(2 * top, n)
        if narrow:
            want = want * a["scales"][chosen].double().reshape(2 * top, n)
        return [("c", lambda c: c[:2 * top], want * a["factors"][:2 * top, None].double())]
    spoken = {"bfloat16": "bf16", "int8": "int8 weights", "float8_e4m3fn": "fp8 weights"}[weights]
    return Row(f"experts {spoken} {tokens} tokens, {top} of {count}, {n}x{k}", "TFLOP/s", 2.0 * tokens * top * n * k,
               {"a": Array((tokens, k)), "b": Array((count, n, k), weights), **({"scales": Array((count, n), "float32")} if narrow else {}), "c": Array((tokens * top, n), fill="empty"),
                "factors": Array((tokens * top,), "float32"), "order": Array((sorted_pairs,), "int32", part(0)),
                "experts": Array((sorted_pairs // block + 1,), "int32", part(1)), "count": Array((1,), "int32", part(2))},
               [Step("moe_matmul.py", "moe_matmul_kernel", dict(a_ptr="a", b_ptr="b", c_ptr="c", factor_ptr="factors", order_ptr="order",
                                                                expert_ptr="experts", count_ptr="count", N=n, K=k, pairs=tokens * top, stride_a=k,
                                                                stride_e=n * k, stride_b=k, stride_c=n, TOP=top, SCALE=True,
                                                                **({"scale_ptr": "scales"} if narrow else {})),
                     lambda t: (-(-sorted_pairs // t["BM"]) * -(-n // t["BN"]),))],
               configs([{"BM": block, "BN": 256, "BK": 64}, {"BM": block, "BN": 128, "BK": 64}]
                       + [{"BM": block, "BN": 128, "BK": 128}] * narrow, (8,), (3, 4)),
               ("c",), check, ("triton",), [Bar("Triton", ("triton",), 1.0)])


def table_matmul(count, m, n, k, boxes=False):
    """Products of matrices that lie where a table says, by hints or by descriptors made in the kernel (B by columns)."""
    few = 64

    def numbers(*each):
        return lambda torch: torch.tensor(each * count, dtype=torch.int32)

    def addresses(torch, arrays):
        return torch.tensor([arrays[x][i].data_ptr() for i in range(count) for x in "abc"], device="cuda")
    return Row(f"table matmul{' by descriptors' * boxes} {count} x {m}x{n}x{k}", "TFLOP/s", 2.0 * count * m * n * k,
               {"a": Array((count, m, k), "float16"), "b": Array((count, n, k) if boxes else (count, k, n), "float16"),
                "c": Array((count, m, n), "float16", "empty"), "addresses": Array((3 * count,), "int64", after=addresses),
                "sizes": Array((3 * count,), "int32", numbers(m, n, k)), "strides": Array((3 * count,), "int32", numbers(k, k if boxes else n, n))},
               [Step("table_matmul.py", "table_matmul_box_kernel" if boxes else "table_matmul_kernel",
                     dict(memory="a", addresses="addresses", sizes="sizes", strides="strides", problems=count), lambda t: (132,))],
               configs([{"BM": 128, "BN": 128, "BK": 64}, {"BM": 128, "BN": 256, "BK": 64}][:1 + boxes], (4, 8), (3, 4)), ("c",),
               lambda torch, a: [("c", lambda c: c[-1, :few], a["a"][-1, :few].double() @ (a["b"][-1].t() if boxes else a["b"][-1]).double())],
               ("triton",), [Bar("Triton", ("triton",), 1.0)])


def int4(m, n, k, group=128):
    """Weights of 4 bits, eight a word along K, unpacked in the loop."""
    few = min(m, 64)

    def words(torch):
        torch.manual_seed(9)
        return torch.randint(-2 ** 31, 2 ** 31, (k // 8, n)).int()

    def check(torch, a):
        q = (a["packed"][:, None, :] >> (4 * torch.arange(8, device="cuda").int())[None, :, None] & 15).reshape(k, n)
        return [("c", lambda c: c[:few], a["a"][:few].double() @ ((q.double() - 8) * a["scales"].double().repeat_interleave(group, 0)))]
    tiles = [{"BM": 128, "BN": 128, "BK": 64}, {"BM": 64, "BN": 128, "BK": 64}, {"BM": 128, "BN": 128, "BK": 32}] if m > 64 else \
        [{"BM": 16, "BN": 64, "BK": 64}, {"BM": 16, "BN": 64, "BK": 128}, {"BM": 16, "BN": 32, "BK": 128}]
    return Row(f"int4 weights {m}x{n}x{k}", "TFLOP/s", 2.0 * m * n * k,
               {"a": Array((m, k), "float16"), "packed": Array((k // 8, n), "int32", words), "scales": Array((k // group, n), "float16"),
                "c": Array((m, n), "float16", "empty")},
               [Step("int4_matmul.py", "int4_matmul_kernel", dict(a_ptr="a", packed_ptr="packed", scale_ptr="scales", c_ptr="c", M=m, N=n, K=k,
                                                                  stride_a=k, stride_c=n, GROUP=group),
                     lambda t: (-(-m // t["BM"]) * -(-n // t["BN"]),))],
               configs(tiles, (4, 8) if m > 64 else (4,), (3, 4)), ("c",), check, ("triton",), [Bar("Triton", ("triton",), 0.97)])


def numbers_of(torch, count, below):
    torch.manual_seed(8)
    return torch.randint(below, (count,), dtype=torch.int32)


def picked_rows(n, table, width, add=False):
    """Rows that random numbers choose: copied in bf16, or (add) summed in float32 by atomics, into zeros."""
    dtype, size = ("float32", 4) if add else ("bfloat16", 2)

    def check(torch, a):
        if not add:
            return [("out", lambda o: o[:64], a["x"][a["index"][:64].long()].double())]
        same = [(a["index"] == row).nonzero()[:, 0] for row in range(16)]
        return [("out", lambda o: o[:16], torch.stack([a["x"][which].double().sum(0) for which in same]))]

    def grid(t):
        return -(-n // t["BM"]), -(-width // t["BC"])
    step = Step("rows.py", "scatter_add_kernel" if add else "embedding_kernel",
                {"x_ptr" if add else "table_ptr": "x", "index_ptr": "index", "out_ptr": "out", "n": n, "width": width,
                 "stride_x" if add else "stride_t": width, "stride_o": width}, grid)
    zero = Step("rows.py", "zero_kernel", {"out_ptr": "out", "count": table * width, "BLOCK": 4096}, lambda t: (-(-table * width // 4096),))
    shapes = ((n, width), (table, width)) if add else ((table, width), (n, width))
    return Row(f"{'rows added' if add else 'rows copied'} {n}x{width} of {table}", "GB/s", 2.0 * size * n * width,
               {"x": Array(shapes[0], dtype), "index": Array((n,), "int32", lambda torch: numbers_of(torch, n, table)), "out": Array(shapes[1], dtype, "empty")},
               ([zero] if add else []) + [step], configs([{"BM": m, "BC": c} for m in (8, 16, 32) for c in (256, 512)], (4, 8)),
               ("out",), check, ("triton",), [Bar("Triton", ("triton",), 1.0)])


def pages_of(torch, seqs, most):
    torch.manual_seed(6)
    return torch.randperm(seqs * most).reshape(seqs, most).to(torch.int32)


def cached(seqs, length, groups, d, page):
    """Arrays of a cache in pages, and the arguments that name them."""
    most = -(-length // page)
    arrays = {x: Array((seqs * most, page, groups, d)) for x in "kv"}
    arrays.update(pages=Array((seqs, most), "int32", lambda torch: pages_of(torch, seqs, most)),
                  lengths=Array((seqs,), "int32", lambda torch: torch.full((seqs,), length, dtype=torch.int32)))
    return arrays, dict(k_ptr="k", v_ptr="v", pages_ptr="pages", lengths_ptr="lengths", scale=d ** -0.5, most=most, stride_kp=page * groups * d,
                        stride_kn=groups * d, stride_kh=d, PAGE=page, D=d)


def first_of(a, x, length):
    """The keys or values of the first sequence and head, in float64."""
    return a[x][a["pages"][0].long()].flatten(0, 1)[:length, 0].double()


def paged_attention(seqs, queries, length, heads, groups, d, page=16):
    arrays, args = cached(seqs, length, groups, d, page)
    shape = (seqs, queries, heads, d)

    def check(torch, a):
        s = a["q"][0, :, 0].double() @ first_of(a, "k", length).t() * d ** -0.5
        s += torch.full(s.shape, -math.inf, device=s.device, dtype=s.dtype).triu(1 + length - queries)
        return [("o", lambda o: o[0, :, 0], torch.softmax(s, -1) @ first_of(a, "v", length))]
    return Row(f"paged attention {seqs}x{queries} over {length}, heads {heads}/{groups} D{d}", "TFLOP/s",
               4.0 * seqs * heads * d * queries * (length - queries + (queries + 1) / 2), {"q": Array(shape), "o": Array(shape, fill="empty"), **arrays},
               [Step("paged_attention.py", "paged_attention_kernel",
                     dict(q_ptr="q", o_ptr="o", Q=queries, stride_qs=queries * heads * d, stride_qn=heads * d, stride_qh=d, SHARE=heads // groups, **args),
                     lambda t: (-(-queries // t["BM"]), heads, seqs))],
               configs([{"BM": 128, "BN": 128}, {"BM": 128, "BN": 64}, {"BM": 64, "BN": 64}], (4, 8), (2, 3)),
               ("o",), check, ("triton",), [Bar("Triton", ("triton",), 1.0)])


def paged_decode(seqs, length, heads, groups, d, page=16, parts=(2, 4, 8)):
    arrays, args = cached(seqs, length, groups, d, page)
    share, most = heads // groups, max(parts)

    def check(torch, a):
        s = a["q"][0, :1].double() @ first_of(a, "k", length).t() * d ** -0.5
        return [("o", lambda o: o[0, :1], torch.softmax(s, -1) @ first_of(a, "v", length))]
    return Row(f"paged decode {seqs} of {length}, heads {heads}/{groups} D{d}", "GB/s", 4.0 * seqs * length * groups * d,
               {"q": Array((seqs, heads, d)), "o": Array((seqs, heads, d), fill="empty"), "part": Array((seqs, heads, most, d), "float32", "empty"),
                "lse": Array((seqs, heads, most), "float32", "empty"), **arrays},
               [Step("paged_decode.py", "paged_decode_kernel",
                     dict(q_ptr="q", part_ptr="part", lse_ptr="lse", H=heads, SHARE=share, ROWS=max(16, share), **args),
                     lambda t: (seqs, groups, t["PARTS"])),
                Step("paged_decode.py", "paged_combine_kernel", dict(part_ptr="part", lse_ptr="lse", o_ptr="o", D=d), lambda t: (seqs * heads,))],
               configs([{"PARTS": p, "BN": n} for p in parts for n in (32, 64)], (4,), (2, 3)),
               ("o",), check, ("triton",), [Bar("Triton", ("triton",), 1.0)])


BEST = [Bar("cuBLAS", ("cublas",), 0.85), Bar("Triton's best", ("triton", "tutorial 03"), 0.95)]
ODD = [Bar("cuBLAS", ("cublas",), 0.75)]
LT = [Bar("cuBLASLt", ("cublas",), 0.7)]

ROWS = [
    elementwise("add bf16 2^28", "add.py", "add_kernel", ("x", "y"), lambda x, y: x + y),
    elementwise("x*y+z bf16 2^28", "fma.py", "fma_kernel", ("x", "y", "z"), lambda x, y, z: x * y + z),
    *[rows_of(f"softmax {m}x{n}", "softmax.py", "softmax_kernel", m, n, softmax_fn, warps=(4, 8, 16) if n < 16384 else (8, 16, 32))
      for m, n in ((8192, 1024), (8192, 4096), (8192, 8192), (4096, 16384), (2048, 65536))],
    *[rows_of(f"rmsnorm 8192x{n}", "rmsnorm.py", "rmsnorm_kernel", 8192, n, rmsnorm_fn, weights=("w",)) for n in (4096, 8192)],
    *[rows_of(f"layernorm 8192x{n}", "layernorm.py", "layernorm_kernel", 8192, n, layernorm_fn, weights=("w", "b")) for n in (4096, 8192)],
    rows_of("row sum 16384x16384 f16", "row_sum.py", "row_sum_kernel", 16384, 16384, sum_fn, dtype="float16", sums=True,
            blocks=[{"BLOCK": b} for b in (2048, 4096, 8192)]),
    matmul(4096, 4096, 4096, "bfloat16", LARGE, BEST), matmul(8192, 8192, 8192, "bfloat16", LARGE, BEST),
    matmul(8192, 28672, 8192, "float16", LARGE, BEST),
    matmul(16, 8192, 8192, "bfloat16", SKINNY, ODD), matmul(128, 8192, 8192, "bfloat16", DEEP, ODD),
    matmul(4096, 4096, 320, "bfloat16", LARGE, ODD), matmul(1000, 777, 1234, "bfloat16", SMALL, ODD),
    matmul_nt("fp8 e4m3", 8192, 8192, 8192, "float8_e4m3fn", "bfloat16",
              configs([{"BM": 128, "BN": 256, "BK": 128}, {"BM": 128, "BN": 128, "BK": 128}], (8,), (3, 4)), LT),
    matmul_nt("tf32", 8192, 8192, 8192, "float32", "float32",
              configs([{"BM": 128, "BN": 256, "BK": 32}, {"BM": 128, "BN": 128, "BK": 32}], (8,), (3, 4)), LT),
    *[attention(batch, heads, n, d, causal) for d, heads in ((128, 16), (64, 32)) for batch, n in ((4, 4096), (1, 16384))
      for causal in (False, True)],
    *[attention_narrow("fp8", 4, heads, 4096, d, causal) for d, heads in ((128, 16), (64, 32)) for causal in (False, True)],
    attention_narrow("int8", 4, 32, 4096, 64, True), attention_narrow("int8", 4, 16, 4096, 128, False),
    attention_tiles(4, 32, 4096, 64, 128, 64, 4),
    attention_backward(4, 16, 4096, 128), attention_backward(1, 16, 16384, 128),
    *gated("SwiGLU", "swiglu.py", 8192, 14336, lambda torch, x: torch.nn.functional.silu(x)),
    *gated("GeGLU", "geglu.py", 8192, 14336, lambda torch, x: torch.nn.functional.gelu(x, approximate="tanh")),
    *cross_entropy(4096, 128256), rmsnorm_backward(8192, 4096), rmsnorm_backward(8192, 8192),
    *chunks(8, 4096, 32, 1, 64, 128, 256),
    *delta(4, 4096, 32, 128, 128),
    picked_rows(65536, 131072, 4096), picked_rows(131072, 8192, 1024, add=True),
    rows_of("softmax 2048x32768, 32 warps", "softmax.py", "softmax_kernel", 2048, 32768, softmax_fn, warps=(32,)),
    convolution(32, 56, 128, 128, 3), convolution(32, 56, 128, 128, 3, "convolution_by_taps_kernel"), convolution(32, 28, 96, 192, 5),
    matmul_split(512, 512, 16384), matmul_split(16, 4096, 8192),
    batched(512, 128, 128, 256, configs([{"BM": 128, "BN": 128, "BK": 64}, {"BM": 64, "BN": 64, "BK": 64}, {"BM": 128, "BN": 64, "BK": 64}], (4, 8), (3, 4))),
    batched(4096, 32, 32, 128, configs([{"BB": b, "BM": 32, "BN": 32, "BK": k} for b in (2, 4) for k in (32, 64)], (4, 8), (3,)), "batched_dots_kernel"),
    tiles_of(16, 8192, 8192, configs([{"BM": 16, "BN": n, "BK": k} for n in (32, 64, 128) for k in (64, 128)], (4,), (3, 5))),
    tiles_of(16, 4096, 4096, configs([{"BM": 16, "BN": n, "BK": k} for n in (32, 64) for k in (64, 128)], (2, 4), (4, 6))),
    tiles_of(1024, 1024, 1024, configs([{"BM": 32, "BN": 32, "BK": k} for k in (32, 64, 128)], (2, 4), (3, 5))),
    moe(4096, 64, 8, 2048, 2048), paged_attention(8, 1024, 4096, 32, 8, 128), paged_decode(64, 4096, 32, 8, 128),
    *[moe(4096, 64, 8, 2048, 2048, weights=weights) for weights in ("int8", "float8_e4m3fn")],
    int4(4096, 4096, 4096), int4(16, 4096, 4096),
    table_matmul(4, 1024, 8192, 8192), table_matmul(4, 1024, 8192, 8192, boxes=True), table_matmul(4, 1024, 1024, 1024),
]
