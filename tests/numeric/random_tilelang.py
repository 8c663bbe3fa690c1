#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""random_tilelang.py: random TileLang programs on several targets, each against the program run as plain Python (tilelang_reference.py).

    random_tilelang.py --count 200 --seed 1 --targets cpu         200 programs from seed 1 on; interp always runs too
    random_tilelang.py --count 2000 --targets passes              the interpreter behind the passes: a hundred times faster than a compiler
    random_tilelang.py --seed 17                                  one of them again, printed and made small
    random_tilelang.py --seconds 3600 --out DIR                   goes on; each small failure is a file of DIR
    random_tilelang.py --replay FILE...                           files again: any TileLang kernel; `# defines: N=64` gives its constants
    random_tilelang.py --count 200 --shard 0/4                    those of the 200 that the first of four processes takes
    --also cuda-emulated --every 10                               these targets for every tenth program too

Every program is valid (tilelang_programs.py), so a refusal is a failure as well, and so is a difference in any bit. The list of numbers that a failing
program was drawn from is made shorter and its numbers lower, 0 being the simplest answer everywhere, as long as it fails in the same way."""
import argparse
import itertools
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import tilelang_reference as reference  # noqa: E402
from tilelang_programs import Choices, Generator  # noqa: E402
from tilelang_roles import RoleGenerator  # noqa: E402
from tilelang_threads import ThreadGenerator  # noqa: E402

TARGETS = {"interp": ["interp"], "sanitize": ["interp", "--sanitize"], "passes": ["interp", "--set", "passes=on"], "cpu": ["cpu"], "cuda-emulated": ["cuda", "--emulate"], "sm_80": ["cuda:sm_80", "--emulate"], "cuda": ["cuda"],
           "cpu-written": ["cpu", "--set", "written=on"], "cuda-written": ["cuda", "--emulate", "--set", "written=on"],
           "hip-emulated": ["hip:gfx942", "--emulate"], "gfx1100": ["hip:gfx1100", "--emulate"], "tenstorrent": ["tenstorrent"]}


RUN_AS_WRITTEN = {"interp", "sanitize", "cpu", "cpu-written", "cuda", "cuda-emulated", "cuda-written"}


def may_refuse(target, said):
    """Roles that do not become one program run where there are threads and barriers for them; elsewhere that is said. What Tensix cores cannot do is said with
    the place in the source and their name."""
    if target == "tenstorrent" and re.search(r"^\S+:\d+:\d+: error: .*([Tt]enstorrent|wormhole|blackhole|Tensix).*\[[\w-]+\]$", said, re.M):
        return True
    return target not in RUN_AS_WRITTEN and "roles that wait for each other do not become one program here" in said


def program_of(choices):
    """The first number says of which family it is."""
    return {5: ThreadGenerator, 4: RoleGenerator}.get(choices.pick(6), Generator)(choices).program()


def fill(name, tensor):
    """Data by name: small whole floats, integers of every kind."""
    source, what, bits = random.Random(name), *reference.DTYPES[tensor.dtype][:2]
    if what == "f":
        return [float(source.randint(-3, 3)) for _ in range(tensor.count())]
    if what == "b":
        return [source.random() < 0.5 for _ in range(tensor.count())]
    edges = [0, 1, -1, 1 << (bits - 1), (1 << (bits - 1)) - 1]
    return [reference.settle(source.choice(edges) if source.random() < 0.1 else source.randint(-100, 100) if source.random() < 0.5 else source.getrandbits(bits), tensor.dtype)
            for _ in range(tensor.count())]


def save(path, values, tensor):
    what, bits, code = reference.DTYPES[tensor.dtype]
    descr = ("|" if bits <= 8 else "<") + what + str(max(1, bits // 8))
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {Generator.tuple(tensor.shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}{code}", *values))


def read(path, tensor):
    data = path.read_bytes()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    return list(struct.unpack(f"<{tensor.count()}{reference.DTYPES[tensor.dtype][2]}", data[start:]))


class Bench:
    def __init__(self, options):
        self.tool, self.seconds = str(pathlib.Path(options.bin).resolve() / "tilewright"), options.timeout
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tilewright-tilelang-"))
        self.refused = 0  # runs that a target refused, as it may
        self.environment = dict(os.environ, TILEWRIGHT_CACHE_DIR=str(self.folder / "cache"))

    def run(self, path, targets):
        """None, or how it failed: (kind, what it says)."""
        defines = dict(re.findall(r"(\w+)=(\S+)", "".join(re.findall(r"^# defines: (.*)$", pathlib.Path(path).read_text(), re.M))))
        numbers = {name: int(text) if re.fullmatch(r"-?\d+", text) else text for name, text in defines.items()}
        plain = re.findall(r"^# \| (.*)$", pathlib.Path(path).read_text(), re.M)  # what a program of roles says without them
        if plain:
            (self.folder / "plain.py").write_text("\n".join(plain) + "\n")
        program = reference.Program(str(self.folder / "plain.py" if plain else path), numbers)
        want = {name: fill(name, tensor) for name, tensor in program.tensors.items()}
        command = [self.tool, "run", str(path)] + [part for name, text in defines.items() for part in ("-D", f"{name}={text}")]
        for name, tensor in program.tensors.items():
            save(self.folder / f"{name}.npy", want[name], tensor)
            command += ["--arg", f"{name}=file:{self.folder / name}.npy", "--save", f"{name}={self.folder / name}.out.npy"]
        program.run(want)
        for target in targets:
            try:
                done = subprocess.run(command + ["--target", *TARGETS[target]], capture_output=True, text=True, timeout=self.seconds, env=self.environment)
            except subprocess.TimeoutExpired:
                return f"hung on {target}", f"more than {self.seconds} s"
            said = done.stdout + done.stderr
            if done.returncode == 1 and may_refuse(target, said):
                self.refused += 1
                continue
            if done.returncode:
                error = re.search(r"error: ([^`'0-9\n]*)", said)
                return f"status {done.returncode} on {target}: {error.group(1) if error else ''}", said
            for name, tensor in program.tensors.items():
                got = read(self.folder / f"{name}.out.npy", tensor)
                wrong = [i for i, (x, y) in enumerate(zip(got, want[name])) if x != y and (x == x or y == y)]
                if wrong:
                    return f"differs on {target}", f"{name}: {len(wrong)} of {len(got)} elements differ, first {wrong[0]}: {got[wrong[0]]}, should be {want[name][wrong[0]]}"
        return None

    def attempt(self, numbers, targets):
        """The text that the list stands for, and how it fails."""
        text = program_of(Choices(numbers=numbers))
        path = self.folder / "kernel.py"
        path.write_text(text)
        return text, self.run(path, targets)

    def shrink(self, numbers, targets, kind):
        """A shorter list with lower numbers that fails in the same way."""
        tries, size = (60 if any("cuda" in t or "sm" in t for t in targets) else 250), max(1, len(numbers) // 2)
        while size and tries > 0:
            at = 0
            while at < len(numbers) and tries > 0:
                for shorter in (numbers[:at] + numbers[at + size:], numbers[:at] + [0] * size + numbers[at + size:]):
                    if shorter == numbers:
                        continue
                    tries -= 1
                    try:
                        failed = self.attempt(shorter, targets)[1]
                    except AssertionError:
                        failed = None
                    if failed and failed[0] == kind:
                        numbers = shorter
                        break
                else:
                    at += size
            size //= 2
        return numbers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--targets", default="cpu")
    parser.add_argument("--also", default="", help="targets of every EVERY-th program too")
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--threads", action="store_true", help="only programs that name their threads (targets cpu-written, cuda-written: they run as written)")
    parser.add_argument("--roles", action="store_true", help="only programs whose warpgroups have roles")
    parser.add_argument("--replay", nargs="+", default=[])
    parser.add_argument("--out", help="a folder for the texts of failures")
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--print", action="store_true")
    parser.add_argument("--large", action="store_true", help="failures are not made small")
    parser.add_argument("--timeout", type=int, default=60)
    parser.add_argument("--bin", default=str(HERE.parent.parent / "build"))
    options = parser.parse_args()
    bench, done, failures, end = Bench(options), 0, 0, time.time() + options.seconds
    part, parts = map(int, options.shard.split("/"))
    targets = ["interp"] + [t for t in options.targets.split(",") if t and t != "interp"]
    also = [t for t in options.also.split(",") if t]
    try:
        for number, path in enumerate(options.replay):
            if number % parts != part:
                continue
            done += 1
            failed = bench.run(path, targets + also)
            if failed:
                failures += 1
                print(f"{path}: {failed[0]}: {failed[1]}")
        seeds = [] if options.replay else itertools.count(options.seed) if options.seconds else range(options.seed, options.seed + options.count)
        if not options.replay:
            print(f"seeds from {options.seed} on, targets {','.join(targets)}", flush=True)
        for seed in seeds:
            if options.seconds and time.time() > end:
                break
            if (seed - options.seed) % parts != part:
                continue
            choices = Choices(seed)
            text = program_of(choices)
            if options.threads and "get_thread_binding" not in text or options.roles and "barrier_arrive" not in text:
                continue
            done += 1
            if options.print:
                print(text)
            wanted = targets + (also if random.Random(seed).randrange(options.every) == 0 else [])
            text, failed = bench.attempt(choices.numbers, wanted)
            if not failed:
                continue
            failures += 1
            if not options.large:
                text, failed = bench.attempt(bench.shrink(choices.numbers, wanted, failed[0]), wanted)
            print(f"seed {seed}: {failed[0]}: {failed[1]}\n{text}", flush=True)
            if options.out:
                os.makedirs(options.out, exist_ok=True)
                pathlib.Path(options.out, f"random_tilelang-{seed}.py").write_text(f"# seed {seed}: {failed[0]}: {failed[1].splitlines()[0]}\n{text}")
    finally:
        shutil.rmtree(bench.folder, ignore_errors=True)
    if bench.refused:
        print(f"{bench.refused} runs were refused by name")
    print(f"{done} programs, {failures} failed")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
