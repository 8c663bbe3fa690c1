# SPDX-License-Identifier: Apache-2.0
"""setup.py: builds the Python package: the library and the command by the Makefile, then the extension tilewright._native over it.

From CPython 3.11 on the extension uses Python's stable ABI, so that one build serves them all; older ones (3.9, 3.10), whose stable ABI
has no buffers, get a build of their own.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
HEADER = (ROOT / "include" / "tilewright.h").read_text()
VERSION = ".".join(re.search(rf"#define TW_VERSION_{part} (\d+)", HEADER)[1] for part in ("MAJOR", "MINOR", "PATCH"))
STABLE = sys.version_info >= (3, 11)


def need_tools():
    """One line where something is missing, before anything else says it in a hundred."""
    compiler = (os.environ.get("CC") or "").split()[:1] or ["cc", "gcc", "clang"]
    if not any(map(shutil.which, compiler)):
        sys.exit(f"tilewright is built with a C compiler, and {' or '.join(compiler)} is not in PATH; install one (apt-get install gcc make)")
    if not shutil.which("make"):
        sys.exit("tilewright is built with make, which is not in PATH; install it (apt-get install make)")


class BuildWithLibrary(build_ext):
    """Makes libtilewright.a and the command first, in the tree's own build folder, where objects are reused."""

    def build_extension(self, extension):
        need_tools()
        folder = os.environ.get("TILEWRIGHT_BUILD", "build")
        made = [f"{folder}/libtilewright.a", f"{folder}/tilewright"]
        subprocess.check_call(["make", "-s", f"-j{os.cpu_count() or 1}", f"B={folder}", *made], cwd=ROOT)
        extension.extra_objects = [str(ROOT / folder / "libtilewright.a")]
        super().build_extension(extension)
        place = pathlib.Path(self.get_ext_fullpath(extension.name)).parent / "bin"
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / folder / "tilewright", place / "tilewright")
        if shutil.which("strip"):  # 4.5 MB each instead of 21: who debugs the compiler builds it
            subprocess.check_call(["strip", "-S", str(place / "tilewright"), self.get_ext_fullpath(extension.name)])


PACKAGES = sorted(str(path.parent.relative_to(ROOT / "python")).replace(os.sep, ".") for path in (ROOT / "python").glob("tilewright/**/__init__.py"))

setup(
    version=VERSION,
    package_dir={"": "python"},
    packages=PACKAGES,
    package_data={"tilewright": ["child/sitecustomize.py"]},
    ext_modules=[
        Extension("tilewright._native", sorted(str(path.relative_to(ROOT)) for path in (ROOT / "python" / "native").glob("*.c")),
                  include_dirs=["include"], py_limited_api=STABLE, libraries=["m", "dl", "pthread"],
                  extra_compile_args=["-std=c11", "-D_GNU_SOURCE", "-fvisibility=hidden"],
                  extra_link_args=["-Wl,--exclude-libs,ALL"], depends=["include/tilewright.h", "python/native/native.h"])
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {},
    cmdclass={"build_ext": BuildWithLibrary},
)
