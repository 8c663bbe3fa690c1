# SPDX-License-Identifier: Apache-2.0
"""tl.dot_scaled against products in float64: every pair of formats, every scale, and what is refused."""
import numpy as np
import pytest

import tilewright.triton as triton
import tilewright.triton.language as tl
from tilewright.triton.tools.mxfp import MXFP4Tensor, MXScaleTensor


def numbers(exponent, fraction, special):
    """What each pattern of a small float means; special: how the highest exponent is read."""
    bias, table = (1 << exponent - 1) - 1, []
    for bits in range(1 << 1 + exponent + fraction):
        e, f = bits >> fraction & (1 << exponent) - 1, bits & (1 << fraction) - 1
        value = (1 + f / 2**fraction) * 2.0**(e - bias) if e else f / 2**fraction * 2.0**(1 - bias)
        if special == "ieee" and e == (1 << exponent) - 1:
            value = np.nan if f else np.inf
        elif special == "nan" and e == (1 << exponent) - 1 and f == (1 << fraction) - 1:
            value = np.nan
        table.append(-value if bits >> exponent + fraction else value)
    return np.array(table)


TABLE = {"e2m1": numbers(2, 1, None), "e4m3": numbers(4, 3, "nan"), "e5m2": numbers(5, 2, "ieee")}


def operand(rng, rows, k, format, finite=True):
    """A matrix [rows, k] as kernels take it, packed along k, and its numbers."""
    if format in ("bf16", "fp16"):
        values = rng.integers(-64, 64, (rows, k)) / 8.0
        bits = values.astype(np.float16).view(np.uint16) if format == "fp16" else (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        return bits, values
    table = TABLE[format]
    good = np.flatnonzero(np.isfinite(table)) if finite else np.arange(len(table))
    bits = rng.choice(good, (rows, k)).astype(np.uint8)
    return (bits[:, 0::2] | bits[:, 1::2] << 4 if format == "e2m1" else bits), table[bits]


def times(values, scales, group):
    """Each number times the scale of its group along the last axis."""
    factors = np.where(scales == 255, np.nan, 2.0**(scales.astype(float) - 127)) if scales.dtype == np.uint8 else scales
    return values * np.repeat(factors, group, axis=1)


@triton.jit
def product(a, sa, b, sb, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, FA: tl.constexpr, FB: tl.constexpr, G: tl.constexpr,
            E4M3: tl.constexpr, PACK: tl.constexpr, FAST: tl.constexpr):
    """b, sb: [N, ..]: transposed where they are used, as weights lie."""
    PA: tl.constexpr = 2 if FA == "e2m1" else 1
    PB: tl.constexpr = 2 if FB == "e2m1" else 1
    m, n, g = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // G)
    x = tl.load(a + m[:, None] * (K // PA) + tl.arange(0, K // PA)[None, :])
    if PACK:
        y = tl.load(b + n[None, :] * (K // PB) + tl.arange(0, K // PB)[:, None])
    else:
        y = tl.load(b + tl.arange(0, K)[:, None] * (N // 2) + tl.arange(0, N // 2)[None, :])
    if sa is not None:
        s = tl.load(sa + m[:, None] * (K // G) + g[None, :])
        s = s.to(tl.float8e4nv, bitcast=True) if E4M3 else s
    else:
        s: tl.constexpr = None
    if sb is not None:
        t = tl.load(sb + n[:, None] * (K // G) + g[None, :])
        t = t.to(tl.float8e4nv, bitcast=True) if E4M3 else t
    else:
        t: tl.constexpr = None
    z = tl.dot_scaled(x, s, FA, y, t, FB, rhs_k_pack=PACK, fast_math=FAST)
    tl.store(c + m[:, None] * N + n[None, :], z)


def run(x, sa, y, sb, M, N, K, FA, FB, group=32, e4m3=False, pack=True, fast=False):
    c = np.empty((M, N), np.float32)
    product[(1, )](x, sa, y, sb, c, M, N, K, FA, FB, group, e4m3, pack, fast)
    return c


def close(got, p, q):
    """The product of [M, K] and [N, K], of which all terms are exact: float32 sums them, NaN and infinities are where they belong."""
    with np.errstate(invalid="ignore"):
        want, size = p @ q.T, np.abs(p) @ np.abs(q).T
    assert (np.isnan(got) == np.isnan(want)).all() and (np.isinf(got) == np.isinf(want)).all()
    finite = np.isfinite(want)
    assert (np.abs(got - want)[finite] <= p.shape[1] * 2.0**-24 * size[finite]).all()


@pytest.mark.parametrize("rhs", ["e2m1", "e4m3", "e5m2", "bf16", "fp16"])
@pytest.mark.parametrize("lhs", ["e2m1", "e4m3", "e5m2", "bf16", "fp16"])
def test_every_pair_of_formats(lhs, rhs):
    rng, (M, N, K) = np.random.default_rng(1), (16, 32, 64)
    (x, u), (y, v) = operand(rng, M, K, lhs), operand(rng, N, K, rhs)
    half = "fp16" in (lhs, rhs)
    scales = [rng.integers(120, 132, (rows, 2)).astype(np.uint8) for rows in (M, N)]
    which = (ord(lhs[1]) + 2 * ord(rhs[1])) % 4  # every way of leaving scales out, with some pairs
    sa, sb = [(*scales, ), (scales[0], None), (None, scales[1]), (None, None)][which]
    p = times(u, sa, 32) if sa is not None else u
    q = times(v, sb, 32) if sb is not None else v
    if half:  # what float16 holds of them
        with np.errstate(over="ignore"):
            p, q = p.astype(np.float16).astype(float), q.astype(np.float16).astype(float)
    close(run(x, sa, y, sb, M, N, K, lhs, rhs), p, q)


@pytest.mark.parametrize("bits", [0x01, 0x38])
def test_scales_from_end_to_end(bits):
    """2^-127 is no zero; 255 is a NaN, and only in its row; subnormals count."""
    M, N, K = 16, 16, 32
    x, y = np.full((M, K), bits, np.uint8), np.full((N, K), 0x38, np.uint8)  # 2^-9 or 1, and 1
    sa = np.array([0, 1, 2, 127, 253, 3, 255, 126] * 2, np.uint8)[:, None]
    sb = np.array([250, 127, 0, 1, 255, 200, 100, 130] * 2, np.uint8)[:, None]
    p, q = times(TABLE["e4m3"][x], sa, 32), times(TABLE["e4m3"][y], sb, 32)
    p = np.where(np.abs(p) <= 2.0**-134, 0, p)  # half of the least bfloat16
    got, want = run(x, sa, y, sb, M, N, K, "e4m3", "e4m3"), p @ q.T
    assert (np.isnan(got) == np.isnan(want)).all() and np.isnan(got).any()
    with np.errstate(over="ignore"):
        normal = np.abs(want) > 2.0**-120  # sums of 32 numbers that float32 holds
        assert normal.sum() > 70 and (got == want.astype(np.float32))[normal].all() and (np.abs(got[~normal & ~np.isnan(want)]) < 2.0**-119).all()


def test_not_a_number_and_infinite_elements():
    rng, (M, N, K) = np.random.default_rng(2), (16, 16, 32)
    for format in ("e4m3", "e5m2"):
        (x, u), (y, v) = operand(rng, M, K, format), operand(rng, N, K, "bf16")
        odd = {"e4m3": (0x7f, 0xff), "e5m2": (0x7c, 0xfe)}[format]
        x[3, 5], x[7, 9] = odd
        u = TABLE[format][x]
        scale = np.full((M, 1), 128, np.uint8)
        close(run(x, scale, y, None, M, N, K, format, "bf16"), times(u, scale, 32), v)


def test_scales_in_e4m3_and_pairs_along_n():
    rng, (M, N, K) = np.random.default_rng(3), (32, 16, 64)
    (x, u), (y, v) = operand(rng, M, K, "e2m1"), operand(rng, N, K, "e2m1")
    sa, sb = (rng.integers(0, 0x7f, (rows, K // 16)).astype(np.uint8) for rows in (M, N))
    p, q = times(u, TABLE["e4m3"][sa], 16), times(v, TABLE["e4m3"][sb], 16)
    close(run(x, sa, y, sb, M, N, K, "e2m1", "e2m1", group=16, e4m3=True), p, q)
    nibbles = np.stack([y & 15, y >> 4], -1).reshape(N, K).T  # [K, N]
    close(run(x, sa, np.ascontiguousarray(nibbles[:, 0::2] | nibbles[:, 1::2] << 4), sb, M, N, K, "e2m1", "e2m1", group=16, e4m3=True, pack=False), p, q)
    sa, sb = (rng.integers(120, 130, (rows, K // 16)).astype(np.uint8) for rows in (M, N))  # exponents for 16 elements: releases after 3.6
    close(run(x, sa, y, sb, M, N, K, "e2m1", "e2m1", group=16), times(u, sa, 16), times(v, sb, 16))


def test_fast_math_takes_finite_scales():
    rng, (M, N, K) = np.random.default_rng(4), (16, 16, 32)
    (x, u), (y, v) = operand(rng, M, K, "e5m2"), operand(rng, N, K, "e4m3")
    sa = rng.integers(118, 130, (M, 1)).astype(np.uint8)
    close(run(x, sa, y, None, M, N, K, "e5m2", "e4m3", fast=True), times(u, sa, 32), v)


@triton.jit
def stacks(a, sa, b, sb, c):
    i, m, n, k = tl.arange(0, 2)[:, None, None], tl.arange(0, 16), tl.arange(0, 16), tl.arange(0, 32)
    x = tl.load(a + i * 512 + m[None, :, None] * 32 + k[None, None, :])
    y = tl.load(b + i * 256 + n[None, None, :] * 16 + tl.arange(0, 16)[None, :, None])
    s, t = tl.load(sa + i * 16 + m[None, :, None]), tl.load(sb + i * 16 + n[None, :, None])
    at = c + i * 256 + m[None, :, None] * 16 + n[None, None, :]
    tl.store(at, tl.dot_scaled(x, s, "e4m3", y, t, "e2m1", acc=tl.load(at), out_dtype=tl.float32))


def test_stacks_and_the_sum():
    rng = np.random.default_rng(5)
    (x, u), (y, v) = operand(rng, 32, 32, "e4m3"), operand(rng, 32, 32, "e2m1")
    sa, sb = (rng.integers(120, 130, (32, 1)).astype(np.uint8) for _ in range(2))
    c = rng.standard_normal((2, 16, 16)).astype(np.float32)
    p, q = times(u, sa, 32).reshape(2, 16, 32), times(v, sb, 32).reshape(2, 16, 32)
    start = c.copy()
    stacks[(1, )](x, sa, y, sb, c)
    for i in range(2):
        close(c[i], np.hstack([p[i], start[i]]), np.hstack([q[i], np.eye(16)]))


@triton.jit
def wrong(WHICH: tl.constexpr):
    a, b, s = tl.zeros((16, 64), tl.uint8), tl.zeros((64, 16), tl.uint8), tl.zeros((16, 2), tl.uint8)
    if WHICH == 0:
        tl.dot_scaled(a, s, "e3m2", b, s, "e4m3")
    elif WHICH == 1:
        tl.dot_scaled(a, s, "e2m1", b, s, "e4m3")
    elif WHICH == 2:
        tl.dot_scaled(a, tl.zeros((16, 4), tl.uint8).reshape(32, 2), "e4m3", b, s, "e4m3")
    elif WHICH == 3:
        tl.dot_scaled(a, s, "e4m3", b, s, "e4m3", lhs_k_pack=False)
    elif WHICH == 4:
        tl.dot_scaled(a, s, "e4m3", b, s, "e4m3", out_dtype=tl.float16)
    elif WHICH == 5:
        tl.dot_scaled(a.to(tl.float32), s, "e4m3", b, s, "e4m3")
    elif WHICH == 6:
        tl.dot_scaled(tl.zeros((16, 48), tl.uint8), tl.zeros((16, 1), tl.uint8), "e4m3", tl.zeros((48, 16), tl.uint8), None, "e4m3")
    elif WHICH == 7:
        tl.dot_scaled(a, s.to(tl.float32), "e4m3", b, s, "e4m3")
    elif WHICH == 9:
        tl.dot_scaled(a, tl.zeros((16, 4), tl.uint8), "e4m3", b, s, "e4m3")
    elif WHICH == 8:
        tl.dot_scaled(a, s, "e4m3", b, s, "e4m3", acc=tl.zeros((16, 32), tl.float32))
    else:
        tl.dot_scaled(a, s, "e4m3", b, s, s)


@pytest.mark.parametrize("which,words", list(enumerate([
    "the format 'e2m1', 'e4m3'", "does not fit: .* half the extent", "must be uint8.16, 2.", "only 'e2m1' is packed", "out_dtype=tl.float32",
    "as float8e4nv or as uint8", "one scale is for 32 elements along K, and K is 48", "exponents .uint8. or as float8e4nv", "the accumulator is",
    "must be uint8.16, 2.", "wants",
])))
def test_what_is_refused(which, words):
    with pytest.raises(triton.CompilationError, match=words) as caught:
        wrong[(1, )](which)
    assert "^" in str(caught.value) and "tl.dot_scaled(" in str(caught.value)


def test_tensors_of_four_bits_and_of_scales(torch):
    assert MXFP4Tensor(size=(16, ), device="cpu").random().data.max() <= 15
    every = MXFP4Tensor(size=(16, ))
    every.data = torch.arange(16, dtype=torch.uint8)
    assert np.array_equal(every.to(torch.float32).numpy(), TABLE["e2m1"]) and (MXFP4Tensor(every.to(torch.float32)).data == every.data).all()
    odd = torch.tensor([0.25, 0.75, 1.25, -1.75, 2.5, 3.5, 5.0, 0.26, 7.0, -float("inf"), float("nan")])
    assert MXFP4Tensor(odd).to(torch.float32).tolist() == [0, 1, 1, -2, 2, 4, 4, 0.5, 6, -6, 6]
    cube = MXFP4Tensor(size=(3, 5, 4)).random()
    for dim in range(3):
        packed = cube.to_packed_tensor(dim)
        assert packed.shape[dim] == (cube.data.shape[dim] + 1) // 2 and (cube.unpack_packed_tensor(packed, dim, (3, 5, 4)) == cube.data).all()
    scales = MXScaleTensor(torch.tensor([1.0, 0.75, 2.0**-127, 3e38, 0.0, -1.0, float("inf"), float("nan")]))
    assert scales.data.tolist() == [127, 126, 0, 254, 255, 255, 255, 255]
    assert scales.to(torch.float32)[:4].tolist() == [1, 0.5, 2.0**-127, 2.0**127] and scales.to(torch.float32)[4:].isnan().all()
    assert set(MXScaleTensor(size=200).random(low=0.5, high=2.0).data.tolist()) == {126, 127, 128}
