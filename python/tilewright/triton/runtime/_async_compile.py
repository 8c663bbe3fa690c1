# SPDX-License-Identifier: Apache-2.0
"""triton.runtime._async_compile: many kernels compiled side by side.

    with ThreadPoolExecutor() as pool, AsyncCompileMode(pool):
        first = kernel.warmup(..); second = other.warmup(..)      # each a FutureKernel, at once
    first.result()                                                # a CompiledKernel

A compile that runs ahead has a context of its own and leaves what the target's compiler made in the cache on disk; result() finds it
there. Threads are what is wanted: kernels cannot be sent to other processes.
"""
import contextvars

active_mode = contextvars.ContextVar("async_compile_active_mode", default=None)


def _key(function, args, kwargs):
    """Equal for launches of the same kernel; None: what they differ by cannot be told."""

    def kind(value):
        told = getattr(value, "__array_interface__", None)
        if told or hasattr(value, "data_ptr"):
            address = value.data_ptr() if hasattr(value, "data_ptr") else told["data"][0]
            return "tensor", str(value.dtype), str(getattr(value, "device", "")), address % 16 == 0
        return type(value), value

    try:
        key = id(function), tuple(map(kind, args)), tuple(sorted((name, kind(value)) for name, value in kwargs.items()))
        hash(key)
        return key
    except Exception:
        return None


class FutureKernel:
    """A kernel that may still be compiled."""

    def __init__(self, finalize_compile, future):
        self._finish = finalize_compile
        self.future = future
        self.kernel = None

    def result(self, ignore_errors=False):
        if self.kernel is None:
            try:
                self.future.result()
                self.kernel = self._finish()
            except Exception:
                if not ignore_errors:
                    raise
        return self.kernel

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.result(), name)

    def __getitem__(self, grid):
        return self.result()[grid]


class AsyncCompileMode:
    """While it is entered, warmup() gives a FutureKernel that the executor compiles."""

    def __init__(self, executor, *, ignore_errors=False):
        self.executor = executor
        self.ignore_errors = ignore_errors
        self.future_kernels = []
        self._known = {}

    def submit(self, launch, ahead, finish):
        """ahead() runs in the executor; finish() gives the kernel, in the thread that asks for it. `launch` is (function, arguments, named
        arguments): what would be the same kernel is compiled once."""
        key = _key(*launch)
        kernel = self._known.get(key) if key is not None else None
        if kernel is None:
            kernel = FutureKernel(finish, self.executor.submit(ahead))
            self.future_kernels.append(kernel)
            if key is not None:
                self._known[key] = kernel
        return kernel

    def __enter__(self):
        if active_mode.get() is not None:
            raise RuntimeError("Another AsyncCompileMode is already active")
        active_mode.set(self)
        return self

    def __exit__(self, kind, value, traceback):
        active_mode.set(None)
        for kernel in self.future_kernels if kind is None else ():
            kernel.result(self.ignore_errors)
