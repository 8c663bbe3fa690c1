# SPDX-License-Identifier: Apache-2.0
"""tilelang.cache: compiled kernels are kept on disk by the library, by their contents."""
from .jit import compile as cached


def clear_cache():
    """Nothing that is kept is ever wrong: entries are found by their contents. The folder may be removed (tilelang.env)."""


__all__ = ["cached", "clear_cache"]
