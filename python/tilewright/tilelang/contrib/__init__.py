# SPDX-License-Identifier: Apache-2.0
"""tilelang.contrib: what is known of NVIDIA's compiler."""
from . import nvcc

__all__ = ["nvcc"]
