#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""spdx.py: says the license in each source file that does not yet: in the first line, behind `#!`. Kernels say it in their last one:
messages and expected outputs name their lines. Files that are inputs or expected outputs of tests are left alone.

    tools/spdx.py            adds the line where it lacks
    tools/spdx.py --check    names the files that lack it (tests/check_tree.py)
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEXT = "SPDX-License-Identifier: Apache-2.0"
BLOCK, HASH, SLASHES = f"/* {TEXT} */", f"# {TEXT}", f"// {TEXT}"
FORMS = {".c": BLOCK, ".h": BLOCK, ".def": BLOCK, ".cuh": BLOCK, ".hpp": SLASHES, ".cpp": SLASHES, ".rs": SLASHES, ".py": HASH, ".sh": HASH}
FOLDERS = ["src", "include", "python", "tools", "bench", "examples", "kernels", "tests"]
INPUTS = ["tests/fuzz", "tests/golden"]
LAST = ["kernels/", "tests/gpu/externs.py", "tests/gpu/written.py", "tests/random/", "tests/wild/"]  # whose lines are named


def sources():
    yield ROOT / "setup.py"
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix in FORMS and path.is_file() and not any(name.startswith(f"{one}/") for one in INPUTS) and "target/debug" not in name:
                yield path


def says(path):
    lines = path.read_text().rstrip("\n").split("\n")
    return any(re.search(r"SPDX-License-Identifier: \S", line) for line in [*lines[:3], lines[-1]])


def add(path):
    text, form = path.read_text(), FORMS[path.suffix]
    if any(path.relative_to(ROOT).as_posix().startswith(one) for one in LAST):
        path.write_text(text + ("" if text.endswith("\n") or not text else "\n") + form + "\n")
    elif text.startswith("#!"):
        first, rest = text.split("\n", 1)
        path.write_text(f"{first}\n{form}\n{rest}")
    else:
        path.write_text(f"{form}\n{text}")


def main():
    lacking = [path for path in sources() if not says(path)]
    for path in lacking:
        if "--check" in sys.argv:
            print(f"{path.relative_to(ROOT)} does not say its license; `python3 tools/spdx.py` adds the line")
        else:
            add(path)
    return 1 if lacking and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
