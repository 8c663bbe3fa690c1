"""The sum of each row of a matrix, in float32; a program walks a row in blocks."""
import torch
import triton
import triton.language as tl


@triton.jit
def row_sum_kernel(x_ptr, out_ptr, stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        total += tl.load(x_ptr + row * stride + start + cols, mask=start + cols < n_cols, other=0.0)
    tl.store(out_ptr + row, tl.sum(total, axis=0))


def row_sum(x, BLOCK=4096):
    rows, cols = x.shape
    out = torch.empty(rows, device=x.device, dtype=torch.float32)
    row_sum_kernel[(rows,)](x, out, x.stride(0), cols, BLOCK=BLOCK)
    return out
# SPDX-License-Identifier: Apache-2.0
