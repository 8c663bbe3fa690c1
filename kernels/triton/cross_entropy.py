"""Cross entropy of rows of logits with one right class each, and its gradient. A row is read once for the loss: its peak so far, and
the sum of exponentials below that peak; the gradient needs only what that leaves."""
import torch
import triton
import triton.language as tl


@triton.jit
def cross_entropy_kernel(logits_ptr, target_ptr, loss_ptr, lse_ptr, stride, n_cols, ignored, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    logits_ptr += row * stride
    cols = tl.arange(0, BLOCK)
    peak = float("-inf")
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        x = tl.load(logits_ptr + start + cols, mask=start + cols < n_cols, other=float("-inf")).to(tl.float32)
        higher = tl.maximum(peak, tl.max(x, axis=0))
        total = total * tl.exp(peak - higher) + tl.exp(x - higher)
        peak = higher
    lse = peak + tl.log(tl.sum(total, axis=0))
    target = tl.load(target_ptr + row)
    right = tl.load(logits_ptr + target, mask=target != ignored, other=0.0).to(tl.float32)
    tl.store(lse_ptr + row, lse)
    tl.store(loss_ptr + row, tl.where(target != ignored, lse - right, 0.0))


@triton.jit
def cross_entropy_backward_kernel(logits_ptr, target_ptr, lse_ptr, dloss_ptr, dlogits_ptr, stride, n_cols, ignored, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = cols < n_cols
    target = tl.load(target_ptr + row)
    scale = tl.where(target != ignored, tl.load(dloss_ptr + row), 0.0)
    lse = tl.load(lse_ptr + row)
    x = tl.load(logits_ptr + row * stride + cols, mask=inside).to(tl.float32)
    slope = tl.exp(x - lse) - tl.where(cols == target, 1.0, 0.0)
    tl.store(dlogits_ptr + row * stride + cols, slope * scale, mask=inside)


def cross_entropy(logits, target, ignored=-100, BLOCK=8192):
    rows, cols = logits.shape
    loss = torch.empty(rows, device=logits.device, dtype=torch.float32)
    lse = torch.empty_like(loss)
    cross_entropy_kernel[(rows,)](logits, target, loss, lse, logits.stride(0), cols, ignored, BLOCK=BLOCK)
    return loss, lse


def cross_entropy_backward(logits, target, lse, dloss, ignored=-100, BLOCK=2048):
    rows, cols = logits.shape
    dlogits = torch.empty_like(logits)
    grid = (rows, triton.cdiv(cols, BLOCK))
    cross_entropy_backward_kernel[grid](logits, target, lse, dloss, dlogits, logits.stride(0), cols, ignored, BLOCK=BLOCK)
    return dlogits
# SPDX-License-Identifier: Apache-2.0
