# SPDX-License-Identifier: Apache-2.0
"""tilelang.tools.cuda.iket: marks in a kernel's timeline. Kernels with them run; no timeline is drawn, and there are no files."""
import contextlib
import pathlib

from .... import _native

_open = None  # the folder of the session around the program


@contextlib.contextmanager
def session(output_dir=None, **options):
    """Programs are compiled in it as outside of it."""
    global _open
    before, _open = _open, output_dir or "."
    try:
        yield
    finally:
        _open = before


def is_enabled():
    """Is there a session around?"""
    return _open is not None


def output_dir():
    return _open


def output_path(name, directory=None):
    """Where a file of the session lies: the folder is made."""
    folder = pathlib.Path(directory or _open or ".")
    folder.mkdir(parents=True, exist_ok=True)
    return folder / name


def event_table():
    """Events by name: none are recorded."""
    return {}


def trace_files(directory=None):
    """Files of timelines: none are written."""
    return []


def runtime_payloads_enabled():
    return False


def reset():
    """Forgets the session."""
    global _open
    _open = None


disable = disable_runtime_payloads = reset


class _Mark:
    """A mark: it stands in kernels."""

    def __init__(self, name):
        self.__name__ = name
        _native.register(self, f"tilelang.tools.cuda.iket.{name}")

    def __call__(self, *args, **kwargs):
        raise TypeError(f"iket.{self.__name__} is for kernels")


mark, range, payload = _Mark("mark"), _Mark("range"), _Mark("payload")
