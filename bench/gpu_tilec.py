# SPDX-License-Identifier: Apache-2.0
"""gpu_tilec.py: the rows of the GPU bench for kernels/tilec: constants are definitions (-D), grids are the kernels' own.

Whom they race: cuBLAS, cuDNN and cuFFT by way of torch, torch.compile, and for Mamba-2 Triton on the form that mamba_ssm has
(chunk_state.py and chunk_scan.py of kernels/triton, C B^T by torch; its cumulative sums and the walk over states are left out, which
is in the rival's favour)."""
import math

from gpu_rows import Array, Bar, Row, Step


def step(file, kernel, **args):
    return Step(file, kernel, {f"g.{name}": value for name, value in args.items()}, None)


def defines(*choices):
    return [(dict(choice), {}) for choice in choices]


def first(x):
    return x[0, :1]


def matmul(m, n, k):
    few = 256
    return Row(f"tilec matmul bf16 {m}x{n}x{k}", "TFLOP/s", 2.0 * m * n * k, {"a": Array((m, k)), "b": Array((k, n)), "c": Array((m, n), fill="empty")},
               [step("matmul.tile.c", "matmul", A="a", B="b", C="c")],
               defines(*[dict(MB=2, NB=nb, STAGES=stages, GROUP=group) for nb, stages in ((4, 4), (2, 6)) for group in (8, 16)]),
               ("c",), lambda torch, a: [("c", lambda c: c[:few], a["a"][:few].double() @ a["b"].double())], ("cublas",),
               [Bar("cuBLAS", ("cublas",), 1.0)])


def matmul_fp8(m, n, k):
    few, fp8 = 256, "float8_e4m3fn"
    kinds = dict(ELEM="fp8e4m3", TILE="st_fp8e4m3", OUT="bf16", OUT_TILE="st_bf", NT=1, K_BLOCK=128)
    return Row(f"tilec matmul fp8 {m}x{n}x{k}", "TFLOP/s", 2.0 * m * n * k,
               {"a": Array((m, k), fp8), "b": Array((n, k), fp8), "c": Array((m, n), fill="empty")},
               [step("matmul.tile.c", "matmul", A="a", B="b", C="c")],
               defines(*[dict(MB=2, NB=nb, STAGES=stages, **kinds) for nb, stages in ((4, 4), (2, 6))]),
               ("c",), lambda torch, a: [("c", lambda c: c[:few], a["a"][:few].double() @ a["b"].double().t())], ("cublas",),
               [Bar("cuBLASLt", ("cublas",), 1.0)])


def weights_of(torch, a, causal):
    q, k = (a[x][0, :1].double() for x in "qk")
    s = q @ k.transpose(1, 2) * q.shape[-1] ** -0.5
    return s + torch.full(s.shape[1:], -math.inf, device=s.device, dtype=s.dtype).triu(1) if causal else s


def attention(batch, heads, n, d, causal):
    shape = (batch, heads, n, d)
    kernels = [("attention_lcf.tile.c", dict(KEYS=keys, WORKERS=w, STAGES=2)) for keys in (64, 128) for w in (2, 3)]
    return [Row(f"tilec attention {'causal ' if causal else ''}B{batch} H{heads} N{n} D{d}", "TFLOP/s",
                4.0 * batch * heads * n * n * d * (0.5 if causal else 1), {**{x: Array(shape) for x in "qkv"}, "o": Array(shape, fill="empty")},
                [step(kernels[0][0], "attention", q="q", k="k", v="v", o="o")],
                defines(*[dict(D=d, CAUSAL=int(causal), **more) for _, more in kernels]), ("o",),
                lambda torch, a: [("o", first, torch.softmax(weights_of(torch, a, causal), -1) @ a["v"][0, :1].double())],
                ("cudnn",), [Bar("cuDNN", ("cudnn",), 1.0)], facts=dict(causal=causal, scale=d ** -0.5))]


def attention_backward(batch, heads, n, d, causal):
    shape, rows = (batch, heads, n, d), (batch, heads, 1, n)

    def check(torch, a):
        q, k, v, o, do = (a[x][0, :1].double() for x in ("q", "k", "v", "o", "do"))
        p = torch.softmax(weights_of(torch, a, causal), -1)
        ds = p * (do @ v.transpose(1, 2) - (o * do).sum(-1, keepdim=True)) * d ** -0.5
        return [("dq", first, ds @ k), ("dk", first, ds.transpose(1, 2) @ q), ("dv", first, p.transpose(1, 2) @ do)]

    def sums(torch, a):
        return torch.cat([torch.logsumexp(head, -1) for head in logits(torch, a)]).reshape(rows) * 1.4426950408889634

    def logits(torch, a):
        for b in range(batch):
            for h in range(heads):
                s = a["q"][b, h].float() @ a["k"][b, h].float().t() * d ** -0.5
                yield s + torch.full(s.shape, -math.inf, device=s.device).triu(1) if causal else s
    common = dict(q="q", k="k", v="v", do_="do", l="l", delta="delta")
    file = "attention_backward.tile.c"
    return Row(f"tilec attention backward {'causal ' if causal else ''}B{batch} H{heads} N{n} D{d}", "TFLOP/s",
               10.0 * batch * heads * n * n * d * (0.5 if causal else 1),
               {**{x: Array(shape) for x in ("q", "k", "v", "o", "do")}, "l": Array(rows, "float32", after=sums),
                "delta": Array(rows, "float32", "empty"), **{x: Array(shape, fill="empty") for x in ("dq", "dk", "dv")}},
               [step(file, "prepare", o="o", do_="do", delta="delta"), step(file, "keys", dk="dk", dv="dv", **common),
                step(file, "queries", dq="dq", **common)],
               [(dict(D=d, CAUSAL=int(causal), KEYS=s), stages) for s in (64, 128) for stages in ({}, {"num_stages": 2})], ("dq", "dk", "dv"), check, ("cudnn",),
               [Bar("cuDNN", ("cudnn",), 0.9)], facts=dict(causal=causal, scale=d ** -0.5))


def factor(r, over):
    """exp(-2 pi i k n / over) of a tile of 64 rows, as real and imaginary part; of 1024 numbers it stands there twice, F on the diagonal."""
    def part(imaginary):
        def make(torch):
            n = torch.arange(r, dtype=torch.float64)
            angle = torch.outer(n, n) * (2 * math.pi / over)
            value, times = -torch.sin(angle) if imaginary else torch.cos(angle), 64 // r
            return torch.block_diag(*[value] * times) if over == r else value.repeat(times, 1)
        return make
    return [Array((64, 64 if over == r else r), fill=part(i)) for i in range(2)]


def fft(batch, channels, n, file, *choices):
    r = math.isqrt(n)
    arrays = {"x": Array((batch, 1, channels * r, r)), "kr": Array((channels * r, r)), "ki": Array((channels * r, r)),
              "o": Array((batch, 1, channels * r, r), fill="empty")}
    for name, over in (("f", r), ("tw", n)):
        arrays[name + "r"], arrays[name + "i"] = factor(r, over)

    def spectrum(torch, a, dtype):
        return torch.complex(a["kr"].to(dtype), a["ki"].to(dtype)).reshape(channels, r, r).transpose(1, 2).reshape(channels, n)

    def check(torch, a):
        x = a["x"][:2].double().reshape(2, channels, n)
        y = torch.fft.ifft(torch.fft.fft(x) * spectrum(torch, a, torch.float64)).real
        return [("o", lambda o: o[:2], y.reshape(2, 1, channels * r, r))]

    def run(torch, a):  # what a user writes: the filter's spectrum is that of a real filter, so half of it
        half = spectrum(torch, a, torch.float32)[:, :n // 2 + 1]
        x = a["x"].reshape(batch, channels, n).float()
        return torch.fft.irfft(torch.fft.rfft(x) * half, n).to(torch.bfloat16)
    pairs = {f"{name}.{part}": name[0] + part[0] if name == "kf" else name + part[0] for name in ("kf", "f", "tw") for part in ("real", "imag")}
    return Row(f"tilec {file.split('.')[0]} B{batch} C{channels} N{n}", "GB/s", 4.0 * batch * channels * n, arrays,
               [step(file, "fftconv", x="x", o="o", **pairs)], defines(*[dict(N=n, **choice) for choice in choices]), ("o",), check, ("torch",),
               [Bar("cuFFT", ("torch",), 3.0)], function=run, bound=3e-2)


def mamba2(batch, length, heads, p, state, segments, choices, size=256):
    count = length // size

    def decays(torch):
        return -torch.rand((batch, heads, 1, length)) * 0.2

    def check(torch, a):  # behind the middle, where a segment begins; what came long before has faded to e^-100
        half = min(length // 2, 1024)
        near = slice(length // 2 - half, length // 2 + half)
        q, k, v = (a[x][0, 0, near].double() for x in "qkv")
        c = a["a"][0, 0, 0, near].double().cumsum(0)
        o = ((q @ k.t()) * (c[:, None] - c).tril().exp()).tril() @ v
        return [("o", lambda o: o[0, 0, length // 2:length // 2 + half], o[half:])]
    chunk = (batch, heads, count, size)
    states = (batch, count, heads, p, state)
    rival = {"x": Array((batch, length, heads, p)), "dt": Array(chunk, "float32"), "ca": Array(chunk, "float32"),
             "b": Array((batch, length, 1, state)), "c": Array((batch, length, 1, state)), "states": Array(states, fill="empty"),
             "before": Array(states), "d": Array((heads,), "float32"), "y": Array((batch, length, heads, p), fill="empty")}
    ours = {"q": Array((batch, 1, length, state)), "k": Array((batch, 1, length, state)), "v": Array((batch, heads, length, p)),
            "a": Array((batch, heads, 1, length), "float32", decays), "sums": Array((batch, heads, 1, length), "float32", "empty"),
            "ends": Array((batch, heads, segments * p, state), "float32", "empty"), "fades": Array((batch, heads, 1, segments), "float32", "empty"),
            "o": Array((batch, heads, length, p), fill="empty")}
    file, parts = "mamba2.tile.c", dict(states="ends", fades="fades") if segments > 1 else {}
    steps = [step(file, "sums", a="a", c="sums"), step(file, "states", k="k", v="v", c="sums", **parts),
             step(file, "mamba2", q="q", k="k", v="v", c="sums", **parts, o="o")]
    return Row(f"tilec mamba2 B{batch} N{length} H{heads} P{p} S{state}", "TFLOP/s", 2.0 * batch * heads * length * (64 * (p + state) / 2 + 2 * p * state),
               {**ours, **rival}, steps if segments > 1 else [steps[0], steps[2]],
               defines(*[dict(STATE=state, SEGMENTS=segments, **choice) for choice in choices]), ("o",), check, ("mamba",),
               [Bar("mamba_ssm's form in Triton", ("mamba",), 2.0)], facts=dict(size=size, count=count, heads=heads, p=p, state=state, batch=batch, length=length))


def rotary(file, kernel, batch, heads, n, d, *choices):
    half = d // 2

    def turn(torch, a, cast):
        x, c, s = cast(a["x"]), cast(a["cos"]), cast(a["sin"])
        left, right = x[..., :half], x[..., half:]
        return torch.cat((left * c - right * s, right * c + left * s), -1)
    return Row(f"tilec {kernel} B{batch} H{heads} N{n} D{d}", "GB/s", 4.0 * batch * heads * n * d + 8.0 * n * half,
               {"x": Array((batch, heads, n, d)), "cos": Array((n, half), "float32"), "sin": Array((n, half), "float32"),
                "o": Array((batch, heads, n, d), fill="empty")},
               [step(file, "rotary", x="x", cos="cos", sin="sin", o="o")], defines(*[dict(HALF=half, **choice) for choice in choices]), ("o",),
               lambda torch, a: [("o", lambda o: o[:1], turn(torch, dict(a, x=a["x"][:1]), lambda t: t.double()))], ("torch.compile",),
               [Bar("torch.compile", ("torch.compile",), 1.0)], function=lambda torch, a: turn(torch, a, lambda t: t.float()).to(torch.bfloat16))


def layernorm(m, n):
    def norm(torch, a, cast):
        x = cast(a["x"]) + cast(a["residual"])
        return x, torch.nn.functional.layer_norm(x, (n,), cast(a["weight"]), cast(a["bias"]), 1e-5)

    def few(torch, a):
        return norm(torch, dict(a, x=a["x"][:64], residual=a["residual"][:64]), lambda t: t.double())
    matrix = {x: Array((m, n)) for x in ("x", "residual")}
    return Row(f"tilec layernorm with residual {m}x{n}", "GB/s", 8.0 * m * n,
               {**matrix, "weight": Array((n,), "float32"), "bias": Array((n,), "float32"), "sum": Array((m, n), fill="empty"), "o": Array((m, n), fill="empty")},
               [step("layernorm.tile.c", "layernorm", x="x", residual="residual", weight="weight", bias="bias", sum="sum", o="o", eps=1e-5)],
               defines(dict(WIDTH=n)), ("sum", "o"),
               lambda torch, a: [(name, lambda t: t[:64], part) for name, part in zip(("sum", "o"), few(torch, a))], ("torch.compile",),
               [Bar("torch.compile", ("torch.compile",), 1.0)], function=lambda torch, a: [x.to(torch.bfloat16) for x in norm(torch, a, lambda t: t.float())])


FFT = [{"WORKERS": 1, "BLOCKS": blocks} for blocks in (1, 2, 3)]

MAMBA = [dict(BLOCKS=blocks, STAGES=stages) for blocks, stages in ((1, 2), (2, 2), (2, 3))]

ROWS = [
    *[matmul(n, n, n) for n in (4096, 8192, 16384)], matmul_fp8(8192, 8192, 8192),
    *[row for batch, n in ((4, 4096), (1, 16384)) for causal in (False, True) for row in attention(batch, 16, n, 128, causal)],
    *[attention_backward(4, 16, 4096, 128, causal) for causal in (False, True)],
    *[fft(16, 1024, n, "fftconv_lcsf.tile.c", *FFT) for n in (1024, 4096)],
    *[fft(16, 1024, n, "fftconv.tile.c", *[{"TILES": t, "BLOCKS": b} for t in (8, 16) for b in (2, 3)]) for n in (1024, 4096)],
    mamba2(4, 4096, 64, 64, 64, 1, MAMBA), mamba2(1, 16384, 64, 64, 128, 4, MAMBA),
    rotary("rotary.tile.c", "rotary", 8, 32, 4096, 128, {}),
    rotary("rotary_lcsf.tile.c", "rotary_lcsf", 8, 32, 4096, 128, *[{"WORKERS": w, "STAGES": s} for w in (1, 2) for s in (2, 3)]),
    layernorm(16384, 1024), layernorm(16384, 4096),
]
