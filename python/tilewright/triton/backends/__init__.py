# SPDX-License-Identifier: Apache-2.0
"""triton.backends: the CPU, and CUDA; one of them is active."""
from .compiler import CPUBackend, CUDABackend
from .driver import CPUDriver, CUDADriver


class Backend:

    def __init__(self, compiler, driver):
        self.compiler = compiler
        self.driver = driver


backends = {"cpu": Backend(CPUBackend, CPUDriver), "nvidia": Backend(CUDABackend, CUDADriver)}
