# SPDX-License-Identifier: Apache-2.0
"""CUDA tensors: where a launch runs, on which stream, what it returns. What needs a device is skipped without one (the fixture
`cuda`); how arguments are told apart is tested anywhere, with objects that claim to lie on a device.
"""
import glob
import os
import shutil
import subprocess
import sys
import types

import numpy as np
import pytest

import tilewright
import tilewright.triton as triton
import tilewright.triton.language as tl
from tilewright.triton.language.target_info import is_cuda


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def softmax(out, x, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, mask=at < n, other=-float("inf")).to(tl.float32)
    v = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * n + at, v / tl.sum(v, axis=0), mask=at < n)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        left = K - k * BK
        x = tl.load(a + rm[:, None] * K + (k * BK + rk)[None, :], mask=(rm[:, None] < M) & (rk[None, :] < left), other=0.0)
        y = tl.load(b + (k * BK + rk)[:, None] * N + rn[None, :], mask=(rk[:, None] < left) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def which_target(out, value):
    if is_cuda():
        tl.store(out, value)
    else:
        tl.store(out, -value)


class Claim:
    """Says that it lies on a device."""
    dtype = "float32"
    is_cpu = False

    def __init__(self, kind="cuda", index=0):
        self.device = types.SimpleNamespace(type=kind, index=index)

    def data_ptr(self):
        return 4096


class Interface:
    """What cupy and numba show of their arrays."""
    __cuda_array_interface__ = {"data": (4096, False), "typestr": "<f4", "shape": (16, ), "strides": None, "version": 3, "stream": 1}


HOST = np.zeros(16, np.float32)


@pytest.mark.parametrize("given, words", [
    ((Claim(), HOST, Claim()), "argument `y` lies on the CPU, argument `x` on cuda:0"),
    ((HOST, HOST, Claim()), "argument `out` lies on cuda:0, argument `x` on the CPU"),
    ((Claim(), Claim(index=1), Claim()), "argument `y` lies on cuda:1, argument `x` on cuda:0"),
    ((Claim("xpu"), HOST, HOST), "argument `x` lies on the device"),
    ((HOST, HOST, Interface()), "argument `out` lies on cuda:0, argument `x` on the CPU"),
])
def test_one_device_for_all(given, words):
    with pytest.raises(TypeError) as error:
        add[(1, )](*given, 16, BLOCK=16)
    assert words in str(error.value)


def test_an_empty_array_lies_anywhere():
    try:
        add[(0, )](Claim(), np.zeros(0, np.float32), Claim(), 0, BLOCK=16)
    except (RuntimeError, TypeError) as error:  # without a device
        assert " lies on " not in str(error)


def test_interface_without_data():

    class Broken:
        __cuda_array_interface__ = {"typestr": "<f4"}

    with pytest.raises(TypeError, match="`x`: its __cuda_array_interface__ has no data or shape"):
        add[(1, )](Broken(), HOST, HOST, 16, BLOCK=16)


def test_device_in_the_environment(monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_DEVICE", "cpu")
    target = triton.runtime.driver.active.get_current_target()
    assert (target.backend, target.warp_size) == ("cpu", 32)
    assert [name for name, backend in triton.backends.backends.items() if backend.driver.is_active()] == ["cpu"]
    monkeypatch.setenv("TILEWRIGHT_DEVICE", "cuda")
    assert type(triton.runtime.driver.active).__name__ == "CUDADriver"


def test_kernels_ask_for_their_own_target():
    out = np.zeros(1, np.float32)
    which_target[(1, )](out, 3.0)
    assert out[0] == -3.0


def test_without_a_device():
    if {name: there for name, _, there, _ in tilewright.targets()}["cuda"]:
        pytest.skip("there is a CUDA device")
    with pytest.raises(RuntimeError, match="CUDA driver|GPU"):
        add[(1, )](Claim(), Claim(), Claim(), 16, BLOCK=16)
    add[(1, )](HOST, HOST, np.zeros(16, np.float32), 16, BLOCK=16)


def test_driver_calls(tmp_path):
    """The host side of a launch, on a driver that only counts."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    package = [path for path in glob.glob(os.path.join(sys.prefix, "lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so*"))]
    if not compiler or not (package or shutil.which("nvcc")):
        pytest.skip("no C compiler, or neither NVRTC nor nvcc")
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run([compiler, "-shared", "-fPIC", "-o", tmp_path / "libcuda.so.1", os.path.join(here, "../gpu/fake_cuda.c")], check=True)
    package = os.path.dirname(os.path.dirname(tilewright.__file__))
    settings = {**os.environ, "FAKE_COUNT": "3", "FAKE_ARCH": "90,80,90", "LD_LIBRARY_PATH": str(tmp_path), "TILEWRIGHT_CACHE_DIR": str(tmp_path / "cache"), "VIRTUAL_ENV": sys.prefix,
                "PYTHONPATH": package}
    done = subprocess.run([sys.executable, os.path.join(here, "cuda_without_device.py")], env=settings, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == "fine\n", done.stdout + done.stderr


# --- on a device ---


@pytest.fixture
def cuda(torch):
    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    torch.manual_seed(0)
    return torch


def run_add(torch, n=1000, dtype=None, device="cuda"):
    x, y = (torch.randn(n, device=device).to(dtype or torch.float32) for _ in range(2))
    out = torch.full_like(x, float("nan"))
    kernel = add[(triton.cdiv(n, 256), )](x, y, out, n, BLOCK=256)
    return kernel, out, x + y


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
def test_add(cuda, dtype):
    _, out, want = run_add(cuda, dtype=getattr(cuda, dtype))
    cuda.testing.assert_close(out, want)


def test_target_follows_the_tensors(cuda):
    for device, want in (("cuda", 3.0), ("cpu", -3.0)):
        out = cuda.zeros(1, device=device)
        which_target[(1, )](out, 3.0)
        assert out.item() == want
    target = triton.runtime.driver.active.get_current_target()
    major, minor = cuda.cuda.get_device_capability()
    assert (target.backend, target.arch) == ("cuda", major * 10 + minor)


def test_softmax(cuda):
    x = cuda.randn(37, 1000, device="cuda")
    out = cuda.empty_like(x)
    softmax[(37, )](out, x, 1000, BLOCK=1024)
    cuda.testing.assert_close(out, cuda.softmax(x, -1))


@pytest.mark.parametrize("shape", [(256, 256, 256), (200, 136, 72)])
def test_matmul(cuda, shape):
    M, N, K = shape
    a, b = cuda.randn(M, K, device="cuda").half(), cuda.randn(K, N, device="cuda").half()
    c = cuda.empty(M, N, device="cuda", dtype=cuda.float16)
    kernel = matmul[(triton.cdiv(M, 128), triton.cdiv(N, 128))](a, b, c, M, N, K, BM=128, BN=128, BK=64, num_warps=8)
    cuda.testing.assert_close(c.float(), a.float() @ b.float(), atol=0.05, rtol=0.01)
    assert kernel.metadata.shared > 0 and 0 < kernel.n_regs <= 255 and kernel.n_spills == 0


def test_what_a_launch_returns(cuda):
    kernel, _, _ = run_add(cuda)
    assert "__global__" in kernel.asm["cuda"] and kernel.asm["cubin"][:4] == b"\x7fELF"
    assert kernel.metadata.target.backend == "cuda" and kernel.n_regs > 0
    assert ".visible .entry add" in kernel.asm["ptx"] and ".target sm_" in kernel.asm["ptx"]
    if triton.compiler.compiler.disassembler():
        assert "LDG" in kernel.asm["sass"]
    with pytest.raises(KeyError, match="ptx, cubin and sass"):
        kernel.asm["amdgcn"]


def test_mixed(cuda):
    x, host = cuda.ones(16, device="cuda"), cuda.ones(16)
    with pytest.raises(TypeError, match="argument `y` lies on the CPU, argument `x` on cuda:0"):
        add[(1, )](x, host, x, 16, BLOCK=16)


def test_current_stream(cuda):
    """The kernel comes after what its stream did before, which takes a while."""
    n, side = 1 << 20, cuda.cuda.Stream()
    x, y, out = cuda.zeros(n, device="cuda"), cuda.ones(n, device="cuda"), cuda.zeros(n, device="cuda")
    add[(triton.cdiv(n, 1024), )](x, y, out, n, BLOCK=1024)
    cuda.cuda.synchronize()
    with cuda.cuda.stream(side):
        cuda.cuda._sleep(20_000_000)
        x.fill_(5.0)
        add[(triton.cdiv(n, 1024), )](x, y, out, n, BLOCK=1024)
    assert not side.query()  # nothing has waited
    side.synchronize()
    assert (out == 6.0).all().item()


def test_graph(cuda):
    x, y, out = (cuda.zeros(4096, device="cuda") for _ in range(3))
    a, b = cuda.randn(256, 256, device="cuda").half(), cuda.randn(256, 256, device="cuda").half()
    c = cuda.empty_like(a)

    def both():
        add[(16, )](x, y, out, 4096, BLOCK=256)
        matmul[(2, 2)](a, b, c, 256, 256, 256, BM=128, BN=128, BK=64, num_warps=8)

    both()
    cuda.cuda.synchronize()
    graph = cuda.cuda.CUDAGraph()
    with cuda.cuda.graph(graph):
        both()
    x.fill_(1.0), y.fill_(2.0), c.zero_()
    graph.replay()
    cuda.cuda.synchronize()
    assert (out == 3.0).all().item()
    cuda.testing.assert_close(c.float(), a.float() @ b.float(), atol=0.05, rtol=0.01)


@triton.jit
def bump(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) + 1.0, mask=at < n)


@triton.jit
def bump_rows(x, rows, stride, BLOCK: tl.constexpr):
    row, col = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    tl.store(x + row * stride + col, tl.load(x + row * stride + col) + 1.0, mask=(row < rows) & (col < stride))


def test_more_than_31_bits(cuda):
    """More elements than 32-bit offsets reach: each is met once, by flat offsets and by rows."""
    n = (1 << 31) + 12288
    if cuda.cuda.mem_get_info()[0] < 3 * 2 * n:
        pytest.skip("not enough memory on the device")
    x = cuda.zeros(n, device="cuda", dtype=cuda.bfloat16)
    bump[(triton.cdiv(n, 4096), )](x, n, BLOCK=4096)
    assert cuda.aminmax(x) == (1.0, 1.0)
    bump_rows[(n // 4096, )](x, n // 4096, 4096, BLOCK=4096)
    assert cuda.aminmax(x) == (2.0, 2.0)


def test_grid_beyond_65535(cuda):
    x = cuda.zeros(64, device="cuda")
    with pytest.raises(TypeError, match="CUDA allows 65535 in the second and third extent"):
        bump[(1, 65536)](x, 64, BLOCK=64)
    bump[(1, 1)](x, 64, BLOCK=64)
    assert (x == 1.0).all().item()


def test_other_protocols(cuda):
    x = cuda.arange(64, dtype=cuda.float32, device="cuda")

    class ByInterface:

        def __init__(self, tensor):
            self.tensor = tensor

        @property
        def __cuda_array_interface__(self):
            return self.tensor.__cuda_array_interface__

    class ByDlpack:

        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack__(self, stream=None):
            return self.tensor.__dlpack__(stream=stream)

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

    out = cuda.empty_like(x)
    add[(1, )](ByInterface(x), ByDlpack(x), out, 64, BLOCK=64)
    cuda.testing.assert_close(out, x + x)


def test_autotune(cuda):

    @triton.autotune(configs=[triton.Config({"BLOCK": block}, num_warps=warps) for block in (128, 1024) for warps in (4, 8)], key=["n"])
    @triton.jit
    def tuned(x, y, out, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)

    n = 1 << 16
    x, y = cuda.randn(n, device="cuda"), cuda.randn(n, device="cuda")
    out = cuda.empty_like(x)
    tuned[lambda meta: (triton.cdiv(n, meta["BLOCK"]), )](x, y, out, n)
    cuda.testing.assert_close(out, x + y)
    assert len(tuned.configs_timings) == 4 and all(0 < t[0] < 10 for t in tuned.configs_timings.values())


def test_bench(cuda):
    n = 1 << 24
    x, y, out = (cuda.randn(n, device="cuda") for _ in range(3))

    def run():
        add[(triton.cdiv(n, 1024), )](x, y, out, n, BLOCK=1024)

    alone = triton.testing.do_bench(run, warmup=5, rep=20)
    captured = triton.testing.do_bench_cudagraph(run, rep=10)
    assert 0.01 < captured < 5 and 0.01 < alone < 5


def test_views_and_empty_tensors(cuda):
    whole = cuda.arange(64, dtype=cuda.float32, device="cuda")
    add[(1, )](whole[3:], whole[::2], whole[40:], 16, BLOCK=16)  # addresses alone: strides are the kernel's business
    want = cuda.arange(64, dtype=cuda.float32)
    want[40:56] = want[3:19] + want[:16]
    assert cuda.equal(whole.cpu(), want)
    none = cuda.empty(0, device="cuda")
    add[(1, )](none, none, none, 0, BLOCK=16)
    add[(0, )](none, none, none, 0, BLOCK=16)
    a, c = cuda.ones(128, 0, device="cuda").half(), cuda.ones(128, 128, device="cuda").half()
    matmul[(1, 1)](a, a, c, 128, 128, 0, BM=128, BN=128, BK=64, num_warps=8)
    assert (c == 0).all().item()


def test_cupy(cuda):
    cupy = pytest.importorskip("cupy")
    x = cupy.arange(64, dtype=cupy.float32)
    y = cuda.ones(64, device="cuda")
    out = cupy.zeros_like(x)
    add[(1, )](x, y, out, 64, BLOCK=64)
    cuda.cuda.synchronize()
    assert cupy.array_equal(out, x + 1)


def test_autograd(cuda):

    class Twice(cuda.autograd.Function):

        @staticmethod
        def forward(ctx, x):
            out = cuda.empty_like(x)
            add[(triton.cdiv(x.numel(), 256), )](x, x, out, x.numel(), BLOCK=256)
            return out

        @staticmethod
        def backward(ctx, grad):
            out = cuda.empty_like(grad)
            add[(triton.cdiv(grad.numel(), 256), )](grad, grad, out, grad.numel(), BLOCK=256)
            return out

    x = cuda.randn(1000, device="cuda", requires_grad=True)
    (Twice.apply(x) * 3).sum().backward()
    assert (x.grad == 6).all().item()


def test_second_device(cuda):
    if cuda.cuda.device_count() < 2:
        pytest.skip("there is one CUDA device")
    _, out, want = run_add(cuda, device="cuda:1")
    cuda.testing.assert_close(out, want)
    with pytest.raises(TypeError, match="argument `y` lies on cuda:1, argument `x` on cuda:0"):
        add[(1, )](cuda.ones(16, device="cuda:0"), cuda.ones(16, device="cuda:1"), cuda.ones(16, device="cuda:0"), 16, BLOCK=16)


def test_too_much_shared_memory(cuda):
    a = cuda.randn(512, 512, device="cuda").half()
    c = cuda.empty_like(a)
    try:
        matmul[(1, 1)](a, a, c, 512, 512, 512, BM=256, BN=256, BK=256, num_warps=8, num_stages=4)
    except triton.runtime.errors.OutOfResources as error:
        assert error.required > error.limit > 0
