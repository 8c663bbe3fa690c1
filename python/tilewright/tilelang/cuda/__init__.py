# SPDX-License-Identifier: Apache-2.0
"""tilelang.cuda: what programs ask of its instructions."""
from .._absent import absent_attribute
from . import intrinsics

__all__ = ["intrinsics"]


def __getattr__(name):
    return absent_attribute("tilelang.cuda", name)
