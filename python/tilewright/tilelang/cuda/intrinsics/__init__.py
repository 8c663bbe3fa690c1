# SPDX-License-Identifier: Apache-2.0
"""tilelang.cuda.intrinsics: how sparse matrices are stored. Generators of instructions are not here: calling one says so."""
from ..._absent import absent_attribute
from . import sparse_layout

__all__ = ["sparse_layout"]


def __getattr__(name):
    return absent_attribute("tilelang.cuda.intrinsics", name)
