"""triton.runtime.cache: compiled code is kept by the library itself, in $TILEWRIGHT_CACHE_DIR or ~/.cache/tilewright. What is here
is for programs that keep something of their own for each version of the compiler.
"""
import functools
import hashlib
import os

from ... import _native


def default_cache_dir():
    return os.environ.get("TILEWRIGHT_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tilewright")


@functools.lru_cache
def triton_key():
    """Changes with the compiler."""
    with open(_native.__file__, "rb") as file:
        return f"tilewright-{_native.version()}-{hashlib.sha256(file.read()).hexdigest()}"
