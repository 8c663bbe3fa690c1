#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""emitted.py: what two builds emit for the kernels of the repository, compared.

    tools/emitted.py build/tilewright > before             a line for each kernel, plan and file: its digest
    tools/emitted.py build/tilewright --against before     what is other than that; --show prints the texts' differences

For changes of the compiler that must change nothing: a text that is the same runs as fast as it did and gives the same bits.
The kernels are those of tests/wild and tests/gpu/kernels.txt, each for every target under several plans, and those that `make bench-gpu`
measures (bench/gpu_rows.py), with all that its tuner tries. A kernel that a target refuses counts with its message; one that only one of the builds was given is left out. --keep FOLDER keeps the
texts (for --show, of the other build too)."""
import argparse
import concurrent.futures
import difflib
import hashlib
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
spec = importlib.util.spec_from_file_location("wild", ROOT / "tests/wild/run.py")
wild = importlib.util.module_from_spec(spec)
spec.loader.exec_module(wild)
sys.path.insert(0, str(ROOT / "bench"))
import gpu_rows  # noqa: E402

PLANS = ["cpu", "cpu --set vector_bits=128", "cuda", "cuda --set num_warps=8", "cuda --set num_warps=1", "cuda --set roles=off",
         "cuda --set persist=off --set num_stages=4", "cuda:sm_80", "cuda:sm_80 --set num_stages=3", "tenstorrent"]
# Copied as they are beside every text: sources, whose changes git shows.
PRELUDES = {path.name for path in ROOT.glob("src/target/*/prelude/*")}

LAUNCH = ["--grid", "--tolerance"]
DTYPES = {"bfloat16": "bf16", "float16": "f16", "float32": "f32", "float8_e4m3fn": "f8e4m3", "int8": "i8", "int32": "i32", "int64": "i64"}


def measured():
    """(kernel, arguments) of each row of the bench, its step and its configuration."""
    for row in gpu_rows.ROWS:
        for constants, options in row.configs:
            for step in row.steps:
                text = re.search(rf"def {step.kernel}\((.*?)\):", (ROOT / "kernels/triton" / step.file).read_text(), re.S)[1]
                given = {name: f"zeros:{DTYPES[row.arrays[value].dtype]}[16]" if value in row.arrays else str(value).lower()
                         for name, value in step.args.items()}
                arguments = {name: value for name, value in {**given, **constants}.items() if re.search(rf"\b{name}\b", text)}
                words = [word for name, value in arguments.items() for word in ("--arg", f"{name}={value}")]
                words += [word for name, value in options.items() for word in ("--set", f"{name}={value}")]
                yield f"kernels/triton/{step.file}:{step.kernel}", words


def cases():
    for kernel, _, arguments, _ in wild.cases():
        for plan in PLANS:
            yield str(pathlib.Path(kernel).relative_to(ROOT)), plan, arguments
    for kernel, _, arguments, _ in wild.listed(ROOT / "tests/gpu/kernels.txt"):
        for plan in PLANS[:1] + PLANS[2:3] + PLANS[-3:]:
            yield kernel, plan, arguments
    for kernel, arguments in measured():
        for plan in ("cuda", "cuda --set variant=2"):
            yield kernel, plan, arguments


def emit(tilewright, number, case, keep):
    """Lines `digest number kernel plan file` of one case."""
    kernel, plan, arguments = case
    words = []
    skip = False
    for word in arguments:  # what emit does not take
        skip, dropped = word in LAUNCH, skip or word in LAUNCH
        if not dropped:
            words.append(word)
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        command = [tilewright, "emit", kernel, "--target", *plan.split(), *words, "-o", str(out)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        texts = {"message": re.sub(re.escape(folder), "", done.stderr)} if done.returncode else {}
        for path in sorted(out.rglob("*")) if out.exists() else []:
            if path.is_file():
                texts[str(path.relative_to(out))] = path.read_text().replace(folder, "")
    lines = []
    for name, text in texts.items():
        line = f"{hashlib.sha256(text.encode()).hexdigest()[:16]} {number} {kernel} [{plan}] {name}"
        lines.append(line)
        if keep:
            (pathlib.Path(keep) / line.split(" ", 1)[0]).write_text(text)
    return lines


def by_case(lines):
    """{(kernel, which of its cases and files): digest}. Lines number all cases; here each kernel's count from 0, so that other kernels come and go."""
    first, texts = {}, {}
    for line in lines:
        digest, number, kernel, rest = line.split(" ", 3)
        if rest.split()[-1] in PRELUDES:
            continue
        first.setdefault(kernel, int(number))
        texts[kernel, f"{int(number) - first[kernel]:4} {rest}"] = digest
    return texts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tilewright")
    parser.add_argument("--against", help="lines of another build")
    parser.add_argument("--keep", help="a folder for the texts, each under its digest")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="differences of the first N texts; both were kept in --keep")
    options = parser.parse_args()
    if options.keep:
        pathlib.Path(options.keep).mkdir(parents=True, exist_ok=True)
    tilewright = str(pathlib.Path(options.tilewright).resolve())
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(emit, tilewright, number, case, options.keep) for number, case in enumerate(cases())]
        lines = [line for run in runs for line in run.result()]
    if not options.against:
        print("\n".join(lines))
        return 0
    old, new = by_case(pathlib.Path(options.against).read_text().splitlines()), by_case(lines)
    both = {kernel for kernel, _ in old} & {kernel for kernel, _ in new}
    other = [what for what in sorted(old | new) if what[0] in both and old.get(what) != new.get(what)]
    for what in other:
        print("changed" if what in old and what in new else "new" if what in new else "gone", *what)
    for what in other[:options.show]:
        texts = [(pathlib.Path(options.keep) / side[what]).read_text().splitlines() if what in side else [] for side in (old, new)]
        print("====", *what, *difflib.unified_diff(*texts, lineterm="", n=2), sep="\n")
    print(f"{sum(kernel in both for kernel, _ in new)} texts, {len(other)} differ")
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main())
