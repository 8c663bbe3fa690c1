# SPDX-License-Identifier: Apache-2.0
"""gpu_alone.py: the rows of the GPU bench without torch: our kernels alone, through the C API and the CUDA driver.

Arrays are filled with normal numbers (a pattern of 2^16 of them, repeated), times come from the driver's events, and the figures
are absolute: there is nobody to race and nobody who checks them."""
import ctypes
import os
import random
import statistics
import struct
import sys

import gpu_rivals
from gpu_library import Library

PATTERN = 1 << 16


class Driver:
    """libcuda, as much as it takes: memory, events, the L2 flush."""

    def __init__(self):
        try:
            self.lib = ctypes.CDLL("libcuda.so.1")
        except OSError:
            sys.exit("bench/gpu.py: there is no CUDA driver here; nothing was measured")
        context = ctypes.c_void_p()
        if self.lib.cuInit(0) or self.lib.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) or self.lib.cuCtxSetCurrent(context):
            sys.exit("bench/gpu.py: no CUDA device here; nothing was measured")
        self.events = [ctypes.c_void_p() for _ in range(2)]
        for event in self.events:
            self.lib.cuEventCreate(ctypes.byref(event), 0)
        self.flush = self.alloc(256 << 20)

    def alloc(self, size):
        address = ctypes.c_uint64()
        if self.lib.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)):
            raise MemoryError(f"the GPU has no {size} bytes left")
        return address.value

    def free(self, address):
        self.lib.cuMemFree_v2(ctypes.c_uint64(address))

    def fill(self, address, size, pattern):
        """The pattern, then what is there already, doubled."""
        done = min(len(pattern), size)
        self.lib.cuMemcpyHtoD_v2(ctypes.c_uint64(address), pattern, ctypes.c_size_t(done))
        while done < size:
            step = min(done, size - done)
            self.lib.cuMemcpyDtoD_v2(ctypes.c_uint64(address + done), ctypes.c_uint64(address), ctypes.c_size_t(step))
            done += step

    def us(self, run):
        begin, end = self.events
        self.lib.cuMemsetD8_v2(ctypes.c_uint64(self.flush), 0, ctypes.c_size_t(256 << 20))
        self.lib.cuEventRecord(begin, None)
        run()
        self.lib.cuEventRecord(end, None)
        self.lib.cuEventSynchronize(end)
        ms = ctypes.c_float()
        self.lib.cuEventElapsedTime(ctypes.byref(ms), begin, end)
        return ms.value * 1e3


def pattern_of(dtype):
    numbers = [random.gauss(0, 1) for _ in range(PATTERN)]
    if dtype == "bfloat16":
        return b"".join(struct.pack("<f", x)[2:] for x in numbers)
    if dtype.startswith("float8"):
        return bytes(b & 0xBF for b in os.urandom(PATTERN))
    return struct.pack(f"<{PATTERN}{'e' if dtype == 'float16' else 'f'}", *numbers)


class Placed(gpu_rivals.Standin):
    """An array in the GPU's memory."""

    def __init__(self, driver, array):
        super().__init__(array)
        self.address = driver.alloc(self.numel() * self.bytes)
        if array.fill != "empty":
            driver.fill(self.address, self.numel() * self.bytes, pattern_of(array.dtype))

    def data_ptr(self):
        return self.address


def main(rows, why):
    print(why)
    random.seed(1)
    driver, library = Driver(), Library()
    for row in rows:
        if any(a.after or callable(a.fill) for a in row.arrays.values()):
            print(f"{row.name}: its numbers are made by torch")
            continue
        arrays = {name: Placed(driver, a) for name, a in row.arrays.items()}
        best = None
        for constants, options in row.configs:
            try:
                run = gpu_rivals.ours(library, row, arrays, constants, options)
                us = statistics.median(driver.us(run) for _ in range(9))
                if best is None or us < best[0]:
                    best = us, {**constants, **options}
            except RuntimeError as fault:
                print(f"{row.name} {constants} {options}: {str(fault).splitlines()[0][:140]}")
        if best:
            rate = row.work / best[0] * (1e-3 if row.unit == "GB/s" else 1e-6)
            print(f"{row.name:36s} {best[0]:10.1f} us {rate:8.4g} {row.unit}  {best[1]}", flush=True)
        for array in arrays.values():
            driver.free(array.address)
