#!/usr/bin/env python3
"""scheduled.py: the text after the pass `schedule` is all that the emitter of CUDA knows.

    tests/wild/scheduled.py [--plans "cuda|cuda:sm_80 --set num_stages=3"] [--only TEXT] [--bin build]

Each kernel of tests/wild and tests/gpu/kernels.txt is emitted from its source, and from the text that `tilewright ir --print-after=schedule`
prints of it, without any option of the plan; both .cu must be the same but for comments and names. Then the text is printed again from
what was read: it must be the same text. And of what says who waits for whom (barriers, fences, waits) some marks are taken away, one at
a time: such a text is refused."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import run as wild  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|\S")
REFUSED = "refused"
STRIP = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
MARK = re.compile(r"(?<=[< ])(sync=(before|within)|proxy=(shared|global)|settles|lands|drains)(?=[,>])")
MARKS = 4  # of a kernel, spread over its text


def tokens(text):
    """Without comments, brackets that are only spelling, and variables that are read once: whether those are written depends on the lengths
    of names."""
    found = [token for token in TOKEN.findall(STRIP.sub(" ", text)) if token not in "(){}"]
    at = 0
    while at < len(found):
        if found[at] == "const" and found[at + 3:at + 4] == ["="] and found.count(found[at + 2]) == 2:
            end = found.index(";", at)
            name, value = found[at + 2], found[at + 4:end]
            del found[at:end + 1]
            use = found.index(name)
            found[use:use + 1] = value
            at = max(0, min(at, use) - 1)
        else:
            at += 1
    return found


def difference(one, other):
    """The first tokens that differ by more than a name, each name having one partner; None: the texts are the same."""
    there, back = {}, {}
    a, b = tokens(one), tokens(other)
    for at, (x, y) in enumerate(zip(a, b)):
        names = re.match(r"[A-Za-z_]", x) and re.match(r"[A-Za-z_]", y)
        same = there.setdefault(x, y) == y and back.setdefault(y, x) == x if names else x == y
        if not same:
            return f"{' '.join(a[max(0, at - 8):at + 8])}\n  and {' '.join(b[max(0, at - 8):at + 8])}"
    return None if len(a) == len(b) else f"{len(a)} and {len(b)} tokens"


def of_kernel(arguments, text):
    """The arguments that the kernel of the text still has: what is constant and what plans is gone."""
    parameters = re.findall(r"%(\w+)", re.search(r"^kernel @\w+\((.*?)\)", text, re.M).group(1))
    words, kept = iter(arguments), []
    for word in words:
        value = next(words)
        if word == "--arg" and value.split("=")[0] in parameters:
            kept += [word, value]
    return kept


def without(text, mark):
    """The text without the mark, and without the comma or the brackets that were its."""
    begin, end = mark.span()
    if text[end] == ",":
        return text[:begin] + text[end + 2:]
    return text[:begin - 1] + text[end + 1:] if text[begin - 1] == "<" else text[:begin - 2] + text[end:]


def check(case):
    tilewright, kernel, plan, arguments = case
    target, *options = plan.split()

    def call(command, *words):
        return subprocess.run([tilewright, command, *words], cwd=ROOT, capture_output=True, text=True)

    for launch in ("--grid", "--tolerance"):  # nothing that emit takes
        if launch in arguments:
            at = arguments.index(launch)
            arguments = arguments[:at] + arguments[at + 2:]
    with tempfile.TemporaryDirectory() as folder:
        first, second, file = pathlib.Path(folder) / "a", pathlib.Path(folder) / "b", pathlib.Path(folder) / "kernel.ir"
        done = call("emit", kernel, "--target", target, *options, *arguments, "-o", str(first))
        if done.returncode:
            return REFUSED  # there is no text
        done = call("ir", kernel, "--target", target, *options, *arguments, "--print-after=schedule")
        file.write_text(done.stdout)
        rest = of_kernel(arguments, done.stdout)
        emitted = call("emit", str(file), "--target", target, *rest, "-o", str(second))
        if emitted.returncode:
            return emitted.stderr
        again = call("ir", str(file), "--target", target, *rest, "--print-after=schedule")
        if again.stdout != done.stdout:
            return "printed again, the text is another one"
        (one,), (other,) = first.glob("*.cu"), second.glob("*.cu")
        marks = list(MARK.finditer(done.stdout))
        for mark in marks[::max(1, len(marks) // MARKS)]:
            file.write_text(without(done.stdout, mark))
            emitted = call("emit", str(file), "--target", target, *rest, "-o", str(second))
            if not emitted.returncode or "(`" not in emitted.stderr:
                line = done.stdout.count("\n", 0, mark.start()) + 1
                return f"without `{mark.group()}` in line {line} it is not refused for that: {emitted.stderr}"
        return difference(one.read_text(), other.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plans", default="cuda|cuda:sm_80|cuda --set variant=2", help="targets and options, each kernel takes the next one")
    parser.add_argument("--only", default="", help="part of a kernel's name")
    parser.add_argument("--bin", default=str(ROOT / "build"))
    options = parser.parse_args()
    plans, cases = options.plans.split("|"), []
    for kernel, _, arguments, _ in [*wild.cases(), *wild.listed(ROOT / "tests/gpu/kernels.txt")]:
        if options.only in kernel:
            name = kernel.replace(str(ROOT) + "/", "")
            cases.append((f"{options.bin}/tilewright", name, plans[len(cases) % len(plans)], arguments))
    failed = refused = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, message in zip(cases, pool.map(check, cases)):
            refused += message == REFUSED
            if message and message != REFUSED:
                failed += 1
                print(case[1], f"[{case[2]}]", *case[3], "\n ", message)
    print(f"{len(cases)} kernels, {refused} refused, {failed} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
