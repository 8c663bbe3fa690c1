# SPDX-License-Identifier: Apache-2.0
"""Arguments that are made of others: tuples, named tuples, tensor descriptors, `*args` of a kernel."""
from typing import NamedTuple

import numpy as np
import pytest

import tilewright
import tilewright.triton as triton
import tilewright.triton.language as tl
from tilewright.triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def take_items(out, items, scale: tl.constexpr):
    tl.static_assert(items[1] is None)
    for i in tl.static_range(len(items[2])):
        tl.store(out + i, tl.load(items[0]) + items[2][i] * scale[1])


def test_tuple_of_pointer_none_and_numbers():
    out = np.zeros(4, np.float32)
    take_items[(1, )](out, (np.full(1, 0.5, np.float32), None, (1, 2, 3)), (0, 10))
    assert out.tolist() == [10.5, 20.5, 30.5, 0]


def test_numbers_inside_tuples_do_not_recompile():
    out = np.zeros(4, np.float32)
    x = np.zeros(1, np.float32)
    take_items.device_caches[0][0].clear()
    for n in (5, 6, 7):
        take_items[(1, )](out, (x, None, (n, n)), (0, 1))
    assert len(take_items.device_caches[0][0]) == 1
    take_items[(1, )](out, (x, None, (1, 5)), (0, 1))  # a 1 is a constant
    assert len(take_items.device_caches[0][0]) == 2
    assert out[:2].tolist() == [1, 5]


class Matrix(NamedTuple):
    data: object
    shape: tuple
    strides: tuple


@triton.jit
def transpose_into(source, target, BLOCK: tl.constexpr):
    rows, columns = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    inside = (rows < source.shape[0]) & (columns < source.shape[1])
    x = tl.load(source.data + rows * source.strides[0] + columns * source.strides[1], mask=inside)
    tl.store(target.data + columns * target.strides[0] + rows * target.strides[1], x, mask=inside)


def test_named_tuple():
    a, b = np.arange(15, dtype=np.float32).reshape(3, 5), np.zeros((5, 3), np.float32)
    transpose_into[(1, )](Matrix(a, a.shape, (5, 1)), Matrix(b, b.shape, (3, 1)), 8)
    assert (b == a.T).all()


@triton.jit
def constant_inside(out, pair):
    tl.static_assert(pair[1] == 4)
    tl.store(out, pair[0] + pair[1])


def test_constexpr_inside_a_tuple_is_a_constant():
    out = np.zeros(1, np.int32)
    constant_inside[(1, )](out, (3, tl.constexpr(4)))
    assert out[0] == 7
    with pytest.raises(triton.CompilationError, match="known at compile time"):
        constant_inside[(1, )](out, (3, 4))


@triton.jit
def constant_for_open(out, n):
    tl.static_assert(n == 4)
    tl.store(out, n)


def test_constexpr_for_an_open_parameter_is_a_constant():
    out = np.zeros(1, np.int32)
    constant_for_open[(1, )](out, tl.constexpr(4))
    assert out[0] == 4


@triton.jit
def maybe_pointer(out, p: "*fp32", n: tl.int32):
    if p is None:
        tl.store(out, n)
    else:
        tl.store(out, tl.load(p))


def test_none_and_constexpr_for_typed_parameters():
    out = np.zeros(1, np.float32)
    maybe_pointer[(1, )](out, None, 7)
    assert out[0] == 7
    maybe_pointer[(1, )](out, np.full(1, 2.5, np.float32), 7)
    assert out[0] == 2.5
    maybe_pointer[(1, )](out, None, tl.constexpr(9))
    assert out[0] == 9


@triton.jit
def sum_rest(out, first, *rest):
    total = first
    for i in tl.static_range(len(rest)):
        total += rest[i]
    tl.store(out, total)


@pytest.mark.parametrize("rest", [(), (2, ), (2, 3, 4)])
def test_rest_of_the_arguments(rest):
    out = np.zeros(1, np.int32)
    sum_rest[(1, )](out, 10, *rest)
    assert out[0] == 10 + sum(rest)


@triton.jit
def shift_blocks(source, target, M: tl.constexpr, N: tl.constexpr):
    tl.static_assert(source.block_shape[0] == M and source.dtype == tl.float32)
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    target.store([row, column], source.load([row + 1, column]))


@pytest.mark.parametrize("padding", ["zero", "nan"])
def test_host_descriptor(padding):
    a, b = np.random.rand(10, 12).astype(np.float32), np.zeros((10, 12), np.float32)
    describe = lambda x, pad: TensorDescriptor(x, x.shape, (12, 1), [4, 8], pad)  # noqa: E731
    shift_blocks[lambda meta: (triton.cdiv(meta["source"].shape[0], 4), 2)](describe(a, padding), describe(b, "zero"), 4, 8)
    want = np.full((10, 12), np.nan if padding == "nan" else 0, np.float32)
    want[:9] = a[1:]
    np.testing.assert_array_equal(b, want)


def test_warm_up_and_texts_of_a_structured_launch():
    out = np.zeros(1, np.int32)
    kernel = sum_rest.warmup(out, 1, 2, 3, grid=(1, ))
    assert "rest.1" in kernel.asm["ttir"] and out[0] == 0


@triton.jit
def wrong_descriptor(desc):
    desc.load([0])


def test_mistakes_inside_structures():
    with pytest.raises(triton.CompilationError, match="one a dimension"):
        wrong_descriptor[(1, )](TensorDescriptor(np.zeros((4, 4), np.float32), (4, 4), (4, 1), [4, 4]))
    with pytest.raises(ValueError, match="last stride"):
        TensorDescriptor(np.zeros((4, 4), np.float32), (4, 4), (4, 2), [4, 4])


@triton.jit
def read_block(d, out):
    tl.store(out + tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :], d.load([0, 0]))


@pytest.mark.parametrize("shape, strides, words", [
    ((100, 100), (100, 1), "elements 0 to 9999 of an array of 16"),
    ((4, 4), (5, 1), "elements 0 to 18 of an array of 16"),
    ((4, 5), (4, 1), "elements 0 to 16 of an array of 16"),
    ((4, 4), (-4, 1), "elements -12 to 3 of an array of 16"),
    ((2**40, 4), (2**40, 1), "of an array of 16"),
    ((-4, 4), (4, 1), "extents are not negative"),
])
def test_a_descriptor_stays_within_its_array(shape, strides, words):
    x, out = np.ones((4, 4), np.float32), np.zeros(16, np.float32)
    with pytest.raises(ValueError, match=words):
        read_block[(1, )](TensorDescriptor(x, shape, strides, [4, 4]), out)
    assert not out.any()
    for fits in (((4, 4), (4, 1)), ((2, 4), (4, 1)), ((0, 4), (4, 1)), ((3, 2), (0, 1))):
        read_block[(1, )](TensorDescriptor(x, *fits, [4, 4]), out)


def test_a_changed_descriptor():
    d, out = TensorDescriptor(np.ones((4, 4), np.float32), [4, 4], [4, 1], [4, 4]), np.zeros(16, np.float32)
    d.strides = [1]
    with pytest.raises(ValueError, match="one rank, not 2, 1 and 2"):
        read_block[(1, )](d, out)
    d.strides, d.shape = [4, 1], [4, 4, 4]
    with pytest.raises(ValueError, match="one rank, not 3, 2 and 2"):
        read_block[(1, )](d, out)


def test_descriptors_are_taken_apart_the_same_way_twice(monkeypatch):
    """A launch like one before is taken apart by the extension; what it does not know, Python takes apart, with the same result."""
    apart, long_way = [], triton.JITFunction.launch_structured
    monkeypatch.setattr(triton.JITFunction, "launch_structured", lambda self, *rest: (apart.append(1), long_way(self, *rest))[1])
    x, out = np.arange(64, dtype=np.float32).reshape(8, 8).copy(), np.zeros(16, np.float32)

    def read(*parts, by):
        apart.clear()
        out[:] = -1
        read_block[(1, )](TensorDescriptor(*parts), out)
        assert len(apart) == by
        return out.reshape(4, 4)

    read(x, [8, 8], [8, 1], [4, 4], by=len(apart))  # whoever launched it before
    for shape, strides in (([8, 8], [8, 1]), ((3, 2), (8, 1)), ([0, 8], [8, 1]), ([1, 1], [1, 1]), ([4, 4], [0, 1])):
        want = np.zeros((4, 4), np.float32)
        for i in range(min(shape[0], 4)):
            for j in range(min(shape[1], 4)):
                want[i, j] = x.flat[i * strides[0] + j]
        np.testing.assert_array_equal(read(x, shape, strides, [4, 4], by=0), want)
        np.testing.assert_array_equal(read(x, [*map(np.int64, shape)], strides, [4, 4], by=1), want)  # no ints: the long way
    np.testing.assert_array_equal(read(x[2:], [4, 4], [8, 1], [4, 4], by=0), x[2:6, :4])
    assert np.isnan(read(x, [2, 8], [8, 1], [4, 4], "nan", by=1)[2:]).all()
    assert np.isnan(read(x, [2, 8], [8, 1], [4, 4], "nan", by=0)[2:]).all()
    for shape, strides in (([9, 8], [8, 1]), ([8, 8], [9, 1]), ([2**62, 2**62], [2**62, 1]), ([-1, 8], [8, 1])):
        with pytest.raises(ValueError, match="argument `d`"):
            read(x, shape, strides, [4, 4], by=1)


@triton.jit
def all_parts(größe, items, table, *rest):
    i = tl.arange(0, 8)
    t = table.load([0, 0])
    tl.store(größe + i, tl.load(items[0] + i) * items[1] + tl.sum(t, 1) + tl.load(rest[0] + i))


@pytest.mark.parametrize("stage", ["ttir", "tir"])
def test_printed_ir_is_read_again(tmp_path, stage):
    x, m, out, again = np.arange(8, dtype=np.float32), np.ones((8, 8), np.float32), np.zeros(8, np.float32), np.zeros(8, np.float32)
    kernel = all_parts[(1, )](out, (x, 3.0), TensorDescriptor(m, [8, 8], [8, 1], [8, 8]), x)
    (tmp_path / "printed.tir").write_text(kernel.asm[stage])
    values = {"größe": again, "items.0": x, "items.1": 3.0, "table.base": m, "table.shape.0": 8, "table.shape.1": 8, "table.strides.0": 8, "rest.0": x}
    tilewright.run(tmp_path / "printed.tir", grid=1, **values)
    assert out.tolist() == again.tolist() == (4 * x + 8).tolist()


@triton.jit
def corner(table, out):
    tl.store(out + tl.arange(0, 4), tl.sum(table.load([4, 0]).to(tl.int32), 0))


def test_descriptor_of_a_reinterpreted_tensor(torch):
    m, out = torch.full((8, 4), -1, dtype=torch.int8), torch.zeros(4, dtype=torch.int32)
    corner[(1, )](TensorDescriptor.from_tensor(triton.reinterpret(m, tl.uint8), [4, 4]), out)
    assert out.tolist() == [4 * 255] * 4
    with pytest.raises(ValueError, match="elements 0 to 35 of an array of 32"):
        corner[(1, )](TensorDescriptor(triton.reinterpret(m, tl.uint8), [9, 4], [4, 1], [4, 4]), out)
