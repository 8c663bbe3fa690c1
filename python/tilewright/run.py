# SPDX-License-Identifier: Apache-2.0
"""tilewright.run: what `tilewright run` does on the command line, on arrays of the program."""
from . import _native


def _described(name, value):
    """A number, text or None as it is; an array with its shape and its strides, in elements."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "stride") and callable(value.stride):  # torch
        return value, tuple(value.shape), tuple(value.stride())
    if hasattr(value, "strides") and hasattr(value, "itemsize"):  # numpy
        if any(step % value.itemsize for step in value.strides):  # a field of a packed record
            raise ValueError(f"argument `{name}`: its strides {tuple(value.strides)} are no multiples of its items of {value.itemsize} bytes; "
                             "pass a copy")
        return value, tuple(value.shape), tuple(step // value.itemsize for step in value.strides)
    return value


def run(file, *, grid=None, target="cpu", sanitize=False, emulate=False, options=None, **args):
    """Launches a kernel of a file: Triton, TileLang, Tile C or IR text. `file` is a path, or PATH:KERNEL where the file holds several.

        tilewright.run("add.py", grid=4, x_ptr=x, y_ptr=y, output_ptr=out, n_elements=1000, BLOCK_SIZE=256)

    Arrays (numpy's, torch's) are read and written in place. grid: one to three extents; None: the kernel's own. sanitize=True raises
    SanitizerError for what the kernel does wrong; emulate=True runs the text of a GPU target on the host; options are those of the
    compiler (docs/options.md).
    """
    from .triton.runtime import cache
    cache.follow()
    path, _, kernel = str(file).partition(":")
    extents = None if grid is None else tuple(grid) if isinstance(grid, (tuple, list)) else (grid, )
    texts = {name: {True: "on", False: "off"}.get(value, str(value)) if isinstance(value, bool) else str(value)
             for name, value in (options or {}).items()}
    _native.run_file(path, kernel or None, extents, {name: _described(name, value) for name, value in args.items()}, texts, target, sanitize,
                     emulate)
