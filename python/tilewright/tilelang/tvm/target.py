# SPDX-License-Identifier: Apache-2.0
"""tvm.target: targets."""
from .._absent import absent_attribute
from ..jit.target import Target

__all__ = ["Target"]


def __getattr__(name):
    return absent_attribute("tvm.target", name)
