# SPDX-License-Identifier: Apache-2.0
"""install() lets a program that puts its tensors on a CUDA device run where there is none: they lie on the CPU, and kernels run there.

What asks the device for its properties is told of an H100; streams and events do nothing but take the time.
`TILEWRIGHT_CUDA_ON_CPU=1 python -m tilewright script.py` is the way in.
"""
import contextlib
import os
import time
import types


def _is_cuda(device):
    import torch
    return isinstance(device, int) and not isinstance(device, bool) or (isinstance(device, str) and device.split(":")[0] == "cuda") or (
        isinstance(device, torch.device) and device.type == "cuda")


class _Event:
    def __init__(self, *args, **kwargs):
        self.at = 0.0

    def record(self, stream=None):
        self.at = time.perf_counter()

    def elapsed_time(self, other):
        return max(1000 * (other.at - self.at), 1e-3)

    synchronize = wait = lambda self, *args: None
    query = lambda self: True  # noqa: E731


class _Stream:
    cuda_stream = 0
    device = None

    def __init__(self, *args, **kwargs):
        pass

    synchronize = wait_stream = wait_event = record_event = lambda self, *args: None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


def _properties(device=None):
    return types.SimpleNamespace(name="NVIDIA H100", major=9, minor=0, multi_processor_count=132, total_memory=80 << 30, L2_cache_size=50 << 20,
                                 max_threads_per_multi_processor=2048, shared_memory_per_block_optin=227 << 10, shared_memory_per_multiprocessor=228 << 10,
                                 warp_size=32, regs_per_multiprocessor=65536)


def install(place="cpu"):
    """For this process, before the program runs. place: "cpu", or "meta" for tensors without memory."""
    import torch
    from torch.overrides import TorchFunctionMode
    os.environ["TILEWRIGHT_DEVICE"] = "cpu"

    asks = {getattr(torch.Tensor, name) for name in ("item", "__bool__", "__int__", "__float__", "__index__", "tolist", "numpy", "cpu", "__array__")}

    class OnCpu(TorchFunctionMode):
        """Whatever is asked for on a CUDA device is made on the CPU."""

        def __torch_function__(self, func, kinds, args=(), kwargs=None):
            kwargs = dict(kwargs or {})
            if func is torch.Tensor.cuda:
                return args[0].to(place)
            if getattr(func, "__self__", None) is torch.Tensor.is_cuda:  # its __get__, an object of its own each time
                return True
            if func in asks and args[0].device.type == "meta":  # what it holds nobody knows
                return getattr(torch.ones(args[0].shape, dtype=args[0].dtype, device="cpu"), func.__name__)(*args[1:])
            if _is_cuda(kwargs.get("device")) and not isinstance(kwargs.get("device"), int):
                kwargs["device"] = place
            if func is torch.Tensor.to:
                args = tuple(place if _is_cuda(arg) and not isinstance(arg, int) else arg for arg in args)
            kwargs.pop("pin_memory", None)
            return func(*args, **kwargs)

    OnCpu().__enter__()
    cuda = torch.cuda
    for name in ("synchronize", "empty_cache", "init", "set_device", "manual_seed", "manual_seed_all", "reset_peak_memory_stats", "_lazy_init", "set_stream", "_sleep"):
        setattr(cuda, name, lambda *args, **kwargs: None)  # one each: dynamo tells functions apart
    cuda.is_available, cuda.device_count, cuda.current_device = (lambda: True), (lambda: 1), (lambda: 0)
    cuda.get_device_capability, cuda.get_device_name, cuda.get_device_properties = (lambda device=None: (9, 0)), (lambda device=None: "NVIDIA H100"), _properties
    for name in ("memory_allocated", "max_memory_allocated", "memory_reserved"):
        setattr(cuda, name, lambda *args: 0)
    cuda.Event, cuda.Stream, cuda.current_stream, cuda.default_stream = _Event, _Stream, _Stream, _Stream
    for name in ("stream", "device"):
        setattr(cuda, name, lambda *args: contextlib.nullcontext())
    if hasattr(torch, "accelerator"):
        torch.accelerator.current_accelerator = lambda check_available=False: torch.device("cuda")
    torch.nn.Module.cuda = lambda self, device=None: self
    if torch.version.cuda is None:
        torch.version.cuda = "12.8"
    from .tilelang.contrib import nvcc
    from .tilelang.jit import target
    from .triton.backends.driver import CPUDriver, GPUTarget
    CPUDriver.get_current_target = lambda self: GPUTarget("cuda", 90, 32)
    nvcc.get_target_compute_version = lambda target=None: "9.0"
    target._KINDS["cuda"] = None  # a kernel for "cuda" runs where its tensors lie
