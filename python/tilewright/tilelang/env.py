# SPDX-License-Identifier: Apache-2.0
"""tilelang.env: settings of a program."""
import os

from .. import _native


class _Environment:
    """Settings; those of TileLang that mean nothing here can be set and read."""
    TILELANG_CACHE_DIR = property(lambda self: os.environ.get("TILEWRIGHT_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tilewright"))
    _cached = True

    def is_cache_enabled(self):
        return self._cached

    def is_light_import(self):
        return False


env = _Environment()


def enable_cache():
    """Compiled kernels are kept on disk, which they are from the start."""
    env._cached = True
    _native.configure(cache_dir=env.TILELANG_CACHE_DIR)


def disable_cache():
    """Compiled kernels are not kept on disk from now on."""
    env._cached = False
    _native.configure(cache_dir="")


def is_cache_enabled():
    return env._cached
