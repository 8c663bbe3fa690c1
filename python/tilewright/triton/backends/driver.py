# SPDX-License-Identifier: Apache-2.0
"""triton.backends.driver: the machine that kernels run on.

The CPU answers like a device with warps of 32: scripts derive sizes from what a device says of itself.
"""
import os
import platform
import sys

from .compiler import GPUTarget


class DriverBase:
    """What a driver of Triton is."""

    @classmethod
    def is_active(cls):
        return False


def _clock_khz():
    """Of the first processor; 2 GHz where the system does not tell."""
    try:
        with open("/proc/cpuinfo") as file:
            told = [line.split(":")[1] for line in file if line.startswith("cpu MHz")]
        return int(float(told[0]) * 1000)
    except (OSError, IndexError, ValueError):
        return 2_000_000


class CPUUtils:

    def get_device_properties(self, device=0):
        """Figures to divide by and to make grids of, none of them 0: each processor counts as a multiprocessor, with its vector
        registers, its caches as shared memory, and two channels of memory at 2.4 GHz, which no system tells."""
        return {
            "max_shared_mem": 1 << 26, "max_num_regs": 1 << 20, "multiprocessor_count": len(os.sched_getaffinity(0)),
            "warpSize": 32, "sm_clock_rate": _clock_khz(), "mem_clock_rate": 1_200_000, "mem_bus_width": 128
        }


class CPUDriver(DriverBase):

    def __init__(self):
        self.utils = CPUUtils()

    @classmethod
    def is_active(cls):
        from ..runtime.driver import prefers_cuda
        return not prefers_cuda()

    def get_current_target(self):
        return GPUTarget("cpu", platform.machine(), 32)

    def get_current_device(self):
        return 0

    def set_current_device(self, device):
        pass

    def get_current_stream(self, device=None):
        return 0

    def get_active_torch_device(self):
        """Programs go on with `getattr(torch, device.type)` and set a stream there; torch.cpu has all but that."""
        import torch
        if not hasattr(torch.cpu, "set_stream"):
            torch.cpu.set_stream = lambda stream: None
        return torch.device("cpu")

    def get_device_interface(self):
        import torch
        return torch.cpu

    def get_benchmarker(self):
        from ..testing import do_bench
        return do_bench

    def get_empty_cache_for_benchmark(self):
        return bytearray(1 << 26)

    def clear_cache(self, cache):
        cache[:] = bytes(len(cache))


class CUDAUtils:

    def get_device_properties(self, device=0):
        import torch
        found = torch.cuda.get_device_properties(device)
        return {
            "max_shared_mem": found.shared_memory_per_block_optin, "max_num_regs": found.regs_per_multiprocessor,
            "multiprocessor_count": found.multi_processor_count, "warpSize": found.warp_size,
            "sm_clock_rate": getattr(found, "clock_rate", 0), "mem_clock_rate": getattr(found, "memory_clock_rate", 0),
            "mem_bus_width": getattr(found, "memory_bus_width", 0)
        }


class CUDADriver(DriverBase):
    """CUDA devices, by way of torch: its current one where none is named."""

    def __init__(self):
        self.utils = CUDAUtils()

    @classmethod
    def is_active(cls):
        from ..runtime.driver import prefers_cuda
        return prefers_cuda()

    def get_device_capability(self, device=None):
        import torch
        return torch.cuda.get_device_capability(device)

    def get_current_target(self):
        major, minor = self.get_device_capability()
        return GPUTarget("cuda", major * 10 + minor, 32)

    def get_current_device(self):
        torch = sys.modules.get("torch")
        return torch.cuda.current_device() if torch else 0

    def set_current_device(self, device):
        import torch
        torch.cuda.set_device(device)

    def get_current_stream(self, device=None):
        import torch
        return torch.cuda.current_stream(device).cuda_stream

    def get_active_torch_device(self):
        import torch
        return torch.device("cuda", self.get_current_device())

    def get_device_interface(self):
        import torch
        return torch.cuda

    def get_benchmarker(self):
        from ..testing import do_bench
        return do_bench

    def get_empty_cache_for_benchmark(self):
        import torch
        return torch.empty(256 << 18, dtype=torch.int, device="cuda")

    def clear_cache(self, cache):
        cache.zero_()
