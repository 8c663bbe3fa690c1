# SPDX-License-Identifier: Apache-2.0
"""torch_side.py: torch's side of the bench. Reads "threads name sizes..", does the work once, answers with the seconds: by the
clock, and of the calling thread."""
import sys
import time

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    sys.exit(1)


def randn(*shape):
    return torch.randn(*shape, generator=generator)


def softmax(rows, cols):
    x = randn(rows, cols)
    out = torch.empty_like(x)
    return lambda: torch.softmax(x, 1, out=out)


def layernorm(rows, cols):
    x, w, b = randn(rows, cols), randn(cols), randn(cols)
    return lambda: F.layer_norm(x, (cols,), w, b)


def attention(heads, n, d, causal):
    q, k, v = (randn(1, heads, n, d) for _ in range(3))
    return lambda: F.scaled_dot_product_attention(q, k, v, is_causal=bool(causal))


def gemm(m, n, k):
    a, b = randn(m, k), randn(k, n)
    out = torch.empty(m, n)
    return lambda: torch.mm(a, b, out=out)


def floats(size, *shape):
    return randn(*shape).to({2: torch.bfloat16, 4: torch.float32}[size])


def copy_rows(n, table, width, size):
    x, index = floats(size, table, width), torch.randint(table, (n,), generator=generator)
    out = floats(size, n, width)
    return lambda: torch.index_select(x, 0, index, out=out)


def add_rows(n, table, width, size):
    x, index = floats(size, n, width), torch.randint(table, (n,), generator=generator)
    out = floats(size, table, width)
    return lambda: out.index_add_(0, index, x)


def transpose(rows, cols, size):
    x, out = floats(size, rows, cols), floats(size, cols, rows)
    return lambda: out.copy_(x.t())


def conv2d(n, c, h, w, k, r, step, pad, last):
    form = torch.channels_last if last else torch.contiguous_format
    x, f = randn(n, c, h, w).to(memory_format=form), randn(k, c, r, r).to(memory_format=form)
    return lambda: F.conv2d(x, f, stride=step, padding=pad)


generator = torch.Generator().manual_seed(1)
work, threads = {}, 0
print("ready", flush=True)
with torch.inference_mode():
    for line in sys.stdin:
        words = line.split()
        if int(words[0]) != threads:
            threads = int(words[0])
            torch.set_num_threads(threads)
        key = tuple(words[1:])
        if key not in work:
            work[key] = globals()[key[0]](*map(int, key[1:]))
            work[key]()
        start, own = time.perf_counter(), time.thread_time()
        work[key]()
        print(time.perf_counter() - start, time.thread_time() - own, flush=True)
