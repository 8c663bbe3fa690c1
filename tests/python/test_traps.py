# SPDX-License-Identifier: Apache-2.0
"""What a second implementation of Triton gets wrong, one test a trap. Types are asked inside of kernels, at compile time."""
import os

import numpy as np
import pytest

import tilewright.triton as triton
import tilewright.triton.language as tl

f16, f32, i32, i64 = np.float16, np.float32, np.int32, np.int64


def run(kernel, *args, grid=(1, ), **kwargs):
    return kernel[grid](*args, **kwargs)


def fails(kernel, words, *args, **kwargs):
    with pytest.raises(triton.CompilationError, match=words) as caught:
        kernel[(1, )](*args, **kwargs)
    text = str(caught.value)
    assert ": error: " in text and "^" in text  # a place and a caret
    return text


# --- promotion ---


@triton.jit
def tile(T: tl.constexpr):
    return tl.full([4], 1, tl.int32).to(T)


@triton.jit
def promote(A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    tl.static_assert((tile(A) + tile(B)).dtype == C)
    tl.static_assert((tile(B) * tile(A)).dtype == C)


PROMOTIONS = [
    ("int32", "bfloat16", "float32"), ("int32", "float16", "float16"), ("float16", "bfloat16", "float16"), ("int8", "uint8", "uint8"),
    ("int32", "uint32", "uint32"), ("int64", "uint32", "int64"), ("int1", "int1", "int1"), ("int1", "int8", "int8"),
    ("float16", "float32", "float32"), ("float32", "float64", "float64"), ("int64", "float16", "float16"), ("uint8", "int16", "int16"),
    ("float8e5", "bfloat16", "float32"), ("float8e5", "float8e5", "float8e5"), ("float8e5", "float8e4nv", "float16"),
    ("bfloat16", "bfloat16", "bfloat16"), ("int8", "int16", "int16"),
]


@pytest.mark.parametrize("a,b,c", PROMOTIONS)
def test_promotion(a, b, c):
    promote.warmup(*(getattr(tl, name) for name in (a, b, c)), grid=(1, ))


def test_promotion_of_fp8_and_int_is_an_error():
    fails(promote, "float8|int", tl.float8e5, tl.int32, tl.float32)


@triton.jit
def division_types():
    h, b, i, u, d = tile(tl.float16), tile(tl.bfloat16), tile(tl.int32), tile(tl.uint32), tile(tl.float64)
    tl.static_assert((h / 2).dtype == tl.float32 and (h % h).dtype == tl.float32 and (b / b).dtype == tl.float32)
    tl.static_assert((i / i).dtype == tl.float32 and (d / h).dtype == tl.float64 and (u // u).dtype == tl.uint32)


def test_division_and_remainder_of_floats_are_float32():
    division_types.warmup(grid=(1, ))


@triton.jit
def binary(A: tl.constexpr, B: tl.constexpr, OP: tl.constexpr):
    a, b = tile(A), tile(B)
    if OP == "//":
        a // b
    elif OP == "%":
        a % b


@pytest.mark.parametrize("a,b,op", [("float32", "float32", "//"), ("int32", "uint32", "//"), ("int32", "uint32", "%"), ("int1", "int8", "%")])
def test_floor_division_is_for_integers_of_one_signedness(a, b, op):
    fails(binary, "sign|integer", getattr(tl, a), getattr(tl, b), op)


@triton.jit
def weak_scalars():
    h, u, i, t, q = tile(tl.float16), tile(tl.uint8), tile(tl.int8), tile(tl.int1), tile(tl.int64)
    tl.static_assert((h * 2.0).dtype == tl.float16 and (h + 1).dtype == tl.float16 and (1.5 - h).dtype == tl.float16)
    tl.static_assert((u + 3).dtype == tl.uint8 and (i + 1.5).dtype == tl.float32 and (t + 1).dtype == tl.int32)
    tl.static_assert((i << 1).dtype == tl.int8 and (q & 1).dtype == tl.int64 and tl.where(h > 0, h, 0.0).dtype == tl.float16)


def test_python_numbers_adapt_to_the_tensor():
    weak_scalars.warmup(grid=(1, ))


@triton.jit
def literal_range(N: tl.constexpr, T: tl.constexpr):
    tile(T) + N


@pytest.mark.parametrize("number,dtype", [(300, "int8"), (-1, "uint8"), (256, "uint8"), (1 << 31, "int32")])
def test_number_out_of_the_tensors_range_is_an_error(number, dtype):
    fails(literal_range, "range|fit|negative", number, getattr(tl, dtype))


@triton.jit
def strong_places(p):
    h, u = tile(tl.float16), tile(tl.uint32)
    tl.static_assert(tl.maximum(h, 0.0).dtype == tl.float32 and tl.minimum(h, h).dtype == tl.float16)
    tl.static_assert(tl.clamp(tile(tl.float32), 0.0, 1.0).dtype == tl.float32)
    tl.store(p + tl.arange(0, 4), (u < -1).to(tl.int32))


def test_comparisons_and_maximum_make_tensors_of_numbers():
    out = np.zeros(4, i32)
    run(strong_places, out)
    assert (out == 1).all()  # -1 is 2^32-1 against unsigned


@triton.jit
def argument_types(f, b, small, large, huge):
    tl.static_assert((tile(tl.float16) + f).dtype == tl.float32 and f.dtype == tl.float32 and b.dtype == tl.int1)
    tl.static_assert(small.dtype == tl.int32 and large.dtype == tl.int64 and huge.dtype == tl.uint64)


def test_arguments_are_tensors_typed_by_value():
    run(argument_types, 1.5, True, 7, 1 << 40, 1 << 63)


@triton.jit
def literal_types():
    a, b, c, d = 5, 3000000000, 5000000000, 10000000000000000000
    tl.static_assert(a.dtype == tl.int32 and b.dtype == tl.uint32 and c.dtype == tl.int64 and d.dtype == tl.uint64)
    e, f, g = 1.5, 1e-40, 1e39
    tl.static_assert(e.dtype == tl.float32 and f.dtype == tl.float64 and g.dtype == tl.float64)


def test_literal_typing():
    literal_types.warmup(grid=(1, ))


@triton.jit
def negative_zero(p):
    x = -0.0
    tl.store(p, x)
    tl.store(p + 1, tl.full([], 1.0, tl.float32) * -1 * 0)


def test_literal_negative_zero_is_plus_zero():
    out = np.ones(2, f32)
    run(negative_zero, out)
    assert not np.signbit(out[0]) and np.signbit(out[1])


@triton.jit
def two_worlds(p, n, ONE: tl.constexpr):
    tl.static_assert(-7 // 2 == -4 and -7 % 2 == 1)
    x = -7
    tl.store(p, x // 2)
    tl.store(p + 1, x % 2)
    y: tl.constexpr = 5
    tl.static_assert(y == 5)
    if ONE:
        tl.static_assert(n == 1 and n // -2 == -1)
    tl.store(p + 2, -7 // n)


def test_constants_floor_and_tensors_truncate():
    out = np.zeros(3, i32)
    run(two_worlds, out, 2, False)
    assert out.tolist() == [-3, -1, -3]
    run(two_worlds, out, 1, True)
    assert out[2] == -7


@triton.jit
def narrow_reductions():
    h, b, i, u, t, s = tile(tl.float16), tile(tl.bfloat16), tile(tl.int8), tile(tl.uint8), tile(tl.int1), tile(tl.int16)
    tl.static_assert(tl.max(h, 0).dtype == tl.float32 and tl.min(b, 0).dtype == tl.float32 and tl.max(i, 0).dtype == tl.int32)
    tl.static_assert(tl.maximum(b, b).dtype == tl.float32 and tl.cumsum(b, 0).dtype == tl.float32 and tl.min(s, 0).dtype == tl.int32)
    v, at = tl.max(h, 0, return_indices=True)
    tl.static_assert(v.dtype == tl.float16 and at.dtype == tl.int32)
    tl.static_assert(tl.sum(h, 0).dtype == tl.float16 and tl.sum(b, 0).dtype == tl.bfloat16)
    tl.static_assert(tl.sum(i, 0).dtype == tl.int32 and tl.sum(u, 0).dtype == tl.uint32 and tl.sum(t, 0).dtype == tl.uint32)


def test_types_of_reductions():
    narrow_reductions.warmup(grid=(1, ))


@triton.jit
def narrow_math(T: tl.constexpr, F: tl.constexpr):
    F(tile(T))


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "sin", "cos", "erf", "floor", "ceil", "exp2", "log2"])
def test_math_takes_wide_floats_only(name):
    fails(narrow_math, "float32", tl.float16, getattr(tl, name))


@triton.jit
def narrow_sum(x, y, s):
    v = tl.load(x + tl.arange(0, 4))
    tl.store(y, tl.sum(v, 0))
    tl.store(s + tl.arange(0, 4), tl.sigmoid(v.to(tl.float32)))


def test_sum_of_float16_accumulates_float16():
    x, y, s = np.array([2048, 1, 1, 1], f16), np.zeros(1, f16), np.zeros(4, f32)
    run(narrow_sum, x, y, s)
    assert y[0] <= 2050  # 2051 is no float16, and 2048 + 1 rounds to 2048
    np.testing.assert_allclose(s, 1 / (1 + np.exp(-x.astype(f32))), rtol=1e-6)


# --- shapes ---


@triton.jit
def broadcast_rules(p):
    a, b = tl.arange(0, 4), tl.zeros([2, 4], tl.int32)
    tl.static_assert((a + b).shape[0] == 2 and (a[:, None] + a).shape[0] == 4 and (a + 1).shape[0] == 4)
    tl.store(p + tl.arange(0, 2)[:, None] * 4 + a, a)


def test_broadcast_pads_on_the_left():
    out = np.zeros(8, i32)
    run(broadcast_rules, out)
    assert out.tolist() == [0, 1, 2, 3] * 2


@triton.jit
def store_wide(p):
    tl.store(p, tl.arange(0, 4))


@triton.jit
def store_small(p):
    tl.store(p + tl.arange(0, 4), tl.zeros([2, 4], tl.int32))


@triton.jit
def broadcast_rank():
    tl.broadcast_to(tl.arange(0, 4), [2, 4])


def test_pointers_of_a_store_have_the_full_shape():
    for kernel in (store_wide, store_small):
        fails(kernel, "shape|pointer|block|scalar", np.zeros(8, i32))


def test_broadcast_to_needs_equal_rank():
    fails(broadcast_rank, "rank|dimension")


@triton.jit
def shapes(N: tl.constexpr):
    tl.static_assert(tl.arange(3, 3 + N).shape[0] == N)
    tl.zeros([1024, 1024 * N], tl.float32)


def test_limits_of_shapes():
    fails(shapes, "1048576|elements", 2)
    shapes.warmup(1, grid=(1, ))


# --- memory ---


@triton.jit
def masked(x, y, n, WITH: tl.constexpr):
    at = tl.arange(0, 8)
    if WITH:
        v = tl.load(x + at, mask=at < n, other=7.9)
    else:
        v = tl.load(x + at, mask=at < n)
    tl.store(y + at, v)


def test_masked_load_without_other_gives_zero_and_other_is_cast():
    x, y = np.arange(1, 9, dtype=i32), np.full(8, -1, i32)
    run(masked, x, y, 3, False)
    assert y.tolist() == [1, 2, 3, 0, 0, 0, 0, 0]
    run(masked, x, y, 3, True)
    assert y.tolist() == [1, 2, 3, 7, 7, 7, 7, 7]


@triton.jit
def other_alone(x):
    tl.load(x, other=0)


@triton.jit
def mask_of_ints(x):
    tl.store(x + tl.arange(0, 4), 1, mask=tl.arange(0, 4))


def test_other_without_mask_and_masks_of_integers_are_errors():
    fails(other_alone, "mask", np.zeros(4, i32))
    fails(mask_of_ints, "boolean|int1", np.zeros(4, i32))


@triton.jit
def bool_memory(p, q):
    tl.store(p, 256)
    tl.store(p + 1, 0.5)
    tl.store(p + 2, 3)
    tl.store(q, tl.load(p + 3).to(tl.int32))
    tl.static_assert(tl.load(p).dtype == tl.int1)


def test_booleans_in_memory_are_bytes():
    p, q = np.array([1, 1, 0, 0], np.bool_), np.zeros(1, i32)
    p.view(np.int8)[3] = 4
    run(bool_memory, p, q)
    assert p.view(np.int8)[:3].tolist() == [0, 0, 1] and q[0] == 1


@triton.jit
def pointer_offsets(p, q, u):
    tl.store(q, tl.load(p + 4 + -3))
    tl.store(q + 1, tl.load(p + 2 - 1))
    big = tl.full([], 0xFFFFFFFF, tl.uint32)
    tl.store(q + 2, ((p + big).to(tl.int64) - p.to(tl.int64)) // 4)
    address = tl.load(u)
    tl.store(q + 3, tl.load(address.to(tl.pointer_type(tl.int64))))


def test_pointer_arithmetic_and_pointers_from_integers():
    p, q = np.arange(8, dtype=i32), np.zeros(4, i64)
    there = np.array([77], i64)
    run(pointer_offsets, p, q, np.array([there.ctypes.data], i64))
    assert q.tolist() == [1, 1, 0xFFFFFFFF, 77]


@triton.jit
def pointer_sum(p):
    p + p


def test_sum_of_pointers_is_an_error():
    fails(pointer_sum, "pointer", np.zeros(1, i32))


# --- casts ---


@triton.jit
def casts(x, y, z, w):
    at = tl.arange(0, 4)
    v = tl.load(x + at)
    tl.store(y + at, v.to(tl.float16))
    tl.store(z + at, v.to(tl.float16, fp_downcast_rounding="rtz"))
    tl.store(w + at, v.to(tl.int32))
    tl.store(w + 4 + at, v.to(tl.int1).to(tl.int32))
    tl.store(w + 8 + at, v.to(tl.int32, bitcast=True))


def test_casts_round_truncate_and_test():
    x = np.array([1.0009, -2.9, 0.4, 65519.9], f32)
    y, z, w = np.zeros(4, f16), np.zeros(4, f16), np.zeros(12, i32)
    run(casts, x, y, z, w)
    assert (y == x.astype(f16)).all() and (np.abs(z.astype(f32)) <= np.abs(x)).all() and z[0] != y[0]
    assert w.tolist() == [1, -2, 0, 65519, 1, 1, 1, 1] + x.view(i32).tolist()


@triton.jit
def bitcast_width(x):
    tl.load(x).to(tl.int16, bitcast=True)


def test_bitcast_needs_equal_widths():
    fails(bitcast_width, "bit", np.zeros(1, f32))


# --- NaN ---


@triton.jit
def nans(x, y, at):
    v = tl.load(x + tl.arange(0, 4))
    tl.store(y, tl.max(v, 0))
    tl.store(y + 1, tl.min(v, 0))
    tl.store(y + 2, tl.maximum(tl.load(x), tl.load(x + 1)))
    tl.store(y + 3, tl.maximum(tl.load(x), tl.load(x + 1), propagate_nan=tl.PropagateNan.ALL))
    tl.store(at, tl.argmax(v, 0))
    tl.store(at + 1, tl.argmin(v, 0))
    n = tl.load(x)
    tl.store(at + 2, (n == n).to(tl.int32) * 2 + (n != n).to(tl.int32))
    tl.store(y + 4, tl.where(n == n, n, 5.0))


def test_nan_loses_unless_it_propagates():
    x, y, at = np.array([np.nan, 1, 3, 3], f32), np.zeros(5, f32), np.zeros(3, i32)
    run(nans, x, y, at)
    assert y[:3].tolist() == [3, 1, 1] and np.isnan(y[3]) and y[4] == 5
    assert at.tolist() == [2, 1, 1]  # ties go to the left; only != is true of a NaN


# --- control flow ---


@triton.jit
def loop_changes_type(p):
    x = tl.zeros([4], tl.int32)
    for i in range(2):
        x = x + 1.5
    tl.store(p, tl.sum(x, 0))


@triton.jit
def loop_changes_constexpr(n):
    x: tl.constexpr = 1
    for i in range(n):
        x += 1


@triton.jit
def only_in_loop(p, n):
    for i in range(n):
        x = i
    tl.store(p, x)


@triton.jit
def only_in_branch(p, n):
    if n > 2:
        x = n
    tl.store(p, x)


@triton.jit
def branches_differ(p, n):
    if n > 2:
        x = 1
    else:
        x = 1.5
    tl.store(p, x)


@triton.jit
def loop_variable_after(p, n):
    for i in range(n):
        pass
    tl.store(p, i)


@pytest.mark.parametrize("kernel,words", [(loop_changes_type, "int32.*float32"), (only_in_loop, "has no value"), (only_in_branch, "one branch"),
                                          (branches_differ, "int32.*float32"), (loop_variable_after, "no value")])
def test_typing_of_control_flow(kernel, words):
    args = (np.zeros(1, f32), 3)
    fails(kernel, words, *args[:len(kernel.arg_names)])


def test_dynamic_loop_cannot_change_a_constexpr():
    fails(loop_changes_constexpr, "constexpr|constant|int32", 3)


@triton.jit
def loops(p, lo, hi, big: tl.int64):
    for i in range(lo, big):
        tl.static_assert(i.dtype == tl.int64)
    n = 0
    for i in range(10, 0, -3):
        n = n * 100 + i
    tl.store(p, n)
    for i in range(2):
        tl.static_assert(i.dtype == tl.int32)
    for i in tl.static_range(2):
        tl.static_assert(i < 2)
    for i in range(hi, lo):
        n = 0
    tl.store(p + 1, n)


def test_loops_promote_bounds_go_down_and_may_be_empty():
    out = np.zeros(2, i32)
    run(loops, out, 3, 5, 4)
    assert out.tolist() == [10070401, 10070401]


@triton.jit
def dead_names(p, FLAG: tl.constexpr):
    if FLAG:
        nothing_like_it(p)
    elif FLAG is None:
        tl.extract_slice(p)
    tl.store(p, 1 if FLAG else 2)


def test_constant_branches_are_pruned_before_names_are_looked_up():
    out = np.zeros(1, i32)
    run(dead_names, out, False)
    assert out[0] == 2
    fails(dead_names, "nothing_like_it", out, True)


@triton.jit
def tile_condition(p):
    if tl.arange(0, 4) > 1:
        tl.store(p, 1)


@triton.jit
def integer_and(p, n, m):
    if n and m:
        tl.store(p, 1)


@triton.jit
def ternary_types(p, n):
    tl.store(p, tl.zeros([4], tl.int32) if n > 2 else 1.5)


def test_conditions_are_scalars_and_booleans():
    out = np.zeros(1, i32)
    fails(tile_condition, "scalar|one element", out)
    fails(integer_and, "boolean", out, 3, 4)
    fails(ternary_types, "type", out, 3)


@triton.jit
def short_circuit(p, N: tl.constexpr, q):
    if N > 1 and unknown_function():
        tl.store(p, 1)
    if q is not None and tl.load(q) > 0:
        tl.store(p, 2)


def test_constants_short_circuit():
    out = np.zeros(1, i32)
    run(short_circuit, out, 1, None)
    assert out[0] == 0
    run(short_circuit, out, 1, np.ones(1, i32))
    assert out[0] == 2


@triton.jit
def two_returns(n):
    if n > 2:
        return 1
    return 2


@triton.jit
def returns_differ(n):
    if n > 2:
        return 1
    return 1.5


@triton.jit
def early_return(p, n, BAD: tl.constexpr):
    if n > 5:
        return
    tl.store(p, returns_differ(n) if BAD else two_returns(n))


def test_returns():
    out = np.zeros(1, i32)
    run(early_return, out, 7, False)
    assert out[0] == 0
    run(early_return, out, 4, False)
    assert out[0] == 1
    fails(early_return, "int32.*float32", out, 4, True)


# --- names, specialisation, launch ---

PLAIN = 3
FROZEN = tl.constexpr(4)


@triton.jit
def use_plain(p):
    tl.store(p, PLAIN)


@triton.jit
def use_frozen(p):
    tl.store(p, FROZEN)


def test_globals_are_constexprs(monkeypatch):
    out = np.zeros(1, i32)
    fails(use_plain, "constexpr", out)
    run(use_frozen, out)
    assert out[0] == 4
    monkeypatch.setitem(globals(), "FROZEN", tl.constexpr(5))
    with pytest.raises(RuntimeError, match="has changed"):
        run(use_frozen, out)
    monkeypatch.setenv("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS", "1")
    run(use_plain, out)
    assert out[0] == 3


import tilewright.triton.language as language_by_another_name  # noqa: E402


@triton.jit
def aliased(p):
    language_by_another_name.store(p, language_by_another_name.program_id(0) + 9)


def test_names_are_resolved_by_object():
    out = np.zeros(1, i32)
    run(aliased, out)
    assert out[0] == 9


@triton.jit
def specialised(p, n, stride):
    tl.store(p, n.to(tl.int64) + stride.to(tl.int64))


@triton.jit(do_not_specialize=["n"])
def unspecialised(p, n):
    tl.static_assert(n.dtype == tl.int32)
    tl.store(p, n)


@triton.jit
def annotated(p, n: tl.int64, q: "*fp32", flag: tl.int1):
    tl.static_assert(n.dtype == tl.int64 and q.dtype.element_ty == tl.float32 and flag.dtype == tl.int1)
    tl.store(p, n)


def test_specialisation():
    out = np.zeros(1, i64)
    specialised.device_caches[0][0].clear()
    for n in (5, 16, 32, 1):
        run(specialised, out, n, 1)
        assert out[0] == n + 1
    assert len(specialised.device_caches[0][0]) == 2  # divisibility is tested at the launch
    small = np.zeros(1, i32)
    for n in (1, 2):
        run(unspecialised, small, n)
        assert small[0] == n
    run(annotated, out, 1, np.zeros(1, f32), True)
    assert out[0] == 1
    contradictory = triton.jit(do_not_specialize=["N"])(lambda_holder)  # a module that holds it can be imported
    with pytest.raises(triton.CompilationError, match="N marked as constexpr and listed in do_not_specialize"):
        run(contradictory, out, 5)
    with pytest.raises(triton.CompilationError, match="N marked as constexpr"):
        run(contradictory, (out, out), 5)


def lambda_holder(p, N: tl.constexpr):
    pass


# --- atomics, grids, small functions ---


@triton.jit
def atomic(p, T: tl.constexpr):
    tl.atomic_add(p, tl.full([], 1, tl.int32).to(T))


@triton.jit
def atomic_max_half(p):
    tl.atomic_max(p, tl.load(p))


@triton.jit
def atomic_float(p, old):
    tl.store(old, tl.atomic_max(p, -2.0))
    tl.store(old + 1, tl.atomic_min(p + 1, -2.0))
    tl.store(old + 2, tl.atomic_add(p + 2, 5.0, mask=tl.program_id(0) > 0))


def test_atomics():
    for dtype in (np.int8, np.int16):
        fails(atomic, "int8|int16", np.zeros(1, dtype), tl.int32)
    fails(atomic_max_half, "float16", np.zeros(1, f16))
    p, old = np.array([-3, -1, 1], f32), np.zeros(3, f32)
    run(atomic_float, p, old)
    assert p.tolist() == [-2, -2, 1] and old[:2].tolist() == [-3, -1]


@triton.jit
def host_functions(p, n, N: tl.constexpr):
    tl.static_assert(triton.cdiv(N, 4) == 3 and triton.next_power_of_2(N) == 16)
    tl.store(p, tl.cdiv(n, 4))
    tl.store(p + 1, tl.program_id(0) + tl.num_programs(2))


def test_cdiv_grids_and_unknown_keywords():
    out = np.zeros(2, i32)
    run(host_functions, out, 9, 9, grid=lambda meta: (1, 1, meta["N"] - 5))
    assert out.tolist() == [3, 4]
    out[:] = 0
    for grid in ((0, ), [0, 5], (1, 0, 1)):
        run(host_functions, out, 9, 9, grid=grid)
    assert out.tolist() == [0, 0]
    with pytest.raises(KeyError, match="nothing_known"):
        run(host_functions, out, 9, 9, nothing_known=1)


@triton.jit
def histogram_types(T: tl.constexpr, RANK: tl.constexpr):
    tl.histogram(tl.zeros([4] if RANK == 1 else [2, 2], T), 4)


@triton.jit
def sort_axis(AXIS: tl.constexpr):
    tl.sort(tl.zeros([4, 4], tl.int32), AXIS)


@triton.jit
def order_of_cat(p):
    tl.store(p + tl.arange(0, 8), tl.cat(tl.arange(0, 4), tl.arange(4, 8), can_reorder=True))


def test_histogram_sort_and_cat():
    fails(histogram_types, "int", tl.float32, 1)
    fails(histogram_types, "axis|rank|1-D|dimension", tl.int32, 2)
    sort_axis.warmup(1, grid=(1, ))
    out = np.zeros(8, i32)
    run(order_of_cat, out)
    assert out.tolist() == list(range(8))
