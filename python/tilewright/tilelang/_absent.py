# SPDX-License-Identifier: Apache-2.0
"""tilelang._absent: names of TileLang and TVM that programs import and that are not here: calling one says its name.

A program that imports one runs as far as it does without it.
"""
import importlib.abc
import importlib.machinery
import re


def missing(path):
    """What is said of it, with the chip where it is one's own."""
    chip = "AMD's GPUs" if re.search("rocm|mfma|MatrixCore", path) else "Blackwell (sm_100)" if "tcgen05" in path.lower() else None
    return f"{path} belongs to another chip: {chip}" if chip else f"{path} is a part of TileLang that Tilewright does not have"


class Absent:
    """A name that is not here."""

    def __init__(self, path):
        self.__dict__["_path"] = path
        self.__dict__["__name__"] = path.rsplit(".", 1)[-1]

    def _refuse(self):
        raise NotImplementedError(missing(self._path))

    def __call__(self, *args, **kwargs):
        self._refuse()

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(f"{self._path} has no {name}")
        return Absent(f"{self._path}.{name}")

    def __mro_entries__(self, bases):
        """A class derived from it cannot be made an object of."""
        path = self._path

        def refuse(cls, *args, **kwargs):
            raise NotImplementedError(missing(path))

        return (type(self.__name__, (), {"__new__": refuse}), )

    def __repr__(self):
        return f"<{self._path}, which is not here>"


def absent_attribute(module, name):
    """For the __getattr__ of a module."""
    if name.startswith("make_") and name.endswith("layout"):  # layouts are hints: one object stands for all makers of them
        from . import layout
        return layout.make_swizzled_layout
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    return Absent(f"{module}.{name}")


class AbsentLoader(importlib.abc.Loader):
    """Loads a module that is not here: each of its names is an Absent."""

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.__path__ = []
        module.__getattr__ = lambda name: absent_attribute(module.__name__, name)


def absent_spec(name):
    """For an import of a module that is not here."""
    return importlib.machinery.ModuleSpec(name, AbsentLoader(), is_package=True)
