# SPDX-License-Identifier: Apache-2.0
"""cuda_without_device.py: what test_cuda.py runs in a process of its own, on a driver that only counts (tests/gpu/fake_cuda.c):
which driver calls a launch makes, on which stream, and what is said when the driver refuses. Prints "fine"."""
import ctypes
import os
import sys
import types

import numpy as np

import tilewright.triton as triton
import tilewright.triton.language as tl
from tilewright.triton.tools.tensor_descriptor import TensorDescriptor

driver = ctypes.CDLL("libcuda.so.1")
driver.fake_last_stream.restype = ctypes.c_void_p


def calls():
    names = [b"cuLaunchKernel", b"cuMemAlloc_v2", b"cuCtxSynchronize", b"cuStreamSynchronize", b"cuModuleLoadData"]
    counts = {name.decode(): driver.fake_calls(name) for name in names}
    driver.fake_forget()
    return {name: count for name, count in counts.items() if count}


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


class Tensor:
    """A tensor that says it lies on a CUDA device."""
    is_cpu = False

    def __init__(self, device=0, dtype="float32", floats=256):
        self.dtype = dtype
        self.memory = (ctypes.c_float * floats)()
        self.device = types.SimpleNamespace(type="cuda", index=device)

    def data_ptr(self):
        return (ctypes.addressof(self.memory) + 255) // 256 * 256

    def element_size(self):
        return 2 if self.dtype == "float16" else 4

    def storage_offset(self):
        return 0

    def untyped_storage(self):
        end = ctypes.addressof(self.memory) + ctypes.sizeof(self.memory)
        return types.SimpleNamespace(data_ptr=self.data_ptr, nbytes=lambda: end - self.data_ptr())


x, y, out = Tensor(), Tensor(), Tensor()
kernel = add[(3, )](x, y, out, 192, BLOCK=64)
assert calls() == {"cuLaunchKernel": 1, "cuModuleLoadData": 1}, "the first launch loads the kernel"
assert (kernel.n_regs, kernel.n_spills, kernel.metadata.shared) == (48, 4, 0)  # 42, given in steps of 8
assert kernel.metadata.target.backend == "cuda" and kernel.metadata.target.arch == 90
assert kernel.asm["cubin"][:4] == b"\x7fELF" and "__global__" in kernel.asm["cuda"] and list(kernel.asm)[-1] == "explain"
for kind, sign, tool in (("ptx", ".visible .entry add", "NVRTC"), ("sass", "EXIT", "nvdisasm")):
    try:
        assert sign in kernel.asm[kind]
    except RuntimeError as missing:
        assert tool in str(missing), missing

add[(2, )](x, y, out, 128, BLOCK=64)
assert calls() == {"cuLaunchKernel": 1}, "a warm launch launches, and nothing else"
assert [driver.fake_last_grid(d) for d in range(3)] == [2, 1, 1] and driver.fake_last_stream() is None

# what a launch returns launches again, with the options it was compiled with
wide = add.warmup(x, y, out, 128, BLOCK=64, num_warps=8, grid=(1, ))
wide[(2, 1, 1)](x, y, out, 128, 64)
assert len(add.results()) == 2 and calls() == {"cuLaunchKernel": 1, "cuModuleLoadData": 1}

# torch's current stream, asked for at every launch
stream = 77
sys.modules["torch._C"] = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda device: stream + 1000 * device)
add[(2, )](x, y, out, 128, BLOCK=64)
assert driver.fake_last_stream() == 77
stream = 78
add[(2, )](x, y, out, 128, BLOCK=64)
assert driver.fake_last_stream() == 78
assert calls() == {"cuLaunchKernel": 2}

# an array of the host beside them: one without elements goes along, another is refused
calls()
add[(2, )](x, np.zeros(0, np.float32), out, 0, BLOCK=64)
assert calls().get("cuLaunchKernel") == 1
try:
    add[(2, )](x, np.zeros(128, np.float32), out, 128, BLOCK=64)
    raise AssertionError("a launch with arrays of two places")
except TypeError as refused:
    assert "`y` lies on the CPU, argument `x` on cuda:0" in str(refused) and not calls()

# another device: compiled for it, loaded in its context, launched on its current stream; the first one is as warm as before
for _ in range(2):
    kernels = [add[(2, )](*(Tensor(device) for _ in range(3)), 128, BLOCK=64) for device in (1, 2)]
    assert (driver.fake_last_device(), driver.fake_last_stream()) == (2, 2078)
    assert [kernel.metadata.target.arch for kernel in kernels] == [80, 90]
assert calls() == {"cuLaunchKernel": 4, "cuModuleLoadData": 2}
add[(2, )](x, y, out, 128, BLOCK=64)
assert (driver.fake_last_device(), driver.fake_last_stream()) == (0, 78) and calls() == {"cuLaunchKernel": 1}


# descriptors of the host: a warm launch takes them apart without Python, and encodes maps of those alone that lie elsewhere now
@triton.jit
def product(a, b, c, trips):
    total = tl.zeros((64, 64), dtype=tl.float32)
    for i in range(trips):
        total = tl.dot(a.load([0, i * 64]), b.load([i * 64, 0]), total)
    c.store([0, 0], total.to(tl.float16))


taken_apart = []
long_way = triton.JITFunction.launch_structured
triton.JITFunction.launch_structured = lambda self, *rest: (taken_apart.append(self), long_way(self, *rest))[1]


def described(tensor, extent=64, block=64):
    return TensorDescriptor(tensor, [extent, 64], [64, 1], [block, 64])


def product_calls(a, b, c):
    taken_apart.clear()
    product[(1, )](described(a), described(b), described(c), 1)
    names = {"cuLaunchKernel": "launches", "cuTensorMapEncodeTiled": "maps", "cuModuleLoadData": "modules"}
    counts = {word: driver.fake_calls(name.encode()) for name, word in names.items()}
    driver.fake_forget()
    return {**counts, "apart": len(taken_apart)}


a, b, c, other = (Tensor(0, "float16", 4096) for _ in range(4))
calls()
assert product_calls(a, b, c) == {"launches": 1, "maps": 3, "modules": 1, "apart": 1}
for _ in range(3):
    assert product_calls(a, b, c) == {"launches": 1, "maps": 0, "modules": 0, "apart": 0}, "a warm launch launches, and nothing else"
assert product_calls(a, b, other) == {"launches": 1, "maps": 1, "modules": 0, "apart": 0}
triton.JITFunction.launch_structured = long_way


# programs of one row of memory are launched one after the other, where the launch can have its axes changed
@triton.jit
def parts_of_rows(x, out, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + row * stride + at, tl.load(x + row * stride + at, mask=at < n), mask=at < n)


for grid, blocks in (((4, 3), [3, 4, 1]), ((65535, 2), [2, 65535, 1]), ((65536, 2), [65536, 2, 1]), ((2, 70000), [70000, 2, 1]), ((5, ), [1, 5, 1])):
    parts_of_rows[grid](x, out, 16, 16, BLOCK=16)
    assert [driver.fake_last_grid(d) for d in range(3)] == blocks, grid
calls()


class Interface(bytearray):
    """What cupy and numba show of their arrays: the address says where it lies. cupy's say that they are buffers, too."""

    def __init__(self, device, readonly=False):
        self.tensor, self.readonly = Tensor(device), readonly
        driver.fake_place(ctypes.c_uint64(self.tensor.data_ptr()), device)

    @property
    def __cuda_array_interface__(self):
        return {"data": (self.tensor.data_ptr(), self.readonly), "typestr": "<f4", "shape": (128, ), "strides": None, "version": 3}


def refused(kind, launch):
    try:
        launch()
    except kind as error:
        return str(error)
    return "it ran"


add[(2, )](Interface(1), Interface(1, readonly=True), Interface(1), 128, BLOCK=64)
assert driver.fake_last_device() == 1
words = refused(TypeError, lambda: add[(2, )](x, Interface(1), out, 128, BLOCK=64))
assert "argument `y` lies on cuda:1, argument `x` on cuda:0" in words, words
words = refused(ValueError, lambda: add[(2, )](x, y, Interface(0, readonly=True), 128, BLOCK=64))
assert "argument `out` is read-only" in words, words
words = refused(RuntimeError, lambda: add[(2, )](Tensor(3), Tensor(3), Tensor(3), 128, BLOCK=64))
assert "there is no CUDA device 3: the driver finds 3, counted from 0" in words, words
calls()

# a launch may begin before the one before it has ended: if it waits for that itself, on a device that can
@triton.jit
def late(x, out, n, WAIT: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if WAIT:
        tl.extra.cuda.gdc_wait()
    value = tl.load(x + at, mask=at < n)
    tl.extra.cuda.gdc_launch_dependents()
    tl.store(out + at, value, mask=at < n)


for device, wait, asked, early in ((0, True, True, 1), (0, True, False, 0), (0, False, True, 0), (1, True, True, 0)):
    kernel = late[(2, )](Tensor(device), Tensor(device), 128, WAIT=wait, BLOCK=64, launch_pdl=asked)
    assert driver.fake_last_early() == early, (device, wait, asked)
    assert ("griddepcontrol.wait" in kernel.asm["ptx"]) == (wait and device == 0) and ("launch_dependents" in kernel.asm["ptx"]) == (device == 0)
calls()


# all programs of a cooperative launch run at once, each by a block of its own; a limit of registers is the kernel's
for together in (False, True):
    kernel = late[(7, )](Tensor(0), Tensor(0), 448, WAIT=False, BLOCK=64, launch_cooperative_grid=together, maxnreg=40 if together else None)
    assert driver.fake_last_together() == together and (not together or driver.fake_last_grid(0) == 7)
    assert (".maxnreg 40" in kernel.asm["ptx"]) == together
calls()


# assembly of the source goes into the kernel as it stands
@triton.jit
def assembly(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.inline_asm_elementwise("ex2.approx.ftz.f32 $0, $1;", "=f,f", [tl.load(x + at)], dtype=tl.float32, is_pure=True, pack=1)
    low, high = tl.inline_asm_elementwise("{ shl.b32 $0, $3, 1; mov.b32 $1, %laneid; mov.b32 $2, $1; }", "=r,=r,=r,r", [v.to(tl.float16)], dtype=(tl.int16, tl.int32),
                                          is_pure=False, pack=2)
    tl.store(out + at, v + low + high)


ptx = assembly[(1, )](x, out, BLOCK=64).asm["ptx"]
assert "ex2.approx.ftz.f32" in ptx and "%laneid" in ptx and "shl.b32" in ptx
calls()


# more shared memory than there is: what autotune passes over
@triton.jit
def large(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    tile = tl.load(x + at[:, None] * N + at[None, :])
    tl.store(out + at[:, None] * N + at[None, :], tl.dot(tile, tile).to(tl.float32))


try:
    large[(1, )](x, out, N=512, num_warps=8)
except triton.runtime.errors.OutOfResources as error:
    assert error.required > error.limit == 232448 and error.name == "shared memory"
else:
    raise AssertionError("512 x 512 f32 fit into shared memory")

# a stream of another device; a device whose context is lost leaves the others as they are
again = [Tensor(1) for _ in range(3)]
stream = -922  # 78 there
words = refused(RuntimeError, lambda: add[(2, )](*again, 128, BLOCK=64))
assert "launch of kernel `add`" in words and "CUDA_ERROR_FAKED" in words and "the stream must be one of" in words, words
stream = 78
os.environ.update(FAKE_CUDA="cuLaunchKernel=719", FAKE_LOST="1")
words = refused(RuntimeError, lambda: add[(2, )](*again, 128, BLOCK=64))
assert "kernels failed on GPU 1: `add` (launch 1" in words and "CUDA_ERROR_LAUNCH_FAILED" in words and "context of GPU 1 is lost" in words, words
del os.environ["FAKE_CUDA"]
words = refused(RuntimeError, lambda: add[(2, )](*again, 128, BLOCK=64))
assert "launch of kernel `add`: the context of GPU 1 was lost" in words, words
add[(2, )](x, y, out, 128, BLOCK=64)
assert driver.fake_last_device() == 0
print("fine")
