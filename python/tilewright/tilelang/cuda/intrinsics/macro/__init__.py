# SPDX-License-Identifier: Apache-2.0
"""tilelang.cuda.intrinsics.macro: emitters of instructions."""
from . import mma_macro_generator

__all__ = ["mma_macro_generator"]
