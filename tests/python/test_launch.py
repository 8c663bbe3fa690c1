# SPDX-License-Identifier: Apache-2.0
"""Launching: arguments of every kind, grids, what a launch returns, and errors at the call."""
import array
import contextlib
import ctypes
import os
import sys
import threading
import warnings

import numpy as np
import pytest

import tilewright.triton as triton
import tilewright.triton.language as tl
from tilewright.triton.runtime import options


@triton.jit
def scale(x, y, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * factor, mask=at < n)


@triton.jit
def kind_of(out, value):
    tl.store(out, value)


def run_scale(x, y, factor=2.0, n=None):
    n = len(y) if n is None else n
    return scale[(triton.cdiv(n, 64), )](x, y, n, factor, BLOCK=64)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_numpy(dtype):
    x = np.arange(100).astype(dtype)
    y = np.zeros(100, dtype)
    run_scale(x, y, 2)
    np.testing.assert_array_equal(y, x * 2)


def test_numpy_views_are_not_copied():
    whole = np.arange(200, dtype=np.float32)
    x, y = whole[:100], whole[100:]
    run_scale(x, y, 3.0)
    np.testing.assert_array_equal(whole[100:], np.arange(100, dtype=np.float32) * 3)


def test_other_buffers():
    x = array.array("f", range(10))
    y = bytearray(40)
    run_scale(x, memoryview(y).cast("f"), 2.0)
    np.testing.assert_array_equal(np.frombuffer(y, np.float32), np.arange(10, dtype=np.float32) * 2)
    c = (ctypes.c_float * 10)()  # whose buffer has no strides
    run_scale(x, c, 3.0)
    np.testing.assert_array_equal(c, np.arange(10, dtype=np.float32) * 3)


def test_object_with_data_ptr():

    class Tensor:
        dtype = "float32"

        def __init__(self, n):
            self.memory = (ctypes.c_float * n)(*range(n))

        def data_ptr(self):
            return ctypes.addressof(self.memory)

    x, y = Tensor(10), Tensor(10)
    run_scale(x, y, 5.0, n=10)
    assert list(y.memory) == [5.0 * i for i in range(10)]


def test_object_with_an_address_that_is_nobodys():
    class Nowhere:
        dtype = "float32"

        def data_ptr(self):
            return 12345

    with pytest.raises(TypeError, match="argument `x` names the address 0x3039, where this process has no memory"):
        run_scale(Nowhere(), np.zeros(8, np.float32))


def test_dlpack_only():

    class Exported:

        def __init__(self, base):
            self.base = base

        def __dlpack__(self):
            return self.base.__dlpack__()

    x, y = np.arange(10, dtype=np.float32), np.zeros(10, np.float32)
    run_scale(Exported(x), Exported(y), 2.0, n=10)
    np.testing.assert_array_equal(y, x * 2)


def test_what_is_no_array_is_named():

    class Strange:

        def __dlpack__(self):
            return 5

    y = np.zeros(10, np.float32)
    with pytest.raises(TypeError, match="argument `x`: its __dlpack__ gives 5"):
        run_scale(Strange(), y, 2.0, n=10)
    with pytest.raises(TypeError, match="argument `x` .*numpy.ndarray.* shows no buffer"):
        run_scale(np.zeros(10, "M8[s]"), y, 2.0, n=10)


def test_torch(torch):
    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.int32, torch.uint8):
        x = torch.arange(100).to(dtype)
        y = torch.zeros(100, dtype=dtype)
        run_scale(x, y, 2)
        assert torch.equal(y, x * 2)
    assert torch.equal(x, torch.arange(100).to(dtype))


def test_tensor_without_memory(torch):

    class Fake:  # as torch's FakeTensor shows itself
        dtype = torch.float32
        is_cpu = True

        def data_ptr(self):
            return 0

        def untyped_storage(self):
            return self

        def nbytes(self):
            return 16

    y = torch.zeros(4)
    run_scale(torch.ones(4), y, 2.0, n=4)
    with pytest.raises(TypeError, match=r"argument `x` has no memory: its data_ptr\(\) is 0"):
        run_scale(Fake(), y, 2.0, n=4)
    run_scale(torch.empty(0), torch.empty(0), 2.0, n=0)


def test_torch_elsewhere_is_an_error(torch):
    x = torch.empty(10, device="meta")
    with pytest.raises(TypeError, match="argument `x` lies on the device meta"):
        run_scale(x, np.zeros(10, np.float32))


def test_reinterpret(torch):
    x = torch.full((4, ), 255, dtype=torch.uint8).to(torch.int8)
    y = torch.zeros(4, dtype=torch.int32)
    scale[(1, )](triton.reinterpret(x, tl.uint8), y, 4, 1, BLOCK=4)
    assert y.tolist() == [255] * 4


def test_number_types():
    out = np.zeros(1, np.int64)
    for value in (0, 1, -1, 2**31 - 1, -2**31, 2**31, -2**63, 2**63 - 1, True):
        kind_of[(1, )](out, value)
        assert out[0] == value
    unsigned = np.zeros(1, np.uint64)
    kind_of[(1, )](unsigned, 2**64 - 1)
    assert unsigned[0] == 2**64 - 1
    floats = np.zeros(1, np.float64)
    for value in (0.5, np.float32(0.25), np.float64(1.5), np.int32(7)):
        kind_of[(1, )](floats, value)
        assert floats[0] == value


def test_one_kernel_for_each_kind():
    kind_of.forget()
    out = np.zeros(1, np.int64)
    for value in (5, 6, 7, 16, -3):
        kind_of[(1, )](out, value)
    assert len(kind_of.results()) == 1
    kind_of[(1, )](out, 1)
    kind_of[(1, )](out, 2**40)
    assert len(kind_of.results()) == 3
    assert len(kind_of.device_caches["cpu"][0]) == len(kind_of.device_caches[0][0]) == 3


def test_do_not_specialize():

    @triton.jit(do_not_specialize=["value"])
    def keep(out, value):
        tl.store(out, value)

    out = np.zeros(1, np.int32)
    for value in (1, 2, 16):
        keep[(1, )](out, value)
        assert out[0] == value
    assert len(keep.results()) == 1


def test_grids():
    seen = []

    @triton.jit
    def where(out, BLOCK: tl.constexpr):
        at = tl.program_id(0) + 10 * tl.program_id(1) + 100 * tl.program_id(2)
        tl.store(out + at, 1)

    for grid, count in (((3, ), 3), ([2, 2], 4), ((2, 2, 2), 8), (lambda meta: (meta["BLOCK"], ), 5), ((0, ), 0), (4, 4)):
        out = np.zeros(200, np.int32)
        seen.append(where[grid](out, BLOCK=5))
        assert out.sum() == count
    with pytest.raises(ValueError, match="1 to 3 extents"):
        where[()](out, BLOCK=5)
    for grid, extent in ((2.0, "2.0"), ((1, "2"), "'2'"), (None, "None"), (lambda meta: (None, ), "None")):
        with pytest.raises(TypeError, match=f"the grid of kernel `where` has the extent {extent}; extents are integers"):
            where[grid](out, BLOCK=5)
    assert all(kernel is seen[0] for kernel in seen)


def test_compiled_kernel():
    kernel = run_scale(np.ones(10, np.float32), np.zeros(10, np.float32))
    assert kernel.name == "scale" and kernel.metadata.num_warps == 4 and kernel.n_spills == 0
    assert "@scale" in kernel.asm["ttir"] and "def scale" in kernel.asm["source"]
    assert "ttir" in kernel.asm and "ptx" not in kernel.asm
    with pytest.raises(KeyError, match="has no text 'ptx'"):
        kernel.asm["ptx"]


def test_warmup_does_not_launch():
    y = np.zeros(10, np.float32)
    kernel = scale.warmup(np.ones(10, np.float32), y, 10, 2.0, BLOCK=64, grid=(1, ))
    assert not y.any() and kernel.asm["source"]


def test_wrong_calls():
    x = np.ones(10, np.float32)
    with pytest.raises(TypeError, match="missing a required argument: 'factor'"):
        scale[(1, )](x, x, 10, BLOCK=64)
    with pytest.raises(TypeError, match="too many positional"):
        scale[(1, )](x, x, 10, 1.0, 64, 5)
    with pytest.raises(TypeError, match="multiple values for argument 'n'"):
        scale[(1, )](x, x, 10, 1.0, n=5, BLOCK=64)
    with pytest.raises(KeyError, match="BLCK was specified but unrecognised"):
        scale[(1, )](x, x, 10, 1.0, BLCK=64)
    with pytest.raises(TypeError, match="complex128"):
        run_scale(np.zeros(4, np.complex128), x)
    with pytest.raises(RuntimeError, match="outside of the scope of a kernel"):
        scale(x, x, 10, 1.0, 64)
    with pytest.raises(OverflowError):
        kind_of[(1, )](np.zeros(1, np.int64), 2**64)


def test_options_that_ask_for_nothing_are_taken():
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    scale[(1, )](x, y, 4, 2.0, BLOCK=4, num_warps=8, num_stages=2, num_ctas=1, maxnreg=None, waves_per_eu=0, kpack=1, matrix_instr_nonkdim=0,
                 cluster_dims=(1, 1, 1), launch_cooperative_grid=False, extern_libs={"libdevice": "/any"}, warp_size=32, ir_override=None)
    scale[(1, )](x, y, 4, 2.0, BLOCK=4, num_ctas=2, maxnreg=128)
    scale[(1, )](x, y, 4, 2.0, BLOCK=4, num_warps=np.int64(2))
    assert y.tolist() == [2.0] * 4
    for number in ("many", 2.5, 99):
        with pytest.raises(TypeError, match=f"option num_warps takes an integer from 1 to 32, not `{number}`"):
            scale[(1, )](x, y, 4, 2.0, BLOCK=4, num_warps=number)
    for kind in (ValueError, AssertionError):  # what it is, and what Triton raises
        with pytest.raises(kind, match="num_warps is 3; it must be a power of 2"):
            scale[(1, )](x, y, 4, 2.0, BLOCK=4, num_warps=3)
    with pytest.raises(TypeError, match="option maxnreg takes an integer from 0 to 255, not `300`"):
        scale[(1, )](x, y, 4, 2.0, BLOCK=4, maxnreg=300)


@pytest.mark.parametrize("name, value", [
    ("waves_per_eu", object()), ("kpack", "2"), ("cluster_dims", (2, 1, 1)), ("warp_size", 64),
    ("num_ctas", 3), ("num_ctas", "2"), ("maxnreg", 0), ("ptx_options", "-O0"), ("ir_override", "kernel.ttir"), ("extern_libs", {"mine": "lib.bc"}), ("clc", True),
    ("enable_reflect_ftz", False), ("allow_fp8e4nv", False), ("max_num_imprecise_acc_default", 32), ("default_dot_input_precision", "ieee"),
    ("instrumentation_mode", "gsan"), ("sanitize_overflow", True), ("arch", "sm90"), ("enable_fp_fusion", "no"), ("launch_pdl", "yes")])
def test_options_that_cannot_be_done_are_refused_by_name(name, value):
    x = np.ones(4, np.float32)
    with pytest.raises(ValueError, match=f"the option {name}=.* is refused: "):
        scale[(1, )](x, x, 4, 2.0, BLOCK=4, **{name: value})


@pytest.mark.parametrize("name, value", [("waves_per_eu", 1), ("kpack", 2), ("matrix_instr_nonkdim", 16), ("schedule_hint", "attention")])
def test_hints_for_another_gpu_say_off_the_gpu_that_they_have_no_effect(name, value, monkeypatch):
    """As the lists of configurations have them that know `cuda`, and take all else for AMD's."""
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    monkeypatch.setattr(options, "_warned", set())
    with pytest.warns(RuntimeWarning, match=f"the option {name}=.* has no effect on target cpu: it is one of AMD's GPUs"):
        scale[(1, )](x, y, 4, 2.0, BLOCK=4, **{name: value})
    assert y.tolist() == [2.0] * 4
    with warnings.catch_warnings():  # once
        warnings.simplefilter("error")
        scale[(1, )](x, y, 4, 3.0, BLOCK=8, **{name: value})
    monkeypatch.setenv("TILEWRIGHT_EMULATE", "1")
    with pytest.raises(ValueError, match=f"the option {name}=.* is refused: it is one of AMD's GPUs"):
        scale[(1, )](x, y, 4, 2.0, BLOCK=16, **{name: value})


def test_every_option_has_a_meaning():
    """None of the extension's keywords is taken and forgotten."""
    for name in options._MEANINGS:
        with contextlib.suppress(ValueError, TypeError, triton.CompilationError):
            scale.warmup(np.ones(4, np.float32), np.ones(4, np.float32), 4, 2.0, BLOCK=4, grid=(1, ), **{name: object()})
            assert name == "debug"


@pytest.mark.parametrize("emulate, target", [("0", "cpu"), ("1", "cuda-emulated")])
def test_programs_that_wait_for_each_other_need_a_gpu(emulate, target, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_EMULATE", emulate)
    x = np.ones(4, np.float32)
    with pytest.raises(triton.CompilationError, match=f"on target {target} not all programs of a launch run at once"):
        scale[(1, )](x, x, 4, 2.0, BLOCK=4, launch_cooperative_grid=True)


@triton.jit
def multiply_add(x, y, factor):
    tl.store(y, tl.load(x) * factor + 1)


def test_registers_and_the_chip_are_what_the_launch_says(monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_EMULATE", "1")
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    kernel = scale[(1, )](x, y, 4, 3.0, BLOCK=4, maxnreg=42, arch="sm80")
    assert y.tolist() == [3.0] * 4
    assert "__maxnreg__(42) scale_kernel(" in kernel.asm["cu"] and "__launch_bounds__" not in kernel.asm["cu"]
    assert kernel.metadata.target.arch == 80 and "cuda:80" in kernel.asm["ttgir"].split("\n")[0]
    with pytest.raises(ValueError, match="knows no architecture `sm_70`"):
        scale[(1, )](x, y, 4, 3.0, BLOCK=4, arch="sm70")
    with pytest.raises(ValueError, match=r"num_ctas=2 is refused: num_ctas > 1 requires NVIDIA SM90\+ \(Hopper\)"):
        scale[(1, )](x, y, 4, 3.0, BLOCK=4, arch="sm80", num_ctas=2)
    for fuse in (True, False):
        monkeypatch.setattr(triton.knobs.language, "default_fp_fusion", fuse)
        multiply_add.forget()
        assert ("fma" in multiply_add[(1, )](x, y, 3.0).asm["tir"]) == fuse


def test_threads_launch_side_by_side():
    results = [np.zeros(1000, np.float32) for _ in range(4)]
    x = np.arange(1000, dtype=np.float32)

    def work(i):
        for _ in range(50):
            run_scale(x, results[i], float(i))

    threads = [threading.Thread(target=work, args=(i, )) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(4):
        np.testing.assert_array_equal(results[i], x * i)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_launches():
    x, y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    run_scale(x, y)
    child = os.fork()
    if not child:
        y[:] = 0
        run_scale(x, y, 3.0)
        os._exit(0 if (y == x * 3).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
    run_scale(x, y, 4.0)
    np.testing.assert_array_equal(y, x * 4)


def test_arguments_are_let_go():
    x, y = np.ones(10, np.float32), np.zeros(10, np.float32)
    before = sys.getrefcount(x), sys.getrefcount(y)
    for _ in range(10):
        run_scale(x, y)
    assert (sys.getrefcount(x), sys.getrefcount(y)) == before
    x.resize(20, refcheck=False)


@triton.jit
def writes(x, y, n, WAY: tl.constexpr):
    i, p = tl.arange(0, 16), x
    if WAY == 1:
        tl.store(x + i, 1.0)
    if WAY == 2:
        p = tl.where(n > 2, x, y)
        tl.atomic_add(p, 1.0)
    if WAY == 3:
        while n > 3:
            p += 1
            n -= 1
        tl.store(p, 2.0)
    if WAY == 4:
        at = x.to(tl.int64, bitcast=True) + 4
        tl.store(at.to(tl.pointer_type(tl.float32), bitcast=True), 3.0)
    tl.store(y + i, tl.load(p + i))


@pytest.mark.parametrize("way", range(5))
def test_read_only(way):
    x, y = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    x.flags.writeable = False
    if way:
        with pytest.raises(ValueError, match="argument `x` is read-only, and kernel `writes` writes to it"):
            writes[(1, )](x, y, 5, way)
    else:
        writes[(1, )](x, y, 5, way)
        np.testing.assert_array_equal(y[:16], x[:16])
    assert (x == np.arange(32)).all()


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="NumPy's own DLPack has no versions yet")
def test_versioned_dlpack():

    class Newer:

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(max_version=(1, 0))

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    x, y = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    x.flags.writeable = False
    writes[(1, )](Newer(x), Newer(y), 5, 0)
    np.testing.assert_array_equal(y[:16], x[:16])
    with pytest.raises(ValueError, match="argument `x` is read-only"):
        writes[(1, )](Newer(x), Newer(y), 5, 1)
