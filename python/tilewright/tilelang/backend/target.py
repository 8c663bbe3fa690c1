# SPDX-License-Identifier: Apache-2.0
"""tilelang.backend.target: which target is meant."""
from ..jit.target import Target, determine_target

__all__ = ["Target", "determine_target"]
