# SPDX-License-Identifier: Apache-2.0
"""tilelang.tools: TileLang's tools, which are not here: calling one says so. `tilewright explain` and kernel.explain() tell what the compiler
chose."""
from .._absent import absent_attribute


def __getattr__(name):
    return absent_attribute("tilelang.tools", name)
