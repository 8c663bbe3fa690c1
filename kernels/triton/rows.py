"""Rows of a matrix that numbers choose: copied (an embedding), and added to (its gradient), where several may go to one row."""
import torch
import triton
import triton.language as tl


@triton.jit
def embedding_kernel(table_ptr, index_ptr, out_ptr, n, width, stride_t, stride_o, BM: tl.constexpr, BC: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BC + tl.arange(0, BC)
    chosen = tl.load(index_ptr + rows, mask=rows < n, other=0)
    inside = (rows < n)[:, None] & (cols < width)[None, :]
    x = tl.load(table_ptr + chosen[:, None] * stride_t + cols[None, :], mask=inside)
    tl.store(out_ptr + rows[:, None] * stride_o + cols[None, :], x, mask=inside)


@triton.jit
def zero_kernel(out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.zeros((BLOCK,), out_ptr.dtype.element_ty), mask=at < count)


@triton.jit
def scatter_add_kernel(x_ptr, index_ptr, out_ptr, n, width, stride_x, stride_o, BM: tl.constexpr, BC: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BC + tl.arange(0, BC)
    chosen = tl.load(index_ptr + rows, mask=rows < n, other=0)
    inside = (rows < n)[:, None] & (cols < width)[None, :]
    x = tl.load(x_ptr + rows[:, None] * stride_x + cols[None, :], mask=inside)
    tl.atomic_add(out_ptr + chosen[:, None] * stride_o + cols[None, :], x, mask=inside, sem="relaxed")


def embedding(table, index, BM=16, BC=256):
    out = torch.empty(index.numel(), table.shape[1], device=table.device, dtype=table.dtype)
    grid = (triton.cdiv(index.numel(), BM), triton.cdiv(table.shape[1], BC))
    embedding_kernel[grid](table, index, out, index.numel(), table.shape[1], table.stride(0), out.stride(0), BM=BM, BC=BC)
    return out


def scatter_add(x, index, rows, BM=16, BC=256):
    """Sums of the rows of x that have the same number, 0 .. rows-1."""
    out = torch.empty(rows, x.shape[1], device=x.device, dtype=x.dtype)
    zero_kernel[(triton.cdiv(out.numel(), 4096),)](out, out.numel(), BLOCK=4096)
    grid = (triton.cdiv(index.numel(), BM), triton.cdiv(x.shape[1], BC))
    scatter_add_kernel[grid](x, index, out, index.numel(), x.shape[1], x.stride(0), out.stride(0), BM=BM, BC=BC)
    return out
# SPDX-License-Identifier: Apache-2.0
