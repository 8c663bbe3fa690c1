# SPDX-License-Identifier: Apache-2.0
"""tilewright.tilelang: operations of the language that are seldom met, each by what it computes."""
import numpy as np
import pytest

import tilewright.tilelang as tilelang
import tilewright.tilelang.language as T


def run(kernel, *arrays):
    tilelang.compile(kernel)(*arrays)
    return arrays[-1]


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "int64"])
def test_atomic_loads_and_stores(dtype):

    @T.prim_func
    def moved(A: T.Tensor((4, ), dtype), B: T.Tensor((4, ), dtype)):
        with T.Kernel(4) as bx:
            x = T.atomic_load(A[bx], memory_order="acquire")
            T.atomic_store(B[bx], x + 1, memory_order="release")

    a = np.array([3, -0.0, -5, 7]).astype(dtype)
    np.testing.assert_array_equal(run(moved, a, np.zeros(4, dtype)), a + 1)


def test_updates_of_tiles():
    """A tile belongs to its block, so an atomic update of it is an update."""

    @T.prim_func
    def updates(A: T.Tensor((4, 8), "float32"), B: T.Tensor((4, 8), "float32")):
        with T.Kernel(1):
            t = T.alloc_local((4, 8), "float32")
            T.fill(t, 0.25)
            T.atomic_max(t, A)
            T.atomic_add(t[1:3, :], A[1:3, :])
            T.atomic_min(t, 0.75)
            T.atomic_add(t[0, 0], 1)
            T.copy(t, B)

    a = np.random.default_rng(0).standard_normal((4, 8)).astype(np.float32)
    want = np.maximum(a, 0.25)
    want[1:3] += a[1:3]
    want = np.minimum(want, 0.75)
    want[0, 0] += 1
    np.testing.assert_array_equal(run(updates, a, np.zeros((4, 8), np.float32)), want)


def test_a_pair_that_is_a_whole_tensor():

    @T.prim_func
    def pair(A: T.Tensor((2, ), "float16"), B: T.Tensor((2, ), "float16")):
        with T.Kernel(3):
            T.atomic_addx2(B, A)

    np.testing.assert_array_equal(run(pair, np.array([1, 2], np.float16), np.ones(2, np.float16)), [4, 7])


def test_while_as_a_with():

    @T.prim_func
    def halved(A: T.Tensor((1, ), "int32"), B: T.Tensor((1, ), "int32")):
        with T.Kernel(1):
            n = T.alloc_fragment((1, ), "int32")
            count = T.alloc_var("int32", init=0)
            n[0] = A[0]
            with T.While(n[0] > 1):
                n[0] = n[0] // 2
                count += 1
            B[0] = count

    assert run(halved, np.array([100], np.int32), np.zeros(1, np.int32)) == 6


def test_ways_to_round():

    @T.prim_func
    def rounds(A: T.Tensor((8, ), "float32"), B: T.Tensor((3, 8), "float32")):
        with T.Kernel(1):
            for i in T.Parallel(8):
                B[0, i] = T.round(A[i])
                B[1, i] = T.round(A[i], "ties-away-from-zero")
                B[2, i] = T.round(A[i], "ties-to-even")

    a = np.array([0.5, 1.5, 2.5, -0.5, -2.5, 0.4, 1e9, -3.6], np.float32)
    away = np.trunc(a + np.copysign(np.float32(0.5), a))
    np.testing.assert_array_equal(run(rounds, a, np.zeros((3, 8), np.float32)), [away, away, np.rint(a)])


def test_casts_of_the_host():
    assert T.cast(2.5, "float32", round="rn", sat=True) == 2.5
    for wrong, how in (("Invalid round", {"round": "up"}), ("Invalid sat", {"sat": 1}), ("rbits is required", {"round": "rs"}), ("rbits is only valid", {"rbits": 3})):
        with pytest.raises(ValueError, match=wrong):
            T.cast(1.0, "float16", **how)


def test_prints(capfd):
    """A message alone; a tile that nobody wrote, which shows 0."""

    @T.prim_func
    def prints(A: T.Tensor((4, ), "int32")):
        with T.Kernel(1):
            t = T.alloc_shared((4, ), "int32")
            f = T.alloc_fragment((4, ), "float16")
            T.print(msg="here")
            T.print(t, msg="t")
            for i in T.Parallel(4):
                T.print(f[i])
            T.copy(A, t)
            T.print(t[2], msg="then")

    run(prints, np.arange(4, dtype=np.int32))
    said = capfd.readouterr()
    said = said.out + said.err
    assert "here" in said and "then" in said and "2" in said.split("then")[1] and "t" in said


def test_functions_of_a_source():
    """Text of the program, in front of the kernel; another text is another kernel."""
    a = np.arange(8, dtype=np.float32)
    for factor in (2, 5):
        source = f"static float scaled(float x) {{ return x * {factor}; }}"

        @T.prim_func
        def scales(A: T.Tensor((8, ), "float32"), B: T.Tensor((8, ), "float32")):
            with T.Kernel(1):
                T.import_source(source)
                for i in T.Parallel(8):
                    B[i] = T.call_extern("float32", "scaled", A[i])

        np.testing.assert_array_equal(run(scales, a, np.zeros(8, np.float32)), a * factor)


def test_macros_that_a_function_makes_name_threads():

    def made(add):

        @T.macro
        def store(A, B):
            tx = T.get_thread_binding()
            B[tx] = A[31 - tx] + add

        return store

    @T.prim_func
    def turned(A: T.Tensor((32, ), "float32"), B: T.Tensor((32, ), "float32")):
        with T.Kernel(1, threads=32):
            made(1)(A, B)

    a = np.arange(32, dtype="float32")
    np.testing.assert_array_equal(run(turned, a, np.zeros(32, "float32")), a[::-1] + 1)


def test_barriers_of_the_grid_and_functions_on_arrays():
    source = "static void halves(const float *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = x[i] / 2; }"

    @T.prim_func
    def shared(A: T.Tensor((64, ), "float32"), S: T.Tensor((2, ), "float32"), B: T.Tensor((64, ), "float32")):
        with T.Kernel(2, threads=32) as bx:
            tx = T.get_thread_binding()
            T.import_source(source)
            x = T.alloc_local((4, ), "float32")
            y = T.alloc_local((4, ), "float32")
            if tx == 0:
                for i in T.serial(4):
                    x[i] = A[bx * 32 + i]
                T.call_extern("handle", "halves", T.access_ptr(x, "r"), T.access_ptr(y, "w"), 4)
                S[bx] = y[0] + y[1] + y[2] + y[3]
            T.sync_grid()
            B[bx * 32 + tx] = S[0] + S[1]

    a = np.arange(64, dtype="float32")
    np.testing.assert_array_equal(run(shared, a, np.zeros(2, "float32"), np.zeros(64, "float32")), np.full(64, (6 + 134) / 2, "float32"))


def compressed(a, bits):
    """A matrix with two of four elements (of 32 bits: one of two) as what is kept and its places, `bits` in each number."""
    group = 2 if a.itemsize == 4 else 4
    groups = a.reshape(len(a), -1, group)
    places = np.argsort(groups == 0, axis=2, kind="stable")[:, :, :group // 2]  # of those that are not 0, then of others
    places.sort(axis=2)
    kept = np.take_along_axis(groups, places, 2).reshape(len(a), -1)
    word = np.where(places[:, :, 0] > 0, 14, 4) if group == 2 else places[:, :, 0] | places[:, :, 1] << 2
    word = word.reshape(len(a), -1, bits // 4) << 4 * np.arange(bits // 4)
    return kept, word.sum(2).astype(f"int{bits}")


@pytest.mark.parametrize("dtype, bits, turned", [("float16", 16, False), ("float16", 8, True), ("float32", 16, False), ("int8", 32, False)])
def test_sparse_products(dtype, bits, turned):
    M, N, K, total = 16, 24, 64, "int32" if dtype == "int8" else "float32"
    rng = np.random.default_rng(0)
    a, b = rng.integers(1, 5, (M, K)).astype(dtype), rng.integers(-3, 4, (K, N)).astype(dtype)
    group = 2 if dtype == "float32" else 4
    strike = rng.permuted(np.tile(np.arange(group), (M, K // group, 1)), axis=2).reshape(M, K) < group // 2
    a[strike] = 0
    a[0] = 0
    kept, places = compressed(a, bits)
    if turned:
        kept, places, b = (np.ascontiguousarray(each.T) for each in (kept, places, b))

    @T.prim_func
    def product(A: T.Tensor(kept.shape, dtype), E: T.Tensor(places.shape, f"int{bits}"), B: T.Tensor(b.shape, dtype), C: T.Tensor((M, N), total)):
        with T.Kernel(1, threads=128):
            x, e = T.alloc_shared(kept.shape, dtype), T.alloc_shared(places.shape, f"int{bits}")
            y, c = T.alloc_shared(b.shape, dtype), T.alloc_fragment((M, N), total)
            T.copy(A, x)
            T.copy(E, e)
            T.copy(B, y)
            T.clear(c)
            T.gemm_sp(x, e, y, c, transpose_A=turned, transpose_E=turned, transpose_B=turned)
            T.copy(c, C)

    want = a.astype("float64") @ (b.T if turned else b).astype("float64")
    np.testing.assert_array_equal(run(product, kept, places, b, np.zeros((M, N), total)), want)
    from tilewright.tilelang.cuda.intrinsics.sparse_layout import get_e_factor
    assert places.size * get_e_factor(T.dtype(dtype), f"int{bits}") == a.size


def test_emitters_of_instructions():
    """An object of Python around a lazy kernel, and one that an eager kernel makes."""
    from tilewright.tilelang.cuda.intrinsics.macro.mma_macro_generator import TensorCoreIntrinEmitter
    from tilewright.tilelang.tileop.base import GemmWarpPolicy
    how = {"b_transposed": True, "block_row_warps": 1, "block_col_warps": 2, "warp_row_tiles": 16, "warp_col_tiles": 16, "chunk": 16}
    emitter = TensorCoreIntrinEmitter(accum_dtype="float32", **how)
    assert (emitter.local_size_a, emitter.local_size_out, emitter.micro_size_k, emitter.threads) == (8, 8, 16, 64)

    @T.prim_func
    def lazy(A: T.Tensor((10, 40), "float16"), B: T.Tensor((30, 40), "float16"), C: T.Tensor((10, 30), "float32")):
        with T.Kernel(1, threads=64):
            x, y = T.alloc_shared((16, 16), "float16"), T.alloc_shared((32, 16), "float16")
            a, b, c = T.alloc_local((8, ), "float16"), T.alloc_local((8, ), "float16"), T.alloc_local((8, ), "float32")
            T.clear(c)
            for k in range(3):
                T.copy(A[0, k * 16], x)
                T.copy(B[0, k * 16], y)
                emitter.ldmatrix_a(a, x, 0)
                emitter.ldmatrix_b(b, y, 0)
                emitter.mma(a, b, c)
            emitter.stmatrix(c, C, pid_m=0, pid_n=0)

    @tilelang.jit
    def eager(A, B, C):
        M, N, K = T.const("M, N, K")
        A: T.Tensor((M, K), T.float16)
        B: T.Tensor((N, K), T.float16)
        C: T.Tensor((M, N), T.float32)
        e = TensorCoreIntrinEmitter(accum_dtype=T.float32, **how)
        with T.Kernel(1, threads=64):
            x, y = T.alloc_shared((16, 16), "float16"), T.alloc_shared((32, 16), "float16")
            a = T.alloc_local((e.local_size_a, ), "float16")
            b = T.alloc_local((e.local_size_b, ), "float16")
            c = T.alloc_local((e.local_size_out, ), "float32")
            d = T.alloc_fragment((16, 32), "float32")
            T.clear(c)
            T.clear(d)
            for k in range(3):
                T.copy(A[0, k * 16], x)
                T.copy(B[0, k * 16], y)
                e.ldmatrix_a(a, x, 0)
                e.ldmatrix_b(b, y, 0)
                e.mma(a, b, c)
                T.gemm(x, y, d, transpose_B=True, policy=GemmWarpPolicy.FullRow)
            e.stmatrix(c, C, pid_m=0, pid_n=0)
            for i, j in T.Parallel(M, N):
                C[i, j] = C[i, j] - d[i, j]

    a, b = (np.random.default_rng(1).integers(-4, 4, shape).astype(np.float16) for shape in ((10, 40), (30, 40)))
    np.testing.assert_array_equal(run(lazy, a, b, np.zeros((10, 30), np.float32)), a.astype(np.float32) @ b.T.astype(np.float32))
    c = np.ones((10, 30), np.float32)
    eager(a, b, c)
    np.testing.assert_array_equal(c, 0)
    with pytest.raises(TypeError, match="for kernels"):
        emitter.mma(1, 2, 3)


@pytest.mark.parametrize("target", ["cpu", "interp"])
def test_the_rest_of_the_functions(target):
    names = {"asin": np.arcsin, "acos": np.arccos, "asinh": np.arcsinh, "atanh": np.arctanh, "acosh": lambda x: np.arccosh(x + 1), "__exp": np.exp, "__exp10": lambda x: 10**x,
             "__log": np.log, "__log2": np.log2, "__log10": np.log10, "__sin": np.sin, "__cos": np.cos, "__tan": np.tan, "fast_rcp": lambda x: 1 / x, "fmod": lambda x: np.fmod(-7 * x, 0.3)}
    count = len(names)

    @T.prim_func
    def all_of_them(A: T.Tensor((32, ), "float32"), N: T.Tensor((32, ), "int32"), B: T.Tensor((count, 32), "float32"), Q: T.Tensor((2, 32), "int32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(32):
                for k, name in enumerate(names):
                    if name == "fmod":
                        B[k, i] = T.fmod(-7 * A[i], 0.3)
                    elif name == "acosh":
                        B[k, i] = T.acosh(A[i] + 1)
                    else:
                        B[k, i] = getattr(T, name)(A[i])
                Q[0, i] = T.truncdiv(N[i], 3)
                Q[1, i] = T.truncmod(N[i], -5)

    a, n = np.random.default_rng(0).uniform(0.05, 0.95, 32).astype("float32"), np.arange(-16, 16, dtype="int32")
    b, q = np.zeros((count, 32), "float32"), np.zeros((2, 32), "int32")
    tilelang.compile(all_of_them, target=target)(a, n, b, q)
    np.testing.assert_allclose(b, [function(a.astype("float64")) for function in names.values()], rtol=2e-5, atol=2e-6)
    np.testing.assert_array_equal(q, [np.trunc(n / 3), n - np.trunc(n / -5) * -5])


@pytest.mark.parametrize("target", ["cpu", "interp"])
def test_copies_that_repeat_and_places(target):

    @T.prim_func
    def places(A: T.Tensor((1, 33), "float32"), S: T.Tensor((20, ), "float32"), B: T.Tensor((20, 33), "float32"), I: T.Tensor((2, 20), "int32")):
        with T.Kernel(1, threads=96):
            x, s = T.alloc_fragment((20, 33), "float32"), T.alloc_shared((20, 1), "float32")
            y = T.alloc_shared((20, 33), "float32")
            most, least = T.alloc_fragment((20, ), "int32"), T.alloc_fragment((20, 1), "int32")
            T.copy(A, x)
            T.copy(S, s[:, 0])
            T.copy(s, y)
            for i, j in T.Parallel(20, 33):
                x[i, j] = T.abs(x[i, j] - y[i, j])
            T.reduce_argmax(x, most, dim=1)
            T.reduce_argmin(x, least)
            T.copy(most, I[0, :])
            T.copy(least[:, 0], I[1, :])
            T.copy(x, B)

    a = np.random.default_rng(0).integers(-9, 10, (1, 33)).astype("float32")
    s, b, places_of = np.arange(-10, 10).astype("float32"), np.zeros((20, 33), "float32"), np.zeros((2, 20), "int32")
    tilelang.compile(places, target=target)(a, s, b, places_of)
    want = np.abs(a - s[:, None])
    np.testing.assert_array_equal(b, want)
    np.testing.assert_array_equal(places_of, [want.argmax(1), want.argmin(1)])


def test_dicts_of_the_program():
    """As keywords of a loop, and by their items."""
    how, rows = {"num_stages": 2}, {3: 1.5, 1: -2.0}

    @T.prim_func
    def filled(A: T.Tensor((4, 16), "float32"), B: T.Tensor((4, 16), "float32")):
        with T.Kernel(1, threads=32):
            x = T.alloc_shared((16, ), "float32")
            for i in T.Pipelined(4, **how):
                T.copy(A[i, :], x)
                T.copy(x, B[i, :])
            for row, value in rows.items():
                T.fill(B[row, 0:len(rows.keys())], value)

    a = np.random.default_rng(0).standard_normal((4, 16)).astype("float32")
    want = a.copy()
    want[3, :2], want[1, :2] = 1.5, -2
    np.testing.assert_array_equal(run(filled, a, np.zeros((4, 16), "float32")), want)


@pytest.mark.parametrize("target", ["cpu", "interp"])
def test_parallel_loops_of_a_thread(target):
    """Over the thread's own tiles each thread does all iterations; over the block's they are dealt out."""

    @T.prim_func
    def scaled(A: T.Tensor((32, 8), "float32"), B: T.Tensor((32, 8), "float32"), S: T.Tensor((32, ), "float32")):
        with T.Kernel(1, threads=32):
            tx = T.get_thread_binding()
            x, y = T.alloc_local((8, ), "float32"), T.alloc_local((1, ), "float32")
            shared = T.alloc_shared((32, 8), "float32")
            for v in T.vectorized(8):
                x[v] = A[tx, v]
            y[0] = S[tx]
            for v in T.Parallel(8):
                x[v] *= y[0]
            for i, j in T.Parallel(2, 4):
                z = x[4 * i + j] + 1
                if j > 0:
                    x[4 * i + j] = z
            for v in T.vectorized(8):
                shared[tx, v] = x[v]
            T.sync_threads()
            for i, j in T.Parallel(32, 8):
                B[i, j] = shared[i, j] * 2

    rng = np.random.default_rng(0)
    a, s, b = rng.standard_normal((32, 8)).astype("float32"), rng.standard_normal(32).astype("float32"), np.zeros((32, 8), "float32")
    tilelang.compile(scaled, target=target)(a, b, s)
    want = a * s[:, None]
    want[:, np.arange(8) % 4 > 0] += 1
    np.testing.assert_array_equal(b, want * 2)


@pytest.mark.parametrize("left, right", [("int8", "float16"), ("float32", "int16"), ("uint8", "float32")])
def test_products_of_a_float_and_an_integer(left, right):

    @T.prim_func
    def mixed(A: T.Tensor((32, 32), left), B: T.Tensor((32, 32), right), C: T.Tensor((32, 32), "float32")):
        with T.Kernel(1, threads=128):
            a, b, c = T.alloc_shared((32, 32), left), T.alloc_shared((32, 32), right), T.alloc_fragment((32, 32), "float32")
            T.clear(c)
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, c)
            T.copy(c, C)

    rng = np.random.default_rng(0)
    a, b = (rng.integers(0 if each == "uint8" else -100, 101, (32, 32)).astype(each) for each in (left, right))
    np.testing.assert_array_equal(run(mixed, a, b, np.zeros((32, 32), "float32")), a.astype("float64") @ b.astype("float64"))


def test_products_that_would_lose_numbers_are_refused():

    @T.prim_func
    def mixed(A: T.Tensor((32, 32), "int32"), C: T.Tensor((32, 32), "float32")):
        with T.Kernel(1, threads=128):
            a, b, c = T.alloc_shared((32, 32), "int32"), T.alloc_shared((32, 32), "float32"), T.alloc_fragment((32, 32), "float32")
            T.clear(c)
            T.clear(b)
            T.copy(A, a)
            T.gemm(a, b, c)
            T.copy(c, C)

    with pytest.raises(tilelang.CompilationError, match="an integer factor that their type holds"):
        tilelang.compile(mixed)


@pytest.mark.parametrize("target", ["cpu", "interp"])
def test_tensors_seen_as_narrower_types(target):
    """What is written by one name is there by the other."""

    @T.prim_func
    def bytes_of(D: T.Tensor((64, 32), "int32"), C: T.Tensor((64, 32), "float32"), E: T.Tensor((64, 128), "uint8")):
        with T.Kernel(1, threads=128):
            d, f = T.view(D, (64, 128), dtype="uint8"), T.view(D, dtype="float32")
            for i, j in T.Parallel(64, 128):
                d[i, j] = j
            for i, j in T.Parallel(64, 32):
                C[i, j] = f[i, j]
            for i, j in T.Parallel(64, 32):
                D[i, j] = D[i, j] + 0x01010101
            s = T.alloc_shared((64, 128), "uint8")
            T.copy(d, s)
            T.copy(s, E)

    d, c, e = np.zeros((64, 32), "int32"), np.zeros((64, 32), "float32"), np.zeros((64, 128), "uint8")
    tilelang.compile(bytes_of, target=target)(d, c, e)
    want = np.tile(np.arange(128, dtype="uint8"), (64, 1))
    np.testing.assert_array_equal(c.view("uint8"), want)
    np.testing.assert_array_equal(e, want + 1)


@pytest.mark.parametrize("strip, columns, workers", [(1, True, 4), (4, True, 3), (4, False, 5), (16, True, 1)])
def test_persistent_tiles(strip, columns, workers):
    """Each tile comes once, in as many turns as its block has."""

    @T.prim_func
    def dealt(A: T.Tensor((5, 6), "int32"), B: T.Tensor((5, 6), "int32"), C: T.Tensor((5, 6), "int32")):
        with T.Kernel(workers, threads=32) as block:
            tiles = T.PersistentTileScheduler(5, 6, workers, swizzle_size=strip, column_major=columns)
            tiles.init(block)
            while tiles.valid():
                m, n = tiles.m_idx, tiles.n_idx
                B[m, n] += A[m, n] + tiles.current_iter * workers + block - tiles.linear_idx
                tiles.next_tile()
            plain = T.PersistentTileScheduler(5, 6, swizzle_size=strip, column_major=columns, stateful=False)
            for i in T.serial(6):
                row, column = plain.coord(block * 6 + i)
                if block * 6 + i < 30:
                    C[row, column] += i + 1 + 6 * block

    a, b, c = np.arange(30, dtype="int32").reshape(5, 6), np.zeros((5, 6), "int32"), np.zeros((5, 6), "int32")
    tilelang.compile(dealt)(a, b, c)
    np.testing.assert_array_equal(b, a)
    assert sorted(c.ravel()) == sorted([*range(1, min(6 * workers, 30) + 1), *[0] * max(0, 30 - 6 * workers)])
    if strip == 1:
        np.testing.assert_array_equal(c.T.ravel()[:6 * workers], np.arange(1, 6 * workers + 1)[:30])


def test_a_scheduler_without_state():

    @T.prim_func
    def asks(A: T.Tensor((4, ), "int32")):
        with T.Kernel(1, threads=32) as block:
            tiles = T.PersistentTileScheduler(2, 2, stateful=False)
            while tiles.valid():
                A[0] = tiles.m_idx

    with pytest.raises(tilelang.CompilationError, match="`valid` of a T.PersistentTileScheduler with stateful=False"):
        tilelang.compile(asks)


@pytest.mark.parametrize("target", ["cpu", "interp"])
def test_infinities_of_eight_bits(target):
    torch = pytest.importorskip("torch")

    @T.prim_func
    def infinite(A: T.Tensor((32, ), "float8_e5m2"), B: T.Tensor((32, ), "float32")):
        with T.Kernel(1, threads=32):
            T.fill(A[0:16], T.infinity("float8_e5m2"))
            T.fill(A[16:32], -T.infinity("float8_e5m2"))
            for i in T.Parallel(32):
                B[i] = A[i]

    a, b = torch.zeros(32, dtype=torch.float8_e5m2), torch.zeros(32)
    tilelang.compile(infinite, target=target)(a, b)
    want = torch.tensor([np.inf] * 16 + [-np.inf] * 16)
    assert (a.float() == want).all() and (b == want).all()
