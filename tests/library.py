#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""library.py: what the library shows to programs that link it, and that it is the same wherever it is built.

    tests/library.py [--bin DIR]

tools/tilewright.symbols lists every function of the interface and the version that it came with. The header declares those and no
others, the shared library exports those and no others, and every global name of the archive begins with tw_. Objects that are compiled
in two folders have the same bytes.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAMPLE = ["src/base/arena.o", "src/base/diag.o", "src/cli/say.o", "gen/embedded.o"]


def output(*command, **how):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=True, text=True, **how).stdout


def names_of(path, *flags):
    return {line.split()[-1] for line in output("nm", "--defined-only", *flags, path).splitlines() if len(line.split()) == 3}


def header_says():
    """Functions of the header, and the versions that its comments name."""
    text = (ROOT / "include/tilewright.h").read_text()
    declared = set(re.findall(r"\b(tw_\w+)\(", " ".join(re.findall(r"^TW_API[^;]*;", text, re.M))))
    return text, declared, set(re.findall(r"Since[\s*]+(\d+\.\d+)", text))


def number(version):
    return [int(part) for part in version.split(".")]


def check(faults, what, got, want):
    for name in sorted(got - want):
        faults.append(f"{what} has `{name}`, which tools/tilewright.symbols does not list")
    for name in sorted(want - got):
        faults.append(f"{what} lacks `{name}`, which tools/tilewright.symbols lists")


def built_in(folder):
    """The sample's bytes, compiled in a copy of the sources there."""
    for part in ("src", "include", "tools"):
        shutil.copytree(ROOT / part, folder / part)
    shutil.copy(ROOT / "Makefile", folder)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CCACHE")}
    output("make", "-s", "CC=gcc", "CFLAGS=-O1 -g", *["build/" + name for name in SAMPLE], cwd=folder, env=environment)
    return [(folder / "build" / name).read_bytes() for name in SAMPLE]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default=str(ROOT / "build"))
    folder = pathlib.Path(parser.parse_args().bin)
    rows = [line.split() for line in (ROOT / "tools/tilewright.symbols").read_text().splitlines() if line and not line.startswith("#")]
    listed = {name for name, _ in rows}
    text, declared, versions = header_says()
    version = ".".join(re.findall(r"^#define TW_VERSION_\w+ (\d+)", text, re.M))
    faults = []
    check(faults, "include/tilewright.h", declared, listed)
    check(faults, "libtilewright.so", names_of(folder / "libtilewright.so", "-D"), listed)
    check(faults, "libtilewright.a", names_of(folder / "libtilewright.a", "-g"), listed)
    for since in sorted({since for _, since in rows} | versions):
        if number(since) > number(version):
            faults.append(f"something is there since {since}, and this is {version}")
    if [name for name, _ in rows] != sorted(listed):
        faults.append("tools/tilewright.symbols is not sorted, or lists a name twice")
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        deep = pathlib.Path(second, "another/folder")
        deep.mkdir(parents=True)
        for name, one, other in zip(SAMPLE, built_in(pathlib.Path(first)), built_in(deep)):
            if one != other:
                faults.append(f"{name} is another one when it is compiled in another folder")
    print("\n".join(faults) or f"{len(rows)} functions; {len(SAMPLE)} objects are the same in two folders")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
