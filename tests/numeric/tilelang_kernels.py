#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tilelang_kernels.py: the kernels of kernels/tilelang, and those of silent_kernels.py, on several targets, at small ragged shapes, each against its mathematics in
float64.

    tilelang_kernels.py [--targets interp,cpu] [--also cuda-emulated --every 4] [--only TEXT] [--shard I/N] [--bin build]

A case is a kernel, its constants, what its arrays hold and a function that gives the outputs. An element is right if it is within
`tolerance * (1 + |it|)`: 2e-5 for float32 (sums of some hundred terms), 4e-3 for float16, whose results are rounded to 11 bits and whose weights are, too.
Stages, threads and blocks are no part of a result: `plans` says which of them give the same bits.
Needs no package."""
import argparse
import itertools
import math
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TARGETS = {"interp": ["interp"], "passes": ["interp", "--set", "passes=on"], "cpu": ["cpu"], "cuda-emulated": ["cuda", "--emulate"], "sm_80": ["cuda:sm_80", "--emulate"], "cuda": ["cuda"]}
# dtype -> descr of .npy, struct code, suffix of an argument
FORMS = {"float32": ("<f4", "f", ""), "float16": ("<f2", "e", ""), "int32": ("<i4", "i", ""), "int8": ("|i1", "b", ""), "uint8": ("|u1", "B", ""), "float8_e4m3": ("|V1", "B", ":f8e4m3")}


PLANS_DRAWN = 2


def e4m3(bits):
    """The number of a float8 of 4 and 3 bits; the largest one is 448, all ones are NaN."""
    sign, exponent, fraction = -1 if bits & 128 else 1, bits >> 3 & 15, bits & 7
    return sign * (fraction / 8 * 2.0**-6 if exponent == 0 else (1 + fraction / 8) * 2.0 ** (exponent - 7))


class Array:
    """Numbers in a shape; a[i, j] is one of them, 0 outside."""

    def __init__(self, dtype, shape, values=None):
        self.dtype, self.shape = dtype, tuple(shape)
        self.count = math.prod(self.shape)
        self.raw = values if values is not None else [0] * self.count

    def flat(self, place):
        at = 0
        for index, extent in zip(place, self.shape):
            at = at * extent + index
        return at

    def __getitem__(self, place):
        place = place if isinstance(place, tuple) else (place,)
        if any(not 0 <= i < n for i, n in zip(place, self.shape)):
            return 0.0
        value = self.raw[self.flat(place)]
        return e4m3(value) if self.dtype == "float8_e4m3" else value

    def save(self, path):
        descr, code, _ = FORMS[self.dtype]
        header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({''.join(f'{n}, ' for n in self.shape)}), }}"
        header += " " * (-(len(header) + 11) % 64) + "\n"
        path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{self.count}{code}", *self.raw))

    def load(self, path):
        data = path.read_bytes()
        return Array(self.dtype, self.shape, list(struct.unpack(f"<{self.count}{FORMS[self.dtype][1]}", data[10 + struct.unpack("<H", data[8:10])[0]:])))


def normal(dtype, *shape, spread=1.0):
    source = random.Random(str(shape) + dtype)
    code = FORMS[dtype][1]
    return Array(dtype, shape, [struct.unpack(code, struct.pack(code, source.gauss(0, spread)))[0] for _ in range(math.prod(shape))])


def whole(dtype, low, high, *shape):
    source = random.Random(str(shape) + dtype)
    return Array(dtype, shape, [source.randint(low, high) for _ in range(math.prod(shape))])


def each(*extents):
    return itertools.product(*map(range, extents))


# --- the mathematics: arrays and constants -> {output: {place: value}} ---

def softmax(a, c):
    out = {}
    for i in range(c["M"]):
        row = [a["X"][i, j] for j in range(c["N"])]
        total = sum(math.exp(x - max(row)) for x in row)
        out.update({(i, j): math.exp(x - max(row)) / total for j, x in enumerate(row)})
    return {"Y": out}


def row_sum(a, c):
    return {"Y": {(i, ): sum(a["X"][i, j] for j in range(c["N"])) for i in range(c["M"])}}


def swiglu(a, c):
    return {"C": {(i, j): a["A"][i, j] / (1 + math.exp(-a["A"][i, j])) * a["B"][i, j] for i, j in each(c["M"], c["N"])}}


def rmsnorm(a, c):
    rows = {i: math.sqrt(sum(a["X"][i, j] ** 2 for j in range(c["N"])) / c["N"] + 1e-6) for i in range(c["M"])}
    return {"Y": {(i, j): a["X"][i, j] / rows[i] * a["W"][j] for i, j in each(c["M"], c["N"])}}


def layernorm(a, c):
    out = {}
    for i in range(c["M"]):
        row = [a["X"][i, j] for j in range(c["N"])]
        mean = sum(row) / c["N"]
        deviation = math.sqrt(sum((x - mean) ** 2 for x in row) / c["N"] + 1e-5)
        out.update({(i, j): (x - mean) / deviation * a["W"][j] + a["B"][j] for j, x in enumerate(row)})
    return {"Y": out}


def attend(q, keys, values, scale):
    """One query: what softmax weighs the values with."""
    scores = [scale * sum(x * y for x, y in zip(q, k)) for k in keys]
    weights = [math.exp(s - max(scores)) for s in scores]
    return [sum(w * v[d] for w, v in zip(weights, values)) / sum(weights) for d in range(len(q))]


def rows_of(array, lead, count, width):
    return [[array[(*lead, n, d)] for d in range(width)] for n in range(count)]


def attention(a, c):
    out = {}
    for z, h, m in each(c["Z"], c["H"], c["M"]):
        seen = min(c["N"], m + 1 + c["N"] - c["M"]) if c.get("causal") == "true" else c["N"]
        lead = (z, h // c["G"])
        o = attend([a["Q"][z, h, m, d] for d in range(c["D"])], rows_of(a["K"], lead, seen, c["D"]), rows_of(a["V"], lead, seen, c["D"]), c["D"] ** -0.5)
        out.update({(z, h, m, d): x for d, x in enumerate(o)})
    return {"O": out}


def with_output(a, c):
    """The arrays of attention_backward: O and L as attention.py's mathematics has them."""
    o, t = attention(a, c)["O"], a["Q"].dtype
    a["O"] = Array(t, a["Q"].shape, [struct.unpack(FORMS[t][1], struct.pack(FORMS[t][1], o[place]))[0] for place in each(*a["Q"].shape)])
    a["L"] = Array("float32", a["Q"].shape[:3])
    for z, h, m in each(*a["L"].shape):
        row = scores(a, c, z, h, m)
        a["L"].raw[a["L"].flat((z, h, m))] = struct.unpack("f", struct.pack("f", (max(row) + math.log(sum(math.exp(x - max(row)) for x in row))) / math.log(2)))[0]
    return {**{name: a[name] for name in ("Q", "K", "V", "O", "DO", "L")}, "DQ": Array(t, a["Q"].shape), "DK": Array(t, a["K"].shape), "DV": Array(t, a["V"].shape)}


def scores(a, c, z, h, m):
    seen = min(c["N"], m + 1 + c["N"] - c["M"]) if c.get("causal") == "true" else c["N"]
    return [c["D"] ** -0.5 * sum(a["Q"][z, h, m, d] * a["K"][z, h // c["G"], n, d] for d in range(c["D"])) for n in range(seen)]


def attention_backward(a, c):
    out = {name: {place: 0.0 for place in each(*a[name].shape)} for name in ("DQ", "DK", "DV")}
    for z, h, m in each(c["Z"], c["H"], c["M"]):
        row, g, depth = scores(a, c, z, h, m), h // c["G"], range(c["D"])
        total = sum(math.exp(x - max(row)) for x in row)
        delta = sum(a["O"][z, h, m, d] * a["DO"][z, h, m, d] for d in depth)
        for n, x in enumerate(row):
            p = math.exp(x - max(row)) / total
            ds = p * (sum(a["DO"][z, h, m, d] * a["V"][z, g, n, d] for d in depth) - delta) * c["D"] ** -0.5
            for d in depth:
                out["DV"][z, g, n, d] += p * a["DO"][z, h, m, d]
                out["DK"][z, g, n, d] += ds * a["Q"][z, h, m, d]
                out["DQ"][z, h, m, d] += ds * a["K"][z, g, n, d]
    return out


def decoding(a, c):
    out = {}
    for z, h in each(c["Z"], c["H"]):
        lead = (z, h // c["G"])
        o = attend([a["Q"][z, h, d] for d in range(c["D"])], rows_of(a["K"], lead, c["N"], c["D"]), rows_of(a["V"], lead, c["N"], c["D"]), c["D"] ** -0.5)
        out.update({(z, h, d): x for d, x in enumerate(o)})
    return {"O": out}


def product(a, c):
    return {"C": {(i, j): sum(a["A"][i, k] * a["B"][k, j] for k in range(c["K"])) for i, j in each(c["M"], c["N"])}}


def scaled(a, c):
    return {"C": {(i, j): sum(a["A"][i, k] * a["B"][j, k] for k in range(c["K"])) * a["SA"][i] * a["SB"][j] for i, j in each(c["M"], c["N"])}}


def dequant(a, c):
    def weight(j, k):
        return ((a["W"][j, k // 2] >> k % 2 * 4 & 15) - a["Z"][j, k // 32]) * a["S"][j, k // 32]
    return {"C": {(i, j): sum(a["A"][i, k] * weight(j, k) for k in range(c["K"])) for i, j in each(c["M"], c["N"])}}


def conv2d(a, c):
    k, stride, dilation, pad = (c.get(name, otherwise) for name, otherwise in (("K", 3), ("stride", 1), ("dilation", 1), ("pad", 1)))
    out = {}
    for n, y, x, o in itertools.product(*map(range, a["Y"].shape)):
        out[n, y, x, o] = sum(a["X"][n, y * stride + i * dilation - pad, x * stride + j * dilation - pad, ch] * a["F"][i, j, ch, o] for i, j, ch in each(k, k, c["C"]))
    return {"Y": out}


def topk(a, c):
    out = {"V": {}, "I": {}}
    for i in range(c["M"]):
        order = sorted(range(c["N"]), key=lambda j: (-a["X"][i, j], j))[:c["k"]]
        for r, j in enumerate(order):
            out["V"][i, r], out["I"][i, r] = a["X"][i, j], j
    return out


def chunk_state(a, c):
    chunk, out = c["chunk"], {}
    for z, n, h, p, s in each(c["Z"], c["L"] // chunk, c["H"], c["P"], c["N"]):
        end, g = a["A"][z, h, n, chunk - 1], h // (c["H"] // c["G"])
        out[z, n, h, p, s] = sum(a["X"][z, n * chunk + l, h, p] * a["B"][z, n * chunk + l, g, s] * a["DT"][z, h, n, l] * math.exp(end - a["A"][z, h, n, l]) for l in range(chunk))
    return {"S": out}


def chunk_scan(a, c):
    chunk, out = c["chunk"], {}
    for z, l, h, p in each(c["Z"], c["L"], c["H"], c["P"]):
        n, i, g = l // chunk, l % chunk, h // (c["H"] // c["G"])
        here = a["A"][z, h, n, i]
        total = math.exp(here) * sum(a["C"][z, l, g, s] * a["S"][z, n, h, p, s] for s in range(c["N"]))
        total += sum(a["CB"][z, n, g, i, s] * math.exp(here - a["A"][z, h, n, s]) * a["DT"][z, h, n, s] * a["X"][z, n * chunk + s, h, p] for s in range(i + 1))
        out[z, l, h, p] = total + a["D"][h] * a["X"][z, l, h, p]
    return {"O": out}


# Of silent_kernels.py.

def overwritten(a, c):
    return {"C": {(j, ): sum(a["A"][k, j] + 2 * a["A"][k, c["N"] - 1 - j] for k in range(c["K"])) for j in range(c["N"])}}


def through_memory(a, c):
    n = c["N"]
    return {"C": {(k, j): sum(a["A"][i, n - 1 - j] for i in range(k + 1)) for k, j in each(c["K"], n)}}


def cleared(a, c):
    return {"C": {(n, i, j): sum(a["A"][n, i, k] * a["B"][n, k, j] for k in range(c["K"])) for n, i, j in each(2, c["M"], c["N"])}}


def siblings(a, c):
    return {"C": {place: 2 * value for place, value in product(a, c)["C"].items()}}


def turned(a, c):
    n = c["N"]
    return {"C": {(i, j): a["A"][i, j] - 2 * a["A"][j, i] for i, j in each(n, n)}, "R": {(i, ): a["A"][i // n, i % n] + 1 for i in range(n * n)}}


def sums(a, c):
    rows = [[a["A"][i, j] for j in range(c["N"])] for i in range(c["M"])]
    return {"S": {(i, ): sum(row) for i, row in enumerate(rows)}, "X": {(i, ): max(row) for i, row in enumerate(rows)}, "W": {(i, ): 100 * c["N"] for i in range(c["M"])}}


def every_lane(a, c):
    padded = -(-c["N"] // c.get("block", 64)) * c.get("block", 64)
    value = {i: a["A"][i] if i < c["N"] else 5.0 for i in range(padded)}
    return {"S": {(r, ): sum(value[i] for i in range(r, padded, 7)) for r in range(7)}, "C": {(i, ): a["A"][i] + 1 for i in range(c["N"])}}


# --- cases: file, constants, arrays (the outputs last), reference, tolerance ---

def decays(dtype, *shape):
    """Running sums along the last extent of numbers below 0."""
    a, source = Array(dtype, shape), random.Random(str(shape))
    for lead in each(*shape[:-1]):
        total = 0.0
        for i in range(shape[-1]):
            total -= source.random() * 0.1
            a.raw[a.flat((*lead, i))] = struct.unpack("f", struct.pack("f", total))[0]
    return a


def cases():
    for t, tolerance in (("float32", 2e-5), ("float16", 4e-3)):
        d = {"dtype": t}
        for m, n in ((5, 300), (1, 1), (4, 128)):
            yield "softmax", {"M": m, "N": n, **d}, {"X": normal(t, m, n, spread=3), "Y": Array(t, (m, n))}, softmax, tolerance
        for n, more in ((130, {"block_N": 64}), (1, {})):
            yield "row_sum", {"M": 5, "N": n, **more, **d}, {"X": normal(t, 5, n), "Y": Array("float32", (5, ))}, row_sum, tolerance
        yield "swiglu", {"M": 9, "N": 300, **d}, {"A": normal(t, 9, 300), "B": normal(t, 9, 300), "C": Array(t, (9, 300))}, swiglu, tolerance
        yield "rmsnorm", {"M": 5, "N": 130, **d}, {"X": normal(t, 5, 130), "W": normal(t, 130), "Y": Array(t, (5, 130))}, rmsnorm, tolerance
        yield "layernorm", {"M": 5, "N": 130, **d}, {"X": normal(t, 5, 130), "W": normal(t, 130), "B": normal(t, 130, spread=2), "Y": Array(t, (5, 130))}, layernorm, 2 * tolerance
        for causal, (m, n), blocks in (("false", (9, 50), {}), ("true", (37, 41), {"block_M": 16, "block_N": 32})):
            c = {"Z": 2, "H": 4, "G": 2, "M": m, "N": n, "D": 16, "causal": causal, **blocks, **d}
            yield "attention", c, {"Q": normal(t, 2, 4, m, 16), "K": normal(t, 2, 2, n, 16), "V": normal(t, 2, 2, n, 16), "O": Array(t, (2, 4, m, 16))}, attention, tolerance
        for causal, (m, n) in (("false", (9, 40)), ("true", (37, 41))):
            c = {"Z": 1, "H": 4, "G": 2, "M": m, "N": n, "D": 16, "causal": causal, "block_M": 32, "block_N": 16, **d}
            arrays = {"Q": normal(t, 1, 4, m, 16), "K": normal(t, 1, 2, n, 16), "V": normal(t, 1, 2, n, 16), "DO": normal(t, 1, 4, m, 16, spread=0.5)}
            yield "attention_backward", c, with_output(arrays, c), attention_backward, 2 * tolerance
        for n, parts in ((150, 3), (20, 2)):
            c = {"Z": 2, "H": 6, "G": 3, "N": n, "D": 32, "parts": parts, "block_N": 32, **d}
            yield "flash_decoding", c, {"Q": normal(t, 2, 6, 32), "K": normal(t, 2, 2, n, 32), "V": normal(t, 2, 2, n, 32), "O": Array(t, (2, 6, 32))}, decoding, tolerance
        for k, more in ((100, {}), (100, {"atomic": "true"}), (0, {})):
            yield "gemm_splitk", {"M": 37, "N": 20, "K": k, **more, **d}, {"A": normal(t, 37, k), "B": normal(t, k, 20), "C": Array("float32", (37, 20))}, product, tolerance
        yield "gemm_persistent", {"M": 70, "N": 200, "K": 40, "blocks": 3, "group": 2, **d}, {"A": normal(t, 70, 40), "B": normal(t, 40, 200), "C": Array(t, (70, 200))}, product, tolerance
        yield "gemm_dequant", {"M": 20, "N": 37, "K": 70, **d}, {"A": normal(t, 20, 70), "W": whole("uint8", 0, 255, 37, 35), "S": normal(t, 37, 3, spread=0.05), "Z": whole("uint8", 5, 9, 37, 3), "C": Array(t, (20, 37))}, dequant, tolerance
        for more, shape in (({}, (2, 5, 6)), ({"stride": 2, "dilation": 2, "pad": 2}, (2, 3, 3))):
            c = {"N": 2, "H": 5, "W": 6, "C": 3, "O": 4, **more, **d}
            yield "conv2d", c, {"X": normal(t, 2, 5, 6, 3), "F": normal(t, 3, 3, 3, 4), "Y": Array(t, (*shape, 4))}, conv2d, tolerance
        c = {"Z": 1, "L": 64, "H": 4, "G": 2, "P": 20, "N": 12, "chunk": 32, **d}
        yield "chunk_state", c, {"B": normal(t, 1, 64, 2, 12), "X": normal(t, 1, 64, 4, 20), "DT": normal(t, 1, 4, 2, 32, spread=0.3), "A": decays("float32", 1, 4, 2, 32), "S": Array(t, (1, 2, 4, 20, 12))}, chunk_state, tolerance
        arrays = {"CB": normal(t, 1, 2, 2, 32, 32), "X": normal(t, 1, 64, 4, 20), "DT": normal(t, 1, 4, 2, 32, spread=0.3), "A": decays("float32", 1, 4, 2, 32), "C": normal(t, 1, 64, 2, 12), "S": normal(t, 1, 2, 4, 20, 12), "D": normal(t, 4)}
        yield "chunk_scan", {**c, "block_M": 32}, {**arrays, "O": Array(t, (1, 64, 4, 20))}, chunk_scan, tolerance
    for m, n, k in ((10, 50, 4), (3, 7, 7)):
        yield "topk", {"M": m, "N": n, "k": k}, {"X": whole("float32", -20, 20, m, n), "V": Array("float32", (m, k)), "I": Array("int32", (m, k))}, topk, 0
    scales = {"SA": normal("float32", 20), "SB": normal("float32", 37)}
    yield "gemm_scaled", {"M": 20, "N": 37, "K": 200}, {"A": whole("int8", -128, 127, 20, 200), "B": whole("int8", -128, 127, 37, 200), **scales, "C": Array("float32", (20, 37))}, scaled, 1e-6
    fp8 = {"A": whole("float8_e4m3", 0, 100, 20, 300), "B": whole("float8_e4m3", 128, 228, 37, 300), **scales, "C": Array("float32", (20, 37))}
    yield "gemm_scaled", {"M": 20, "N": 37, "K": 300, "dtype": "float8_e4m3", "promote": 2}, fp8, scaled, 2e-3


    yield from silent_cases()


def silent_cases():
    """Shapes that went wrong in silence elsewhere."""
    def of(name, constants, arrays, reference, tolerance=2e-5):
        return f"silent_kernels:{name}", constants, arrays, reference, tolerance

    t = "float16"
    for stages in (0, 2, 3):
        yield of("overwritten", {"K": 5, "N": 50, "stages": stages}, {"A": normal("float32", 5, 50), "C": Array("float32", (50, ))}, overwritten)
        yield of("through_memory", {"K": 5, "N": 40, "stages": stages}, {"A": normal("float32", 5, 40), "S": Array("float32", (40, )), "C": Array("float32", (5, 40))}, through_memory)
        for k in (20, 70):  # one trip, and more
            yield of("cleared", {"M": 33, "N": 40, "K": k, "stages": stages}, {"A": normal(t, 2, 33, k), "B": normal(t, 2, k, 40), "C": Array("float32", (2, 33, 40))}, cleared)
    for first, second in ((1, 3), (3, 0), (2, 4)):
        arrays = {"A": normal(t, 40, 70), "B": normal(t, 70, 50), "C": Array("float32", (40, 50))}
        yield of("siblings", {"M": 40, "N": 50, "K": 70, "first": first, "second": second}, arrays, siblings)
    for m, n, k, threads in ((24, 40, 24, 128), (8, 8, 8, 32), (16, 72, 40, 96), (48, 24, 16, 384)):
        arrays = {"A": normal(t, 50, 61), "B": normal(t, 61, 75), "C": Array("float32", (50, 75))}
        yield of("covered", {"M": 50, "N": 75, "K": 61, "block_M": m, "block_N": n, "block_K": k, "threads": threads}, arrays, product)
    for n, threads in ((17, 96), (10, 128), (33, 160)):
        yield of("turned", {"N": n, "threads": threads}, {"A": normal("float32", n, n), "C": Array("float32", (n, n)), "R": Array("float32", (n * n, ))}, turned)
        arrays = {"A": normal("float32", n, 3 * n), "S": Array("float32", (n, )), "X": Array("float32", (n, )), "W": Array("int32", (n, ))}
        yield of("sums", {"M": n, "N": 3 * n, "threads": threads}, arrays, sums)
    for n in (130, 64, 1):
        yield of("every_lane", {"N": n}, {"A": normal("float32", n), "S": Array("float32", (7, )), "C": Array("float32", (n, ))}, every_lane)


def plans():
    """A case, and what may change without a bit of its result."""
    t, shape = "float16", {"Z": 1, "H": 2, "G": 2, "M": 100, "N": 130, "D": 32, "causal": "true", "block_M": 64, "block_N": 32}
    arrays = {"Q": normal(t, 1, 2, 100, 32), "K": normal(t, 1, 1, 130, 32), "V": normal(t, 1, 1, 130, 32), "O": Array(t, (1, 2, 100, 32))}
    yield ("attention", shape, arrays, attention, 4e-3), [{"num_stages": n} for n in (0, 1, 3, 4)] + [{"threads": n} for n in (32, 96, 384, 512)]
    yield ("row_sum", {"M": 5, "N": 300, "block_N": 64}, {"X": normal(t, 5, 300), "Y": Array("float32", (5, ))}, row_sum, 4e-3), [{"num_stages": n} for n in (0, 1, 3, 4)]
    arrays = {"A": normal(t, 2, 40, 100), "B": normal(t, 2, 100, 50), "C": Array("float32", (2, 40, 50))}
    yield ("silent_kernels:cleared", {"M": 40, "N": 50, "K": 100}, arrays, cleared, 2e-5), [{"stages": n} for n in (0, 1, 2, 4)]
    arrays = {"A": normal("float32", 7, 50), "C": Array("float32", (50, ))}
    yield ("silent_kernels:overwritten", {"K": 7, "N": 50}, arrays, overwritten, 2e-5), [{"stages": n} for n in (0, 1, 3, 4)] + [{"threads": n} for n in (32, 96, 384, 512)]
    arrays = {"A": normal(t, 100, 80), "B": normal(t, 80, 150), "C": Array(t, (100, 150))}
    blocks = {"block_M": 64, "block_N": 64, "block_K": 32}
    changes = [{"blocks": 1}, {"blocks": 3, "num_stages": 0}, {"group": 1, "num_stages": 4}, {"blocks": 100}, {"blocks": 100, "num_stages": 1}]
    yield ("gemm_persistent", {"M": 100, "N": 150, "K": 80, **blocks}, arrays, product, 4e-3), changes  # 100: as if it were not persistent
    stages, threads = [{"num_stages": n} for n in (0, 1, 3, 4)], [{"threads": n} for n in (32, 64, 96, 384, 512)]
    arrays = {"A": normal(t, 50, 61), "B": normal(t, 61, 75), "C": Array("float32", (50, 75))}
    yield ("silent_kernels:covered", {"M": 50, "N": 75, "K": 61, "block_M": 64, "block_N": 64, "block_K": 32, "threads": 128}, arrays, product, 2e-5), threads
    arrays = {"A": normal(t, 37, 100), "B": normal(t, 100, 20), "C": Array("float32", (37, 20))}
    yield ("gemm_splitk", {"M": 37, "N": 20, "K": 100}, arrays, product, 4e-3), stages
    scales = {"SA": normal("float32", 20), "SB": normal("float32", 37)}
    arrays = {"A": whole("int8", -128, 127, 20, 200), "B": whole("int8", -128, 127, 37, 200), **scales, "C": Array("float32", (20, 37))}
    yield ("gemm_scaled", {"M": 20, "N": 37, "K": 200}, arrays, scaled, 1e-6), stages
    weights = {"W": whole("uint8", 0, 255, 37, 35), "S": normal(t, 37, 3, spread=0.05), "Z": whole("uint8", 5, 9, 37, 3)}
    yield ("gemm_dequant", {"M": 20, "N": 37, "K": 70}, {"A": normal(t, 20, 70), **weights, "C": Array(t, (20, 37))}, dequant, 4e-3), stages
    arrays = {"X": normal(t, 2, 5, 6, 3), "F": normal(t, 3, 3, 3, 4), "Y": Array(t, (2, 5, 6, 4))}
    yield ("conv2d", {"N": 2, "H": 5, "W": 6, "C": 3, "O": 4}, arrays, conv2d, 4e-3), stages
    c = {"Z": 1, "H": 4, "G": 2, "M": 37, "N": 41, "D": 16, "causal": "true", "block_M": 32, "block_N": 16}
    arrays = {"Q": normal(t, 1, 4, 37, 16), "K": normal(t, 1, 2, 41, 16), "V": normal(t, 1, 2, 41, 16), "DO": normal(t, 1, 4, 37, 16, spread=0.5)}
    yield ("attention_backward", c, with_output(arrays, c), attention_backward, 8e-3), stages + threads
    arrays = {"Q": normal(t, 2, 6, 32), "K": normal(t, 2, 2, 150, 32), "V": normal(t, 2, 2, 150, 32), "O": Array(t, (2, 6, 32))}
    yield ("flash_decoding", {"Z": 2, "H": 6, "G": 3, "N": 150, "D": 32, "parts": 3, "block_N": 32}, arrays, decoding, 4e-3), stages + threads
    c = {"Z": 1, "L": 64, "H": 4, "G": 2, "P": 20, "N": 12, "chunk": 32}
    arrays = {"B": normal(t, 1, 64, 2, 12), "X": normal(t, 1, 64, 4, 20), "DT": normal(t, 1, 4, 2, 32, spread=0.3), "A": decays("float32", 1, 4, 2, 32), "S": Array(t, (1, 2, 4, 20, 12))}
    yield ("chunk_state", c, arrays, chunk_state, 4e-3), stages + threads
    for name, arrays, reference in (
            ("softmax", {"X": normal(t, 5, 300, spread=3)}, softmax), ("rmsnorm", {"X": normal(t, 5, 300), "W": normal(t, 300)}, rmsnorm),
            ("layernorm", {"X": normal(t, 5, 300), "W": normal(t, 300), "B": normal(t, 300, spread=2)}, layernorm)):
        yield (name, {"M": 5, "N": 300}, {**arrays, "Y": Array(t, (5, 300))}, reference, 8e-3), threads


def same_bits(case, changes, target, tool, folder, environment):
    """None, or which change gives other bits."""
    want = case[3](case[2], case[1])
    case, outputs = (*case[:3], lambda arrays, constants: want, case[4]), list(want)
    wrong = run(case, target, tool, folder, environment)
    first = [(folder / f"{output}.out.npy").read_bytes() for output in outputs] if not wrong else []
    for change in changes:
        wrong = wrong or run((case[0], {**case[1], **change}, *case[2:]), target, tool, folder, environment)
        if not wrong and [(folder / f"{output}.out.npy").read_bytes() for output in outputs] != first:
            wrong = f"{change} gives other bits"
    return wrong


def run(case, target, tool, folder, environment):
    """None, or what is wrong."""
    name, constants, arrays, reference, tolerance = case
    file, _, kernel = name.partition(":")
    path = HERE / f"{file}.py:{kernel}" if kernel else HERE.parent.parent / "kernels" / "tilelang" / f"{name}.py"
    command = [tool, "run", str(path), "--target", *TARGETS[target]]
    for key, value in constants.items():
        command += ["--arg", f"{key}={value}"]
    want = reference(arrays, constants)
    for key, array in arrays.items():
        array.save(folder / f"{key}.npy")
        command += ["--arg", f"{key}=file:{folder / key}.npy{FORMS[array.dtype][2]}"]
        if key in want:
            command += ["--save", f"{key}={folder / key}.out.npy"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        return f"exit status {done.returncode}\n{done.stderr}"
    for key, places in want.items():
        got = arrays[key].load(folder / f"{key}.out.npy")
        for place, value in places.items():
            if not abs(got[place] - value) <= tolerance * (1 + abs(value)):
                return f"{key}{list(place)} is {got[place]!r}, should be {value!r}\n{' '.join(command)}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", default="interp,cpu")
    parser.add_argument("--also", default="", help="targets of every EVERY-th case too")
    parser.add_argument("--every", type=int, default=4)
    parser.add_argument("--only", default="")
    parser.add_argument("--every-plan", action="store_true", help="all changes that plans() lists, on the CPU too, and no more; else some of each case, by TILEWRIGHT_SEED")
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--bin", default=str(HERE.parent.parent / "build"))
    options = parser.parse_args()
    tool, folder = str(pathlib.Path(options.bin).resolve() / "tilewright"), pathlib.Path(tempfile.mkdtemp(prefix="tilewright-kernels-"))
    environment = dict(os.environ, TILEWRIGHT_CACHE_DIR=str(folder / "cache"))
    part, parts = map(int, options.shard.split("/"))
    done = failures = 0
    try:
        for number, case in enumerate(cases()):
            if number % parts != part or options.only not in case[0] or options.every_plan:
                continue
            also = options.also if number % options.every == 0 else ""
            for target in [*options.targets.split(","), *filter(None, also.split(","))]:
                done += 1
                wrong = run(case, target, tool, folder, environment)
                if wrong:
                    failures += 1
                    print(f"{case[0]} {case[1]} on {target}: {wrong}", flush=True)
        drawn = random.Random(int(os.environ.get("TILEWRIGHT_SEED", "1")))
        for number, (case, changes) in enumerate(plans()):
            if not options.every_plan and len(changes) > PLANS_DRAWN:
                changes = drawn.sample(changes, PLANS_DRAWN)
            for target in filter(None, {*options.also.split(","), "cpu" if options.every_plan else ""}):
                if number % parts != part or options.only not in case[0]:
                    continue
                done += 1
                wrong = same_bits(case, changes, target, tool, folder, environment)
                if wrong:
                    failures += 1
                    print(f"{case[0]} {case[1]} on {target}: {wrong}", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{done} runs, {failures} failed")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
