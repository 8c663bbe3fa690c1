"""The transpose of a matrix, out of place."""
import torch
import triton
import triton.language as tl


@triton.jit
def transpose_kernel(x_ptr, y_ptr, rows, cols, stride_x, stride_y, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    x = tl.load(x_ptr + i[:, None] * stride_x + j[None, :], mask=(i < rows)[:, None] & (j < cols)[None, :])
    tl.store(y_ptr + j[:, None] * stride_y + i[None, :], tl.trans(x), mask=(j < cols)[:, None] & (i < rows)[None, :])


def transpose(x, BM=64, BN=64):
    rows, cols = x.shape
    y = torch.empty(cols, rows, device=x.device, dtype=x.dtype)
    transpose_kernel[(triton.cdiv(rows, BM), triton.cdiv(cols, BN))](x, y, rows, cols, x.stride(0), y.stride(0), BM=BM, BN=BN)
    return y
# SPDX-License-Identifier: Apache-2.0
