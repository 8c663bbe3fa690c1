# SPDX-License-Identifier: Apache-2.0
"""Compares our trees with CPython's own, node for node, ranges included.

    python3.11 tests/syntax/compare_ast.py build/tests/pytree [--every N] [FILE or FOLDER...]

Without paths: every .py file of the standard library; --every N takes every Nth. A file that CPython refuses must be refused by us too (mistakes in
the declared encoding aside); files that are not UTF-8 are left out. What is printed is every difference, and the exit
status says whether there was one. Ranges are compared outside f-strings only: CPython 3.11 gives nodes inside of them
places that are not theirs. Two things may differ: names that CPython normalises (NFKC), and `\\N{name}` in strings, which
we leave as it is written.
"""
import ast
import functools
import multiprocessing
import os
import re
import subprocess
import sys
import sysconfig
import unicodedata
import warnings

sys.setrecursionlimit(10000)
BLOCKS = {"body", "handlers", "orelse", "finalbody", "cases"}
SKIP = {"type_comment", "type_ignores", "kind"}


class Dump:
    """ast -> the text form of py_dump.c"""

    def __init__(self, source):
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.out = []

    def place(self, node, inside):
        if inside or not hasattr(node, "lineno"):
            return "@"
        begin = self.starts[node.lineno - 1] + node.col_offset
        end = self.starts[node.end_lineno - 1] + node.end_col_offset
        return f"@{begin}-{end}"

    def constant(self, node):
        v = node.value
        if v is None or v is True or v is False:
            return str(v)
        if v is ...:
            return "..."
        if isinstance(v, int):
            return str(v) if v < 1 << 64 else f"big:{v}"
        if isinstance(v, float):
            return "float:%.17g" % v
        if isinstance(v, complex):
            return "imaginary:%.17g" % v.imag
        data = v if isinstance(v, bytes) else v.encode("utf-8", "surrogatepass")
        text = "".join(
            "\\" + chr(c) if c in b'"\\' else chr(c) if 0x20 <= c < 0x7F else "\\x%02x" % c for c in data
        )
        prefix = "b" if isinstance(v, bytes) else "u" if node.kind == "u" else ""
        return f'{prefix}"{text}"'

    def value(self, v, inside):
        if v is None:
            return "-"
        if isinstance(v, list):
            return "[" + " ".join(self.value(x, inside) for x in v) + "]"
        if isinstance(v, (ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)):
            return type(v).__name__
        if isinstance(v, ast.AST):
            return "(" + self.head(v, inside) + ")"
        return str(v)

    def head(self, node, inside):
        text = type(node).__name__ + self.place(node, inside)
        if isinstance(node, ast.Constant):
            return text + " " + self.constant(node)
        inner = inside or isinstance(node, ast.JoinedStr)
        if isinstance(node, ast.MatchSingleton):
            c = ast.Constant(node.value)
            c.kind = None
            return text + " (Constant@ " + self.constant(c) + ")"
        for name, v in ast.iter_fields(node):
            if name in SKIP or (name in BLOCKS and isinstance(v, list)):
                continue
            if isinstance(node, ast.ImportFrom) and name == "level":
                v = v or 0
            text += " " + self.value(v, inner)
        return text

    def lines(self, node, indent):
        self.out.append("    " * indent + self.head(node, False))
        for name, v in ast.iter_fields(node):
            if name in BLOCKS and isinstance(v, list) and v:
                self.out.append("    " * (indent + 1) + name + ":")
                for x in v:
                    self.lines(x, indent + 2)


NO_PLACE = re.compile(r"\b(arguments|comprehension|withitem|match_case)@\d+-\d+")
BIG = re.compile(r"big:(\w+)")
SINGLE = re.compile(r"(\(MatchSingleton@\d+-\d+ \(Constant@)\d+-\d+")


def strip_fstrings(line):
    """Drops the ranges of everything inside a JoinedStr (but for the outermost one's own)."""
    out, depth_of, depth, i, quoted = [], None, 0, 0, False
    while i < len(line):
        c = line[i]
        if quoted:
            if c == "\\":
                out.append(line[i : i + 2])
                i += 2
                continue
            quoted = c != '"'
        elif c == '"':
            quoted = True
        elif c == "(":
            depth += 1
            if depth_of is None and line.startswith("(JoinedStr@", i):
                depth_of = depth
                m = re.compile(r"\(JoinedStr@\d+-\d+").match(line, i)
                out.append(m.group())
                i = m.end()
                continue
        elif c == ")":
            if depth_of == depth:
                depth_of = None
            depth -= 1
        elif c == "@" and depth_of is not None:
            m = re.compile(r"@\d+-\d+").match(line, i)
            if m:
                out.append("@")
                i = m.end()
                continue
        out.append(c)
        i += 1
    return "".join(out)


def ours(text):
    text = NO_PLACE.sub(r"\1@", text)
    text = SINGLE.sub(r"\1", text)
    text = BIG.sub(lambda m: "big:%d" % int(m.group(1), 0), text)
    return [strip_fstrings(line) if "(JoinedStr@" in line else line for line in text.splitlines()]


def resolve_names(line):
    """`\\N{name}` as the bytes of its character, names as CPython normalises them."""
    def char(m):
        try:
            c = unicodedata.lookup(m.group(1))
        except KeyError:
            return m.group()
        return "".join(chr(b) if 0x20 <= b < 0x7F else "\\x%02x" % b for b in c.encode())

    return unicodedata.normalize("NFKC", re.sub(r"\\\\N\{([^}]+)\}", char, line))


def compare(tool, path):
    with open(path, "rb") as f:
        source = f.read()
    try:
        source.decode()
    except UnicodeDecodeError:
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source, path)
    except (SyntaxError, ValueError) as e:
        tree, why = None, e
    run = subprocess.run([tool, path], capture_output=True, encoding="utf-8", errors="surrogateescape")
    if run.returncode not in (0, 1):
        return [f"{path}: crashed with {run.returncode}", run.stderr[-2000:]]
    if tree is None:
        fine = run.returncode == 1 or "encoding problem" in str(why)
        return [] if fine else [f"{path}: CPython refuses it: {why}"]
    if run.returncode == 1:
        return [f"{path}: refused", run.stderr[:2000]]
    text = source[3:] if source.startswith(b"\xef\xbb\xbf") else source
    dump = Dump(text)
    if text is not source:
        dump.starts = [s + 3 for s in dump.starts]
    for node in tree.body:
        dump.lines(node, 0)
    got, want = ours(run.stdout)[1:], "\n".join(dump.out).splitlines()
    for i, (a, b) in enumerate(zip(got + [""], want + [""])):
        if a != b and resolve_names(a) != resolve_names(b):
            k = next((k for k, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            k = max(0, k - 60)
            return [f"{path}: line {i + 1} of the tree", f"   ours    {a[k:k+160]}", f"   CPython {b[k:k+160]}"]
    return []


def main():
    if sys.version_info[:2] != (3, 11):
        print("skipped: needs Python 3.11")
        return 0
    tool, paths, every, files = sys.argv[1], sys.argv[2:], 1, []
    if paths[:1] == ["--every"]:
        every, paths = int(paths[1]), paths[2:]
    paths = paths or [sysconfig.get_paths()["stdlib"]]
    for path in paths:
        if os.path.isdir(path):
            for folder, below, names in os.walk(path):
                below[:] = [b for b in below if b not in ("site-packages", "encoded_modules")]
                files += [os.path.join(folder, n) for n in names if n.endswith(".py")]
        else:
            files.append(path)
    files = sorted(files)[::every]
    bad = 0
    with multiprocessing.Pool() as pool:
        for lines in pool.imap(functools.partial(compare, tool), files, chunksize=16):
            if lines:
                bad += 1
                if bad <= 40:
                    print("\n".join(lines))
    print(f"{len(files)} files, {bad} differ")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
