#!/usr/bin/env python3
"""cuda.py: whole CUDA texts, compared with those that were read and kept.

    cuda.py [--bin DIR] [--bless] [NAME...]

tests/golden/cuda/cases.txt lists the kernels; the text of case NAME is tests/golden/cuda/NAME.cu. --bless writes them anew: what differs
is what a reader of the emitted text will see, so read it.

Every index that is computed stands under a comment that says what it is for, in its block or right before it (silent_indices).

With lines=on the text is the same but for `#line`s and white space, and each of them names the line that the comment before it shows."""
import argparse
import difflib
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "tests/golden/cuda"


def words(arguments):
    """NAME=VALUE is short for --arg NAME=VALUE."""
    before = [""] + arguments[:-1]
    return [word for last, one in zip(before, arguments) for word in (["--arg", one] if one[0] != "-" and last not in ("--set", "-D") else [one])]


def emitted(tilewright, target, kernel, arguments):
    """The .cu; None: there is none."""
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([tilewright, "emit", kernel, "--target", target, *words(arguments), "-o", out], cwd=ROOT, stdout=subprocess.DEVNULL)
        texts = sorted(pathlib.Path(out).glob("*.cu"))
        return texts[0].read_text() if done.returncode == 0 and texts else None


def launcher_mistakes(tilewright, target, kernel, arguments, path, bless):
    """launch.cuh, which must launch the kernel without us: its text, and by nvcc where there is one."""
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([tilewright, "emit", kernel, "--target", target, *words(arguments), "-o", out], cwd=ROOT, stdout=subprocess.DEVNULL)
        text = (pathlib.Path(out) / "launch.cuh").read_text()
        if bless:
            path.write_text(text)
        mistakes = list(difflib.unified_diff(path.read_text().splitlines() if path.exists() else [], text.splitlines(), str(path), "emitted", lineterm=""))
        if shutil.which("nvcc"):
            (pathlib.Path(out) / "use.cu").write_text('#include "launch.cuh"\n')
            command = re.search(r"//     (nvcc .*)", text).group(1)
            done = subprocess.run([*shlex.split(command), "-Werror", "all-warnings", "-c", "use.cu", "-o", "use.o"], cwd=out, capture_output=True, text=True)
            mistakes += [done.stderr] if done.returncode else []
    return mistakes


def line_mistakes(plain, lined, kernel):
    """What is wrong with the #line directives of the text: a list."""
    file, shown, found, mistakes = kernel.split(":")[0], None, 0, []
    rest = []
    for line in lined.splitlines():
        comment, directive = re.match(r"\s*// (\d+): ", line), re.match(r"#line (\d+) \"(.*)\"$", line)
        if comment:
            shown = comment.group(1)
        if directive:
            found += 1
            if directive.groups() != (shown, file):
                mistakes.append(f"{line} stands behind the comment of line {shown}")
        else:
            rest.append(line)
    if " ".join(rest).split() != plain.split():  # a line that goes on below would be another line: it does not
        mistakes += difflib.unified_diff(plain.splitlines(), rest, "lines=off", "lines=on without its #lines", lineterm="")
    return mistakes if found else ["no #line at all"]


def silent_indices(text):
    """Indices and conditions that are computed and no comment but the source's line speaks of: a list."""
    silent, noted = [], set()  # depths of the blocks around that have such a comment
    for number, line in enumerate(text.splitlines(), 1):
        code, depth = line.strip(), (len(line) - len(line.lstrip())) // 4
        if not code or code.startswith("#") or re.match(r"// \d+: ", code):
            continue
        noted = {one for one in noted if one <= depth}
        if code.startswith("//"):
            noted.add(depth)
        elif re.match(r"const (i32|i64|u32|bool) \w+ = |(i32|i64|bool) \w+\[\d+\];", code) and "tw_lane()" not in code and not noted & {depth, depth - 1}:
            silent.append(f"line {number}: {code}")
    return silent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build"), help="the folder of tilewright")
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    tilewright = str(pathlib.Path(options.bin).resolve() / "tilewright")
    cases = [shlex.split(line) for line in (FOLDER / "cases.txt").read_text().splitlines() if line and not line.startswith("#")]
    bad = 0
    for name, target, kernel, *arguments in cases:
        if options.names and name not in options.names:
            continue
        path, text = FOLDER / f"{name}.cu", emitted(tilewright, target, kernel, arguments)
        if text is None:
            bad += 1
            print(f"{name}: not emitted")
            continue
        mistakes = line_mistakes(text, emitted(tilewright, target, kernel, [*arguments, "--set", "lines=on"]) or "", kernel)
        if mistakes:
            bad += 1
            print(f"{name} with lines=on:", *mistakes, sep="\n")
        silent = silent_indices(text)
        if silent:
            bad += 1
            print(f"{name}: nothing says what these are for:", *silent, sep="\n")
        if name == "attention_causal":  # tensor maps, a persistent grid, everything that a launch may need
            mistakes = launcher_mistakes(tilewright, target, kernel, arguments, FOLDER / f"{name}_launch.cuh", options.bless)
            bad += bool(mistakes)
            print("\n".join(mistakes), end="\n" if mistakes else "")
        if options.bless:
            path.write_text(text)
        old = path.read_text() if path.exists() else ""
        if text != old:
            bad += 1
            print(*difflib.unified_diff(old.splitlines(), text.splitlines(), str(path.relative_to(ROOT)), "emitted now", lineterm=""), sep="\n")
    kept = {path.stem for path in FOLDER.glob("*.cu")}
    stray = sorted(kept - {case[0] for case in cases})
    if stray:
        print("no case of cases.txt:", *stray)
    print(f"{len(cases)} texts, {bad} differ" + (" (make bless keeps those of now)" if bad else ""))
    return 1 if bad or stray else 0


if __name__ == "__main__":
    sys.exit(main())
