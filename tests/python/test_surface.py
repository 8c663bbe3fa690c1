# SPDX-License-Identifier: Apache-2.0
"""What packages touch beside kernels: caches, knobs, texts, scopes, pickling, threads."""
import ast
import concurrent.futures
import copy
import importlib
import os
import pathlib
import pickle
import re
import subprocess
import sys
import threading

import numpy as np
import pytest

import tilewright.triton as triton
import tilewright.triton.language as tl
import tilewright.triton.language.core as core

ROOT = pathlib.Path(__file__).resolve().parents[2]
FACTOR = tl.constexpr(3)


@triton.jit
def scale(x, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * FACTOR, mask=at < n)


@triton.autotune(configs=[triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 64})], key=["n"], warmup=0, rep=0, restore_value=["x"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def tuned(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)


@triton.must_use_result("These are extra words.")
@triton.jit
def cube(x):
    return x * x * x


def test_results_that_must_be_used():

    @triton.jit
    def careless(x):
        cube(tl.load(x))

    @triton.jit
    def careful(x):
        tl.store(x, cube(tl.load(x)))

    x = np.full(1, 2, np.float32)
    careful[(1, )](x)
    assert x[0] == 8
    with pytest.raises(triton.CompilationError) as info:
        careless[(1, )](x)
    assert str(info.value).split("\n")[-1] == "The result of cube is not being used. These are extra words."


def test_scope_and_globals_that_kernels_use():
    outer = tl.constexpr(5)

    @triton.jit
    def kernel(x):
        tl.store(x, outer + FACTOR)

    x = np.zeros(1, np.float32)
    kernel[(1, )](x)
    assert x[0] == 8
    scope = kernel.get_capture_scope()
    assert scope["outer"] is outer and scope["FACTOR"] is FACTOR
    used = {name: value for (name, _), (value, _) in kernel.used_global_vals.items()}
    assert used["FACTOR"] == 3


def test_cache_managers(tmp_path, monkeypatch):
    from tilewright.triton.runtime.cache import get_cache_manager, get_dump_manager, get_override_manager
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TRITON_DUMP_DIR", str(tmp_path / "dump"))
    files = get_cache_manager("ab" * 32)
    assert files.get_file("a.txt") is None and files.get_group("g") is None
    path = files.put("text", "a.txt", binary=False)
    assert open(files.get_file("a.txt")).read() == "text" and path.startswith(str(tmp_path / "cache"))
    files.put_group("g", {"a.txt": path, "gone": path + "x"})
    assert files.get_group("g") == {"a.txt": path}
    assert get_dump_manager("cd" * 32).put(b"bytes", "b").startswith(str(tmp_path / "dump"))
    assert get_override_manager("cd" * 32).get_file("b") is None
    monkeypatch.setenv("TRITON_CACHE_MANAGER", "nonsense")
    with pytest.raises(RuntimeError, match="MODULE:CLASS"):
        get_cache_manager("ab" * 32)


def test_compiled_code_goes_where_triton_is_told_to_keep_it(tmp_path, monkeypatch):

    @triton.jit
    def kernel(x):
        tl.store(x, 77)

    monkeypatch.setattr(triton.knobs.cache, "dir", str(tmp_path))
    kernel[(1, )](np.zeros(1, np.int32))
    kept = [name for _, _, names in os.walk(tmp_path / "tilewright") for name in names]
    assert any(name.endswith(".so") for name in kept)
    monkeypatch.delenv("TILEWRIGHT_CACHE_DIR", raising=False)
    monkeypatch.delattr(triton.knobs.cache, "dir")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "other"))
    from tilewright.triton.runtime.cache import default_cache_dir
    assert default_cache_dir() == str(tmp_path / "other" / "tilewright")


def test_kernel_dump(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_KERNEL_DUMP", "1")
    monkeypatch.setenv("TRITON_DUMP_DIR", str(tmp_path))

    @triton.jit
    def dumped(x):
        tl.store(x, 78)

    kernel = dumped[(1, )](np.zeros(1, np.int32))
    folder = tmp_path / kernel.hash
    assert (folder / "dumped.c").read_text() == kernel.asm["c"] and (folder / "dumped.ttir").read_text() == kernel.asm["ttir"]
    monkeypatch.setenv("TRITON_KERNEL_OVERRIDE", "1")

    @triton.jit
    def overridden(x):
        tl.store(x, 79)

    with pytest.raises(ValueError, match="TRITON_KERNEL_OVERRIDE"):
        overridden[(1, )](np.zeros(1, np.int32))


def test_texts_under_tritons_names_say_what_they_are():
    kernel = scale[(1, )](np.zeros(4, np.float32), 4, BLOCK=4)
    asm = kernel.asm
    assert asm["ttgir"].startswith("// Tilewright has no TritonGPU IR") and asm["tir"] in asm["ttgir"]
    assert asm["llir"].startswith("; Tilewright makes no LLVM IR") and asm["c"] in asm["llir"]
    assert dict(asm.items()).keys() == set(asm.keys()) and len(asm) == len(list(asm)) and asm.get("ptx") is None
    with pytest.raises(KeyError, match="no text 'amdgcn'; it has source, ttir"):
        asm["amdgcn"]


def test_nvidia_knobs(tmp_path, monkeypatch):
    tool = tmp_path / "ptxas"
    tool.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 12.9, V12.9.1'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("TRITON_PTXAS_PATH", str(tool))
    assert triton.knobs.nvidia.ptxas.path == str(tool) and triton.knobs.nvidia.ptxas.version == "12.9"
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    with pytest.raises(RuntimeError, match="Cannot find ptxas-blackwell"):
        triton.knobs.nvidia.ptxas_blackwell
    assert triton.knobs.nvidia.knobs["ptxas_blackwell"] is None
    for name in ("dump_nvptx", "disable_ptxas_opt", "ptxas_options", "mock_ptx_version", "dump_ptxas_log", "libdevice_path", "libcuda_path"):
        assert not getattr(triton.knobs.nvidia, name)
    assert triton.knobs.redis.port == 6379 and triton.knobs.cache.dump_dir.endswith("dump")
    triton.knobs.refresh_knobs()


def test_what_is_missing_fails_at_the_call():
    from tilewright.triton.runtime import RedisRemoteCacheBackend
    from tilewright.triton.tools import mxfp
    with pytest.raises(NotImplementedError, match="TRITON_REMOTE_CACHE_BACKEND"):
        RedisRemoteCacheBackend("key")
    assert mxfp
    from tilewright.triton.language.standard import _is_power_of_two, _log2
    assert _log2(64) == 6 and _is_power_of_two(8) and not _is_power_of_two(6)

    @triton.jit
    def kernel(x, N: tl.core.constexpr):
        bits: core.constexpr = _log2(N)
        for i in tl.core.static_range(bits + 1):
            tl.store(x, i)

    @triton.jit
    def bits(x, N: tl.constexpr):
        tl.store(x, (tl.core.get_int_dtype(N, signed=True) == tl.int16) * 2 + (tl.get_int_dtype(bitwidth=N, signed=False) == tl.uint16))

    x = np.zeros(1, np.int32)
    kernel[(1, )](x, 32)
    assert x[0] == 5
    bits[(1, )](x, 16)
    assert x[0] == 3


def test_compile_for_a_signature_and_a_target(monkeypatch):
    source = triton.compiler.ASTSource(fn=scale, signature={"x": "*fp32", "n": "i32"}, constexprs={"BLOCK": 64})
    assert "c" in triton.compile(source).asm
    assert "c" in triton.compile(source, target=triton.runtime.driver.active.get_current_target()).asm
    hopper = triton.backends.compiler.GPUTarget("cuda", 90, 32)
    with pytest.raises(ValueError, match=r"arch='sm90' is refused: the kernel runs on target cpu; kernel.emit\("):
        triton.compile(source, target=hopper)
    with pytest.raises(ValueError, match="gfx942.* is refused: kernels run on"):
        triton.compile(source, target=triton.backends.compiler.GPUTarget("hip", "gfx942", 64))
    monkeypatch.setenv("TILEWRIGHT_EMULATE", "1")
    source.fn = triton.jit(scale.fn)
    assert triton.compile(source, target=triton.backends.compiler.GPUTarget("cuda", 80, 32)).metadata.target.arch == 80


class Holder:
    kernel = scale
    tuned = tuned


def test_kernels_as_class_attributes():
    for owner in (Holder, Holder()):
        x = np.ones(4, np.float32)
        owner.kernel[(1, )](x, 4, BLOCK=4)
        np.testing.assert_array_equal(x, 3)
        assert owner.tuned is tuned


def test_pickled_by_reference():
    for thing in (scale, tuned, tuned.fn, tuned.fn.fn):
        assert pickle.loads(pickle.dumps(thing)) is thing and copy.deepcopy(thing) is thing

    @triton.jit
    def local(x):
        tl.store(x, 1)

    with pytest.raises(pickle.PicklingError, match="define it at module level"):
        pickle.dumps(local)
    assert copy.copy(local) is local


def annotated(**notes):

    def decorate(fn):
        fn.__annotations__ = notes
        return fn

    return decorate


@pytest.mark.parametrize("note, wide", [("tl.int8", 1), ("tl.uint16", 2), (tl.int64, 8), ("i32", 4)])
def test_annotations_replaced_at_run_time(note, wide):

    @triton.jit
    @annotated(x=np.ndarray, v=note)
    def kernel(x, v):
        tl.store(x, v.dtype.primitive_bitwidth)

    x = np.zeros(1, np.int32)
    kernel[(1, )](x, 3)
    assert x[0] == wide * 8


def test_annotations_that_make_a_constant_or_take_one_away():

    @triton.jit
    @annotated(N=tl.constexpr)
    def becomes(x, N):
        tl.store(x + tl.arange(0, N), 1)

    @triton.jit
    @annotated()
    def was(x, n: tl.int64):
        tl.store(x, n.dtype.primitive_bitwidth)

    x = np.zeros(8, np.int32)
    becomes[(1, )](x, 8)
    assert x.sum() == 8
    was[(1, )](x, 5)
    assert x[0] == 32


def test_async_compile_mode():
    kernels = []
    for number in range(3):
        scope = {"tl": tl, "triton": triton, "N": tl.constexpr(100 + number)}

        @triton.jit
        def kernel(x, K: tl.constexpr):
            tl.store(x, K)

        kernels.append((kernel, number, scope))
    x = np.zeros(1, np.int32)
    with concurrent.futures.ThreadPoolExecutor(3) as pool, triton.AsyncCompileMode(pool) as mode:
        made = [kernel.warmup(x, 200 + number, grid=(1, )) for kernel, number, _ in kernels]
        assert all(isinstance(future, triton.FutureKernel) for future in made)
        with pytest.raises(RuntimeError, match="already active"):
            mode.__enter__()
    for (kernel, number, _), future in zip(kernels, made):
        assert future.result().name == "kernel" and future.asm["ttir"]
        kernel[(1, )](x, 200 + number)
        assert x[0] == 200 + number

    @triton.jit
    def wrong(x):
        tl.store(x, tl.lod(x))

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        with pytest.raises(triton.CompilationError):
            with triton.AsyncCompileMode(pool):
                wrong.warmup(x, grid=(1, ))
        with triton.AsyncCompileMode(pool, ignore_errors=True):
            assert wrong.warmup(x, grid=(1, )).result(ignore_errors=True) is None


def test_a_tuner_used_from_several_threads():
    benched = []

    @triton.autotune(configs=[triton.Config({"BLOCK": n}) for n in (16, 32, 64)], key=["n"], restore_value=["x"],
                     do_bench=lambda fn, quantiles: benched.append(1) or fn() or [float(len(benched))] * 3)
    @triton.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)

    arrays = [np.zeros(64 + 64 * (i % 2), np.float32) for i in range(8)]
    start = threading.Barrier(len(arrays))

    def work(x):
        start.wait()
        for _ in range(5):
            kernel[lambda meta: (triton.cdiv(len(x), meta["BLOCK"]), )](x, len(x))

    with concurrent.futures.ThreadPoolExecutor(len(arrays)) as pool:
        list(pool.map(work, arrays))
    assert len(kernel.cache) == 2 and len(benched) == 6
    assert all((x == 5).all() for x in arrays)


HOSTILE = r"""
import numpy as np, tilewright.triton as triton, tilewright.triton.language as tl
from tilewright import _native
import threading
class Evil:
    def __eq__(self, other): raise KeyError("eq")
    def __hash__(self): raise ValueError("hash")
    def __getattr__(self, name): raise RuntimeError(name)
    def __index__(self): raise ZeroDivisionError("index")
class Liar:
    dtype = "float32"
    def data_ptr(self): return -1
class Late:
    @property
    def dtype(self): del globals()["kernel"]; raise SystemError("late")
    def data_ptr(self): return 0
@triton.autotune(configs=[triton.Config({"B": 4}), triton.Config({"B": 8})], key=["n"], warmup=0, rep=0)
@triton.jit
def kernel(x, n, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), n)
keep = kernel
x = np.zeros(24, np.float32)[8:16]  # what x[::-1] points at is its last number, and the kernel stores eight from there
survived = 0
for value in (Evil(), Liar(), Late(), [], {}, object(), type, lambda: 1, 1 << 200, float("nan"), "text", b"bytes", ..., Exception, kernel, x.T, x[::-1]):
    for grid in ((1,), (), (1, 2, 3, 4), None, Evil(), (Evil(),), ("a",), (1 << 70,), (-1,), lambda meta: None):
        for call in (lambda: keep[grid](value, 3), lambda: keep[grid](x, value), lambda: keep.fn[grid](x, 3, B=value), lambda: keep.fn[grid](x, 3, 4, num_warps=value),
                     lambda: keep.fn.sanitize[grid](x, value, B=4), lambda: keep.fn.prepare(x, value, B=4), lambda: keep.fn.launch(grid, (x, 3, 4), {}, value)):
            try: call()
            except Exception: survived += 1
for make in (lambda: _native.Tuner.__new__(_native.Tuner)[1], lambda: _native.Tuner(1, 2, 3), lambda: _native.Tuner(None, (), 3), lambda: _native.Function.__new__(_native.Function).launch((1,), (), {}, 0),
             lambda: _native.Function.__new__(_native.Function).names() and 1 / 0, lambda: type(keep).__new__(type(keep)).remember((), {}, {}, 1),
             lambda: _native.run_file("x", None, (1,), {}, {}, None, 0, 0), lambda: _native.run_file(__file__, "kernel", 5, {}, {}, None, 0, 0), lambda: keep.fn.lower(1, None), lambda: keep.fn.lower(1)):
    try: make()
    except Exception: survived += 1
keep[(1,)](x, 9)
print("alive", x[0], survived > 500)
"""


def test_no_object_crashes_the_process(tmp_path):
    program = tmp_path / "hostile.py"
    program.write_text(HOSTILE)
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=300)
    assert done.stdout == "alive 9.0 True\n", (done.returncode, done.stderr[-2000:])


def test_warps_that_are_no_power_of_two():
    for warps in (3, 0, -4, 12, "four"):
        with pytest.raises((ValueError, TypeError), match="num_warps"):
            scale[(1, )](np.zeros(4, np.float32), 4, BLOCK=4, num_warps=warps)
    with pytest.raises(triton.OutOfResources, match="threads, Required: 4096, Hardware limit: 1024"):
        scale[(1, )](np.zeros(4, np.float32), 4, BLOCK=4, num_warps=128)
    scale[(1, )](np.zeros(4, np.float32), 4, BLOCK=4, num_warps=np.int64(8))


@triton.jit(repr=lambda told: f"named_{told.signature['n']}_{'_'.join(name for name, value in told.constants.items() if value == 1)}")
def named(x, n, one):
    tl.store(x, n)


def test_a_program_names_its_kernels():
    x = np.zeros(1, np.int64)
    assert [named[(1, )](x, n, 1).name for n in (5, 1 << 40, 1 << 63)] == ["named_i32_one", "named_i64_one", "named_u64_one"]
    assert named.warmup(x, 5, 2, grid=(1, )).metadata.name == "named_i32_"


def test_the_part_of_tritons_library_that_programs_use(torch):
    from tilewright.triton._C.libtriton import nvidia
    product = nvidia.cublas.CublasLt(torch.empty(16, dtype=torch.uint8))
    a, b, c = torch.randn(4, 8), torch.randn(5, 8), torch.empty(4, 5)
    product.matmul(a, b, c)
    assert torch.equal(c, a @ b.T)
    d = torch.empty(4, 5)
    product.gemm(a, b, c, d, 2.0, -1.0)
    assert torch.allclose(d, a @ b.T)
    with pytest.raises(RuntimeError, match=r"wants \(M, K\), \(N, K\) and \(M, N\), and got \(4, 8\), \(4, 8\) and \(4, 5\)"):
        product.matmul(a, a, c)
    with pytest.raises(ImportError, match="cannot import name 'ir'"):
        from tilewright.triton._C.libtriton import ir  # noqa: F401


def test_the_package_is_written_in_the_oldest_python_that_it_promises():
    oldest = re.search(r'requires-python = ">=3\.(\d+)"', (ROOT / "pyproject.toml").read_text())
    for path in (ROOT / "python").rglob("*.py"):
        ast.parse(path.read_text(), str(path), feature_version=(3, int(oldest[1])))


def test_what_is_missing_is_said_when_it_is_called():
    from tilewright.triton.backends.amd.compiler import HIPOptions
    from tilewright.triton.backends.nvidia.compiler import CUDAOptions, PTXASError, ptx_get_version
    from tilewright.triton.compiler.code_generator import CodeGenerator, ast_to_ttir
    from tilewright.triton.language.core import extern, extern_elementwise
    from tilewright.triton.language.extra.cuda.gdc import gdc_wait
    from tilewright.triton.language.extra.cuda.utils import smid
    from tilewright.triton.language.random import N_ROUNDS_DEFAULT
    assert issubclass(PTXASError, Exception) and smid is tl.extra.cuda.smid and gdc_wait is tl.extra.cuda.gdc_wait and extern(test_what_is_missing_is_said_when_it_is_called) and N_ROUNDS_DEFAULT == 10

    class Mine(CodeGenerator):
        pass

    for call, name in ((lambda: ast_to_ttir(1, 2), "triton.compiler.code_generator.ast_to_ttir"), (lambda: Mine(3), "CodeGenerator"),
                       (lambda: CUDAOptions(num_warps=4), "triton.backends.nvidia.compiler.CUDAOptions"), (lambda: HIPOptions(), "triton.backends.amd.compiler.HIPOptions"),
                       (lambda: ptx_get_version("12.8"), "ptx_get_version"),
                       (lambda: extern_elementwise("lib", "", [], {}, True), "triton.language.core.extern_elementwise")):
        with pytest.raises(NotImplementedError, match=f"{name} is a part of Triton that Tilewright does not have"):
            call()
    assert not hasattr(tl.core, "no_such_name") and not hasattr(triton.compiler, "AttrsDescriptor")
    for module in ("tilewright.triton.no_such_module", "tilewright.triton.experimental.gluon", "tilewright.triton.tools.no_such_module"):
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(module)


def test_constants_in_constants_without_end_are_an_error():
    deep = ()
    for _ in range(100_000):  # Python's own hash of it crashes
        deep = (deep, )
    with pytest.raises(RecursionError):
        scale[(1, )](np.zeros(4, np.float32), 4, BLOCK=deep)
    assert scale[(1, )](np.zeros(4, np.float32), 4, BLOCK=4)
