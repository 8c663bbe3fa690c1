"""triton.runtime._async_compile: many kernels compiled side by side.

    with ThreadPoolExecutor() as pool, AsyncCompileMode(pool):
        first = kernel.warmup(..); second = other.warmup(..)      # each a FutureKernel, at once
    first.result()                                                # a CompiledKernel

A compile that runs ahead has a context of its own and leaves what the target's compiler made in the cache on disk; result() finds it
there. Threads are what is wanted: kernels cannot be sent to other processes.
"""
import contextvars

active_mode = contextvars.ContextVar("async_compile_active_mode", default=None)


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

    def submit(self, ahead, finish):
        """ahead() runs in the executor; finish() gives the kernel, in the thread that asks for it."""
        kernel = FutureKernel(finish, self.executor.submit(ahead))
        self.future_kernels.append(kernel)
        return kernel

    def __enter__(self):
        if active_mode.get() is not None:
            raise RuntimeError("Another AsyncCompileMode is already active")
        active_mode.set(self)
        return self

    def __exit__(self, *exception):
        active_mode.set(None)
        for kernel in self.future_kernels:
            kernel.result(self.ignore_errors)
