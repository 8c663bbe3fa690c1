#!/usr/bin/env python3
"""run.py: transcript tests of the command line.

A transcript is a text in which lines starting with `$ ` are commands and the lines behind them are what they print
(stdout and stderr together):

    $ tilewright version
    tilewright 0.1.0
    $ tilewright run nowhere.py
    error: ...
    [1]

A command goes on in lines starting with `> `; lines starting with `#!` are remarks. `[N]` is the exit status when it is not 0. In an expected line `...` matches anything within the line; a line that is
just `...` matches any number of lines. Transcripts are tests/cli/*.t, and every ```console block of README.md and
docs/*.md. A line `# requires: TOOL...` skips the whole file, visibly, where a tool is not on PATH.

    run.py [--bless] [--bin DIR] [FILE...]      --bless rewrites the expected lines of .t files
Each file runs in its own empty folder with ROOT set to the repository; `tilewright` is DIR/tilewright.
"""
import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def blocks(path):
    """Yields (first line number, lines) of each transcript in the file."""
    lines = path.read_text().split("\n")
    if path.suffix != ".md":
        yield 1, lines
        return
    start = None
    for number, line in enumerate(lines, 1):
        if start is None and line.strip() == "```console":
            start = number + 1
        elif start is not None and line.strip() == "```":
            yield start, lines[start - 1:number - 1]
            start = None


def steps(first, lines):
    """Splits a transcript into (line number, command, expected lines); lines before the first command are skipped."""
    result = []
    for number, line in enumerate(lines, first):
        if line.startswith("$ "):
            result.append((number, line[2:], []))
        elif (line.startswith("> ") or line == ">") and result and not result[-1][2]:
            result[-1] = (result[-1][0], result[-1][1] + "\n" + line[2:], [])
        elif line.startswith("#!") or not result:
            continue
        else:
            result[-1][2].append(line)
    for _, _, expected in result:
        while expected and not expected[-1].strip():
            expected.pop()
    return result


def matches(expected, got):
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in line.split("...")) + r"\n"
    return re.fullmatch(pattern, "".join(line + "\n" for line in got)) is not None


def run_step(command, folder, env):
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300)
    got = done.stdout.decode("utf-8", "replace").split("\n")
    while got and not got[-1].strip():
        got.pop()
    return got + ([f"[{done.returncode}]"] if done.returncode else [])


def requires(path):
    found = re.search(r"^# requires: (.*)$", path.read_text(), re.M)
    return [tool for tool in found.group(1).split() if not shutil.which(tool)] if found and path.suffix == ".t" else []


def run_file(path, env, bless):
    failures, output = 0, []
    with tempfile.TemporaryDirectory() as folder:
        own = dict(env, TILEWRIGHT_CACHE_DIR=os.path.join(folder, ".cache"), HOME=folder)
        for first, lines in blocks(path):
            for number, command, expected in steps(first, lines):
                got = run_step(command, folder, own)
                output.append((number, command, expected, got))
                if matches(expected, got) or bless:
                    continue
                failures += 1
                print("\n".join([f"{path.relative_to(ROOT)}:{number}: $ {command}"] +
                                list(difflib.unified_diff(expected, got, "expected", "got", lineterm=""))))
    if bless and path.suffix == ".t":
        text = [line for line in path.read_text().split("\n")]
        head = text[:output[0][0] - 1] if output else text
        ends = [number for number, *_ in output[1:]] + [len(text) + 1]
        for (number, command, expected, got), end in zip(output, ends):
            head += [f"> {line}".rstrip() if i else f"$ {line}" for i, line in enumerate(command.split("\n"))]
            head += expected if matches(expected, got) else got
            head += [line for line in text[number - 1:end - 1] if line.startswith("#!")]
        path.write_text("\n".join(head).rstrip("\n") + "\n")
    return failures, len(output)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("--bin", default=str(ROOT / "build"))
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    files = options.files or sorted(ROOT.glob("tests/cli/*.t")) + [ROOT / "README.md"] + sorted(ROOT.glob("docs/*.md"))
    env = dict(os.environ, ROOT=str(ROOT), PATH=str(pathlib.Path(options.bin).resolve()) + ":" + os.environ["PATH"],
               LC_ALL="C", NO_COLOR="1")
    present = []
    for path in (path.resolve() for path in files):
        missing = requires(path)
        if missing:
            print(f"skipped: {path.relative_to(ROOT)} needs {' '.join(missing)}")
        else:
            present.append(path)
    present.sort(key=lambda path: -sum(len(steps(*block)) for block in blocks(path)))  # the long ones first
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        done = list(pool.map(lambda path: run_file(path, env, options.bless), present))
    failures, count = (sum(column) for column in zip(*done)) if done else (0, 0)
    print(f"{count} commands, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
