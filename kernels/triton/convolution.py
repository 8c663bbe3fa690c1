"""Convolution of images [N, H, W, C] with filters [R, S, C, F] as one product: a row is a pixel of the result, and the sum runs over taps and
channels. What a row reads of the image is found by // and % (im2col, but nothing is copied)."""
import torch
import triton
import triton.language as tl


@triton.jit
def convolution_kernel(
    x_ptr, w_ptr, y_ptr,  # [N, H, W, C], [R, S, C, F], [N, P, Q, F]
    images, H, W, P, Q, F,
    C: tl.constexpr, R: tl.constexpr, S: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    rf = tl.program_id(1) * BN + tl.arange(0, BN)
    top = rows // Q % P * STRIDE - PAD
    left = rows % Q * STRIDE - PAD
    image = rows // (P * Q)
    inside = image < images
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for first in range(0, R * S * C, BK):
        k = first + tl.arange(0, BK)
        h = top[:, None] + (k // (S * C))[None, :]
        w = left[:, None] + (k // C % S)[None, :]
        seen = inside[:, None] & (h >= 0) & (h < H) & (w >= 0) & (w < W) & (k < R * S * C)[None, :]
        x = tl.load(x_ptr + ((image[:, None] * H + h) * W + w) * C + (k % C)[None, :], mask=seen, other=0.0)
        filters = tl.load(w_ptr + k[:, None] * F + rf[None, :], mask=(k < R * S * C)[:, None] & (rf < F)[None, :], other=0.0)
        acc = tl.dot(x, filters, acc)
    y = acc.to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + rows[:, None] * F + rf[None, :], y, mask=inside[:, None] & (rf < F)[None, :])


@triton.jit
def convolution_by_taps_kernel(
    x_ptr, w_ptr, y_ptr,
    images, H, W, P, Q, F,
    C: tl.constexpr, R: tl.constexpr, S: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):
    """As above, for C that BK divides: all channels of a step belong to one tap."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    rf = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    top = rows // Q % P * STRIDE - PAD
    left = rows % Q * STRIDE - PAD
    image = rows // (P * Q)
    inside = image < images
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, R * S * C // BK):
        tap = step // (C // BK)
        channel = step % (C // BK) * BK
        h = top + tap // S
        w = left + tap % S
        seen = inside & (h >= 0) & (h < H) & (w >= 0) & (w < W)
        x = tl.load(x_ptr + (((image * H + h) * W + w) * C + channel)[:, None] + rk[None, :], mask=seen[:, None], other=0.0)
        filters = tl.load(w_ptr + (step * BK + rk)[:, None] * F + rf[None, :], mask=(rf < F)[None, :], other=0.0)
        acc = tl.dot(x, filters, acc)
    y = acc.to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + rows[:, None] * F + rf[None, :], y, mask=inside[:, None] & (rf < F)[None, :])


def convolution(x, w, stride=1, pad=0, BM=64, BN=64, BK=32, **options):
    images, H, W, C = x.shape
    R, S, _, F = w.shape
    P, Q = (H + 2 * pad - R) // stride + 1, (W + 2 * pad - S) // stride + 1
    y = torch.empty((images, P, Q, F), dtype=x.dtype, device=x.device)
    kernel = convolution_kernel if C % BK else convolution_by_taps_kernel
    kernel[(triton.cdiv(images * P * Q, BM), triton.cdiv(F, BN))](
        x, w, y, images, H, W, P, Q, F, C=C, R=R, S=S, STRIDE=stride, PAD=pad, BM=BM, BN=BN, BK=BK, **options)
    return y
# SPDX-License-Identifier: Apache-2.0
