#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tilelang_numbers.py: kernels of TileLang's own examples at small and ragged sizes, each against its formula in float64.

    tools/tilelang_numbers.py CHECKOUT [--emulate] [--match TEXT] [--jobs N] [--each SECONDS]

CHECKOUT is a clone of tile-ai/tilelang at tag v0.1.13. A row takes one file below examples/: it calls the file's kernels with sizes of its own on tensors of the CPU and
yields pairs of what came and what had to come. --emulate runs the CUDA text on the emulator instead of the CPU's. A row fails where an element is further off than
BOUND of the typical size of the result plus its own. Each row runs in a process of its own. Needs torch, and einops for the files that import it.
"""
import argparse
import ast
import math
import os
import pathlib
import shutil
import sys
import tempfile
import time
import traceback
import types

BOUND = 2e-2
ROWS = {}
HOST_ONLY = set()  # files whose kernels bring functions in CUDA, which the emulator does not run


def row(*files, emulated=True):
    def add(function):
        for file in files:
            ROWS[file] = function
            if not emulated:
                HOST_ONLY.add(file)
        return function
    return add


class Kit:
    """What rows are written with: torch, the module, the file's name, random tensors, formulas in float64."""

    def __init__(self, torch, module, file):
        self.t, self.m, self.file = torch, module, file
        self.f16, self.bf16, self.f32, self.i32 = torch.float16, torch.bfloat16, torch.float32, torch.int32

    def rand(self, *shape, dtype=None, scale=1.0):
        return (self.t.randn(*shape) * scale).to(dtype or self.f16)

    def e4m3(self, *shape):
        return self.t.randn(*shape).to(self.t.float8_e4m3fn)

    def ints(self, low, high, *shape, dtype=None):
        return self.t.randint(low, high, shape, dtype=self.i32).to(dtype or self.i32)

    def zeros(self, *shape, dtype=None):
        return self.t.zeros(*shape, dtype=dtype or self.f32)

    def scores(self, q, k, scale=None):
        """(.., heads, queries, d) and (.., fewer heads, keys, d)"""
        k = k.double().repeat_interleave(q.shape[-3] // k.shape[-3], -3)
        return q.double() @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)

    def attend(self, q, k, v, causal=False, mask=None, sinks=None, window=None, scale=None):
        """Softmax attention of (batch, heads, length, d); queries are the last ones of the keys."""
        s = self.scores(q, k, scale)
        queries = self.t.arange(q.shape[-2])[:, None] + k.shape[-2] - q.shape[-2]
        keys = self.t.arange(k.shape[-2])[None, :]
        allowed = self.t.ones(s.shape, dtype=self.t.bool) if mask is None else mask.expand(s.shape)
        if causal:
            allowed = allowed & (keys <= queries)
        if window is not None:
            allowed = allowed & (keys > queries - window)
        s = s.masked_fill(~allowed, -math.inf)
        if sinks is not None:
            s = self.t.cat([s, sinks.double()[:, None, None].expand(*s.shape[:-1], 1)], -1)
        p = self.t.softmax(s, -1)[..., :k.shape[-2]]
        return p @ v.double().repeat_interleave(q.shape[-3] // v.shape[-3], -3)

    def gradients(self, function, inputs, grad):
        """d(sum(function(inputs) * grad)) in float64."""
        leaves = [each.detach().double().requires_grad_() for each in inputs]
        function(*leaves).backward(grad.double())
        return [each.grad for each in leaves]

    def cut(self, x, chunk=64):
        """(batch, length, heads, d) to (batch, chunks, heads, chunk, d), or back, in float64"""
        if x.dim() == 4:
            return x.double().view(x.shape[0], -1, chunk, *x.shape[2:]).transpose(2, 3)
        return x.transpose(2, 3).reshape(x.shape[0], -1, x.shape[2], x.shape[4])

    def turned(self, *tensors):
        """(batch, length, heads, d) to (batch, heads, length, d), or back."""
        made = [each.transpose(1, 2) for each in tensors]
        return made if len(made) > 1 else made[0]


# Products


def product(a, b):
    return a.double() @ b.double()


@row("gemm/example_gemm.py", "quickstart.py", "warp_specialize/example_warp_specialize_gemm_barrierpipe_stage2.py", "warp_specialize/example_warp_specialize_gemm_softpipe_stage2.py",
     "warp_specialize/example_warp_specialize_gemm_copy_0_gemm_1.py", "warp_specialize/example_warp_specialize_gemm_copy_1_gemm_0.py",
     "warp_specialize/example_warp_specialize_gemm_copy_gemm_0_1.py")
def plain(c):
    name = next(name for name in dir(c.m) if name.startswith("matmul"))
    for m, n, k in ((100, 70, 150), (128, 128, 128)) if "warp_spec" not in c.file else ((128, 256, 192), ):
        a, b = c.rand(m, k), c.rand(k, n)
        wanted = product(a, b)
        yield getattr(c.m, name)(a, b, 128, 64, 64), wanted.relu() if c.file == "quickstart.py" else wanted


@row("gemm/example_gemm_persistent.py")
def persistent(c):
    a, b = c.rand(200, 100), c.rand(100, 300)
    yield c.m.matmul_non_persistent(a, b, 64, 64, 32, 128, 2), product(a, b)
    yield c.m.matmul_persistent(a, b, 64, 64, 32, 128, 2), product(a, b)
    yield c.m.matmul_persistent(a, b, 64, 64, 32, 128, 2, use_persistent_primitive=False), product(a, b)


@row("gemm/example_gemm_autotune.py", "gemm/example_gemm_advanced_autotune.py")
def tuned(c):
    a, b = c.rand(100, 90), c.rand(70, 90)
    yield c.m.matmul(100, 70, 90, 64, 64, 32, 2, 128, True)(a, b), product(a, b.T)


@row("gemm/example_gemm_autotune_early_stop.py", "gemm/example_gemm_autotune_pass_configs.py")
def tuned_by_decorator(c):
    function = getattr(c.m, "matmul_early_stop", None) or c.m.matmul_decorator
    a, b = c.rand(100, 90), c.rand(70, 90)
    yield function(100, 70, 90, block_M=64, block_N=64, block_K=32, num_stages=2, thread_num=128)(a, b), product(a, b.T)


@row("gemm_fp8/example_tilelang_gemm_fp8.py", "gemm_fp8/example_tilelang_gemm_fp8_2xAcc.py")
def fp8(c):
    a, b = c.e4m3(70, 130), c.e4m3(90, 130)
    import tilelang.language as T
    got = c.m.matmul(a, b, 64, 64, 64, T.float8_e4m3fn)
    wanted = product(a, b.T)
    yield got, wanted if got.dtype == c.f32 else wanted.clamp(-448, 448).to(got.dtype)


@row("gemm_splitk/example_tilelang_gemm_splitk.py", "gemm_splitk/example_tilelang_gemm_splitk_vectorize_atomicadd.py")
def split(c):
    a, b, out = c.rand(64, 256), c.rand(256, 128), c.zeros(64, 128)
    c.m.matmul(a, b, out, 64, 64, 32, 4)
    yield out, product(a, b)


@row("gemm_streamk/example_tilelang_gemm_streamk.py")
def stream(c):
    import tilelang.language as T
    m, n, k = 192, 320, 128
    a, b, out = c.rand(m, k), c.rand(n, k), c.zeros(m, n)
    blocks = math.ceil(m / 128) * math.ceil(n / 128)
    programs, tiles = c.m.total_sm if hasattr(c.m, "total_sm") else 4, blocks
    first = tiles % programs
    if tiles - first > 0 and first < programs:
        first += programs
    c.m.tl_matmul_streamk(a, b, out, min(first, tiles), 128, 128, 32, False, True, T.float16, T.float32, T.float32, 2, 256)
    yield out, product(a, b.T)


@row("dynamic_shape/example_dynamic.py")
def dynamic(c):
    import tilelang.language as T
    for m, n, k in ((100, 70, 90), (33, 128, 64)):
        a, b = c.rand(m, k), c.rand(k, n)
        yield c.m.matmul_dynamic_mnk(a, b, 64, 64, 32, False, False, T.float16, T.float16, T.float32, 2, 128), product(a, b)


@row("blocksparse_gemm/example_blocksparse_gemm.py")
def sparse_blocks(c):
    a, b, mask = c.rand(128, 128), c.rand(128, 192), c.t.rand(2, 3, 4) > 0.5
    wide = mask.repeat_interleave(64, 0).repeat_interleave(64, 1).repeat_interleave(32, 2)
    yield c.m.blocksparse_matmul(a, b, mask, block_M=64, block_N=64, block_K=32, num_stages=2, thread_num=128, enable_rasteration=False), c.t.einsum(
        "mk,kn,mnk->mn", a.double(), b.double(), wide.double())


@row("gemv/example_gemv.py")
def vector(c):
    a, b = c.rand(256), c.rand(100, 256)
    wanted = product(b, a)
    yield c.m.naive_gemv(a, b, 128, 64), wanted
    yield c.m.naive_splitk_gemv(a, b, 4, 32), wanted
    yield c.m.splitk_gemv(a, b, 4, 64, 8), wanted
    yield c.m.splitk_gemv_vectorized(a, b, 2, 32), wanted
    yield c.m.splitk_gemv_vectorized_tvm(a, b, 2, 32), wanted
    yield c.m.gemv_alloc_reducer(b, a, block_M=32, block_N=64, num_stages=2, threads=128), wanted


@row("gemm_int4/example_tilelang_gemm_int4.py")
def int4(c):
    a, b = c.ints(-8, 8, 64, 128, dtype=c.t.int8), c.ints(-8, 8, 96, 128, dtype=c.t.int8)
    _, kernel = c.m.compile_int4_gemm(64, 96, 128, 64, 32, 64, 128, False)
    yield kernel(c.m.pack_int4(a), c.m.pack_int4(b)), product(a, b.T)


@row("deepseek_deepgemm/example_deepgemm_fp8_2xAcc.py")
def deep(c):
    import tilelang.language as T
    a, b = c.e4m3(128, 256), c.e4m3(128, 256)
    sa, sb = c.t.rand(128, 2) + 0.5, c.t.rand(1, 2) + 0.5
    wide_a, wide_b = (a.double() * sa.double().repeat_interleave(128, 1)), b.double() * sb.double().repeat_interleave(128, 0).repeat_interleave(128, 1)
    yield c.m.tl_gemm(a, b, sa, sb, 128, T.float8_e4m3fn, T.bfloat16, T.float32), wide_a @ wide_b.T


@row("convolution/example_convolution.py", "convolution/example_convolution_autotune.py")
def convolution(c):
    x, w = c.rand(2, 9, 10, 24), c.rand(3, 3, 24, 40, scale=0.2)
    for stride, dilation, pad in ((1, 1, 1), (2, 1, 1)):
        more = (64, 64, 32, 2, 128) if "autotune" not in c.file else (64, 64, 32, 2, 128, False)
        yield c.m.convolution(x, w, stride, dilation, pad, *more), c.t.nn.functional.conv2d(
            x.double().permute(0, 3, 1, 2), w.double().permute(3, 2, 0, 1), stride=stride, padding=pad, dilation=dilation).permute(0, 2, 3, 1)


@row("grouped_gemm/example_grouped_gemm_fwd.py")
def grouped(c):
    sizes, k, n, block = [70, 1, 100], 96, 80, 64
    x, w, sizes_t, offsets, padded = c.m.construct_inputs(sizes, k, n, False, block, "cpu", c.f16)
    got = c.m.grouped_gemm(x, w, sizes_t, offsets, padded, tuple(sizes), block, 64, 32)
    yield got, c.t.cat([product(part, w[i]) for i, part in enumerate(x.split(sizes))])


# Elements and rows


@row("elementwise/example_elementwise_add.py")
def add(c):
    import tilelang.language as T
    a, b = c.rand(70, 300, dtype=c.f32), c.rand(70, 300, dtype=c.f32)
    yield c.m.elementwise_add(a, b, 32, 32, T.float32, T.float32, 128), a.double() + b.double()


@row("norm/rms_norm.py")
def rms(c):
    a = c.rand(24, 512, dtype=c.f32)
    wanted = a.double() * (a.double().pow(2).mean(1, keepdim=True) + 1e-12).rsqrt()
    yield c.m.rms_norm(a, 4), wanted
    yield c.m.rms_norm_splitk(a, 4, 128), wanted


@row("norm/layernorm.py")
def layers(c):
    x, g, b = c.rand(37, 300, dtype=c.bf16), c.rand(300, dtype=c.bf16), c.rand(300, dtype=c.bf16)
    y, mean, rstd = c.m._layernorm_fwd(37, 300)(x, g, b)
    yield y, c.t.nn.functional.layer_norm(x.double(), (300, ), g.double(), b.double(), 1e-5)
    yield mean, x.double().mean(1)
    yield rstd, (x.double().var(1, unbiased=False) + 1e-5).rsqrt()


@row("online_softmax/online_softmax.py")
def softmax(c):
    x = c.rand(9, 700, scale=3)
    c.m.M, c.m.N = x.shape  # its sizes are globals of the file
    yield c.m.softmax_kernel(x, 1, 256), c.t.softmax(x.double(), 1)


@row("topk/example_topk.py")
def largest(c):
    x = c.rand(70, 128, dtype=c.f32)
    values, places = c.m.tl_topk(x, 6, blk_m=32, threads=128)
    wanted = c.t.topk(x.double(), 6)
    yield values, wanted.values
    yield places, wanted.indices


@row("hadamard_transform/example_hadamard.py")
def hadamard(c):
    import tilelang.language as T
    for n in (64, 1024):
        a, h = c.rand(3, n, dtype=c.f32), c.t.ones(1, 1, dtype=c.t.float64)
        while h.shape[0] < n:
            h = c.t.cat([c.t.cat([h, h], 1), c.t.cat([h, -h], 1)], 0)
        yield c.m.hadamard(a, n, T.float32), a.double() @ h


@row("cast/example_per_token_cast_to_fp8.py")
def cast_rows(c):
    x = c.rand(64, 512, dtype=c.f32)
    got, scale = c.m.per_token_cast_to_fp8(x, 8)
    most = x.double().view(64, 4, 128).abs().amax(2).clamp(1e-4)
    yield scale, most / 448
    yield got.double().view(64, 4, 128) * scale.double()[:, :, None], x.view(64, 4, 128), 0.1


@row("iket/minimal.py", "iket/all_features.py")
def marked(c):
    import tilelang
    n = 256 * 4
    a, b = c.rand(n, dtype=c.f32), c.rand(n, dtype=c.f32)
    if "minimal" in c.file:
        yield tilelang.compile(c.m.elementwise_add_with_iket(n), out_idx=[-1])(a, b), a.double() + b.double()
    else:
        yield tilelang.compile(c.m.add_scale_with_iket(n), out_idx=[-1])(a, b, c.t.tensor([1.5])), (a.double() + b.double()) * 1.5


# Attention


@row("flash_attention/example_mha_fwd_bhsd.py")
def heads_first(c):
    for causal, queries, keys in ((False, 70, 130), (True, 100, 150), (True, 64, 64)):
        q, k, v = c.rand(2, 3, queries, 32), c.rand(2, 3, keys, 32), c.rand(2, 3, keys, 32)
        if keys % 64 and not causal:
            keys_in_whole = 128
            k, v, keys = k[:, :, :keys_in_whole].contiguous(), v[:, :, :keys_in_whole].contiguous(), keys_in_whole
        yield c.m.flashattn(2, 3, queries, keys, 32, causal, block_M=64, block_N=64, num_stages=1, threads=128)(q, k, v), c.attend(q, k, v, causal)


@row("flash_attention/example_mha_fwd_bshd.py", "flash_attention/example_gqa_fwd_bshd.py")
def length_first(c):
    groups = 2 if "gqa" in c.file else 1
    for causal, length in ((False, 128), (True, 100), (True, 192)):
        q, k, v = c.rand(2, length, 4, 32), c.rand(2, length, 4 // groups, 32), c.rand(2, length, 4 // groups, 32)
        more = {"groups": groups} if groups > 1 else {}
        got = c.m.flashattn(2, 4, length, 32, causal, block_M=64, block_N=64, num_stages=1, threads=128, **more)(q, k, v)
        yield got, c.turned(c.attend(*c.turned(q, k, v), causal))


def ragged(c, sizes, heads, d, groups=1):
    """Sequences of these sizes, one behind the other."""
    total, starts = sum(sizes), c.t.tensor([0, *c.t.tensor(sizes).cumsum(0).tolist()], dtype=c.i32)
    return c.rand(total, heads, d), c.rand(total, heads // groups, d), c.rand(total, heads // groups, d), starts


def attend_ragged(c, q, k, v, sizes, causal, **more):
    parts = zip(*(each.split(sizes) for each in (q, k, v)))
    return c.t.cat([c.attend(*(each.transpose(0, 1) for each in part), causal, **more).transpose(0, 1) for part in parts])


@row("flash_attention/example_mha_fwd_varlen.py", "flash_attention/example_gqa_fwd_varlen.py", "attention_sink/example_gqa_sink_fwd_varlen.py")
def sequences(c):
    groups, sizes = 1 if "mha" in c.file else 2, [70, 1, 100]
    for causal in (False, True) if "sink" not in c.file else (True, ):
        q, k, v, starts = ragged(c, sizes, 4, 32, groups)
        more = {"block_M": 64, "block_N": 64, "num_stages": 1, "threads": 128}
        if "sink" in c.file:
            sinks = c.rand(4)
            got = c.m.flashattn_sink(3, groups, sum(sizes), sum(sizes), 4, 32, causal, window_size=None, **more)(q, k, v, starts, starts, max(sizes), sinks)
            yield got, attend_ragged(c, q, k, v, sizes, causal, sinks=sinks)
        else:
            lead = (3, ) if groups == 1 else (3, groups)
            got = c.m.flashattn(*lead, sum(sizes), sum(sizes), 4, 32, causal, **more)(q, k, v, starts, starts, max(sizes))
            yield got, attend_ragged(c, q, k, v, sizes, causal)


@row("attention_sink/example_mha_sink_fwd_bhsd.py")
def sinks(c):
    for window, queries, keys in ((None, 128, 128), (64, 64, 192)):
        q, k, v, s = c.rand(1, 2, queries, 64), c.rand(1, 2, keys, 64), c.rand(1, 2, keys, 64), c.rand(2)
        got = c.m.flashattn(1, 2, queries, keys, 64, window, block_M=64, block_N=64, num_stages=1, threads=128)(q, k, v, s)
        yield got, c.attend(q, k, v, True, sinks=s, window=window)


@row("flash_attention/example_mha_bwd_bhsd.py", "flash_attention/example_mha_bwd_bshd.py", "flash_attention/example_gqa_bwd.py", "flash_attention/example_gqa_bwd_tma_reduce.py")
def backward(c):
    groups, first = 2 if "gqa" in c.file else 1, "bhsd" in c.file
    turn = (lambda *all: all if len(all) > 1 else all[0]) if first else c.turned
    for causal in (False, True):
        q, k, v, grad = (c.rand(1, h, 128, 64) for h in (4, 4 // groups, 4 // groups, 4))
        inputs = [each.contiguous().requires_grad_() for each in turn(q, k, v)]
        out = c.m._attention.apply(*inputs, causal, *([groups] if groups > 1 else []))
        out.backward(turn(grad).contiguous())
        yield out, turn(c.attend(q, k, v, causal))
        for got, wanted in zip(inputs, c.gradients(lambda *all: c.attend(*all, causal), (q, k, v), grad)):
            yield got.grad, turn(wanted)


@row("attention_sink/example_mha_sink_bwd_bhsd.py", "attention_sink/example_gqa_sink_bwd_bhsd.py")
def backward_sinks(c):
    groups, heads = 2 if "gqa" in c.file else 1, 64  # the kernels fill a tile of as many elements as there are heads with 64
    q, k, v, grad = (c.rand(1, h, 128, 64) for h in (heads, heads // groups, heads // groups, heads))
    s = c.rand(heads)
    inputs = [each.detach().requires_grad_() for each in (q, k, v, s)]
    out = c.m._attention.apply(*inputs, None, *([groups] if groups > 1 else []))
    out.backward(grad)
    yield out, c.attend(q, k, v, True, sinks=s)
    for got, wanted in zip(inputs, c.gradients(lambda q, k, v, s: c.attend(q, k, v, True, sinks=s), (q, k, v, s), grad)):
        yield got.grad, wanted


@row("block_causal_attention/block_causal_attention.py")
def in_blocks(c):
    for block in (16, 64):
        q, k, v = c.rand(1, 128, 2, 64), c.rand(1, 128, 2, 64), c.rand(1, 128, 2, 64)
        yield c.m.block_causal_attention(q, k, v, block), c.m.block_causal_attention_ref(q.double(), k.double(), v.double(), block)


@row("blocksparse_attention/example_tilelang_block_sparse_attn.py", "seer_attention/block_sparse_attn_tilelang.py")
def sparse_attention(c):
    q, k, v = c.rand(1, 2, 128, 64), c.rand(1, 2, 128, 64), c.rand(1, 2, 128, 64)
    blocks = c.t.tensor([[[[1, 0], [1, 1]], [[1, 0], [0, 1]]]], dtype=c.t.bool)
    kernel = c.m.blocksparse_flashattn(1, 2, 128, *([] if "seer" not in c.file else [128]), 64, 2, True)
    got = kernel(q, k, v, blocks.to(c.t.int8 if "seer" in c.file else c.t.bool))
    yield got, c.attend(q, k, v, True, mask=blocks.repeat_interleave(64, 2).repeat_interleave(64, 3))


@row("flash_decoding/example_gqa_decode.py")
def decode(c):
    for split, keys in ((1, 256), (2, 256)):
        q, k, v = c.rand(2, 8, 64), c.rand(2, keys, 2, 64), c.rand(2, keys, 2, 64)
        mask = c.ints(0, 2, 2, keys, 2, dtype=c.t.uint8)
        got = c.m.flashattn(2, 8, 2, keys, 64, block_N=64, block_H=64, num_split=split, num_stages=2, threads=128)(q, k, v, mask)
        allowed = mask.bool().permute(0, 2, 1).repeat_interleave(4, 1)[:, :, None]
        yield got, c.attend(q[:, :, None], *c.turned(k, v), mask=allowed)[:, :, 0]


def latent_roles(c, *more):
    q, pe, kv, k_pe = c.rand(1, 64, 512), c.rand(1, 64, 64), c.rand(1, 256, 1, 512), c.rand(1, 256, 1, 64)
    weights = (joined(c, q, pe) @ joined(c, kv, k_pe)[:, :, 0].transpose(1, 2) * 576 ** -0.5).softmax(-1)
    kernel = c.m.flashattn(1, 64, 1, 256, 512, 64, 64, 64, 1, *more)
    yield kernel(q, pe, kv, k_pe, c.zeros(1, 64, 1, dtype=c.f16), c.zeros(1, 64, 1, 512, dtype=c.f16)), weights @ kv[:, :, 0].double()


def joined(c, *parts):
    return c.t.cat([part.double() for part in parts], -1)


@row("deepseek_mla/example_mla_decode_ws.py")
def latent_by_roles(c):
    yield from latent_roles(c, 576 ** -0.5)


@row("warp_specialize/example_warp_specialize_flashmla.py")
def latent_by_two_groups(c):
    yield from latent_roles(c)


@row("deepseek_mla/example_mla_decode.py", "deepseek_mla/experimental/example_mla_decode_kv_fp8.py")
def latent(c):
    batch, heads, keys, dim, extra = 1, 64, 256, 128, 64
    q, qe, kv, ke = c.rand(batch, heads, dim), c.rand(batch, heads, extra), c.rand(batch, keys, 1, dim), c.rand(batch, keys, 1, extra)
    scale = (dim + extra) ** -0.5
    if "kv_fp8" in c.file:
        kv = kv.to(c.t.float8_e4m3fn)
    wanted = c.t.softmax((c.t.einsum("bhd,bnd->bhn", q.double(), kv[:, :, 0].double()) + c.t.einsum("bhd,bnd->bhn", qe.double(), ke[:, :, 0].double())) * scale, -1) @ kv[:, :, 0].double()
    for split in (1, 2) if "kv_fp8" not in c.file else (1, ):
        if "kv_fp8" in c.file:
            got = c.m.flashattn(batch, heads, 1, keys, dim, extra, 64, 64)(q, qe, kv, ke)
        else:
            got = c.m.flashattn(batch, heads, 1, keys, dim, extra, 64, 64, split, scale)(q, qe, kv, ke)
        yield got, wanted


# Linear attention


@row("linear_attention/example_mamba_chunk_state.py")
def chunk_state(c):
    batch, chunks, size, heads, groups, width, states = 1, 2, 128, 4, 2, 64, 64
    b, x, dt = c.rand(batch, chunks * size, groups, states), c.rand(batch, chunks * size, heads, width), c.rand(batch, heads, chunks, size)
    decay = (-c.t.rand(batch, heads, chunks, size).cumsum(-1) * 0.05).half()
    got = c.m.chunk_state_fwd(b, x, dt, decay, block_M=64, block_N=64, block_K=64, num_stages=2, threads=128)
    wide = b.double().repeat_interleave(heads // groups, 2).view(batch, chunks, size, heads, states)
    weight = (decay.double()[..., -1:] - decay.double()).exp() * dt.double()
    yield got, c.t.einsum("bclhn,bhcl,bclhp->bchpn", wide, weight, x.double().view(batch, chunks, size, heads, width))


@row("linear_attention/example_mamba_chunk_scan.py")
def chunk_scan(c):
    batch, chunks, size, heads, groups, width, states = 1, 2, 128, 4, 2, 64, 128
    cb, x, dt = c.rand(batch, chunks, groups, size, size), c.rand(batch, chunks * size, heads, width), c.rand(batch, heads, chunks, size)
    decay = (-c.t.rand(batch, heads, chunks, size).cumsum(-1) * 0.05).half()
    cc, before, d = c.rand(batch, chunks * size, groups, states), c.rand(batch, chunks, heads, width, states), c.rand(heads)
    got = c.m.chunk_scan_fwd(cb, x, dt, decay, cc, before, d, block_M=64, block_N=64, block_K=64, block_Dstate=128, num_stages=2, threads=128)
    a = decay.double()
    wide = cb.double().repeat_interleave(heads // groups, 2)
    inner = (a[..., :, None] - a[..., None, :]).permute(0, 2, 1, 3, 4).exp() * wide * c.t.ones(size, size).tril().double() * dt.double().permute(0, 2, 1, 3)[..., None, :]
    parts = x.double().view(batch, chunks, size, heads, width)
    out = c.t.einsum("bchls,bcshp->bclhp", inner, parts)
    states_in = c.t.einsum("bclhn,bchpn->bclhp", cc.double().view(batch, chunks, size, groups, states).repeat_interleave(heads // groups, 3), before.double())
    out = out + states_in * a.permute(0, 2, 3, 1).exp()[..., None] + parts * d.double()[:, None]
    yield got, out.reshape(batch, chunks * size, heads, width)


@row("linear_attention/example_retention_fwd.py")
def retention(c):
    q, k, v = c.rand(1, 128, 2, 64), c.rand(1, 128, 2, 64), c.rand(1, 128, 2, 64)
    got = c.m.chunk_retention_fwd_kernel(1, 128, 2, 64, 64)(q, k, v).double().sum(0)
    gaps = c.t.arange(128)[:, None] - c.t.arange(128)[None, :]
    decay = c.t.stack([(1 - 2.0 ** (-5 - h)) ** gaps.clamp(0).double() * (gaps >= 0) for h in range(2)])
    yield got, c.turned(((c.scores(*c.turned(q, k)) * decay) @ c.turned(v).double()))


@row("linear_attention/example_linear_attn_fwd.py")
def linear(c):
    q, k, v = c.rand(1, 128, 2, 64, scale=0.2), c.rand(1, 128, 2, 64, scale=0.2), c.rand(1, 128, 2, 64)
    out, state = c.zeros(1, 128, 2, 64), None
    state = c.m.tl_fused_chunk_fwd_kernel(1, 128, 2, 64, 64)(q, k, v, out)
    yield out, c.turned(c.scores(*c.turned(q, k)).tril() @ c.turned(v).double())
    yield state, c.turned(k).double().transpose(-1, -2) @ c.turned(v).double()


@row("gdn/example_cumsum.py")
def running(c):
    import tilelang.language as T
    g = c.rand(2, 128, 32, dtype=c.f32)
    for reverse in (False, True):
        got = c.m.tilelang_chunk_local_cumsum_scalar(2, 128, 32, 64, reverse=reverse, input_dtype=T.float32, output_dtype=T.float32)(g)
        parts = g.double().view(2, 2, 64, 32)
        wanted = parts.flip(2).cumsum(2).flip(2) if reverse else parts.cumsum(2)
        yield got, wanted.view(2, 128, 32)


@row("gdn/example_chunk_o.py")
def chunk_o(c):
    import tilelang.language as T
    b, s, h, d, size = 1, 128, 2, 64, 64
    q, k, v = c.rand(b, s, h, d), c.rand(b, s, h, d), c.rand(b, s, h, d)
    hidden, g = c.rand(b, s // size, h, d, d), -c.t.rand(b, s, h).view(b, 2, 64, h).cumsum(2).view(b, s, h) * 0.05
    got = c.m.tilelang_chunk_fwd_o(b, s, h, d, d, T.float16, T.float16, T.float32, T.float32, size, d ** -0.5, True)(q, k, v, hidden, g)
    gate = c.cut(g[..., None])[..., 0]
    inner = (c.cut(q) @ c.cut(k).transpose(-1, -2)) * (gate[..., :, None] - gate[..., None, :]).exp()
    yield got, c.cut(((c.cut(q) @ hidden.double()) * gate.exp()[..., None] + inner.tril() @ c.cut(v)) * d ** -0.5)


@row("gdn/example_chunk_scaled_dot_kkt.py")
def dots(c):
    import tilelang.language as T
    b, s, h, d, size = 1, 128, 2, 64, 64
    k, beta = c.rand(b, s, h, d), c.rand(b, s, h)
    g = -c.t.rand(b, s, h) * 0.1
    got = c.m.tilelang_chunk_scaled_dot_kkt_fwd(b, s, h, d, size, T.float16, T.float16, T.float32, use_g=True)(k, beta, g)
    keys, gate = c.cut(k), c.cut(g[..., None])
    gaps = gate - gate.transpose(-1, -2)  # only decays count
    yield got, c.cut(((keys @ keys.transpose(-1, -2)) * gaps.exp() * (gaps <= 0) * c.cut(beta[..., None])).tril(-1))


@row("gdn/example_wy_fast.py")
def wy(c):
    import tilelang.language as T
    b, s, h, d, size = 1, 128, 2, 64, 64
    k, v, beta, a = c.rand(b, s, h, d), c.rand(b, s, h, d), c.rand(b, s, h), c.rand(b, s, h, size)
    g = -c.t.rand(b, s, h)
    w, u = c.m.tilelang_recompute_w_u_fwd(b, s, h, d, d, T.float16, T.float16, T.float32, T.float32, size)(k, v, beta, g, a)
    weighed = k.double() * (beta.double() * g.double().exp())[..., None]
    yield w, c.cut(c.cut(a) @ c.cut(weighed))
    yield u, c.cut(c.cut(a) @ c.cut(v.double() * beta.double()[..., None]))


@row("kda/chunk_bwd_dv.py", "kda/chunk_bwd_gla_dA.py")
def chunk_gradients(c):
    import tilelang.language as T
    b, s, h, d, size = 1, 128, 2, 96, 64
    grad, other = c.rand(b, s, h, d), c.rand(b, s, h, size if "dv" in c.file else d)
    more = {"block_DV": 32, "threads": 128, "num_stages": 2}
    if "dv" in c.file:
        yield c.m.tilelang_chunk_bwd_kernel_dv_local(b, s, h, d, T.float16, T.float16, T.float16, size, **more)(grad, other), c.cut(c.cut(other).tril().transpose(-1, -2) @ c.cut(grad))
    else:
        got = c.m.tilelang_chunk_bwd_kernel_dv_local(b, s, h, d, 0.3, T.float16, T.float32, T.float16, size, **more)(grad, other)
        yield got, c.cut((c.cut(grad) @ c.cut(other).transpose(-1, -2)).tril() * 0.3)


@row("dsa_hisa/clean_and_maintain_logits.py")
def cleaned(c):
    x = c.rand(5, 8192, dtype=c.f32)
    first, end = c.t.tensor([0, 3, 100, 4000, 8000], dtype=c.i32), c.t.tensor([1, 5000, 101, 8192, 8001], dtype=c.i32)
    got = x.clone()
    c.m.clean_and_maintain_logits_interface(got, first, end)
    for i in range(5):
        x[i, :first[i]], x[i, end[i]:] = -math.inf, -math.inf
        x[i, first[i]] = x[i, end[i] - 1] = math.inf
    yield got.clamp(-9, 9), x.clamp(-9, 9)


@row("dsa_hisa/fp8_block_mean_pooling.py")
def pooled(c):
    k, scale = c.e4m3(300, 128), c.t.rand(300) + 0.5
    got, scales = c.m.fp8_native_block_mean_pooling_interface(k, scale, 128)
    weighed = (k.float() * scale[:, None]).to(k.dtype)  # which the kernel keeps in e4m3
    wanted = c.t.stack([part.double().mean(0) for part in weighed.split(128)])
    yield got.double() * scales.double().view(-1, 1), wanted, 0.1


@row("gemm/example_gemm_intrinsics.py")
def emitted(c):
    a, b = c.rand(150, 96), c.rand(70, 96)
    yield c.m.tl_matmul(a, b, "float16", "float16", "float32"), product(a, b.T)
    a, b = c.ints(-9, 9, 70, 64, dtype=c.t.int8), c.ints(-9, 9, 150, 64, dtype=c.t.int8)
    yield c.m.tl_matmul(a, b, "int8", "int32", "int32"), product(a, b.T)


@row("flash_decoding/example_mha_inference.py")
def in_parts(c):
    q, k, v = c.rand(2, 50, 3, 32), c.rand(2, 256, 3, 32), c.rand(2, 256, 3, 32)
    yield c.m.flashattn(2, 3, 50, 256, 32, False, 32, 32)(q, k, v), c.turned(c.attend(*c.turned(q, k, v)))


@row("bitnet-1.58b/kernel_benchmark/tilelang_bitnet_158_int8xint2_decode.py", "bitnet-1.58b/kernel_benchmark/tilelang_bitnet_158_int8xint2_prefill.py", emulated=False)
def of_two_bits(c):
    decodes = "decode" in c.file
    m, n, k = (3, 50, 1024) if decodes else (50, 70, 128)
    a, b = c.ints(-100, 100, m, k, dtype=c.t.int8), c.ints(0, 3 if decodes else 2, n, k, dtype=c.t.int8)
    packed = c.t.from_numpy(c.m.interleave_weight(c.m.general_compress(b.numpy(), source_bits=2), 2, target_dtype=c.m.T.int8))
    made = c.m.bitnet_158_int8xint2_decode if decodes else c.m.bitnet_158_int8xint2_prefill
    got = c.zeros(m, n, dtype=c.i32)
    c.m.tilelang.compile(made(m, n, k, c.m.T.int8, c.m.T.int32, c.m.T.int32))(a, packed, got)
    yield got, product(a, b.T)


@row("dequantize_gemm/example_dequant_gemv_fp16xint4.py", emulated=False)
def of_four_bits(c):
    from quantize.utils import interleave_weight
    a, b = c.rand(2, 512), c.ints(0, 16, 50, 512)
    packed = (b[:, 0::2] | b[:, 1::2] << 4).to(c.t.uint8).view(c.t.int8)
    got = c.zeros(2, 50, dtype=c.f16)
    T = c.m.T
    c.m.dequantize_gemv(2, 50, 512, T.float16, T.float16, T.float32, 4, T.int8, "uint", 4, 32, True, False, True, -1, False)(a, interleave_weight(packed, 4, T.float16), got)
    yield got, product(a, b.T)


@row("dequantize_gemm/example_dequant_gemm_bf16_fp4_hopper.py", "dequantize_gemm/example_dequant_gemm_bf16_mxfp4_hopper.py", emulated=False)
def of_small_floats(c):
    T, scaled = c.m.T, "mxfp4" in c.file
    a, packed = c.rand(50, 256, dtype=c.bf16), c.ints(0, 256, 70, 128, dtype=c.t.uint8)
    for fast in (True, False):
        b = (c.m.torch_convert_bit_twiddling(packed) if fast else c.m.torch_convert(packed)).double()
        scale, bias = c.ints(0, 5, 70, 8, dtype=c.t.uint8), c.rand(50, 70, dtype=c.bf16)
        how = {"num_bits": 4, "fast_dequant": fast, "block_M": 64, "block_N": 32, "block_K": 128, "num_stages": 2, "threads": 128, "split": 1}
        if scaled and fast:
            b = b * 2.0 ** scale.double().repeat_interleave(32, 1)
        elif scaled:
            b = c.m.torch_convert(packed, 32, scale).double()
        inputs = (a, packed, scale, bias) if scaled else (a, packed)
        yield c.m.matmul(50, 70, 256, T.bfloat16, T.bfloat16, T.float32, **how)(*inputs), product(a, b.T)


def load(path):
    """The file as a module; of one that runs its kernels wherever it is imported, no more than its definitions."""
    text = path.read_text()
    tree = ast.parse(text)
    if "__main__" not in text:
        last = max(place for place, part in enumerate(tree.body) if isinstance(part, (ast.FunctionDef, ast.ClassDef)))
        tree.body = tree.body[:last + 1]
    sys.path[0:0] = [str(path.parent)]
    module = sys.modules[path.stem] = types.ModuleType(path.stem)
    module.__file__ = str(path)
    exec(compile(tree, str(path), "exec"), module.__dict__)
    return module


def one(checkout, file, to):
    """Runs the row of a file and says what came of it into the file `to`; the exit status is 0 where all was right."""
    import torch
    sys.stdout = sys.stderr = open(to, "w", buffering=1)
    path = pathlib.Path(checkout).resolve() / "examples" / file
    sys.argv = [str(path)]
    worst, count, status = 0.0, 0, 0
    try:
        module = load(path)
        torch.manual_seed(3)
        for got, wanted, *bound in ROWS[file](Kit(torch, module, file)):
            got, wanted = got.detach().double(), wanted.detach().double()
            assert got.shape == wanted.shape, f"the result has shape {tuple(got.shape)} and not {tuple(wanted.shape)}"
            off = float(((got - wanted).abs() / (wanted.abs().mean() + wanted.abs())).nan_to_num(math.inf).max())
            worst, count = max(worst, off), count + 1
            if not off <= (bound or [BOUND])[0]:
                print(f"WRONG result {count} is off by {off:.3g}")
                status = 1
        print(f"{count} results, off by at most {worst:.2g}")
    except Exception as error:
        traceback.print_exc()
        print(str(error).strip().split("\n")[0])
        status = 1
    sys.stdout.flush()
    os._exit(status)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout")
    parser.add_argument("--emulate", action="store_true")
    parser.add_argument("--match", default="")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--each", type=float, default=120)
    parser.add_argument("--log", help="a folder for all that the rows say")
    options = parser.parse_args()
    os.environ["TILEWRIGHT_EMULATE"] = "1" if options.emulate else "0"
    from tilewright import cuda_on_cpu, stand_in
    stand_in.install()
    cuda_on_cpu.install("cpu")
    import torch
    torch.set_num_threads(1)
    waiting, running, right = [file for file in ROWS if options.match in file and not (options.emulate and file in HOST_ONLY)], {}, 0
    asked, folder = len(waiting), pathlib.Path(options.log or tempfile.mkdtemp(prefix="tilewright-numbers-"))
    while waiting or running:
        while waiting and len(running) < options.jobs:
            file = waiting.pop(0)
            log = folder / (file.replace("/", ".") + ".log")
            child = os.fork()
            if child == 0:
                one(options.checkout, file, log)
            running[child] = file, log, time.monotonic()
        time.sleep(0.05)
        for child, (file, log, began) in list(running.items()):
            done, status = os.waitpid(child, os.WNOHANG)
            late = not done and time.monotonic() - began > options.each
            if late:
                os.kill(child, 9)
                status = os.waitpid(child, 0)[1]
            if done or late:
                del running[child]
                lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
                said = next((line for line in lines if line.startswith("WRONG")), lines[-1] if lines else "")
                right += status == 0
                print(f"{'right' if status == 0 else 'cut off' if late else 'not right'}  {file}: {said}", flush=True)
    if not options.log:
        shutil.rmtree(folder)
    print(f"{right} of {asked} files are right")
    sys.exit(right < asked)


if __name__ == "__main__":
    main()
