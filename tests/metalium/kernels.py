#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kernels.py: every kernel of kernels/ on the model of both chips, against the interpreter.

    kernels.py [--only TEXT] [--every N] [--shard I/N] [--emit] [--bless] [--bin build]

Each kernel runs at square and ragged shapes, at the smallest one, and with blocks of equal extents (BM = BN), on one core and on all, on
Wormhole and on Blackhole. docs/tenstorrent.md says of each kernel and shape whether it runs right, or by which words it is refused;
what is other than that fails. --every N takes every N-th run (and each shape from another place on); --emit only compiles;
--bless writes the page (from all runs)."""
import argparse
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from kernel_table import CASES

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/tenstorrent.md"
CHIPS = ["wormhole", "blackhole"]
CORES = [["--set", "cores=1"], []]
MARKS = "<!-- kernels: made by tests/metalium/kernels.py -->", "<!-- end -->"


def arguments(kernel, template, shape):
    """The template with its shape: {expression of the shape's names} is computed, NAME=VALUE is an argument."""
    names = dict(word.split("=") for word in shape.split())
    names = {name: int(value) if value.isdigit() else value for name, value in names.items()}
    names["p2"] = lambda n: 1 << max(n - 1, 31).bit_length()
    names["up"] = lambda n, by: -(-n // by)
    text = re.sub(r"\{([^}]*)\}", lambda found: str(eval(found[1], {}, names)), template)
    options = []
    for word in text.split():
        if word[0] == "-" or options[-1:] and options[-1] in ("--set", "--grid", "--tolerance", "-D"):
            options.append(word)
        elif kernel.startswith("tilelang") and ":" not in word or re.match(r"[A-Z]+=\d+$", word) and kernel.startswith("tilec"):
            options += ["-D", word]
        else:
            options += ["--arg", word]
    return options


def runs():
    for kernel, template, shapes in CASES:
        for shape, words in shapes.items():
            for chip in CHIPS:
                for cores in CORES:
                    yield kernel, shape, chip, cores, arguments(kernel, template, words)


def outcome(tool, run, only_emit):
    """`right`, `refused: WORDS`, or what went wrong."""
    kernel, _, chip, cores, words = run
    command = [tool, "emit" if only_emit else "check", ROOT / "kernels" / kernel, "--target", f"tenstorrent:{chip}", *cores]
    if only_emit:
        words = words[:words.index("--grid")] if "--grid" in words else words
    done = subprocess.run([*map(str, command), *words], capture_output=True, text=True)
    if done.returncode == 0:
        return "right"
    refused = re.search(r"error: not possible on Tenstorrent: (.*?)(;.*)? \[not-on-tenstorrent\]|error: (.*) \[(too-many-cbs|l1-size|ring-count)\]", done.stderr)
    if refused:
        return "refused: " + re.sub(r"\[[\d,]+\]", "", refused[1] or refused[3].split(";")[0])
    launches = re.search(r"is \d+ launches[^;]*", done.stderr)
    if launches:
        return "refused: the kernel " + launches[0].replace("target tenstorrent", "this target")
    return "WRONG: " + " | ".join(line for line in (done.stdout + done.stderr).splitlines() if not line.endswith(": ok") and not line.startswith("note:"))[:400]


def page_rows(results):
    shapes = list(dict.fromkeys(shape for _, _, all_shapes in CASES for shape in all_shapes))
    reasons, rows = {}, []
    for kernel, _, own in CASES:
        cells = []
        for shape in shapes:
            if shape not in own:
                cells.append("")
                continue
            said = sorted({results[kernel, shape, chip, number] for chip in CHIPS for number in range(len(CORES))})
            cells.append(", ".join("right" if one == "right" else f"refused ({reasons.setdefault(one.removeprefix('refused: '), len(reasons) + 1)})" for one in said))
        rows.append(f"| `{kernel}` | " + " | ".join(cells) + " |")
    head = ["| kernel | " + " | ".join(shapes) + " |", "|---|" + "---|" * len(shapes)]
    return head + rows + [""] + [f"{number}. {words}" for words, number in reasons.items()]


def expected():
    """What the page says of (kernel, shape): the outcomes, of which each run must be one."""
    text = PAGE.read_text().split(MARKS[0])[1].split(MARKS[1])[0]
    reasons = {number: words for number, words in re.findall(r"^(\d+)\. (.*)$", text, re.M)}
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return {(cells[0].strip("`"), shape): [re.sub(r"refused \((\d+)\)", lambda m: "refused: " + reasons[m[1]], one) for one in cell.split(", ")]
            for cells in lines[2:] for shape, cell in zip(lines[0][1:], cells[1:]) if cell}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--emit", action="store_true")
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--bin", default=str(ROOT / "build"))
    args = parser.parse_args()
    shard, shards = map(int, args.shard.split("/"))
    chosen = [run for run in runs() if args.only in f"{run[0]} {run[1]} {run[2]}"]
    chosen = chosen[::args.every][shard::shards]
    with ThreadPoolExecutor(args.jobs) as pool:
        found = list(pool.map(lambda run: outcome(f"{args.bin}/tilewright", run, args.emit), chosen))
    failed, refused = 0, 0
    known = {} if args.bless or args.emit else expected()
    for run, said in zip(chosen, found):
        refused += said.startswith("refused")
        if args.emit or said.startswith("WRONG") or not args.bless and said not in known.get((run[0], run[1]), ["right"]):
            print(f"{run[0]}, {run[1]}, {run[2]}{', one core' if run[3] else ''}: {said}")
            failed += not (args.emit and said == "right")
    if args.bless and not failed:
        results = {(run[0], run[1], run[2], CORES.index(run[3])): said for run, said in zip(chosen, found)}
        before, after = PAGE.read_text().split(MARKS[0])[0], PAGE.read_text().split(MARKS[1])[1]
        PAGE.write_text(before + MARKS[0] + "\n\n" + "\n".join(page_rows(results)) + "\n\n" + MARKS[1] + after)
    print(f"refused: {refused}")
    print(f"{len(chosen)} runs, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
