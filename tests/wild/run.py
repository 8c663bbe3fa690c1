#!/usr/bin/env python3
"""run.py: kernels as people write them, each on several plans of each target against the interpreter.

    tests/wild/run.py [--targets cpu,cuda] [--only TEXT] [--every] [--kernels FILE] [--shard I/N] [--bin build]

A kernel of tests/wild/*.py stands behind lines `# check: ARGUMENTS`, which are those of `tilewright check`: NAME=SPEC is an argument, the
rest goes as it stands. --every runs all plans of a target, otherwise the plan changes from kernel to kernel (the first three products
stand where they once failed), and target cpu takes every second check. A line `# explain: TEXT` holds if `tilewright explain` of each check says TEXT for CUDA, `# explain: no TEXT` if
it does not: what a kernel must not lose unnoticed. A line `# device: OPTIONS` adds to all checks of the kernel on a device. --kernels takes the lines `KERNEL ARGUMENTS` of a file instead, which say their plan themselves.
--shard runs every N-th of all, one after the other (tests/shards.sh)."""
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


def words(text):
    """'x=f32[4] --grid 2' as options: NAME=SPEC is an argument, the rest stands for itself."""
    options = []
    for word in text.split():
        after = options[-1:] != ["--set"] and re.match(r"[^-][^=]*=", word)
        options += ["--arg", word] if after else [word]
    return options


def listed(path):
    """(kernel, 0, arguments, nothing more on a device) of each line of a file."""
    for line in pathlib.Path(path).read_text().splitlines():
        if line and not line.startswith("#"):
            kernel, arguments = line.split(" ", 1)
            yield kernel, 0, words(arguments), []


def kernels():
    """(file, kernel, the remarks before it)."""
    for path in sorted(HERE.glob("*.py")):
        for remarks, kernel in re.findall(r"((?:^#.*\n)+)@triton.jit\ndef (\w+)", path.read_text(), re.M):
            yield path, kernel, remarks


def cases():
    """(file:kernel, its place in the file, arguments, and those on a device)."""
    places = {}
    for path, kernel, remarks in kernels():
        there = words(" ".join(re.findall(r"^# device: (.*)", remarks, re.M)))
        for check in re.findall(r"^# check: (.*)", remarks, re.M):
            yield f"{path}:{kernel}", places.setdefault(path, 0), words(check), there
            places[path] += 1


def unkept(tilewright, only):
    """Lines for what `explain` should say, and does not."""
    for path, kernel, remarks in kernels():
        promises = re.findall(r"^# explain: (no )?(.*)", remarks, re.M)
        for check in re.findall(r"^# check: (.*)", remarks, re.M) if promises and only in kernel else []:
            arguments = words(re.sub(r"--(grid|tolerance) \S+", "", check))
            _, said = run([tilewright, "explain", f"{path}:{kernel}", *arguments, "--target", "cuda"])
            for no, text in promises:
                if bool(no) == (text in said):
                    yield f"{path}:{kernel} {check}: explain should {'not ' if no else ''}say `{text}`:\n{said}"


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", default="cpu,cuda", help="of cpu, cuda (emulated), device (cuda on a GPU)")
    parser.add_argument("--only", default="", help="part of a kernel's name")
    parser.add_argument("--every", action="store_true", help="every plan")
    parser.add_argument("--kernels", help="a file of kernels and arguments")
    parser.add_argument("--shard", default="0/1", help="which part of how many")
    parser.add_argument("--bin", default=str(HERE.parent.parent / "build"))
    options = parser.parse_args()
    commands = []
    for kernel, place, arguments, there in listed(options.kernels) if options.kernels else cases():
        if options.only not in kernel.rsplit(":", 1)[-1]:
            continue
        for target in options.targets.split(","):
            plans = PLANS[target][:1] if options.kernels else PLANS[target]
            if not options.every:
                plans = [plans[place // 2 % len(plans)]] * (place % 2 == 0) if target == "cpu" else [plans[place % len(plans)]]
            more = there if target == "device" else []
            commands += [[f"{options.bin}/tilewright", "check", kernel, *arguments, *more, "--target", *plan.split()] for plan in plans]
    part, parts = map(int, options.shard.split("/"))
    commands, failed = commands[part::parts], 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() if parts == 1 else 1) as pool:
        for command, (status, output) in zip(commands, pool.map(run, commands)):
            if status:
                failed += 1
                print(" ".join(command), output, sep="\n")
    for line in unkept(f"{options.bin}/tilewright", options.only) if part == 0 and not options.kernels else []:
        failed += 1
        print(line)
    print(f"{len(commands)} runs, {failed} failed")
    sys.exit(failed > 0 or (parts == 1 and not commands))


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: Apache-2.0
