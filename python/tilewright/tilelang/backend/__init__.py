"""tilelang.backend: targets."""
from . import target

__all__ = ["target"]
