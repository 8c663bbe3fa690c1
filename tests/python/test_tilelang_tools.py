# SPDX-License-Identifier: Apache-2.0
"""tilewright.tilelang around kernels: torch's tensors, the profiler, tuning, targets, Tenstorrent, what is missing, `python -m tilewright`."""
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import tilewright
import tilewright.tilelang as tilelang
import tilewright.tilelang.language as T

TILE = 32


@tilelang.jit(out_idx=[-1])
def product(M, N, K, block=TILE, dtype=T.float16, accum=T.float32):

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, block), T.ceildiv(M, block), threads=128) as (bx, by):
            a, b = T.alloc_shared((block, TILE), dtype), T.alloc_shared((TILE, block), dtype)
            c = T.alloc_fragment((block, block), accum)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, TILE), num_stages=2):
                T.copy(A[by * block, k * TILE], a)
                T.copy(B[k * TILE, bx * block], b)
                T.gemm(a, b, c, policy=T.GemmWarpPolicy.FullRow)
            T.copy(c, C[by * block, bx * block])

    return main


@tilelang.jit
def doubled(A, block: int):
    N = T.const("N")
    A: T.Tensor((N, ), T.float32)
    B = T.empty((N, ), T.float32)
    with T.Kernel(T.ceildiv(N, block), threads=32) as bx:
        for i in T.Parallel(block):
            B[bx * block + i] = A[bx * block + i] * 2
    return B


def test_torch_tensors(torch):
    a, b = torch.randn(48, 64, dtype=torch.float16), torch.randn(64, 40, dtype=torch.float16)
    c = product(48, 40, 64)(a, b)
    assert isinstance(c, torch.Tensor) and c.dtype == torch.float16 and c.shape == (48, 40)
    torch.testing.assert_close(c.float(), (a.double() @ b.double()).float(), rtol=1e-2, atol=1e-2)
    same = product(48, 40, 64, dtype=torch.float16)(a, b)
    assert torch.equal(same, c)
    wide = torch.randn(48, 64, dtype=torch.bfloat16), torch.randn(64, 40, dtype=torch.bfloat16)
    made = product(48, 40, 64, dtype=torch.bfloat16)(*wide)
    assert made.dtype == torch.bfloat16
    with pytest.raises(ValueError, match="without gaps"):
        product(48, 40, 64)(a, torch.randn(40, 64, dtype=torch.float16).T)
    with pytest.raises(ValueError, match="`A`"):
        product(48, 40, 64)(a[:, :32], b)
    assert torch.equal(product(48, 40, 64)(torch.nn.Parameter(a), b).detach(), c)
    x = torch.randn(100)
    assert torch.equal(doubled(x, 16), x * 2)


def test_the_profiler(torch, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_BENCH", "2")
    kernel = product(32, 32, 32)
    profiler = kernel.get_profiler(tensor_supply_type=tilelang.TensorSupplyType.Normal)
    profiler.assert_allclose(lambda a, b: (a.float() @ b.float()).half(), atol=1e-2, rtol=1e-2)
    with pytest.raises(AssertionError, match="differ"):
        profiler.assert_allclose(lambda a, b: (a.float() @ b.float() + 1).half())
    with pytest.raises(AssertionError, match="outputs"):
        profiler.assert_allclose(lambda a, b: None)
    assert profiler.do_bench() > 0 and profiler.run_once().shape == (32, 32)
    assert tilelang.profiler.do_bench(lambda: None, warmup=1, rep=1) >= 0
    profiler.assert_consistent(2)
    for kind in tilelang.TensorSupplyType:
        inputs = kernel.get_profiler(kind)._get_inputs()
        assert [tuple(each.shape) for each in inputs] == [(32, 32)] * 2 and inputs[0].dtype == torch.float16
    m = T.dynamic("m")

    @T.prim_func
    def main(A: T.Tensor((m, ), T.float32), B: T.Tensor((m, ), T.float32)):
        with T.Kernel(T.ceildiv(m, 16), threads=16) as bx:
            for i in T.Parallel(16):
                if bx * 16 + i < m:
                    B[bx * 16 + i] = A[bx * 16 + i]

    kernel = tilelang.compile(main, out_idx=-1)
    assert kernel.get_profiler().do_bench(dynamic_symbolic_constraints={"m": 24}) > 0
    with pytest.raises(ValueError, match="dynamic_symbolic_constraints"):
        kernel.get_profiler().run_once()


def test_tuning_of_a_lazy_kernel(torch, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_BENCH", "1")
    seen = []

    def configs(M, N, K, **rest):
        seen.append((M, N, K))
        return [{"block": 16}, {"block": 32}]

    tuned = tilelang.autotune(configs=configs, warmup=1, rep=1)(tilelang.jit(out_idx=-1)(product.orig_func))
    kernel = tuned(32, 48, 64)
    assert kernel.config in ({"block": 16}, {"block": 32}) and kernel.latency > 0
    assert set(seen) == {(32, 48, 64)} and tuned(32, 48, 64) is kernel
    a, b = torch.ones(32, 64, dtype=torch.float16), torch.ones(64, 48, dtype=torch.float16)
    assert (kernel(a, b) == 64).all()
    assert tuned(32, 48, 64, block=32).config is None  # nothing is left to tune
    result = tilelang.autotuner.AutoTuner.from_kernel(kernel=lambda block: product.get_tir(32, 32, 32, block), configs=[{"block": 16}]) \
        .set_compile_args(out_idx=[-1]).set_profile_args(ref_prog=lambda a, b: (a.float() @ b.float()).half()).run(warmup=1, rep=1)
    assert result.config == {"block": 16} and result.latency > 0 and result.ref_latency > 0 and result.kernel(a[:, :32].contiguous(), b[:32, :32].contiguous()).shape == (32, 32)


def test_tuning_passes_over_what_fails(torch, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_BENCH", "1")

    def tuned(configs, **profile):
        return tilelang.autotune(configs=configs, warmup=1, rep=1, **profile)(tilelang.jit(out_idx=-1)(product.orig_func))

    with pytest.warns(RuntimeWarning, match="passed over"):
        assert tuned([{"block": 0}, {"block": 16}])(32, 32, 32).config == {"block": 16}
    with pytest.raises(tilelang.CompilationError):
        tuned([{"block": 0}])(32, 32, 32)
    with pytest.raises(AssertionError):
        tuned([{"block": 16}], ref_prog=lambda a, b: a * 0)(32, 32, 32)
    with pytest.raises(ValueError, match="`blok`"):
        tuned([{"blok": 16}])(32, 32, 32)
    with pytest.raises(ValueError, match="no configurations"):
        tuned([])(32, 32, 32)
    with pytest.raises(TypeError, match="tilelang.jit"):
        tilelang.autotune(configs=[])(lambda: None)
    with tilelang.autotuner.set_autotune_inputs(torch.ones(32, 32, dtype=torch.float16), torch.ones(32, 32, dtype=torch.float16)):
        assert tuned([{"block": 16}])(32, 32, 32).latency > 0


def test_tuning_once_for_sizes_that_do_not_matter(torch, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_BENCH", "1")
    configs = [{"block": 16, "pass_configs": {"tl.disable_warp_specialized": True}}, {"block": 32}]
    tuned = tilelang.autotune(configs=configs, warmup=1, rep=1, do_not_specialize=["N"])(tilelang.jit(out_idx=-1)(product.orig_func))
    first = tuned(32, 32, 32, __return_kernel=True)
    assert len(tuned._tuner_cache) == 1 and tuned(32, 32, 32) is first
    other = tuned(32, 64, 32)
    assert len(tuned._tuner_cache) == 1 and other is not first and other.config == first.config and other.params[-1].shape == [32, 64]
    tuned(64, 32, 32)
    assert len(tuned._tuner_cache) == 2
    tuned(32, 32, 32, block=16)
    assert len(tuned._tuner_cache) == 3
    with pytest.raises(ValueError, match="`Q` is no parameter of `product`"):
        tilelang.autotune(configs=configs, do_not_specialize=["Q"])(tilelang.jit(product.orig_func))


def test_tuning_makes_no_numbers_up(torch):

    @tilelang.autotune(configs=[{"block": 16}, {"block": 32}], warmup=1, rep=1)
    @tilelang.jit
    def scaled(N, block=16):

        @T.prim_func
        def main(A: T.Tensor((N, ), "float32"), s: T.float32):
            with T.Kernel(T.ceildiv(N, block)) as bx:
                for i in T.Parallel(block):
                    A[bx * block + i] *= s

        return main

    with pytest.raises(ValueError, match="`s` is a number.*set_autotune_inputs"):
        scaled(64)
    with tilelang.autotuner.set_autotune_inputs(torch.ones(64), 1.0):
        assert scaled(64).config in ({"block": 16}, {"block": 32})


def test_tuning_of_an_eager_kernel(monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_BENCH", "1")
    tuned = tilelang.autotune(configs=[{"block": 8}, {"block": 16}], warmup=1, rep=1)(doubled)
    a = np.arange(40, dtype=np.float32)
    np.testing.assert_array_equal(tuned(a), a * 2)
    np.testing.assert_array_equal(tuned(a, block=32), a * 2)


def test_a_tuned_eager_kernel_is_asked_for_once_a_form(monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_BENCH", "1")
    asked = []

    def configs(A, **_):
        asked.append(A.shape)
        return [{"block": 8}]

    tuned = tilelang.autotune(configs=configs, warmup=1, rep=1)(doubled)
    for n in (40, 40, 48, 40, 48):
        a = np.arange(n, dtype=np.float32)
        np.testing.assert_array_equal(tuned(a), a * 2)
    often = len(asked)
    for n in (40, 48):
        a = np.arange(n, dtype=np.float32)
        np.testing.assert_array_equal(tuned(a), a * 2)
    assert len(asked) == often and {shape for shape in asked} == {(40, ), (48, )}
    np.testing.assert_array_equal(tuned(a, block=16), a * 2)
    assert len(asked) > often


def test_comparing(torch):
    close = tilelang.testing.torch_assert_close
    a = torch.ones(1000)
    b = a.clone()
    b[0] = 2
    close(a, b, max_mismatched_ratio=0.01)
    with pytest.raises(AssertionError, match="1 of 1000"):
        close(a, b, max_mismatched_ratio=0)
    with pytest.raises(AssertionError, match="shape"):
        close(a, b[:10])
    assert tilelang.utils.map_torch_type("bfloat16") == torch.bfloat16
    tilelang.testing.set_random_seed(3)
    first = torch.randn(3)
    tilelang.testing.set_random_seed(3)
    assert torch.equal(first, torch.randn(3))


def test_targets():
    target = tilelang.tvm.target.Target({"kind": "cuda", "arch": "sm_90"})
    assert target.kind.name == "cuda" and target.library == "cuda:sm_90a" and tilelang.utils.determine_target("auto") == "c"
    assert tilelang.tvm.target.Target("llvm").library == "cpu"
    with pytest.raises(ValueError, match="metal"):
        tilelang.tvm.target.Target("metal")
    with pytest.raises(TypeError):
        tilelang.tvm.target.Target(3)


def test_tenstorrent():
    from tilewright.tilelang import tt
    kernel = product.get_tir(64, 64, 64, dtype=T.bfloat16)
    module = tilelang.tvm.IRModule.from_expr(tt.annotate_tt_schedule(policy="contiguous", order="row_major", chunk_k_tiles=2)(kernel))
    module = tt.annotate_tt_sharding({"A": {"layout": "row_major"}})(module)
    made = tt.emit_tt_artifacts(tt.apply_tt_metadata_passes(tt.apply_tt_defaults(module)))
    assert any("reader" in name for name in made) and any("compute" in name for name in made) and any("writer" in name for name in made)
    for wrong, what in (({"policy": "spiral"}, "spiral"), ({"chunk_k_tiles": 0}, "chunk_k_tiles"), ({"speed": 1}, "speed"),
                        ({"rect": (0, 0, 4)}, "rect")):
        with pytest.raises(tilelang.CompilationError, match=what):
            tt.emit_tt_artifacts(tt.annotate_tt_schedule(**wrong)(kernel))
    for wrong, what in (({"Z": {"layout": "row_major"}}, "Z"), ({"A": {"layout": "column_major"}}, "column_major"), ({"A": {"place": "l1"}}, "place")):
        with pytest.raises(tilelang.CompilationError, match=what):
            tt.emit_tt_artifacts(tt.annotate_tt_sharding(wrong)(kernel))


def test_requirements_of_tests():
    for mark in (tilelang.testing.requires_cuda, tilelang.testing.requires_cuda_compute_version(9, 0), tilelang.testing.requires_rocm):
        def nothing():
            pass
        assert any(each.name == "skipif" and each.args[0] is True for each in mark(nothing).pytestmark)


def test_the_program_of_the_manual(tmp_path):
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md").read_text()
    text = page.split("## TileLang\n")[1].split("```python\n")[1].split("```")[0]
    file = tmp_path / "manual.py"
    file.write_text(text)
    exec(compile(text, str(file), "exec"), {"__name__": "manual"})


PROGRAM = """
import tilelang
import tilelang.language as T
import tvm
from tilelang import language as T2, jit, DataType
from tilelang.autotuner import *
from tilelang.profiler import do_bench
from tilelang.cuda.intrinsics.macro.wgmma_macro_generator import TensorCoreIntrinEmitter
from tvm import tirx, DataType as D
from tvm.nowhere import at_all
import tilelang.testing, tilewright.tilelang, importlib.metadata
assert tilelang is tilewright.tilelang and T is T2 and D is DataType and autotune
class Derived(TensorCoreIntrinEmitter): pass
for absent in (TensorCoreIntrinEmitter, at_all, Derived):
    try:
        absent()
    except NotImplementedError as error:
        print(error)
print(importlib.metadata.version("tilelang"))
"""


def test_python_m_tilewright(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    package = str(pathlib.Path(tilewright.__file__).resolve().parents[1])
    done = subprocess.run([sys.executable, "-m", "tilewright", "program.py"], capture_output=True, text=True, cwd=tmp_path, env=dict(os.environ, PYTHONPATH=package))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    emitter = "tilelang.cuda.intrinsics.macro.wgmma_macro_generator.TensorCoreIntrinEmitter is a part of TileLang that Tilewright does not have"
    assert lines == [emitter, "tvm.nowhere.at_all is a part of TileLang that Tilewright does not have", emitter, "0.1.13"]


def test_other_chips_by_name():
    from tilewright.tilelang._absent import Absent
    with pytest.raises(NotImplementedError, match="MatrixCoreIntrinEmitter belongs to another chip: AMD's GPUs"):
        Absent("tilelang.rocm.intrinsics.mfma_macro_generator.MatrixCoreIntrinEmitter")()
    with pytest.raises(ValueError, match="\"hip\" is for another chip, AMD's GPUs"):
        tilelang.tvm.target.Target("hip")


def test_a_python_object_at_an_index_of_the_kernel():
    """A tensor, a list or a dict of the program around has no elements in a kernel that only a launch could choose; it is said, and not left out."""
    table, numbers = {0: 1.0}, np.arange(4.0)

    @tilelang.jit(out_idx=[0])
    def wrong(of):
        @T.prim_func
        def main(A: T.Tensor((4,), "float32")):
            with T.Kernel(1):
                for i in T.Parallel(4):
                    A[i] = of[i]
        return main

    for of in table, numbers, [1.0] * 4:
        with pytest.raises(tilelang.CompilationError if hasattr(tilelang, "CompilationError") else Exception, match="must be known at compile time"):
            wrong(of)(np.zeros(4, "float32"))


def test_how_warps_share_a_product():
    policy = T.GemmWarpPolicy
    assert policy.Square.compute_warp_partition(128, 128, 4) == (2, 2)
    assert policy.FullRow.compute_warp_partition(32, 256, 8) == (2, 4)
    assert policy.FullCol.compute_warp_partition(32, 256, 8) == (1, 8)
    assert policy.Square.compute_warp_partition(64, 256, 4) == (1, 4)


def test_without_the_cache(tmp_path):
    code = """
import os, numpy as np, tilewright.tilelang as tilelang, tilewright.tilelang.language as T
tilelang.disable_cache()
assert not tilelang.is_cache_enabled()
@tilelang.jit
def one(A):
    N = T.const("N")
    A: T.Tensor((N, ), T.int32)
    with T.Kernel(1, threads=32) as bx:
        A[0] = SIZE
SIZE = 5
a = np.zeros(4, np.int32)
one(a)
kept = sum(len(files) for _, _, files in os.walk(os.environ["TILEWRIGHT_CACHE_DIR"]))
tilelang.enable_cache()
one(np.zeros(3, np.int32))
print(a[0], kept, sum(len(files) for _, _, files in os.walk(os.environ["TILEWRIGHT_CACHE_DIR"])) > 0)
"""
    (tmp_path / "program.py").write_text(code)
    package = str(pathlib.Path(tilewright.__file__).resolve().parents[1])
    environment = dict(os.environ, PYTHONPATH=package, TILEWRIGHT_CACHE_DIR=str(tmp_path / "cache"))
    done = subprocess.run([sys.executable, "program.py"], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.stdout == "5 0 True\n", done.stderr


def test_a_forked_child_compiles_again():
    a = np.arange(20, dtype=np.float32)
    np.testing.assert_array_equal(doubled(a, 8), a * 2)
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if (doubled(a, 8) == a * 2).all() else 1)
        except BaseException:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
