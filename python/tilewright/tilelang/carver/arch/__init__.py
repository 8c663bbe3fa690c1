# SPDX-License-Identifier: Apache-2.0
"""tilelang.carver.arch: devices as programs ask for them."""
from ..._absent import absent_attribute
from . import driver


def __getattr__(name):
    return absent_attribute("tilelang.carver.arch", name)


__all__ = ["driver"]
