# SPDX-License-Identifier: Apache-2.0
"""tilelang.tileop: T.GemmWarpPolicy by another path."""
from .base import GemmWarpPolicy

__all__ = ["GemmWarpPolicy"]
