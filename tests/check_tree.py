#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_tree.py: rules about the tree itself.

- docs/architecture.md names every file of src/, and no file that is not there;
- includes point only to the left: base < ir, syntax < analysis < front, pass, target < draw < runtime < cli, and cli sees nothing but
  the public header;
- a target includes of the others only what is there for all: cstyle, and simt for those with lanes;
- the preludes of emitted CUDA and HIP have no templates: who reads a kernel reads C;
- texts of the library speak of no option of the command line: programs in C and Python read them too;
- what to type instead stands behind FIX in a message, where programs find it by itself;
- C is no wider than .clang-format says, comments included; file names are unique; README.md is under 150 lines; every markdown link to a file leads to one, and
  every row of a table has the cells of its head: a `|` inside of one is written `\\|`;
- each source file says its license (tools/spdx.py).
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEES = {
    "base": {"base"},
    "ir": {"base", "ir"},
    "syntax": {"base", "syntax"},
    "analysis": {"base", "ir", "analysis"},
    "front": {"base", "ir", "syntax", "front"},
    "pass": {"base", "ir", "analysis", "pass"},
    "target": {"base", "ir", "analysis", "pass", "target"},
    "draw": {"base", "ir", "analysis", "pass", "target", "draw"},
    "runtime": {"base", "ir", "syntax", "analysis", "front", "pass", "target", "draw", "runtime"},
    "cli": {"cli"},
}
# What the folders of src/target see of each other, beside themselves.
TARGET_SEES = {"cstyle": set(), "cpu": {"cstyle"}, "tenstorrent": {"cstyle"}, "simt": {"cstyle"}, "cuda": {"cstyle", "simt"}, "hip": {"cstyle", "simt"}}


def check_includes(errors):
    for path in sorted(ROOT.glob("src/**/*.[ch]")):
        layer = path.relative_to(ROOT / "src").parts[0]
        if "prelude" in path.parts or "include" in path.parts:
            continue  # compiled with the emitted code, not with the library
        for number, line in enumerate(path.read_text().split("\n"), 1):
            found = re.match(r'#include "([a-z]+)/', line)
            if found and found.group(1) not in SEES[layer]:
                errors.append(f"{path.relative_to(ROOT)}:{number}: {layer} may not include {found.group(1)}")
            found = re.match(r'#include "target/(\w+)/', line)
            own = path.relative_to(ROOT / "src").parts[1]
            if layer == "target" and found and found.group(1) not in {own, *TARGET_SEES[own]}:
                errors.append(f"{path.relative_to(ROOT)}:{number}: target/{own} may not include target/{found.group(1)}")


def check_architecture(errors):
    page = ROOT / "docs/architecture.md"
    text = page.read_text()
    files = {str(p.relative_to(ROOT)) for p in ROOT.glob("src/**/*") if p.is_file()}
    named = set(re.findall(r"`(src/[\w/.]+\.\w+)`", text))
    errors += [f"docs/architecture.md does not name {name}" for name in sorted(files - named)]
    errors += [f"docs/architecture.md names {name}, which does not exist" for name in sorted(named - files)]


def check_texts(errors):
    """A string with a blank is a sentence; one without is a flag that we give to a compiler."""
    for path in sorted([*ROOT.glob("src/**/*.[ch]"), *ROOT.glob("src/**/*.def")]):
        parts = path.relative_to(ROOT / "src").parts
        if parts[0] in ("cli", "draw") or parts[-1] in ("manual_pages.c", "tilec_manual.def", "tilelang_manual.def"):  # names of styles begin as options do; the manual is the command line's
            continue
        code = re.sub(r"/\*.*?\*/|//[^\n]*", lambda found: "\n" * found.group().count("\n"), path.read_text(), flags=re.S)
        code = re.sub(r'"\s*\n\s*"', "", code)  # one text over several lines
        for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', code):
            option = re.search(r"(?<![\w-])(--[a-z][a-z-]*|-[DIo])(?![\w-])", text)
            if " " in text and option or re.search(r"\btilewright (docs|list|targets|help|run|check|explain)\b", text):
                errors.append(f"{path.relative_to(ROOT)}: the text \"{text}\" speaks of the command line")


def check_fixes(errors):
    """`; write this` in the words of a message is a fix that JSON, C and Python would miss."""
    verbs = "add arrive assign cast choose compile compute convert copy delete drop give indent index install launch leave load make move " \
            "name pass put remove save split store take use write"
    for path in sorted([ROOT / "src/base/diag.def", *(p for part in ("front", "syntax", "ir", "pass", "runtime", "target/tenstorrent")
                                                      for p in ROOT.glob(f"src/{part}/**/*.c"))]):
        if "model" in path.parts or path.name in ("manual_pages.c", "gpu_driver.c"):  # which says why a target is not here, in a table
            continue
        code = re.sub(r"/\*.*?\*/", lambda found: "\n" * found.group().count("\n"), path.read_text(), flags=re.S)
        for number, line in enumerate(code.split("\n"), 1):
            for text in re.findall(r'"((?:[^"\\]|\\.)*)"', line):
                if re.search(rf"(?:; |: )(?:{verbs.replace(' ', '|')}) ", text):
                    errors.append(f"{path.relative_to(ROOT)}:{number}: the text \"{text}\" has its fix in its words; put FIX before it")


def check_names(errors):
    seen = {}
    for path in sorted(ROOT.glob("src/**/*.[ch]")):
        if "include" in path.parts:
            continue
        if path.name in seen:
            errors.append(f"{path.relative_to(ROOT)} and {seen[path.name]} share a name")
        seen[path.name] = path.relative_to(ROOT)


def check_width(errors):
    """.clang-format's width, for comments too, which it leaves as they are drawn."""
    width = int(re.search(r"ColumnLimit: (\d+)", (ROOT / ".clang-format").read_text()).group(1))
    for path in sorted([*ROOT.glob("src/**/*.[ch]"), *ROOT.glob("include/*.h"), *ROOT.glob("python/native/*.[ch]")]):
        if "prelude" in path.parts or path.parent.name == "include" and "src" in path.parts:
            continue  # read by users of emitted code, and drawn for them
        for number, line in enumerate(path.read_text().split("\n"), 1):
            if len(line) > width:
                errors.append(f"{path.relative_to(ROOT)}:{number}: {len(line)} columns, {width} are the most")


def check_prelude(errors):
    for path in sorted([path for target in ("cuda", "hip", "simt") for path in ROOT.glob(f"src/target/{target}/prelude/*")]):
        if re.search(r"\btemplate\b", path.read_text()):
            errors.append(f"{path.relative_to(ROOT)} has a template")


def check_markdown(errors):
    if len((ROOT / "README.md").read_text().split("\n")) > 150:
        errors.append("README.md has more than 150 lines")
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            if not (page.parent / link).exists():
                errors.append(f"{page.relative_to(ROOT)}: the link {link} leads nowhere")
        cells = None
        for number, line in enumerate(page.read_text().split("\n"), 1):
            bars = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else None
            if cells and bars and bars != cells:
                errors.append(f"{page.relative_to(ROOT)}:{number}: this row has {bars - 1} cells, its head {cells - 1}; write `\\|` inside of a cell")
            cells = bars and (cells or bars)


def main():
    errors = []
    check_includes(errors)
    check_architecture(errors)
    check_texts(errors)
    check_fixes(errors)
    check_names(errors)
    check_width(errors)
    check_prelude(errors)
    check_markdown(errors)
    errors += subprocess.run([sys.executable, str(ROOT / "tools/spdx.py"), "--check"], stdout=subprocess.PIPE, text=True, check=False).stdout.splitlines()
    print("\n".join(errors) if errors else "the tree keeps its rules")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
