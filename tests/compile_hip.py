#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compile_hip.py: the kernels of the tree, emitted for AMD's GPUs, compile by themselves, within bounds.

The cases are those of compile_all.py, and functions that CUDA has in its library. Each is emitted for every architecture (`tilewright emit --target hip:ARCH -o FOLDER`) and
compiled there by clang 19 for the device alone, without the vendor's headers and library, and linked by lld where that is. A
warning is a failure. What the compiler writes about the kernel is read from the assembler text's metadata: vector registers,
spilled ones, bytes of scratch; the LDS is the plan's; registers and LDS say how many waves of it a SIMD unit holds at once. More
than tests/golden/hip_resources.txt allows, or fewer waves, is a failure too (8 registers more are let through: they are given out
in eights). A kernel that the target refuses counts with its message. All of them take half a minute of a processor.

    compile_hip.py [--bless] [--every N] [WORD..]      --every: one case of N; WORD: just titles with it
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import compile_all

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL = str(ROOT / "build/tilewright")
BOUNDS = ROOT / "tests/golden/hip_resources.txt"
ARCHS = ("gfx90a", "gfx942", "gfx1100")
CLANG = os.environ.get("TILEWRIGHT_CLANG", "clang-19")
FLAGS = ["-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc", "-O3", "-std=c++17", "-ffp-contract=off", "-Werror"]
SLACK = 8
# Of a SIMD unit: registers of a lane, how they are given out, waves, lanes of one; how many units a block has, and their LDS.
UNITS = {"gfx90a": (512, 8, 8, 64, 4, 64 << 10), "gfx942": (512, 8, 8, 64, 4, 64 << 10), "gfx1100": (1536, 24, 16, 32, 4, 128 << 10)}


def all_cases():
    """(title, kernel file, arguments)"""
    yield from (case[:3] for case in compile_all.cases())
    for dtype in ("f32", "f64"):
        yield f"triton functions {dtype}", "tests/gpu/functions.py", f"x_ptr={dtype}[128] y_ptr={dtype}[128] z_ptr={dtype}[128] N=128"


def waves_of(arch, registers, lds, threads):
    """How many waves of the kernel a SIMD unit holds at once."""
    total, step, most, lanes, units, room = UNITS[arch]
    warps = max(1, threads // lanes)
    by_registers = min(most, total // (-(-max(1, registers) // step) * step))
    blocks = min(by_registers * units // warps, room // lds if lds else most * units)
    return max(1, blocks * warps // units)


def measure(title, kernel, arguments, arch, links):
    """(registers, spilled, scratch bytes, LDS bytes, waves of a unit), or what is wrong as a text."""
    with tempfile.TemporaryDirectory() as folder:
        command = [TOOL, "emit", kernel, "--target", f"hip:{arch}", *compile_all.words(arguments), "-o", folder]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode == 1:
            found = re.search(r"error: (.*)", done.stderr)
            return "refused: " + found[1] if found else done.stderr
        if done.returncode:
            return f"FAILED emit: {done.stderr}"
        source, = pathlib.Path(folder).glob("*.hip")
        text = pathlib.Path(folder) / "kernel.s"
        done = subprocess.run([CLANG, *FLAGS, f"--offload-arch={arch}", "-S", "-o", str(text), str(source)], capture_output=True, text=True)
        if done.returncode or done.stderr:
            return f"FAILED clang: {done.stderr[:3000]}"
        found = text.read_text()
        numbers = [int(re.search(rf"\.{name}:\s*(\d+)", found)[1]) for name in ("vgpr_count", "vgpr_spill_count", "private_segment_fixed_size")]
        if links:
            done = subprocess.run([CLANG, *FLAGS, f"--offload-arch={arch}", "-o", str(text) + "o", str(source)], capture_output=True, text=True)
            if done.returncode or done.stderr:
                return f"FAILED link: {done.stderr[:3000]}"
        plan = json.loads((pathlib.Path(folder) / "plan.json").read_text())
        lds = plan["shared_bytes"]
        return (*numbers, lds, waves_of(arch, numbers[0], lds, plan["threads"]))


def read_bounds():
    rows = {}
    for line in BOUNDS.read_text().splitlines() if BOUNDS.exists() else []:
        if line and not line.startswith("#"):
            numbers, title = line.split("  ", 1)
            rows[title] = tuple(int(n) for n in numbers.split()) if numbers != "refused" else "refused"
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    cases = [(f"{arch} {title}", kernel, text, arch) for title, kernel, text in all_cases() for arch in ARCHS]
    cases = [case for i, case in enumerate(cases) if i % options.every == 0 and all(word in case[0] for word in options.words)]
    bounds, failed, measured = read_bounds(), 0, {}
    links = shutil.which("ld.lld-19") is not None
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = {case[0]: pool.submit(measure, *case, links and i % 5 == 0) for i, case in enumerate(cases)}
        for title, run in runs.items():
            found, bound = run.result(), bounds.get(title)
            if isinstance(found, str) and found.startswith("FAILED"):
                print(f"{title}: {found}")
                failed += 1
                continue
            measured[title] = "refused" if isinstance(found, str) else found
            if options.bless:
                continue
            if isinstance(found, str):
                wrong = bound != "refused" and found
            else:
                wrong = bound in (None, "refused") and "no bound is known (--bless)" or found[0] > bound[0] + SLACK and f"{found[0]} registers, {bound[0]} are allowed" or \
                    any(f > b for f, b in zip(found[1:4], bound[1:4])) and f"{found[1:4]} spilled, scratch and LDS, {bound[1:4]} are allowed" or \
                    found[4] < bound[4] and f"{found[4]} waves of a unit, {bound[4]} there were"
            if wrong:
                print(f"FAILED {title}: {wrong}")
                failed += 1
    if options.bless:
        bounds.update(measured)
        lines = [f"{'refused' if row == 'refused' else ' '.join(str(n) for n in row)}  {title}" for title, row in sorted(bounds.items())]
        BOUNDS.write_text("# What clang 19 says of each kernel on AMD's GPUs (tests/compile_hip.py --bless): vector registers, spilled ones, bytes of scratch, bytes of LDS, waves of a unit.\n" +
                          "\n".join(lines) + "\n")
    refused = sum(row == "refused" for row in measured.values())
    print(f"{len(cases)} compiles, {refused} refused by name, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
