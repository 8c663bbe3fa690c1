"""tilewright: tile kernels from Python, on the CPU.

    import tilewright.triton as triton          Triton's own interface
    python -m tilewright script.py              the same for a script that says `import triton`

What is compiled and run is done by the library behind `tilewright._native`; this package holds no compiler.
"""
from . import _native

__version__ = _native.version()


def targets():
    """(name, what it is, can it run here, with what or what is missing) of each target."""
    return _native.targets()


def document(page):
    """A page of the manual, as Markdown: "triton", "ops", "options"."""
    return _native.document(page)
