#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""file_table.py: rewrites the table of files in docs/architecture.md from the first sentence of each file's own header."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- files: made by tools/file_table.py -->", "<!-- end of files -->"


def purpose(path):
    text = "".join(line for line in path.read_text(errors="replace").splitlines(True) if "SPDX-License-Identifier" not in line)
    found = re.search(r"(?:/\*|//|#)[ *]*[\w./-]+: ?(.*?)(?:\.\s|;|\*/|\n[ */#]*\n|:\n)", text[:3000], re.S)
    words = re.sub(r"\s*\n[ */#]*", " ", found.group(1)).strip() if found else ""
    return words.rstrip(".:;, ").replace("|", "\\|")[:160]


def table():
    lines = []
    folders = sorted({p.parent for p in (ROOT / "src").rglob("*") if p.is_file()})
    for folder in folders:
        lines += ["", f"### {folder.relative_to(ROOT)}", "", "| file | what it is |", "|---|---|"]
        for path in sorted(p for p in folder.iterdir() if p.is_file()):
            lines.append(f"| `{path.relative_to(ROOT)}` | {purpose(path)} |")
    return "\n".join(lines)


def main():
    page = ROOT / "docs/architecture.md"
    text = page.read_text()
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    page.write_text(f"{head}{BEGIN}\n{table()}\n\n{END}{tail}")


if __name__ == "__main__":
    main()
