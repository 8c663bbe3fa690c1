# SPDX-License-Identifier: Apache-2.0
"""triton._C.libtriton: the few parts of Triton's C++ library that programs use beside the compiler. The others are not there."""
import types


class CublasLt:
    """Products by cuBLASLt, which torch calls: of a (M, K) and b (N, K), c becomes a @ b.T."""

    def __init__(self, workspace):
        self._workspace = workspace

    def _product(self, a, b):
        import torch
        if a.dtype.itemsize > 1:
            return torch.matmul(a, b.T)
        one = torch.ones((), device=a.device)
        return torch._scaled_mm(a, b.T, scale_a=one, scale_b=one, out_dtype=torch.float16)

    def matmul(self, a, b, c):
        if a.dim() != 2 or b.dim() != 2 or a.dtype != b.dtype:
            raise RuntimeError("cublas.matmul multiplies two matrices of one dtype")
        if a.shape[1] != b.shape[1] or tuple(c.shape) != (a.shape[0], b.shape[0]):
            raise RuntimeError(f"cublas.matmul wants (M, K), (N, K) and (M, N), and got {tuple(a.shape)}, {tuple(b.shape)} and {tuple(c.shape)}")
        c.copy_(self._product(a, b))

    def gemm(self, a, b, c, d, alpha, beta):
        """d = alpha * a @ b.T + beta * c"""
        d.copy_(alpha * self._product(a, b) + beta * c)


nvidia = types.SimpleNamespace(cublas=types.SimpleNamespace(CublasLt=CublasLt))
