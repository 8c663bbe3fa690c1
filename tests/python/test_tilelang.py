# SPDX-License-Identifier: Apache-2.0
"""tilewright.tilelang: kernels of TileLang in a Python program, on numpy's arrays: lazy, eager, outputs, sizes, names, errors, threads."""
import threading

import numpy as np
import pytest

import tilewright.tilelang as tilelang
import tilewright.tilelang.language as T

SCALE = 3


@tilelang.jit(out_idx=[-1])
def scaled_sum(M, N, block_M=32, block_N=32, dtype=T.float32):

    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), B: T.Tensor((M, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(M, block_M), T.ceildiv(N, block_N), threads=128) as (bx, by):
            for i, j in T.Parallel(block_M, block_N):
                C[bx * block_M + i, by * block_N + j] = A[bx * block_M + i, by * block_N + j] * SCALE + B[bx * block_M + i, by * block_N + j]

    return main


@tilelang.jit
def eager_add(A, B, block: int = 32, dtype=T.float32):
    M, N = T.const("M, N")
    A: T.Tensor((M, N), dtype)
    B: T.Tensor((M, N), dtype)
    C = T.empty((M, N), dtype)
    with T.Kernel(T.ceildiv(M, block), T.ceildiv(N, block), threads=64) as (bx, by):
        for i, j in T.Parallel(block, block):
            C[bx * block + i, by * block + j] = A[bx * block + i, by * block + j] + B[bx * block + i, by * block + j]
    return C


def matrices(rng, *shape, count=2, dtype=np.float32):
    return [rng.standard_normal(shape).astype(dtype) for _ in range(count)]


def close(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)  # a product and a sum are rounded once


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(64, 64), (33, 70), (1, 1), (5, 0)])
def test_a_lazy_kernel_makes_its_output(rng, shape):
    kernel = scaled_sum(*shape)
    a, b = matrices(rng, *shape)
    c = kernel(a, b)
    assert isinstance(c, np.ndarray) and c.shape == shape and c.dtype == np.float32
    close(c, a * 3 + b)


def test_the_same_arguments_give_the_same_kernel(rng):
    assert scaled_sum(16, 16) is scaled_sum(16, 16) is scaled_sum(N=16, M=16) is scaled_sum(16, 16, 32, dtype=T.float32)
    assert scaled_sum(16, 16) is not scaled_sum(16, 16, block_M=16)
    made = len(scaled_sum(16, 16)._function.results())
    a, b = matrices(rng, 16, 16)
    for _ in range(3):
        scaled_sum(16, 16)(a, b)
    assert len(scaled_sum(16, 16)._function.results()) == made == 1


def test_dtypes_may_be_texts_numpys_and_ours(rng):
    for dtype in ("float64", np.float64, T.float64, T.dtype("double")):
        a, b = matrices(rng, 8, 8, dtype=np.float64)
        assert scaled_sum(8, 8, dtype=dtype)(a, b).dtype == np.float64


def test_outputs_by_place_in_any_order(rng):

    @T.prim_func
    def main(A: T.Tensor((32, ), T.float32), Twice: T.Tensor((32, ), T.float32), Half: T.Tensor((32, ), T.float32)):
        with T.Kernel(1, threads=32) as bx:
            for i in T.Parallel(32):
                Twice[i] = A[i] * 2
                Half[i] = A[i] / 2

    a, = matrices(rng, 32, count=1)
    twice, half = tilelang.compile(main, out_idx=[1, 2])(a)
    np.testing.assert_array_equal(twice, a * 2)
    np.testing.assert_array_equal(half, a / 2)
    half, twice = tilelang.compile(main, out_idx=[-1, 1])(a)
    np.testing.assert_array_equal(twice, a * 2)
    given = np.zeros(32, np.float32)
    half = tilelang.compile(main, out_idx=-1)(a, given)
    np.testing.assert_array_equal(given, a * 2)
    np.testing.assert_array_equal(half, a / 2)
    both = [np.zeros(32, np.float32) for _ in range(2)]
    assert tilelang.compile(main)(a, Half=both[0], Twice=both[1]) is None
    np.testing.assert_array_equal(both[0], a / 2)
    for wrong in (3, [-4], ["A"], [True]):
        with pytest.raises(ValueError, match="out_idx"):
            tilelang.compile(main, out_idx=wrong)


def test_an_eager_kernel_runs_at_its_call(rng):
    for shape in ((32, 32), (7, 45)):
        a, b = matrices(rng, *shape)
        np.testing.assert_array_equal(eager_add(a, b), a + b)
        np.testing.assert_array_equal(eager_add(a, b, block=8), a + b)
        np.testing.assert_array_equal(eager_add(B=b, A=a), a + b)
    a, b = matrices(rng, 4, 4, dtype=np.float64)
    np.testing.assert_array_equal(eager_add(a, b, dtype=T.float64), a + b)


def test_an_eager_kernel_returns_in_the_order_of_its_return(rng):

    @tilelang.jit
    def both(A):
        N = T.const("N")
        A: T.Tensor((N, ), T.float32)
        Sum = T.empty((N, ), T.float32)
        Product = T.empty((N, ), T.float32)
        with T.Kernel(T.ceildiv(N, 16), threads=32) as bx:
            for i in T.Parallel(16):
                Sum[bx * 16 + i] = A[bx * 16 + i] + 1
                Product[bx * 16 + i] = A[bx * 16 + i] * 2
        return Product, Sum

    a, = matrices(rng, 40, count=1)
    product, total = both(a)
    np.testing.assert_array_equal(product, a * 2)
    np.testing.assert_array_equal(total, a + 1)


def test_sizes_by_other_names_and_arguments_by_name_alone(rng):

    @tilelang.jit
    def rows(A, *, factor, block=8):
        M, N = T.const("M, N")
        rows_of, half = M, N // 2
        shape = (rows_of, N)
        A: T.Tensor(shape, T.float32)
        B = T.empty((M, half), T.float32)
        with T.Kernel(T.ceildiv(rows_of, block), threads=32) as bx:
            for i, j in T.Parallel(block, half):
                B[bx * block + i, j] = A[bx * block + i, 2 * j] * factor
        return B

    a, = matrices(rng, 20, 12, count=1)
    np.testing.assert_array_equal(rows(a, factor=2), a[:, ::2] * 2)
    np.testing.assert_array_equal(rows(a, factor=4, block=4), a[:, ::2] * 4)


def test_sizes_are_known_before_the_arrays_are_stated(rng):

    @tilelang.jit
    def windows(A, W, step: int = 2):
        N, K = T.const("N, K")
        KH, KW = K, K
        shape = [N, N]
        OH = (N - K) // step + 1
        A: T.Tensor(shape, T.float32)
        W: T.Tensor((KH, KW), T.float32)
        C = T.empty((OH, OH), T.float32)
        with T.Kernel(1, threads=32) as bx:
            for i, j in T.Parallel(OH, OH):
                C[i, j] = A[i * step, j * step] * W[0, 0] + A[i * step + KH - 1, j * step + KW - 1] * W[KH - 1, KW - 1]
        return C

    a, w = matrices(rng, 11, 11, count=1)[0], matrices(rng, 3, 3, count=1)[0]
    close(windows(a, w), a[:9:2, :9:2] * w[0, 0] + a[2::2, 2::2] * w[2, 2])


def test_an_eager_kernel_compiled_for_sizes():
    kernel = eager_add.compile(M=64, N=64, block=16)
    assert "tw_run" in kernel.get_kernel_source()
    a, b = np.ones((64, 64), np.float32), np.full((64, 64), 2, np.float32)
    assert (kernel(a, b) == 3).all()


def test_out_idx_is_for_lazy_kernels():
    with pytest.raises(ValueError, match="T.empty"):

        @tilelang.jit(out_idx=[-1])
        def wrong(A):
            N = T.const("N")
            A: T.Tensor((N, ), T.float32)
            with T.Kernel(1) as bx:
                A[0] = 1


def test_dynamic_sizes_come_with_the_arrays(rng):
    M = T.dynamic("m")
    N, K = T.dynamic("n, k")

    @T.prim_func
    def main(A: T.Tensor((M, N), T.float32), Out: T.Tensor((M, N * 2), T.float32)):
        with T.Kernel(T.ceildiv(M, 16), T.ceildiv(N * 2, 16), threads=32) as (bx, by):
            for i, j in T.Parallel(16, 16):
                if bx * 16 + i < M and by * 16 + j < N * 2:
                    Out[bx * 16 + i, by * 16 + j] = A[bx * 16 + i, (by * 16 + j) // 2] + 1

    kernel = tilelang.compile(main, out_idx=[1])
    assert K is not None and repr(M) == "m" and isinstance(T.ceildiv(M, 2), T.PrimExpr)
    for shape in ((3, 5), (40, 17)):
        a, = matrices(rng, *shape, count=1)
        out = kernel(a)
        assert out.shape == (shape[0], shape[1] * 2)
        np.testing.assert_array_equal(out, np.repeat(a, 2, axis=1) + 1)
    with pytest.raises(TypeError, match="host code"):
        int(M)
    with pytest.raises(TypeError, match="decide"):
        bool(M)


def test_numbers_are_arguments(rng):

    @T.prim_func
    def main(A: T.Tensor((64, ), T.float32), scale: T.float32, shift: T.int32, Out: T.Tensor((64, ), T.float32)):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(64):
                Out[i] = A[i] * scale + shift

    kernel = tilelang.compile(main, out_idx=-1)
    a, = matrices(rng, 64, count=1)
    for scale, shift in ((2.0, 1), (0.5, -7), (1.0, 0)):
        close(kernel(a, scale, shift), a * np.float32(scale) + shift)


def test_a_kernel_keeps_the_values_of_its_definition(rng):
    kernels = []
    for factor in (2, 5):

        @T.prim_func
        def main(A: T.Tensor((16, ), T.float32), Out: T.Tensor((16, ), T.float32)):
            with T.Kernel(1, threads=16) as bx:
                for i in T.Parallel(16):
                    Out[i] = A[i] * factor

        kernels.append(main)
    factor = 100
    a, = matrices(rng, 16, count=1)
    for kernel, by in zip(kernels, (2, 5)):
        np.testing.assert_array_equal(tilelang.compile(kernel, out_idx=-1)(a), a * by)
    assert factor == 100


def test_annotations_that_are_texts(tmp_path, monkeypatch, rng):
    (tmp_path / "written_later.py").write_text("""from __future__ import annotations
import tilewright.tilelang as tilelang
import tilewright.tilelang.language as T

@tilelang.jit(out_idx=-1)
def negative(n, kind):
    shape = (n, )

    @T.prim_func
    def main(A: T.Tensor(shape, kind), Out: T.Tensor(shape, kind)):
        with T.Kernel(1, threads=32) as bx:
            for i in T.Parallel(n):
                Out[i] = -A[i]

    return main
""")
    monkeypatch.syspath_prepend(str(tmp_path))
    import written_later
    a, = matrices(rng, 24, count=1)
    np.testing.assert_array_equal(written_later.negative(24, T.float32)(a), -a)


def by_two(x):
    return x * 2


@T.macro
def add_to(tile, value, n):
    for i in T.Parallel(n):
        tile[i] = tile[i] + by_two(value)


class Settings:
    block = 16
    table = {"more": 4, "less": [1, 2]}


def test_names_of_the_program(rng):
    """Macros, helper functions on constants and on run-time values, attributes, dicts, lists, lambdas."""
    sizes = [16, 3]

    def helper(x, shift=1):
        return x + shift

    @T.prim_func
    def main(A: T.Tensor((Settings.block, ), T.float32), Out: T.Tensor((Settings.block, ), T.float32)):
        with T.Kernel(1, threads=32) as bx:
            tile = T.alloc_fragment((sizes[0], ), T.float32)
            T.copy(A, tile)
            add_to(tile, sizes[1], Settings.block)
            for i in T.Parallel(Settings.block):
                Out[i] = helper(tile[i], shift=Settings.table["more"]) + by_two(Settings.table["less"][1]) + max(*sizes)

    a, = matrices(rng, 16, count=1)
    close(tilelang.compile(main, out_idx=-1)(a), a + 6 + 4 + 4 + 16)
    with pytest.raises(TypeError, match="macro"):
        add_to(a, 1, 2)


def test_dtypes_are_objects():
    assert T.float16.bits == 16 and T.float16 == "float16" and T.float == T.float32 and T.dtype("half") is T.float16
    assert T.dtype(np.int8) is T.int8 and T.dtype(bool) is T.bool and T.float16x4.lanes == 4 and T.float16x4.bytes == 8
    assert {T.float16: 1}["float16"] == 1 and f"{T.bfloat16}" == "bfloat16" and T.int32(2.7) == 2 and T.float32(1) == 1.0
    assert T.dtype("float8_e4m3fn").is_float8() and T.max_value("int8") == 127 and T.min_value(T.uint8) == 0
    assert T.ceildiv(10, 3) == 4 and tilelang.cdiv(10, 3) == 4 and tilelang.next_power_of_2(33) == 64
    with pytest.raises(ValueError, match="float17"):
        T.dtype("float17")


def test_a_factory_may_ask_dtypes():

    @tilelang.jit(out_idx=-1)
    def widened(n, dtype):
        out = T.float64 if dtype.bits == 32 else T.float32

        @T.prim_func
        def main(A: T.Tensor((n, ), dtype), Out: T.Tensor((n, ), out)):
            with T.Kernel(1, threads=32) as bx:
                for i in T.Parallel(n):
                    Out[i] = T.cast(A[i], out) + out(1)

        return main

    assert widened(8, T.float16)(np.ones(8, np.float16)).dtype == np.float32
    assert widened(8, T.float32)(np.ones(8, np.float32)).dtype == np.float64


def test_wrong_arguments_are_refused(rng):
    kernel = scaled_sum(32, 32)
    a, b = matrices(rng, 32, 32)
    for wrong in (b[:16], b[:, ::2], b.T, b[::-1], b.astype(np.float64), b.reshape(32, 32, 1), 3, "b", None, [1, 2]):
        with pytest.raises((TypeError, ValueError)):
            kernel(a, wrong)
    with pytest.raises(TypeError, match="missing.*'B'"):
        kernel(a)
    with pytest.raises(TypeError, match="too many.*outputs itself"):
        kernel(a, b, b)
    with pytest.raises(TypeError, match="no argument `D`"):
        kernel(a, D=b)
    frozen = b.copy()
    frozen.flags.writeable = False
    close(kernel(a, frozen), a * 3 + b)  # it only reads it
    unwritable = tilelang.compile(scaled_sum.get_tir(32, 32))
    with pytest.raises(ValueError, match="read-only"):
        unwritable(a, b, frozen)
    close(kernel(a, b), a * 3 + b)


def test_mistakes_are_told_at_their_line():

    @T.prim_func
    def main(A: T.Tensor((16, ), T.float32)):
        with T.Kernel(1) as bx:
            T.cpoy(A, A)  # the mistake

    with pytest.raises(tilelang.CompilationError, match="did you mean `T.copy`") as caught:
        tilelang.compile(main)
    first = caught.value.diagnostics[0]
    line = open(__file__).read().split("\n")[first.line - 1]
    assert first.file == __file__ and "# the mistake" in line and "T.cpoy" in str(caught.value) and "riton" not in str(caught.value)

    @T.prim_func
    def other(A: T.Tensor((16, ), T.float32)):
        with T.Kernel(1) as bx:
            A[0] = undefined_name + 1  # noqa: F821

    with pytest.raises(tilelang.CompilationError, match="undefined_name"):
        tilelang.compile(other)


def test_what_the_host_may_not_do():
    with pytest.raises(TypeError, match="T.copy is for kernels"):
        T.copy(1, 2)
    with pytest.raises(TypeError, match="T.prim_func decorates a function"):
        T.prim_func(3)
    with pytest.raises(TypeError, match="tilelang.jit decorates a function"):
        tilelang.jit(3)
    with pytest.raises(TypeError, match="no option `out_index`"):
        tilelang.jit(out_index=1)
    with pytest.raises(TypeError, match="must return a kernel"):
        tilelang.jit(lambda_factory)(1)
    with pytest.raises(TypeError, match="extent"):
        T.Tensor((3, "x"), T.float32)
    with pytest.raises(TypeError, match="T.prim_func"):
        tilelang.compile(lambda_factory)
    with pytest.raises(TypeError, match="tilelang.compile"):
        scaled_sum.get_tir(8, 8)(1)
    with pytest.raises(NotImplementedError, match="tilelang.plot_everything"):
        tilelang.plot_everything()
    with pytest.raises(ValueError, match="hip"):
        tilelang.compile(scaled_sum.get_tir(8, 8), target="hip")


def lambda_factory(n):
    return n


def test_exceptions_of_helpers_are_the_cause():

    def helper(x):
        raise KeyError("oh")

    @T.prim_func
    def main(A: T.Tensor((16, ), T.float32)):
        with T.Kernel(1) as bx:
            A[0] = helper(1)

    with pytest.raises(tilelang.CompilationError, match="oh") as caught:
        tilelang.compile(main)
    assert isinstance(caught.value.__cause__, KeyError)


def test_texts_of_a_kernel():
    kernel = scaled_sum(16, 16)
    assert "tw_run" in kernel.get_kernel_source() == kernel.kernel_source
    assert "kernel @" in kernel.get_ir() and kernel.get_host_source() and isinstance(kernel.explain(), str)
    assert [param.name for param in kernel.params] == ["A", "B", "C"] and kernel.params[0].shape == [16, 16]
    cuda = tilelang.compile(scaled_sum.get_tir(64, 64), out_idx=-1, target="cuda")
    assert "__global__" in cuda.get_kernel_source()
    assert "__global__" in tilelang.lower(scaled_sum.get_tir(64, 64), target="cuda").kernel_source
    assert "__global__" in tilelang.compile(scaled_sum.get_tir(8, 8), target={"kind": "cuda", "arch": "sm_90"}).kernel_source
    assert "def main" in scaled_sum.get_tir(16, 16).script()


def test_two_kernels_side_by_side():
    kernels = tilelang.par_compile([scaled_sum.get_tir(24, n) for n in (8, 16, 40)], out_idx=[-1], num_workers=2)
    for kernel, n in zip(kernels, (8, 16, 40)):
        assert kernel(np.ones((24, n), np.float32), np.zeros((24, n), np.float32)).sum() == 24 * n * 3
    made = scaled_sum.par_compile([{"M": 8, "N": 8}, (8, 24)])
    assert [kernel.params[0].shape for kernel in made] == [[8, 8], [8, 24]]


def test_threads_call_at_once():
    kernel, errors = scaled_sum(64, 48), []

    def call(seed):
        try:
            for n in range(5):
                a, b = matrices(np.random.default_rng(seed + n), 64, 48)
                close(kernel(a, b), a * 3 + b)
                shape = (3 + (seed + n) % 2, 9)
                a, b = matrices(np.random.default_rng(seed), *shape)
                np.testing.assert_array_equal(eager_add(a, b), a + b)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call, args=(100 * k, )) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_a_kernel_without_arrays_that_are_given():

    @T.prim_func
    def main(Out: T.Tensor((8, ), T.int32)):
        with T.Kernel(1, threads=32) as bx:
            for i in T.Parallel(8):
                Out[i] = i

    import sys
    made = tilelang.compile(main, out_idx=[0])()
    assert [int(x) for x in made] == list(range(8))
    assert type(made).__module__.split(".")[0] == ("torch" if "torch" in sys.modules else "numpy")


def test_asserts_of_a_launch():

    @T.prim_func
    def main(A: T.Tensor((8, ), T.int32)):
        with T.Kernel(1, threads=32) as bx:
            T.device_assert(A[0] == 1, "the first is not 1")
            A[1] = 5

    kernel = tilelang.compile(main)
    kernel(np.ones(8, np.int32))
    with pytest.raises(tilelang.LaunchError, match="the first is not 1"):
        kernel(np.zeros(8, np.int32))


def test_a_sanitized_call():

    @T.prim_func
    def racing(A: T.Tensor((8, ), T.int32)):
        with T.Kernel(2, threads=32) as bx:
            A[0] = bx

    with pytest.raises(tilelang.LaunchError, match="`A`") as caught:
        tilelang.compile(racing).sanitize(np.zeros(8, np.int32))
    assert any(row.file == __file__ for row in caught.value.diagnostics)
    a = np.ones((16, 16), np.float32)
    assert (scaled_sum(16, 16).sanitize(a, a) == 4).all() and (eager_add.sanitize(a, a) == 2).all()
