# SPDX-License-Identifier: Apache-2.0
"""triton.runtime.driver: which driver is in use.

Where a kernel runs is decided by its tensors. The active driver is what a program is told when it asks before there are any: CUDA
where torch is imported and has a CUDA device, else the CPU; TILEWRIGHT_DEVICE=cpu or cuda says it outright.
"""
import os
import sys

from ... import _native
from ..backends.driver import CPUDriver, CUDADriver


def prefers_cuda():
    wish = os.environ.get("TILEWRIGHT_DEVICE")
    if wish:
        return wish == "cuda"
    torch = sys.modules.get("torch")
    return bool(torch is not None and hasattr(torch, "cuda") and torch.cuda.is_available())


class DriverConfig:

    def __init__(self):
        self._known = {}
        self._chosen = None

    def _driver(self, kind):
        if kind not in self._known:
            self._known[kind] = kind()
        return self._known[kind]

    @property
    def default(self):
        return self._driver(CUDADriver if prefers_cuda() else CPUDriver)

    @property
    def active(self):
        compiling = _native.compiling()
        if compiling:  # what the kernel that asks is compiled for
            return self._driver(CUDADriver if compiling == "cuda" else CPUDriver)
        return self._chosen or self.default

    def set_active(self, driver):
        self._chosen = driver

    def reset_active(self):
        self._chosen = None


driver = DriverConfig()
_native.configure(default_device=lambda: driver.active.get_current_device() if isinstance(driver.active, CUDADriver) else None)


def __getattr__(name):
    if name == "active":
        return driver.active
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
