#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
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

A ```sh block of a page is what a reader pastes into a shell at the root of a fresh clone after `make`: it runs whole, by plain sh, where
`tilewright` is not on PATH and ROOT is not set. The ```text block behind it, if there is one, is what it prints; without one every command
must succeed.

    run.py [--bless] [--bin DIR] [FILE...]      --bless rewrites the expected lines of .t files
Each file runs in its own folder with ROOT set to the repository; `tilewright` is DIR/tilewright. The folder is empty; for pages it is a copy of
the tree, with DIR/tilewright in `build`.
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


def fences(path):
    """Yields (kind, number of its first line, lines) of each fenced block of a page."""
    kind = None
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if line.startswith("```") and kind is None:
            kind, start, lines = line[3:].strip(), number + 1, []
        elif line.startswith("```"):
            yield kind, start, lines
            kind = None
        elif kind is not None:
            lines.append(line)


def blocks(path):
    """Yields (first line number, lines) of each transcript in the file."""
    if path.suffix != ".md":
        yield 1, path.read_text().split("\n")
        return
    for kind, start, lines in fences(path):
        if kind == "console":
            yield start, lines


def pasted(path):
    """Yields (first line number, text, expected lines or None) of each block that a reader pastes."""
    found = list(fences(path)) if path.suffix == ".md" else []
    for (kind, start, lines), (after, _, output) in zip(found, found[1:] + [("", 0, [])]):
        if kind == "sh":
            yield start, "\n".join(lines), output if after == "text" else None


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


def run_step(command, folder, env, shell="bash"):
    done = subprocess.run([shell, "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300)
    got = done.stdout.decode("utf-8", "replace").split("\n")
    while got and not got[-1].strip():
        got.pop()
    return got + ([f"[{done.returncode}]"] if done.returncode else [])


def requires(path):
    found = re.search(r"^# requires: (.*)$", path.read_text(), re.M)
    return [tool for tool in found.group(1).split() if not shutil.which(tool)] if found and path.suffix == ".t" else []


def copy_tree(folder, binaries):
    """What a clone has, and what `make` leaves in it."""
    shutil.copytree(ROOT, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("build", ".git", ".venv", "__pycache__"))
    os.mkdir(os.path.join(folder, "build"))
    os.symlink(os.path.join(binaries, "tilewright"), os.path.join(folder, "build", "tilewright"))


def run_pasted(path, folder, env):
    """How many of the page's blocks do not do what it says, and how many there are."""
    plain = {name: value for name, value in env.items() if name != "ROOT"}
    plain["PATH"] = os.environ["PATH"]
    failures, found = 0, list(pasted(path))
    for number, text, expected in found:
        got = run_step(text if expected is not None else "set -e\n" + text, folder, plain, "sh")
        status = got.pop() if got and re.fullmatch(r"\[\d+\]", got[-1]) else None
        good = matches(expected, got) if expected is not None else status is None
        failures += not good
        if not good:
            print("\n".join([f"{path.relative_to(ROOT)}:{number}: pasted {status or ''}"] +
                            list(difflib.unified_diff(expected or [], got, "expected", "got", lineterm=""))))
    return failures, len(found)


def surroundings(path, env, folder, cache):
    """Kernels compiled for one file serve the others, but for those that speak of the cache; those that speak of compilers and pages have
    the ones of users, others may have quick ones (tests/quick_cc.sh, tests/quick_cxx.sh)."""
    text = re.sub(r"^# requires: .*$", "", path.read_text(), flags=re.M)
    own = dict(env, TILEWRIGHT_CACHE_DIR=os.path.join(folder, ".cache") if re.search("cache", text, re.I) else cache, HOME=folder)
    if re.search(r"[gc]\+\+|CXX", text):
        own.pop("CXX", None)
    if path.suffix == ".md" or re.search(r"\b(g?cc|clang|CC|c?make|pip)\b", text):
        own.pop("CC", None)
    return own


def run_file(path, env, cache, bless):
    failures, output, more = 0, [], 0
    with tempfile.TemporaryDirectory() as folder:
        own = surroundings(path, env, folder, cache)
        if path.suffix == ".md" and (list(blocks(path)) or list(pasted(path))):
            copy_tree(folder, env["PATH"].split(":")[0])
            failures, more = run_pasted(path, folder, own)
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
    return failures, len(output) + more


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
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool, tempfile.TemporaryDirectory() as cache:
        done = list(pool.map(lambda path: run_file(path, env, cache, options.bless), present))
    failures, count = (sum(column) for column in zip(*done)) if done else (0, 0)
    print(f"{count} commands, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
