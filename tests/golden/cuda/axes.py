"""Kernels along an axis whose whole text is kept (cases.txt)."""
import triton
import triton.language as tl


@triton.jit
def gather(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.load(index_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr + i, tl.load(x_ptr + at, mask=i < n, other=0.0), mask=i < n)


@triton.jit
def scan(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + i, mask=i < n, other=0.0)
    tl.store(out_ptr + row * n + i, tl.cumsum(x, axis=0), mask=i < n)


@triton.jit
def sort(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.sort(tl.load(x_ptr + i)))


@triton.jit
def histogram(x_ptr, count_ptr, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.atomic_add(count_ptr + tl.arange(0, BINS), tl.histogram(x, BINS, mask=i < n))
