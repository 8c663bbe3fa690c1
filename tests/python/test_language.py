# SPDX-License-Identifier: Apache-2.0
"""Parts of the language that need a Python program around the kernel, and the names of older and newer releases."""
import contextlib
import re

import numpy as np
import pytest

import tilewright.triton as triton
import tilewright.triton.language as tl
from tilewright.triton.language.extra import libdevice
from tilewright.triton.language.extra.cuda import num_threads, num_warps


@triton.aggregate
class Span:
    start: tl.tensor
    size: tl.constexpr

    def __init__(self, start, size):
        self.start = start
        self.size = tl.constexpr(size)

    @triton.jit
    def indices(self):
        return self.start + tl.arange(0, self.size)

    @triton.jit
    def after(self, steps):
        return triton.aggregate_replace(self, start=self.start + steps * self.size)


@triton.jit
def fill_spans(out, n):
    span = Span(tl.program_id(0) * 16, 4)
    for i in range(n):
        tl.store(out + span.indices(), i)
        span = span.after(1)
    if n > 2:
        span = Span(0, 4)
    tl.store(out + span.start, 100)


@triton.jit
def lowest(dtype: tl.constexpr):
    plain = dtype.value
    if plain.is_floating():
        return tl.constexpr(float("-inf"))
    return tl.constexpr(-2**(plain.int_bitwidth - 1))


def test_a_pointer_is_true_unless_null():

    @triton.jit
    def kernel(x, y, out, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        sums = tl.load(x + at)
        if y:
            sums += tl.load(y + at)
        tl.store(out + at, tl.maximum(sums, lowest(x.dtype.element_ty)))

    x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    for y, want in ((x, 2 * x), (None, x)):
        kernel[(1, )](x, y, out, BLOCK=8)
        np.testing.assert_array_equal(out, want)
    torch = pytest.importorskip("torch")
    empty = torch.empty(0)
    assert empty.data_ptr() == 0
    kernel[(1, )](torch.from_numpy(x), empty, torch.from_numpy(out), BLOCK=8)
    np.testing.assert_array_equal(out, x)


@triton.jit
def of_floats(x):
    return (x + tl.zeros((1, ), tl.int1)).dtype.is_floating()


@triton.jit
def later_maximum(a, i, b, j):
    left = a > b
    if of_floats(a):
        left |= (a != a) and not (b != b)
    left |= (a == b) & (i > j)
    return tl.where(left, a, b), tl.where(left, i, j)


def test_a_combination_may_ask_for_types_by_a_tile():

    @triton.jit
    def kernel(x, highest, places, last, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        value, place = tl.associative_scan((tl.load(x + at), at), 0, later_maximum)
        tl.store(highest + at, value)
        tl.store(places + at, place)
        _, place = tl.reduce((tl.load(x + at), at), 0, later_maximum)
        tl.store(last, place)

    x = np.random.default_rng(0).integers(0, 9, 32).astype(np.float32)
    x[20] = np.nan
    highest, places, last = np.zeros(32, np.float32), np.zeros(32, np.int32), np.zeros(1, np.int32)
    kernel[(1, )](x, highest, places, last, BLOCK=32)
    np.testing.assert_array_equal(highest, np.maximum.accumulate(x))
    assert places[19] == max(np.flatnonzero(x[:20] == x[:20].max())) and (places[20:] == 20).all() and last[0] == 20


def test_a_function_may_show_other_lines_than_its_text():
    """As packages do that write a kernel from a template: `raw_src` is for readers, and changes nothing."""

    @triton.jit
    def template(out):
        tl.store(out, 1)

    written = triton.JITFunction(template.fn)
    written._unsafe_update_src("def template(out):\n    tl.store(out, 2)\n")
    written.raw_src = list(template.raw_src)
    written.starting_line_number = template.starting_line_number
    out = np.zeros(1, np.int32)
    written[(1, )](out)
    assert out[0] == 2 and "tl.store(out, 1)" in "".join(written.raw_src)


def test_a_name_may_hold_block_pointers_of_other_strides():
    """Strides that are numbers of the source and strides that are arguments, in turns: of one type, as in Triton."""

    @triton.jit
    def kernel(first, rows, pitch, step, n, m, WIDTH: tl.constexpr):
        sums = tl.zeros((8, 8), tl.float32)
        block = tl.make_block_ptr(first, (8, WIDTH), (WIDTH, 1), (0, 0), (8, 8), (1, 0))
        sums += tl.load(block, boundary_check=(0, 1))
        for i in range(n):
            block = tl.make_block_ptr(rows + i * 64, (8, m), (pitch, step), (0, 0), (8, 8), (1, 0))
            tl.store(block, sums, boundary_check=(0, 1))
            sums *= 2
        if n > 2:
            block = tl.make_block_ptr(rows, (8, WIDTH), (1, WIDTH), (0, 0), (8, 8), (1, 0))
        else:
            block = tl.make_block_ptr(rows, (8, m), (pitch, step), (0, 0), (8, 8), (1, 0))
        for i in range(n):
            tl.store(block, tl.load(block) + 1)
            block = tl.make_block_ptr(rows + 64, (8, WIDTH), (WIDTH, 1), (0, 0), (8, 8), (1, 0))

    first = np.arange(64, dtype=np.float32)
    for n in 2, 3:
        rows = np.zeros(64 * n, np.float32)
        kernel[(1, )](first, rows, 8, 1, n, 8, WIDTH=8)
        want = np.array([first * 2**i for i in range(n)])
        want[0] += 1
        want[1] += n - 1
        np.testing.assert_array_equal(rows.reshape(n, 64), want)


def test_aggregate_is_carried_through_loops_and_branches():
    out = np.full(16, -1, np.int32)
    fill_spans[(1, )](out, 2)
    assert out.tolist() == [0] * 4 + [1] * 4 + [100] + [-1] * 7
    fill_spans[(1, )](out, 3)
    assert out[0] == 100


@triton.aggregate
class Half:
    a: tl.tensor
    b: tl.tensor

    def __init__(self, a):
        self.a = a


@triton.jit
def make_half(out):
    tl.store(out, Half(1).a)


@triton.jit
def wrong_field(out):
    tl.store(out, Span(out, 1).sise)


def test_mistakes_with_aggregates():
    out = np.zeros(1, np.int32)
    with pytest.raises(triton.CompilationError, match="does not set the field `b`"):
        make_half[(1, )](out)
    with pytest.raises(triton.CompilationError, match="did you mean `.size`"):
        wrong_field[(1, )](out)
    with pytest.raises(RuntimeError, match="inside of kernels only"):
        Span(0, 1)


@triton.constexpr_function
def scaled(n, by=2, *, plus=0):
    return n * by + plus


@triton.jit
def call_host(out, N: tl.constexpr):
    tl.store(out, scaled(N, plus=1))
    tl.store(out + 1, scaled(N, by=5))


def test_keywords_of_host_functions():
    out = np.zeros(2, np.int32)
    call_host[(1, )](out, 3)
    assert out.tolist() == [7, 15]


entered = []


@contextlib.contextmanager
def region(name):
    entered.append(name)
    yield 7
    entered.append("left " + name)


@triton.jit
def inside_with(out):
    with region("outer"), region("inner") as number:
        tl.store(out, number)


def test_with_enters_context_managers_at_compile_time():
    out = np.zeros(1, np.int32)
    inside_with[(1, )](out)
    assert out[0] == 7 and entered == ["outer", "inner", "left inner", "left outer"]


@triton.jit
def format_constants(out, N: tl.constexpr, F: tl.constexpr, S: tl.constexpr):
    tl.static_assert(f"{N}|{N=}|{N:04d}|{N:+d}|{N:>5}|{N:<5}|{N:^5}|{N:#x}|{N:b}" == "42|N=42|0042|+42|   42|42   | 42  |0x2a|101010")
    tl.static_assert(f"{F}|{F:.2f}|{F:8.3f}|{F:e}|{F:g}|{F:.0%}" == "0.125|0.12|   0.125|1.250000e-01|0.125|12%")
    tl.static_assert(f"{S}|{S!r}|{S:>4}|{S:*^5}|{S:.1}" == "ab|'ab'|  ab|*ab**|a")


def test_f_strings_format_as_python_does():
    N, F, S = 42, 0.125, "ab"
    assert f"{N}|{N=}|{N:04d}|{N:+d}|{N:>5}|{N:<5}|{N:^5}|{N:#x}|{N:b}" == "42|N=42|0042|+42|   42|42   | 42  |0x2a|101010"
    assert f"{F}|{F:.2f}|{F:8.3f}|{F:e}|{F:g}|{F:.0%}" == "0.125|0.12|   0.125|1.250000e-01|0.125|12%"
    assert f"{S}|{S!r}|{S:>4}|{S:*^5}|{S:.1}" == "ab|'ab'|  ab|*ab**|a"
    format_constants.warmup(np.zeros(1, np.int32), N, F, S, grid=(1, ))


@triton.jit
def check_asserts(out, n):
    assert n < 3, "too large"
    tl.device_assert(n < 5, "much too large")
    if n == 4:
        assert False
    tl.store(out, n)


def test_asserts_are_there_in_debug_only(monkeypatch):
    out = np.zeros(1, np.int32)
    check_asserts[(1, )](out, 7)
    assert out[0] == 7
    with pytest.raises(RuntimeError, match="too large"):
        check_asserts[(1, )](out, 3, debug=True)
    check_asserts[(1, )](out, 2, debug=True)
    monkeypatch.setenv("TRITON_DEBUG", "1")
    with pytest.raises(RuntimeError, match="too large"):
        check_asserts[(1, )](out, 3)
    monkeypatch.delenv("TRITON_DEBUG")
    with pytest.raises(RuntimeError, match="too large"):
        triton.jit(debug=True)(check_asserts.fn)[(1, )](out, 3)
    triton.jit(debug=True)(check_asserts.fn)[(1, )](out, 3, debug=False)  # the launch has the last word
    with pytest.raises(RuntimeError, match="too large"):
        check_asserts[(1, )](out, 3, debug=1)


@triton.jit
def static_check(N: tl.constexpr):
    tl.static_assert(N > 2, f"N is {N}")


@triton.jit
def combine(x, y, z, OP: tl.constexpr, CHECKED: tl.constexpr):
    at = tl.arange(0, 4)
    a, b = tl.load(x + at), tl.load(y + at)
    if OP == "add":
        a += b
    elif OP == "sub":
        a = a - b
    elif OP == "mul":
        a = tl.mul(a, b, sanitize_overflow=CHECKED)
    tl.store(z + at, a)


@pytest.mark.parametrize("emulate", ["0", "1"])
@pytest.mark.parametrize("op, dtype, a, b, fits", [
    ("add", np.int32, 2**31 - 1, 1, False), ("add", np.int32, 2**31 - 2, 1, True), ("add", np.int16, -2**15, -1, False), ("add", np.int64, 2**63 - 1, 1, True),
    ("sub", np.int32, -2**31, 1, False), ("sub", np.uint8, 0, 1, False), ("mul", np.uint32, 2**32 - 1, 2**32 - 1, False), ("mul", np.int32, -2**30, 2, True)])
def test_integers_that_overflow_are_told_in_debug(emulate, op, dtype, a, b, fits, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_EMULATE", emulate)
    kernel = triton.jit(combine.fn)
    x, y, z = np.array([0, 0, a, 0], dtype), np.array([0, 0, b, 0], dtype), np.zeros(4, dtype)
    with np.errstate(over="ignore"):
        wanted = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[op](x, y)
    if fits:
        kernel[(1, )](x, y, z, op, True, debug=True)
    else:
        with pytest.raises(RuntimeError, match=f"int{x.itemsize * 8} overflow detected for operation {op}"):
            kernel[(1, )](x, y, z, op, True, debug=True)
        for words in ({}, {"debug": True, "sanitize_overflow": False}) + (({"debug": True, "CHECKED": False}, ) if op == "mul" else ()):
            kernel[(1, )](x, y, z, op, **{"CHECKED": True, **words})
    np.testing.assert_array_equal(z, wanted)


def test_sums_of_a_tile_wrap_also_in_debug():
    """Combinations inside of a reduction have no place where they could stop."""

    @triton.jit
    def total(x, z):
        tl.store(z, tl.sum(tl.load(x + tl.arange(0, 4))))

    z = np.zeros(1, np.int32)
    total[(1, )](np.full(4, 2**30, np.int32), z, debug=True)
    assert z[0] == 0


def test_static_assert_is_always_there():
    with pytest.raises(triton.CompilationError, match="N is 1"):
        static_check[(1, )](1)


@triton.jit
def wait_for_flag(flag, out):
    tl.store(out, tl.atomic_poll(flag, 1, sem="acquire", scope="gpu"))
    tl.store(out + 1, tl.atomic_poll(flag, 2, timeout_ns=0))


def test_atomic_poll():
    out = np.full(2, -1, np.int32)
    wait_for_flag[(1, )](np.ones(1, np.int32), out)
    assert out.tolist() == [1, 0]


@triton.jit
def older_names(source, target, out):
    desc = tl._experimental_make_tensor_descriptor(source, [8, 8], [8, 1], [4, 4])
    x = tl._experimental_descriptor_load(desc, [4, 4], [4, 4], tl.float32)
    tl._experimental_descriptor_store(tl._experimental_make_tensor_descriptor(target, [8, 8], [8, 1], [4, 4]), x, [0, 0])
    tl.store(out, num_warps())
    tl.store(out + 1, tl.extra.cuda.num_threads())
    tl.static_assert(tl.float8e4nv.is_fp8e4nv() and tl.int32.kind() == tl.int8.kind() and tl.TRITON_MAX_TENSOR_NUMEL == 1048576)


def test_names_of_other_releases():
    a, b, out = np.arange(64, dtype=np.float32).reshape(8, 8), np.zeros((8, 8), np.float32), np.zeros(2, np.int32)
    older_names[(1, )](a, b, out, num_warps=8)
    assert (b[:4, :4] == a[4:, 4:]).all() and out.tolist() == [8, 256]
    assert num_threads is not None


@triton.jit
def refused(out, WHICH: tl.constexpr):
    if WHICH == 0:
        tl.store(out, libdevice.jn(2, 0.5))
    elif WHICH == 1:
        tl.extra.cuda.smid()
    else:
        tl.store(out, tl.inline_asm_elementwise("mov.f32 $0, $1;", "=f,f", [tl.load(out)], tl.float32, True, 1))


@pytest.mark.parametrize("which,words", [(0, "math library"), (1, "assembly of NVIDIA GPUs"), (2, "write it with operations of the language")])
def test_refused_names_say_why(which, words, monkeypatch):
    for emulate in ("0", "1"):
        monkeypatch.setenv("TILEWRIGHT_EMULATE", emulate)
        with pytest.raises(triton.CompilationError, match=words):
            refused[(1, )](np.zeros(1, np.float32), which)


@triton.jit
def add_in_order(x, y, z, SEM: tl.constexpr, SCOPE: tl.constexpr):
    pid = tl.program_id(0)
    old = tl.atomic_add(x, 1.0, sem=SEM, scope=SCOPE)
    tl.atomic_max(y, pid, sem=SEM, scope=SCOPE)
    tl.store(z + pid, old)


@pytest.mark.parametrize("sem, scope, words", [(None, "gpu", "gpu, acq_rel"), ("release", "sys", "sys, release"), ("relaxed", "cta", "cta, relaxed")])
@pytest.mark.parametrize("dtype, kind", [(np.float32, "f32"), (np.float16, "f16"), (np.float64, "f64")])
def test_an_atomic_of_one_thread_carries_its_order(sem, scope, words, dtype, kind, monkeypatch):
    for emulate in ("0", "1"):
        monkeypatch.setenv("TILEWRIGHT_EMULATE", emulate)
        add_in_order.forget()
        x, y, z = np.zeros(1, dtype), np.zeros(1, np.int32), np.zeros(5, dtype)
        add_in_order[(5, )](x, y, z, sem, scope)
        assert x[0] == 5 and y[0] == 4 and sorted(z) == [0, 1, 2, 3, 4]
    text = add_in_order.emit("cuda")["add_in_order.cu"]
    assert f"TW_ATOM({words}, add, {kind}, " in text and f"TW_ATOM({words}, max, s32, " in text and "tw_fence" not in text


@triton.jit
def combine_tiles(x, y, z, OP: tl.constexpr, SCOPE: tl.constexpr, BLOCK: tl.constexpr, USED: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(y + i)
    if OP == "add":
        old = tl.atomic_add(x + i, v, scope=SCOPE)
    elif OP == "max":
        old = tl.atomic_max(x + i, v, scope=SCOPE)
    elif OP == "xchg":
        old = tl.atomic_xchg(x + i, v, scope=SCOPE)
    else:
        old = tl.atomic_cas(x + i, tl.full((BLOCK, ), 3, v.dtype), v, scope=SCOPE)
    if USED:
        tl.store(z + i, old)


def _text_of(kernel, *args):
    return kernel.warmup(*args, grid=(1, )).emit("cuda")[f"{kernel.__name__}.cu"]


@pytest.mark.parametrize("op, dtype", [("add", np.float16), ("add", np.float32), ("max", np.int32), ("max", np.float64), ("xchg", np.int64), ("cas", np.float32)])
def test_atomics_of_tiles_reach_as_far_as_their_scope(op, dtype, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_EMULATE", "1")
    combine_tiles.forget()
    x, y, z = np.arange(-8, 8).astype(dtype), (np.arange(16) * 3 - 20).astype(dtype), np.zeros(16, dtype)
    want = {"add": x + y, "max": np.maximum(x, y), "xchg": y, "cas": np.where(x == 3, y, x)}[op]
    before = x.copy()
    combine_tiles[(1, )](x, y, z, op, "sys", 16, True)
    assert (x == want).all() and (z == before).all()
    monkeypatch.setenv("TILEWRIGHT_TARGET", "interp")  # texts alone: nothing is built
    monkeypatch.delenv("TILEWRIGHT_EMULATE")
    for used in (False, True):
        calls = re.findall(r"tw_(?:atomic|red)_\w+\(", _text_of(combine_tiles, x, y, z, op, "sys", 16, used))
        assert calls and all(call.endswith("_system(") for call in calls)
        assert "_system(" not in _text_of(combine_tiles, x, y, z, op, "gpu", 16, used)


@triton.jit
def guarded_sum(lock, total, x, BLOCK: tl.constexpr):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    i = tl.arange(0, BLOCK)
    tl.store(total + i, tl.load(total + i) + tl.load(x + tl.program_id(0) * BLOCK + i))
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


def test_a_lock_is_taken_by_an_instruction_that_carries_its_order(monkeypatch):
    for emulate in ("0", "1"):
        monkeypatch.setenv("TILEWRIGHT_EMULATE", emulate)
        guarded_sum.forget()
        lock, total, x = np.zeros(1, np.int32), np.zeros(64, np.float32), np.ones((20, 64), np.float32)
        guarded_sum[(20, )](lock, total, x, 64)
        assert (total == 20).all() and lock[0] == 0
    text = _text_of(guarded_sum, lock, total, x, 64)
    assert "TW_ATOM_CAS(gpu, acq_rel, 32, " in text and "tw_fence" not in text


def test_a_kernel_of_the_emulator_has_the_assembler_text_of_its_chip(monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_EMULATE", "1")
    guarded_sum.forget()
    kernel = guarded_sum.warmup(np.zeros(1, np.int32), np.zeros(64, np.float32), np.ones((20, 64), np.float32), 64, grid=(1, ))
    try:
        text = kernel.asm["ptx"]
    except RuntimeError as error:
        assert "NVRTC" in str(error)
    else:
        assert ".visible .entry guarded_sum" in text and "atom.global.acq_rel.gpu.cas.b32" in text
    assert "int main" not in "".join(kernel.emit("cpu").values())


@triton.jit
def turn_bits(x, y, AXES: tl.constexpr):
    tile = tl.reshape(tl.load(x + tl.arange(0, 2**AXES)), [2] * AXES)
    tile = tl.sum(tl.flip(tl.flip(tile, AXES - 1), 0), 1)
    tl.store(y + tl.arange(0, 2**(AXES - 1)), tl.reshape(tile, [2**(AXES - 1)]))


@pytest.mark.parametrize("axes", [8, 9, 12])
def test_a_tile_has_up_to_twelve_axes(axes, monkeypatch):
    x = np.arange(2**axes, dtype=np.int32)**2
    for emulate in ("0", "1"):
        monkeypatch.setenv("TILEWRIGHT_EMULATE", emulate)
        turn_bits.forget()
        y = np.zeros(2**(axes - 1), np.int32)
        turn_bits[(1, )](x, y, axes)
        assert (y == np.flip(x.reshape([2] * axes), (0, axes - 1)).sum(1).ravel()).all()


def test_more_axes_are_refused():
    with pytest.raises(triton.CompilationError, match="a tile has at most 12 axes"):
        turn_bits[(1, )](np.zeros(2**13, np.int32), np.zeros(2**12, np.int32), 13)
