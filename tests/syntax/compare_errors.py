# SPDX-License-Identifier: Apache-2.0
"""Compares where we report syntax errors with where CPython does.

    python3.11 tests/syntax/compare_errors.py build/tests/pytree [-v]

Every text of errors.txt (between lines of `---`) has to be refused by both, and our first message has to stand on
CPython's line; -v prints all with both places. Mistakes that CPython finds only after parsing count as well. What stands in
ELSEWHERE is reported on another line on purpose, with the reason.
"""
import ast
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ELSEWHERE = {"try:\n    pass": 1}  # at the `try` that lacks its clauses, not at the end of its block


def cpython(text):
    """The line and column of CPython's message, and its words; None if it takes the text."""
    try:
        ast.parse(text)
    except SyntaxError as e:
        return e.lineno or 0, e.offset or 0, e.msg
    return None


def ours(tool, text, folder):
    path = os.path.join(folder, "x.py")
    with open(path, "w", newline="") as f:
        f.write(text)
    run = subprocess.run([tool, path], capture_output=True, text=True)
    if run.returncode not in (0, 1):
        return -1, -1, f"crashed with {run.returncode}"
    if run.returncode == 0:
        return None
    line, column, message = run.stderr.split("\n")[0][len(path) + 1:].split(":", 2)
    return int(line), int(column), message.strip()


def main():
    if sys.version_info[:2] != (3, 11):
        print("skipped: needs Python 3.11")
        return 0
    tool, verbose = sys.argv[1], "-v" in sys.argv
    with open(os.path.join(HERE, "errors.txt")) as f:
        texts = f.read().split("\n---\n")
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for text in texts:
            want, got = cpython(text), ours(tool, text, folder)
            good = want and got and (got[0] == want[0] or ELSEWHERE.get(text) == got[0])
            bad += not good
            if verbose or not good:
                print(("" if good else "DIFFERS ") + repr(text), f"\n   CPython {want}\n   ours    {got}")
    print(f"{len(texts)} texts with errors, {bad} differ")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
