# SPDX-License-Identifier: Apache-2.0
"""ops.py: a kernel that moves, combines, sorts, counts, exchanges and talks; compiled by compile_all.py, run by anybody."""
import triton
import triton.language as tl


@triton.jit
def longer(x, i, y, j):
    keep = x >= y
    return tl.where(keep, x, y), tl.where(keep, i, j)


@triton.jit
def ops_kernel(x_ptr, y_ptr, z_ptr, n):
    i = tl.arange(0, 256)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.device_assert(i < 256, "inside")
    y = tl.join(x, x + 1.0)
    a, b = tl.split(y)
    tl.store(y_ptr + i, tl.cumsum(a) + tl.sort(b))
    tl.store(y_ptr + 256 + i, tl.flip(tl.cumsum(x, reverse=True)))
    m = tl.reshape(x, (16, 16))
    best, where = tl.reduce((m, tl.reshape(i, (16, 16))), 1, longer)
    r = tl.arange(0, 16)
    tl.store(y_ptr + 512 + r, best)
    tl.store(z_ptr + r, where + tl.argmax(m, 0))
    tl.store(y_ptr + 1024 + i, tl.gather(x, (i * 7) % 256, 0))
    tl.store(z_ptr + 32 + r, tl.histogram((x * 4).to(tl.int32) + 8, 16))
    old = tl.atomic_add(z_ptr + 64 + i % 16, i)
    tl.store(z_ptr + 256 + i, old)
    seen = tl.atomic_cas(z_ptr + 128, 0, 1)
    tl.device_print("seen", seen)
    tl.store(y_ptr + 2048 + i, tl.rand(n, i))
