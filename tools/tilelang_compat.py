#!/usr/bin/env python3
"""tilelang_compat.py: runs TileLang's own unit tests on our CPU target (or, with --device cuda, on a GPU) and prints the table of docs/tilelang-tests.md.

    tools/tilelang_compat.py CHECKOUT [--jobs 2] [--sample 10] [--file language] [--match EXPRESSION] [--device cpu]
                             [--hang 900] [--seconds 400] [--log FILE] [--read FILE] [--page FILE]

CHECKOUT is a clone of tile-ai/tilelang at tag v0.1.13 (or $TILEWRIGHT_UPSTREAM). Needs numpy, pytest and torch in the Python that runs it, and the package
`tilewright` on its path. On the CPU tensors that a test puts on a CUDA device lie on the CPU (cuda_on_cpu.py). A file is a folder of tests here.
--sample n runs every n-th case only; --seconds runs the cases in a fixed random order and begins none after that time. --log keeps what was said of each case,
--read takes folders from there, --page rewrites docs/tilelang-tests.md with the result.

The file is also a pytest plugin of the processes that run them.
"""
import os
import sys

import compat
from compat import Group

# Folders below testing/python.
FOLDERS = ("language", "issue", "kernel", "jit", "cpu", "cuda", "debug", "math", "fastmath", "autotune", "cache", "profiler", "quantize", "runtime", "utils", "target", "tools",
           "tilelibrary", "layout", "llvm", "carver", "components", "contrib", "backend", "analysis", "arith", "transform")
PAGE = """# TileLang's own unit tests

{sampled}{table}

{failures}
"""


class TileLang(compat.Suite):
    below, plugin, page = "python/", "tilelang_compat", PAGE

    def open(self, checkout):
        self.folder = checkout / "testing"

    def arguments(self, options):
        return ["--continue-on-collection-errors", f"--rootdir={self.folder}"]

    def environment(self, options):
        return {"TILEWRIGHT_COMPAT_DEVICE": options.device}


def pytest_configure(config):
    """Before a test is imported: tensors of a GPU lie on the CPU, and what asks for one finds one."""
    if os.environ.get("TILEWRIGHT_COMPAT_DEVICE") != "cpu":
        return
    import cuda_on_cpu
    cuda_on_cpu.install()
    from tilewright.tilelang import testing
    testing.pretend_device((9, 0))


if __name__ == "__main__":
    sys.exit(compat.main(TileLang({name: Group() for name in FOLDERS}), __doc__))
