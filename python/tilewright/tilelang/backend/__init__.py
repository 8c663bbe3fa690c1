# SPDX-License-Identifier: Apache-2.0
"""tilelang.backend: targets."""
from . import target

__all__ = ["target"]
