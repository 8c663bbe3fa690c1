# SPDX-License-Identifier: Apache-2.0
"""tilelang.tools.cuda: tools around CUDA kernels. Of these there are the marks of iket, which draw nothing."""
from ..._absent import absent_attribute
from . import iket

__all__ = ["iket"]


def __getattr__(name):
    return absent_attribute("tilelang.tools.cuda", name)
