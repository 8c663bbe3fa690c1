# SPDX-License-Identifier: Apache-2.0
"""tilelang.carver: what is known of a device. Schedules by cost models are not here: calling one says so; tilelang.autotune measures."""
from .._absent import absent_attribute
from . import arch

__all__ = ["arch"]


def __getattr__(name):
    return absent_attribute("tilelang.carver", name)
