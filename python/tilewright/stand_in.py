# SPDX-License-Identifier: Apache-2.0
"""Answers `import triton` with tilewright.triton, `import tilelang` with tilewright.tilelang, and `import tvm` with the little of it there.

install() does so for this process: `triton.x` and `tilewright.triton.x` are then one module. pass_on() does so for the Python
processes that this one starts, through their environment: the folder `child`, which holds a sitecustomize.py, comes first on
PYTHONPATH.
"""
import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import os
import sys

# What a program imports -> ours; whose absent parts may be imported, and say their name where they are called.
OURS = {"triton": "tilewright.triton", "tilelang": "tilewright.tilelang", "tvm": "tilewright.tilelang.tvm"}
_OPEN = ("tilelang", "tvm")


def _ours(name):
    """Our name of a module, or None."""
    first, dot, rest = name.partition(".")
    return OURS[first] + dot + rest if first in OURS else None


class _Loader(importlib.abc.Loader):
    def create_module(self, spec):
        module = importlib.import_module(_ours(spec.name))
        self.spec = module.__spec__
        return module

    def exec_module(self, module):
        module.__spec__ = self.spec  # the import machinery has put its own there
        # All that came with it is there by its other name: to import one would set the name in its package again, where a function
        # may have it (tilelang.jit).
        for theirs, ours in OURS.items():
            for name, loaded in list(sys.modules.items()):
                if name.startswith(ours + ".") and theirs in sys.modules:
                    sys.modules.setdefault(theirs + name[len(ours):], loaded)

    def get_code(self, name):
        """For `-m triton.profiler.viewer`."""
        found = importlib.util.find_spec(_ours(name))
        return found.loader.get_code(found.name)


class _Distribution(importlib.metadata.Distribution):
    """What `importlib.metadata.version("triton")` reads: packages look at it before they import anything."""

    def __init__(self, of):
        self.of = of

    def read_text(self, filename):
        version = importlib.import_module(OURS[self.of]).__version__
        return f"Metadata-Version: 2.1\nName: {self.of}\nVersion: {version}\n" if filename in ("METADATA", "PKG-INFO") else None

    def locate_file(self, path):
        return os.path.join(os.path.dirname(os.path.abspath(__file__)), path)


class _Finder(importlib.metadata.DistributionFinder):
    def find_distributions(self, context=importlib.metadata.DistributionFinder.Context()):
        return [_Distribution(name) for name in ("triton", "tilelang") if context.name in (None, name)]

    def find_spec(self, name, path=None, target=None):
        ours = _ours(name)
        if ours is None:
            return None
        try:
            found = importlib.util.find_spec(ours)
        except ModuleNotFoundError:
            found = None
        if found is None and name.split(".")[0] in _OPEN:
            from .tilelang._absent import absent_spec
            return absent_spec(name)
        if found is None:
            return None
        spec = importlib.machinery.ModuleSpec(name, _Loader(), origin=found.origin,
                                              is_package=found.submodule_search_locations is not None)
        return spec


def install():
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        import importlib.util  # noqa: F401
        from . import torch_compile
        sys.meta_path.insert(0, _Finder())
        torch_compile.install()
        if os.environ.get("TILEWRIGHT_CUDA_ON_CPU", "0") not in ("", "0") and importlib.util.find_spec("torch"):
            from . import cuda_on_cpu
            cuda_on_cpu.install()


def pass_on():
    here = os.path.dirname(os.path.abspath(__file__))
    rest = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.path.join(here, "child") + (os.pathsep + rest if rest else "")
    os.environ["TILEWRIGHT_PACKAGE"] = os.path.dirname(here)
