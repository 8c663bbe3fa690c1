"""2-D convolution as a product (im2col): a row of it is a place of the output, its columns are channels; where the pixels of a
place lie is computed by quotients and remainders. Any strides, so images may have their channels first or last."""
import torch
import triton
import triton.language as tl


@triton.jit
def conv2d_kernel(x_ptr, w_ptr, y_ptr, places, C, H, W, K, P, Q, sxn, sxc, sxh, sxw, sw, swk, syn, syk, syp, syq, step, pad,
                  R: tl.constexpr, S: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BC: tl.constexpr):
    at = tl.program_id(0) * BM + tl.arange(0, BM)
    k = tl.program_id(1) * BN + tl.arange(0, BN)
    n, p, q = at // (P * Q), at // Q % P, at % Q
    h, w = p * step - pad, q * step - pad
    sum = tl.zeros((BM, BN), dtype=tl.float32)
    for r in range(R):
        for s in range(S):
            inside = (at < places) & (h + r >= 0) & (h + r < H) & (w + s >= 0) & (w + s < W)
            pixel = n * sxn + (h + r) * sxh + (w + s) * sxw
            for c0 in range(0, C, BC):
                c = c0 + tl.arange(0, BC)
                x = tl.load(x_ptr + pixel[:, None] + c[None, :] * sxc, mask=inside[:, None] & (c < C)[None, :], other=0.0)
                f = tl.load(w_ptr + ((r * S + s) * C + c[:, None]) * sw + k[None, :] * swk, mask=(c < C)[:, None] & (k < K)[None, :], other=0.0)
                sum = tl.dot(x, f, sum, input_precision="ieee")
    y = y_ptr + (n * syn + p * syp + q * syq)[:, None] + k[None, :] * syk
    tl.store(y, sum.to(y_ptr.dtype.element_ty), mask=(at < places)[:, None] & (k < K)[None, :])


def conv2d(x, weight, step=1, pad=0, BM=64, BN=64, BC=32):
    """x (N, C, H, W), weight (K, C, R, S), of any strides."""
    (N, C, H, W), (K, _, R, S) = x.shape, weight.shape
    P, Q = (H + 2 * pad - R) // step + 1, (W + 2 * pad - S) // step + 1
    f = weight.permute(2, 3, 1, 0).reshape(R * S * C, K).contiguous()
    last = x.stride(1) == 1
    y = torch.empty(N, K, P, Q, device=x.device, dtype=x.dtype, memory_format=torch.channels_last if last else torch.contiguous_format)
    grid = (triton.cdiv(N * P * Q, BM), triton.cdiv(K, BN))
    conv2d_kernel[grid](x, f, y, N * P * Q, C, H, W, K, P, Q, *x.stride(), *f.stride(), *y.stride(), step, pad, R=R, S=S, BM=BM, BN=BN, BC=BC)
    return y
# SPDX-License-Identifier: Apache-2.0
