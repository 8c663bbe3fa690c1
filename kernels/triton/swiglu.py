"""SwiGLU, the product of an activated gate with a second branch, forward and backward: silu(gate) * up, element by element."""
import torch
import triton
import triton.language as tl


@triton.jit
def swiglu_kernel(gate_ptr, up_ptr, out_ptr, stride_in, stride_out, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = cols < n_cols
    gate = tl.load(gate_ptr + row * stride_in + cols, mask=inside).to(tl.float32)
    up = tl.load(up_ptr + row * stride_in + cols, mask=inside).to(tl.float32)
    tl.store(out_ptr + row * stride_out + cols, gate * tl.sigmoid(gate) * up, mask=inside)


@triton.jit
def swiglu_backward_kernel(dout_ptr, gate_ptr, up_ptr, dgate_ptr, dup_ptr, stride_in, stride_out, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = cols < n_cols
    dout = tl.load(dout_ptr + row * stride_out + cols, mask=inside).to(tl.float32)
    gate = tl.load(gate_ptr + row * stride_in + cols, mask=inside).to(tl.float32)
    up = tl.load(up_ptr + row * stride_in + cols, mask=inside).to(tl.float32)
    open_ = tl.sigmoid(gate)
    silu = gate * open_
    tl.store(dup_ptr + row * stride_in + cols, dout * silu, mask=inside)
    tl.store(dgate_ptr + row * stride_in + cols, dout * up * (open_ + silu * (1 - open_)), mask=inside)


def swiglu(gate, up, BLOCK=2048):
    rows, cols = gate.shape
    out = torch.empty((rows, cols), device=gate.device, dtype=gate.dtype)
    swiglu_kernel[(rows, triton.cdiv(cols, BLOCK))](gate, up, out, gate.stride(0), out.stride(0), cols, BLOCK=BLOCK)
    return out


def swiglu_backward(dout, gate, up, BLOCK=2048):
    rows, cols = gate.shape
    dgate, dup = torch.empty_like(gate), torch.empty_like(up)
    grid = (rows, triton.cdiv(cols, BLOCK))
    swiglu_backward_kernel[grid](dout, gate, up, dgate, dup, gate.stride(0), dout.stride(0), cols, BLOCK=BLOCK)
    return dgate, dup
# SPDX-License-Identifier: Apache-2.0
