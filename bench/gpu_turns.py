# SPDX-License-Identifier: Apache-2.0
"""gpu_turns.py: other people's programs, unmodified, under Triton and under Tilewright, in turns on one GPU.

    python3 bench/gpu_turns.py --folder DIR [--only TEXT,..] [--cases TEXT,..] [--before BUILD] [--processes 14] [--seconds 360]
                               [--out FILE.json] [--list] [--dry]

DIR has what is fetched and not part of this repository: tutorials/ (Triton's), pkgs/PACKAGE (the packages' own trees) and site/ (what they
import beside torch and numpy); gpu_turns_cases.py says which of their functions are called and on what. Two processes, one with Triton, one
under `python -m tilewright`, make the same cases in the same order; each launches alone while the other waits, TURNS times in turns, the L2
flushed before each launch, the host's part hidden behind a wait on the device. Tuners choose by medians of five launches on both sides.
What is to be compiled is compiled before, by --processes processes into both disk caches. A ratio is Triton's time / ours, the median over
the turns; results are compared with each other by the norm of their difference.

--before BUILD: another build of Tilewright (its folder python/ is what runs), as a third in the turns.

Everything, also the compiling, ends within --seconds. Groups come in waves, the ones that are asked for most first, each compiled and raced
before the next is begun. A case that fails or does not answer costs itself alone: its process is started again behind it. FILE.json is
written after each case. --dry needs no GPU and no Triton: small cases on the CPU, ours on both sides, to see that the cases can be made."""
import argparse
import concurrent.futures
import gc
import json
import math
import os
import queue
import statistics
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
SIDES = ("triton", "ours")  # and "before", with --before
TURNS = 7
PATIENCE_S = 60  # for one answer: a case is made, tuned and launched in it
COMPILING = 0.45  # of the time that is left when a wave begins


# --- a side: one process ---

def quick_tuning(clock, share):
    """Tuners of this process take medians of five launches; with a share (i, n) they compile each n-th configuration, and measure none.
    What is given back says which configurations were chosen since it was asked last."""
    from triton.runtime.autotuner import Autotuner

    def measure(call, quantiles=None, **_):
        call()
        return [1.0 if share else statistics.median(clock.times(call, 5))] * 3
    Autotuner.do_bench = property(lambda self: measure, lambda self, value: None)
    tuners, told = [], set()
    begin = Autotuner.__init__

    def noted(self, *args, **kwargs):
        begin(self, *args, **kwargs)
        if share:
            self.configs = self.configs[share[0]::share[1]] or self.configs[:1]
        tuners.append(self)
    Autotuner.__init__ = noted

    def chosen():
        now = {f"{getattr(tuner.base_fn, '__name__', '?')} {[part if isinstance(part, (int, str)) else '?' for part in key]}: {config}"
               for tuner in tuners for key, config in tuner.cache.items()}
        new = sorted(now - told)
        told.update(now)
        return new
    return chosen


def numbers(result):
    """A few figures of a result, which both sides must agree on: for each tensor some of its elements."""
    import torch
    tensors = [t for t in (result if isinstance(result, (tuple, list)) else [result]) if isinstance(t, torch.Tensor) and t.dtype.is_floating_point]
    found = []
    for t in tensors:
        flat = t.detach().flatten()
        found.append(flat[:: max(1, flat.numel() // 512)][:512].double().cpu().tolist())
    return found


def said(fault):
    return f"{type(fault).__name__}: {(str(fault).strip().splitlines() or [''])[0][:200]}"


def begin(dry):
    """The clock of this process, which has a GPU or is told so."""
    if dry:
        from tilewright import cuda_on_cpu
        cuda_on_cpu.install()
    import torch
    from gpu import Clock
    import gpu_turns_cases
    gpu_turns_cases.SMALL = dry
    clock = Clock(torch)
    if dry:
        clock.flush = torch.empty(16, dtype=torch.int8)
    return clock


def wanted(name, cases):
    return any(part in name for part in cases.split(","))


def compile_share(group, folder, share, cases, dry):
    """Makes and launches each case of a group once, so that both disk caches have what it needs."""
    clock = begin(dry)
    import gpu_turns_cases
    import torch
    quick_tuning(clock, share)
    for name, make in gpu_turns_cases.GROUPS[group](folder):
        if not wanted(name, cases):
            continue
        try:
            torch.manual_seed(0)
            make()()
            torch.cuda.synchronize()
            gc.collect()
        except Exception as fault:  # the race says it again
            print(name, said(fault), file=sys.stderr)
            if isinstance(fault, getattr(torch, "AcceleratorError", ())):
                os._exit(1)  # the device is lost to this process


def side(folder, only, dry):
    """Answers lines of the standard input: "group NAME" says its cases, "make I" makes one, "time" launches it."""
    tell = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what programs print goes elsewhere
    clock = begin(dry)
    import gpu_turns_cases
    import torch
    chosen = quick_tuning(clock, None)
    cases, run, plan = [], None, None
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        try:
            if word == "group":
                cases = [case for case in gpu_turns_cases.GROUPS[rest](folder) if wanted(case[0], only)]
                answer = {"cases": [name for name, _ in cases]}
            elif word == "make":
                run = result = None
                gc.collect()
                torch.cuda.empty_cache()
                torch.manual_seed(0)
                run = cases[int(rest)][1]()
                result = run()
                torch.cuda.synchronize()
                once = statistics.median(clock.times(run, 4)[1:])
                plan = max(3, min(25, int(4000 / max(once, 1)))), 0 if dry else clock.lead(run)
                answer = {"numbers": numbers(result), "chosen": chosen()}
            else:
                answer = {"us": clock.times(run, *plan)}
        except Exception as fault:
            print(line.strip(), said(fault), file=sys.stderr)
            answer = {"error": said(fault), "lost": isinstance(fault, getattr(torch, "AcceleratorError", ()))}
        tell.write(json.dumps(answer) + "\n")


def command(who, dry, *words):
    begin = [sys.executable, "-m", "tilewright"] if who != "triton" or dry else [sys.executable]
    return [*begin, os.path.abspath(__file__), *words, *(["--dry"] if dry else [])]


def environment(who, chosen):
    build = chosen.before if who == "before" else os.path.join(ROOT, os.environ.get("TILEWRIGHT_BUILD", "build"))
    path = [HERE] + ([os.path.join(os.path.abspath(build), "python")] if who != "triton" or chosen.dry else []) + os.environ.get("PYTHONPATH", "").split(os.pathsep)
    own = {"TILEWRIGHT_CACHE_DIR": os.path.join(os.path.abspath(build), "turns-cache")} if who == "before" else {}
    return {**os.environ, **own, "PYTHONPATH": os.pathsep.join(part for part in path if part)}


# --- the race ---

class Side:
    """One process, and the thread that reads its answers."""

    def __init__(self, who, chosen, log):
        self.process = subprocess.Popen(command(who, chosen.dry, "--side", "--folder", chosen.folder, "--cases", chosen.cases), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=log, text=True, env=environment(who, chosen))
        self.answers = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.answers.put(line)
        self.answers.put("")

    def ask(self, words, seconds):
        """The answer; one with an error and "lost" where the process has ended or takes longer."""
        try:
            self.process.stdin.write(words + "\n")
            self.process.stdin.flush()
            line = self.answers.get(timeout=max(seconds, 0.1))
            return json.loads(line) if line else {"error": f"the process ended ({self.process.wait()})", "lost": True}
        except queue.Empty:
            return {"error": f"no answer in {seconds:.0f} s", "lost": True}
        except (OSError, ValueError) as fault:
            return {"error": said(fault), "lost": True}

    def end(self):
        self.process.kill()
        self.process.wait()


def difference(first, second):
    """The largest distance of two results relative to the first; infinite where they have other shapes, None where there are none."""
    if [len(a) for a in first] != [len(b) for b in second]:
        return math.inf
    worst = None
    for a, b in zip(first, second):
        pairs = [(x, y) for x, y in zip(a, b) if not (x != x and y != y) and not x == y]
        size = math.sqrt(sum(x * x for x in a if math.isfinite(x))) or 1.0
        away = math.sqrt(sum((x - y) ** 2 for x, y in pairs)) / size
        worst = max(worst or 0.0, away if away == away else math.inf)
    return worst


def line_of(row):
    if "error" in row:
        return f"{row['name']:58s} {row['error']}"
    away = "not compared" if row["difference"] is None else f"difference {row['difference']:.0e}"
    return f"{row['name']:58s} {row['triton']:9.1f} {row['ours']:9.1f} us {row['ratio']:.3f} ({row['low']:.3f} to {row['high']:.3f}) {away}" + (
        f", before {row['before']:.1f} us, {row['gain']:.3f} of its speed" if "gain" in row else "")


class Race:

    def __init__(self, chosen, log, deadline):
        self.chosen, self.log, self.deadline = chosen, log, deadline
        self.who = (*SIDES, *(["before"] if chosen.before else []))
        self.sides, self.rows = {}, []

    def ask(self, who, words):
        """As Side.ask; a process that is gone or hangs is ended, and the next question starts another, which has the group again."""
        if who not in self.sides:
            self.sides[who] = Side(who, self.chosen, self.log)
            if not words.startswith("group"):
                self.ask(who, "group " + self.group)
        answer = self.sides[who].ask(words, min(PATIENCE_S, self.deadline - time.time()))
        if answer.get("lost"):
            self.sides.pop(who).end()
        return answer

    def both(self, words):
        """{side: answer} of all sides, or raises LookupError with what went wrong."""
        answers = {who: self.ask(who, words) for who in self.who}
        faults = [f"{who}: {answers[who]['error']}" for who in self.who if "error" in answers[who]]
        if faults:
            raise LookupError("; ".join(faults))
        return answers

    def one(self, row, index):
        made = self.both(f"make {index}")
        turns = {who: [] for who in self.who}
        for _ in range(TURNS):
            for who, answer in self.both("time").items():
                turns[who].append(statistics.median(answer["us"]))
        ratios = [a / b for a, b in zip(turns["triton"], turns["ours"])]
        row.update({who: statistics.median(turns[who]) for who in self.who}, ratio=statistics.median(ratios), low=min(ratios), high=max(ratios),
                   difference=difference(made["triton"]["numbers"], made["ours"]["numbers"]),
                   chosen={who: made[who]["chosen"] for who in self.who if made[who]["chosen"]})
        if self.chosen.before:
            row["gain"] = statistics.median(a / b for a, b in zip(turns["before"], turns["ours"]))

    def run(self, group):
        self.group = group
        try:
            names = self.both("group " + group)["ours"]["cases"]
        except LookupError as fault:
            self.rows.append({"name": group, "error": str(fault)})
            names = []
        for index, name in enumerate(names[:2] if self.chosen.dry else names):
            row = {"name": f"{group} {name}"}
            if time.time() > self.deadline - 5:
                row["error"] = "no time was left"
            else:
                try:
                    self.one(row, index)
                except LookupError as fault:
                    row["error"] = str(fault)
                print(line_of(row), flush=True)
            self.rows.append(row)
            with open(self.chosen.out, "w") as file:
                json.dump(self.rows, file, indent=1)

    def end(self):
        for each in self.sides.values():
            each.end()


def prepare(groups, chosen, until):
    """Compiles what the groups will ask for: Triton's tuners in shares, ours whole (it compiles side by side by itself). What is said of
    those that did not end well."""
    import gpu_turns_cases
    jobs = []
    for group in groups:
        count = gpu_turns_cases.SHARES[group]
        jobs += [(who, group, "0/1") for who in ("ours", *(["before"] if chosen.before else []))] + [("triton", group, f"{i}/{count}") for i in range(count)]

    def one(job):
        who, group, share = job
        left = until - time.time()
        if left < 5:
            return f"{who} {group} {share}: not begun"
        try:
            done = subprocess.run(command(who, chosen.dry, "--side", group, "--folder", chosen.folder, "--cases", chosen.cases, "--share", share), env=environment(who, chosen),
                                  capture_output=True, text=True, timeout=left, stdin=subprocess.DEVNULL)
            return None if not done.returncode else f"{who} {group} {share}: {(done.stderr.strip().splitlines() or ['?'])[-1][:200]}"
        except subprocess.TimeoutExpired:
            return f"{who} {group} {share}: not compiled in {left:.0f} s"
    with concurrent.futures.ThreadPoolExecutor(chosen.processes) as pool:
        return [fault for fault in pool.map(one, jobs) if fault]


def parse():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--folder", required=True)
    options.add_argument("--only", default="", help="groups whose name contains this; several with commas")
    options.add_argument("--cases", default="", help="cases whose name contains this; several with commas")
    options.add_argument("--before", metavar="BUILD", help="another build, which races too")
    options.add_argument("--processes", type=int, default=min(14, os.cpu_count() or 1), help="that compile ahead; 0: none do")
    options.add_argument("--seconds", type=float, default=360, help="for everything")
    options.add_argument("--out", default=os.path.join(ROOT, "build", "bench-turns.json"))
    options.add_argument("--list", action="store_true", help="the groups in their order, and nothing else")
    options.add_argument("--dry", action="store_true", help="two small cases of each group on the CPU, ours on both sides")
    options.add_argument("--side", nargs="?", const="", help=argparse.SUPPRESS)
    options.add_argument("--share", help=argparse.SUPPRESS)
    return options.parse_args()


def summary(rows, seconds):
    raced = [row for row in rows if "ratio" in row]
    print("\n" + "\n".join(line_of(row) for row in rows))
    if raced:
        slow = [row["ratio"] for row in raced if row["ratio"] < 0.97]
        print(f"{len(raced)} of {len(rows)} raced, {len(slow)} below 0.97, geometric mean {math.exp(statistics.fmean(math.log(row['ratio']) for row in raced)):.3f}; "
              f"{sum((row['difference'] or 0) > 2e-2 for row in raced)} differ; {seconds:.0f} s")


def main():
    chosen = parse()
    chosen.folder = os.path.abspath(chosen.folder)
    if chosen.side is not None:
        share = chosen.share and tuple(int(part) for part in chosen.share.split("/"))
        return compile_share(chosen.side, chosen.folder, share, chosen.cases, chosen.dry) if share else side(chosen.folder, chosen.cases, chosen.dry)
    import gpu_turns_cases
    groups = [group for group in gpu_turns_cases.GROUPS if any(part in group for part in chosen.only.split(","))]
    if chosen.list:
        return print("\n".join(f"{gpu_turns_cases.WAVES[group]} {group}" for group in groups))
    missing = [part for part in ("tutorials", "pkgs") if not os.path.isdir(os.path.join(chosen.folder, part))]
    if missing or not groups:
        sys.exit(f"gpu_turns.py: {chosen.folder} has no {' and no '.join(missing)}" if missing else f"gpu_turns.py: no group is called {chosen.only} (see --list)")
    started = time.time()
    os.makedirs(os.path.dirname(os.path.abspath(chosen.out)), exist_ok=True)
    with open(os.path.splitext(chosen.out)[0] + ".log", "w") as log:
        race = Race(chosen, log, started + chosen.seconds)
        try:
            for wave in sorted({gpu_turns_cases.WAVES[group] for group in groups}):
                of_wave, now = [group for group in groups if gpu_turns_cases.WAVES[group] == wave], time.time()
                for fault in prepare(of_wave, chosen, now + COMPILING * (race.deadline - now)) if chosen.processes else []:
                    print("compiling ahead:", fault)
                print(f"wave {wave} compiled ahead in {time.time() - now:.0f} s, {race.deadline - time.time():.0f} s are left", flush=True)
                for group in of_wave:
                    if time.time() < race.deadline - 5:
                        race.run(group)
                    else:
                        race.rows.append({"name": group, "error": "no time was left"})
        finally:
            race.end()
            summary(race.rows, time.time() - started)


if __name__ == "__main__":
    main()
