"""setup.py: builds the Python package: the library by the Makefile, then the extension tilewright._native over it.

The extension uses Python's stable ABI, so one build serves CPython 3.11 and later.
"""
import os
import pathlib
import re
import subprocess

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
HEADER = (ROOT / "include" / "tilewright.h").read_text()
VERSION = ".".join(re.search(rf"#define TW_VERSION_{part} (\d+)", HEADER)[1] for part in ("MAJOR", "MINOR", "PATCH"))


class BuildWithLibrary(build_ext):
    """Makes libtilewright.a first, in the tree's own build folder, where objects are reused."""

    def build_extension(self, extension):
        folder = os.environ.get("TILEWRIGHT_BUILD", "build")
        subprocess.check_call(["make", "-s", f"-j{os.cpu_count() or 1}", f"B={folder}", f"{folder}/libtilewright.a"], cwd=ROOT)
        extension.extra_objects = [str(ROOT / folder / "libtilewright.a")]
        super().build_extension(extension)


PACKAGES = sorted(str(path.parent.relative_to(ROOT / "python")).replace(os.sep, ".") for path in (ROOT / "python").glob("tilewright/**/__init__.py"))

setup(
    version=VERSION,
    package_dir={"": "python"},
    packages=PACKAGES,
    package_data={"tilewright": ["child/sitecustomize.py"]},
    ext_modules=[
        Extension("tilewright._native", sorted(str(path.relative_to(ROOT)) for path in (ROOT / "python" / "native").glob("*.c")),
                  include_dirs=["include"], py_limited_api=True, libraries=["m", "dl", "pthread"],
                  extra_compile_args=["-std=c11", "-D_GNU_SOURCE", "-fvisibility=hidden"],
                  extra_link_args=["-Wl,--exclude-libs,ALL"], depends=["include/tilewright.h", "python/native/native.h"])
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
    cmdclass={"build_ext": BuildWithLibrary},
)
