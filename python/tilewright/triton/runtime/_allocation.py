# SPDX-License-Identifier: Apache-2.0
"""triton.runtime._allocation: scratch memory for kernels, which the CPU target needs none of. An allocator is kept, and never
called.
"""
import contextvars


class NullAllocator:

    def __call__(self, size, alignment, stream):
        raise RuntimeError("Kernel requires a runtime memory allocation, but no allocator was set. Use triton.set_allocator to specify an allocator.")


_allocator = contextvars.ContextVar("_allocator", default=NullAllocator())


def set_allocator(allocator):
    _allocator.set(allocator)


def get_allocator():
    return _allocator.get()
