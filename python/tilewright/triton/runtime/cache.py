"""triton.runtime.cache: compiled code is kept by the library itself, in $TILEWRIGHT_CACHE_DIR or ~/.cache/tilewright."""
import os


def default_cache_dir():
    return os.environ.get("TILEWRIGHT_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tilewright")
