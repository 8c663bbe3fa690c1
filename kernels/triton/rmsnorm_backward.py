"""Gradients of root mean square normalisation over rows, y = x rstd w. A program takes some rows one after the other, and keeps its
part of the weight's gradient beside them; a second kernel adds the parts."""
import torch
import triton
import triton.language as tl


@triton.jit
def rmsnorm_backward_kernel(dy_ptr, x_ptr, w_ptr, rstd_ptr, dx_ptr, dw_ptr, stride, n_rows, n_cols, rows_each, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < n_cols
    w = tl.load(w_ptr + cols, mask=inside, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK,), dtype=tl.float32)
    first = program * rows_each
    for row in range(first, min(first + rows_each, n_rows)):
        at = row.to(tl.int64) * stride + cols
        x = tl.load(x_ptr + at, mask=inside, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + at, mask=inside, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        x *= rstd
        dw += dy * x
        dy *= w
        dx = rstd * (dy - x * (tl.sum(dy * x, axis=0) / n_cols))
        tl.store(dx_ptr + at, dx, mask=inside)
    tl.store(dw_ptr + program.to(tl.int64) * n_cols + cols, dw, mask=inside)


@triton.jit
def add_parts_kernel(parts_ptr, out_ptr, n_parts, n_cols, BM: tl.constexpr, BN: tl.constexpr):
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    rows = tl.arange(0, BM)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for first in range(0, n_parts, BM):
        inside = (first + rows[:, None] < n_parts) & (cols[None, :] < n_cols)
        total += tl.load(parts_ptr + (first + rows[:, None]) * n_cols + cols[None, :], mask=inside, other=0.0)
    tl.store(out_ptr + cols, tl.sum(total, axis=0), mask=cols < n_cols)


def rmsnorm_backward(dy, x, w, rstd, programs=264, BM=32, BN=64):
    rows, cols = x.shape
    dx, dw = torch.empty_like(x), torch.empty_like(w)
    rows_each = triton.cdiv(rows, programs)
    parts = torch.empty((triton.cdiv(rows, rows_each), cols), device=x.device, dtype=torch.float32)
    rmsnorm_backward_kernel[(parts.shape[0],)](dy, x, w, rstd, dx, parts, x.stride(0), rows, cols, rows_each, BLOCK=triton.next_power_of_2(cols))
    add_parts_kernel[(triton.cdiv(cols, BN),)](parts, dw, parts.shape[0], cols, BM=BM, BN=BN)
    return dx, dw
# SPDX-License-Identifier: Apache-2.0
