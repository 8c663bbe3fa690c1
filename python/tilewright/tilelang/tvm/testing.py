# SPDX-License-Identifier: Apache-2.0
"""tvm.testing: what tests of kernels use."""
from .._absent import absent_attribute
from ..testing import assert_allclose, main, requires_cuda, requires_llvm, requires_metal, requires_package, requires_rocm

__all__ = ["assert_allclose", "main", "requires_cuda", "requires_llvm", "requires_metal", "requires_package", "requires_rocm"]


def __getattr__(name):
    return absent_attribute("tvm.testing", name)
