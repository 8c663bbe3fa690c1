# SPDX-License-Identifier: Apache-2.0
"""tilelang.tileop.base: T.GemmWarpPolicy by another path."""
from ..language import GemmWarpPolicy

__all__ = ["GemmWarpPolicy"]
