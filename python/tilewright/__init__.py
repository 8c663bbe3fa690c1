# SPDX-License-Identifier: Apache-2.0
"""tilewright: tile kernels from Python.

    import tilewright.triton as triton          Triton's own interface
    import tilewright.tilelang as tilelang      TileLang's
    python -m tilewright script.py              the same for a script that says `import triton` or `import tilelang`
    tilewright.run("add.py", grid=4, ..)        a kernel of a file, of any door

What is compiled and run is done by the library behind `tilewright._native`; this package holds no compiler.
"""
from . import _native
from .run import run

__version__ = _native.version()


def targets():
    """(name, what it is, can it run here, with what or what is missing) of each target."""
    return _native.targets()


def document(page):
    """A page of the manual, as Markdown: "triton", "ops", "options"."""
    return _native.document(page)


__all__ = ["document", "run", "targets"]
