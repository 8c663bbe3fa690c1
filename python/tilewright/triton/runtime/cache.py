# SPDX-License-Identifier: Apache-2.0
"""triton.runtime.cache: where things are kept.

Compiled code is kept by the library itself: in the folder `tilewright` of what the program set as knobs.cache.dir, else in
$TILEWRIGHT_CACHE_DIR, else in the folder `tilewright` of $TRITON_CACHE_DIR, else in ~/.cache/tilewright. The cache managers are for
programs that keep files of their own; they use Triton's folders.
"""
import base64
import functools
import hashlib
import json
import os
import tempfile

from ... import _native
from .. import knobs


def default_cache_dir():
    """The folder of compiled code."""
    own = vars(knobs.cache).get("dir")
    if own is None and os.environ.get("TILEWRIGHT_CACHE_DIR"):
        return os.environ["TILEWRIGHT_CACHE_DIR"]
    chosen = own or os.environ.get("TRITON_CACHE_DIR")
    if chosen:
        return os.path.join(os.path.abspath(chosen), "tilewright")
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tilewright")


def follow():
    """Tells the library where to keep what it compiles from now on."""
    _native.configure(cache_dir=default_cache_dir())


@functools.lru_cache
def triton_key():
    """Changes with the compiler."""
    with open(_native.__file__, "rb") as file:
        return f"tilewright-{_native.version()}-{hashlib.sha256(file.read()).hexdigest()}"


class CacheManager:
    """What a class named by TRITON_CACHE_MANAGER derives from."""

    def __init__(self, key, override=False, dump=False):
        self.key = key


class FileCacheManager(CacheManager):
    """Files of one key, in a folder of their own. A file appears whole or not at all."""

    def __init__(self, key, override=False, dump=False):
        super().__init__(key)
        base = knobs.cache.dump_dir if dump else knobs.cache.override_dir if override else knobs.cache.dir
        self.cache_dir = os.path.join(base, key)
        self.lock_path = os.path.join(self.cache_dir, "lock")
        if not override:
            os.makedirs(self.cache_dir, exist_ok=True)

    def _make_path(self, filename):
        return os.path.join(self.cache_dir, filename)

    def has_file(self, filename):
        return os.path.exists(self._make_path(filename))

    def get_file(self, filename):
        return self._make_path(filename) if self.has_file(filename) else None

    def get_group(self, filename):
        path = self.get_file(f"__grp__{filename}")
        if path is None:
            return None
        with open(path) as file:
            children = json.load(file).get("child_paths")
        return None if children is None else {name: path for name, path in children.items() if os.path.exists(path)}

    def put_group(self, filename, group):
        return self.put(json.dumps({"child_paths": group}), f"__grp__{filename}", binary=False)

    def put(self, data, filename, binary=True):
        data = data if isinstance(data, bytes) else str(data).encode()
        handle, made = tempfile.mkstemp(dir=self.cache_dir)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(made, self._make_path(filename))
        except BaseException:
            os.unlink(made)
            raise
        return self._make_path(filename)


class RemoteCacheBackend:
    """What a class named by TRITON_REMOTE_CACHE_BACKEND derives from. There is no remote cache: using one is an error."""

    def __init__(self, key):
        raise NotImplementedError("remote caches (TRITON_REMOTE_CACHE_BACKEND) are not there; the cache is a folder, which can be shared")


class RedisRemoteCacheBackend(RemoteCacheBackend):
    """Redis as a cache: not there either."""


def _base32(key):
    return base64.b32encode(bytes.fromhex(key)).decode("utf-8").rstrip("=")


def get_cache_manager(key):
    """The files that belong to a key, a text of hexadecimal digits."""
    return (knobs.cache.manager_class or FileCacheManager)(_base32(key))


def get_dump_manager(key):
    return FileCacheManager(_base32(key), dump=True)


def get_override_manager(key):
    return FileCacheManager(_base32(key), override=True)


def make_so_cache_key(version_hash, signature, constants, ids, **kwargs):
    """A key of a shared object that a program builds for itself."""
    return hashlib.sha256(repr((version_hash, sorted(signature.items()), sorted(constants.items()), ids, sorted(kwargs.items()))).encode()).hexdigest()
