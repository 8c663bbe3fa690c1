"""GeGLU, a gate activated by gelu (the form with tanh) times a second branch, forward and backward, element by element.

gelu(x) = x/2 (1 + tanh z) = x sigmoid(2 z), z = sqrt(2 / pi) (x + 0.044715 x^3)."""
import torch
import triton
import triton.language as tl


@triton.jit
def gelu_gate(x):
    return tl.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))


@triton.jit
def geglu_kernel(gate_ptr, up_ptr, out_ptr, stride_in, stride_out, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = cols < n_cols
    gate = tl.load(gate_ptr + row * stride_in + cols, mask=inside).to(tl.float32)
    up = tl.load(up_ptr + row * stride_in + cols, mask=inside).to(tl.float32)
    tl.store(out_ptr + row * stride_out + cols, gate * gelu_gate(gate) * up, mask=inside)


@triton.jit
def geglu_backward_kernel(dout_ptr, gate_ptr, up_ptr, dgate_ptr, dup_ptr, stride_in, stride_out, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = cols < n_cols
    dout = tl.load(dout_ptr + row * stride_out + cols, mask=inside).to(tl.float32)
    gate = tl.load(gate_ptr + row * stride_in + cols, mask=inside).to(tl.float32)
    up = tl.load(up_ptr + row * stride_in + cols, mask=inside).to(tl.float32)
    open_ = gelu_gate(gate)
    gelu = gate * open_
    slope = 1.5957691216057308 * (1 + 0.134145 * gate * gate)
    tl.store(dup_ptr + row * stride_in + cols, dout * gelu, mask=inside)
    tl.store(dgate_ptr + row * stride_in + cols, dout * up * (open_ + gelu * (1 - open_) * slope), mask=inside)


def geglu(gate, up, BLOCK=2048):
    rows, cols = gate.shape
    out = torch.empty((rows, cols), device=gate.device, dtype=gate.dtype)
    geglu_kernel[(rows, triton.cdiv(cols, BLOCK))](gate, up, out, gate.stride(0), out.stride(0), cols, BLOCK=BLOCK)
    return out


def geglu_backward(dout, gate, up, BLOCK=2048):
    rows, cols = gate.shape
    dgate, dup = torch.empty_like(gate), torch.empty_like(up)
    grid = (rows, triton.cdiv(cols, BLOCK))
    geglu_backward_kernel[grid](dout, gate, up, dgate, dup, gate.stride(0), dout.stride(0), cols, BLOCK=BLOCK)
    return dgate, dup
# SPDX-License-Identifier: Apache-2.0
