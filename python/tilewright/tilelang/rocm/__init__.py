# SPDX-License-Identifier: Apache-2.0
"""tilelang.rocm: whether AMD's GPUs are here for it. What makes code for them is not: calling it says so."""
from .._absent import absent_attribute
from . import target

__all__ = ["target"]


def __getattr__(name):
    return absent_attribute("tilelang.rocm", name)
