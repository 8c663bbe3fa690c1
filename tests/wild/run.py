#!/usr/bin/env python3
"""run.py: kernels as people write them, each on several plans of each target against the interpreter.

    tests/wild/run.py [--targets cpu,cuda] [--only TEXT] [--every] [--bin build]

A kernel of tests/wild/*.py stands behind a line `# check: ARGUMENTS`, which are those of `tilewright check`: NAME=SPEC is an argument, the
rest goes as it stands. --every runs all plans of a target, otherwise the plan changes from kernel to kernel: the first three products
stand where they once failed."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CUDA = ["cuda --emulate", "cuda --emulate --set num_warps=8", "cuda --emulate --set num_warps=1", "cuda --emulate --set roles=off", "cuda:sm_80 --emulate"]
PLANS = {"cpu": ["cpu", "cpu --set vector_bits=128"], "cuda": CUDA, "device": [plan.replace(" --emulate", "") for plan in CUDA[:-1]]}


def cases():
    """(file:kernel, its place in the file, arguments)."""
    for path in sorted(HERE.glob("*.py")):
        for place, (check, kernel) in enumerate(re.findall(r"^# check: (.*)\n(?:#.*\n)*@triton.jit\ndef (\w+)", path.read_text(), re.M)):
            words = [word if re.match(r"-|[^=]*$", word) else f"--arg={word}" for word in check.split()]
            yield f"{path}:{kernel}", place, [part for word in words for part in (word.split("=", 1) if word.startswith("--arg=") else [word])]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", default="cpu,cuda", help="of cpu, cuda (emulated), device (cuda on a GPU)")
    parser.add_argument("--only", default="", help="part of a kernel's name")
    parser.add_argument("--every", action="store_true", help="every plan")
    parser.add_argument("--bin", default=str(HERE.parent.parent / "build"))
    options = parser.parse_args()
    commands = []
    for kernel, place, arguments in cases():
        if options.only not in kernel.rsplit(":", 1)[1]:
            continue
        for target in options.targets.split(","):
            plans = PLANS[target]
            if not options.every:
                plans = [plans[place % len(plans)]]
            commands += [[f"{options.bin}/tilewright", "check", kernel, *arguments, "--target", *plan.split()] for plan in plans]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for command, (status, output) in zip(commands, pool.map(run, commands)):
            if status:
                failed += 1
                print(" ".join(command), output, sep="\n")
    print(f"{len(commands)} runs, {failed} failed")
    sys.exit(failed > 0 or not commands)


main()
