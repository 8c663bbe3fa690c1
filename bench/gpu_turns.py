# SPDX-License-Identifier: Apache-2.0
"""gpu_turns.py: other people's programs, unmodified, under Triton and under Tilewright, in turns on one GPU.

    python3 bench/gpu_turns.py --folder DIR [--only TEXT,..] [--processes 14] [--seconds 240] [--out FILE.json]

DIR has what is fetched and not part of this repository: tutorials/ (Triton's) and pkgs/PACKAGE (the packages' own trees); gpu_turns_cases.py
says which of their functions are called and on what. A group is two processes, one with Triton, one under `python -m tilewright`, that make
the same cases in the same order; each launches alone while the other waits, TURNS times in turns, the L2 flushed before each launch, the
host's part hidden behind a wait on the device. Tuners choose by medians of five launches on both sides. What is to be compiled is compiled
before, by --processes processes into both disk caches. A ratio is Triton's time / ours, the median over the turns; results are compared
with each other by the norm of their difference."""
import argparse
import concurrent.futures
import json
import math
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
SIDES = ("triton", "ours")
TURNS = 7


# --- a side: one process of one group ---

def quick_tuning(clock, share):
    """Tuners of this process take medians of five launches; with a share (i, n) they compile each n-th configuration, and measure none."""
    from triton.runtime.autotuner import Autotuner

    def measure(call, quantiles=None, **_):
        if share:
            call()
            return [1.0] * 3
        call()
        return [statistics.median(clock.times(call, 5))] * 3
    Autotuner.do_bench = property(lambda self: measure, lambda self, value: None)
    if share:
        run = Autotuner.run

        def cut(self, *args, **kwargs):
            if not self.__dict__.get("_shared"):
                self._shared, self.configs = True, self.configs[share[0]::share[1]] or self.configs[:1]
            return run(self, *args, **kwargs)
        Autotuner.run = cut


def numbers(result):
    """A few figures of a result, which both sides must agree on: for each tensor some of its elements."""
    import torch
    tensors = [t for t in (result if isinstance(result, (tuple, list)) else [result]) if isinstance(t, torch.Tensor) and t.dtype.is_floating_point]
    found = []
    for t in tensors:
        flat = t.detach().flatten()
        found.append(flat[:: max(1, flat.numel() // 512)][:512].double().cpu().tolist())
    return found


def side(group, folder, share):
    """Answers lines of the standard input: "next" makes a case, "time" launches it."""
    tell = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what programs print goes elsewhere
    import torch
    from gpu import Clock
    import gpu_turns_cases
    clock = Clock(torch)
    quick_tuning(clock, share)
    torch.manual_seed(0)
    cases = gpu_turns_cases.GROUPS[group](folder)
    run = plan = None
    for line in sys.stdin if not share else iter(lambda: "next", None):
        if line.strip() == "time":
            tell.write(json.dumps({"us": clock.times(run, *plan)}) + "\n")
            continue
        run, name = None, "?"
        try:
            torch.cuda.empty_cache()
            made = next(cases, None)
            if made is None:
                break
            name, run = made
            result = run()
            torch.cuda.synchronize()
            if share:
                continue
            once = statistics.median(clock.times(run, 4)[1:])
            plan = max(3, min(25, int(4000 / max(once, 1)))), clock.lead(run)
            answer = {"case": name, "numbers": numbers(result)}
        except Exception as fault:  # one case; the next ones may run
            answer = {"case": name, "error": f"{type(fault).__name__}: {(str(fault).strip().splitlines() or [''])[0][:200]}"}
            if isinstance(fault, getattr(torch, "AcceleratorError", ())):
                tell.write(json.dumps(answer) + "\n")
                os._exit(1)  # the device is lost to this process
        if not share:
            tell.write(json.dumps(answer) + "\n")
    if not share:
        tell.write("{}\n")


def command(who, group, folder, share=None):
    begin = [sys.executable, "-m", "tilewright"] if who == "ours" else [sys.executable]
    return [*begin, os.path.abspath(__file__), "--side", group, "--folder", folder] + (["--share", f"{share[0]}/{share[1]}"] if share else [])


def environment(who):
    path = [HERE] + ([os.path.join(ROOT, os.environ.get("TILEWRIGHT_BUILD", "build"), "python")] if who == "ours" else []) + os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(part for part in path if part)}


# --- the race ---

class Side:

    def __init__(self, who, group, folder, log):
        self.process = subprocess.Popen(command(who, group, folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=environment(who))

    def ask(self, word):
        """The answer; {} at the end, None where the process has ended."""
        try:
            self.process.stdin.write(word + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline() or "null")
        except (OSError, ValueError):
            return None

    def end(self):
        self.process.kill()
        self.process.wait()


def difference(first, second):
    """The largest distance of two results relative to the first; infinite where they have other shapes."""
    if [len(a) for a in first] != [len(b) for b in second]:
        return math.inf
    worst = 0.0
    for a, b in zip(first, second):
        pairs = [(x, y) for x, y in zip(a, b) if not (x != x and y != y) and not x == y]
        size = math.sqrt(sum(x * x for x in a if math.isfinite(x))) or 1.0
        away = math.sqrt(sum((x - y) ** 2 for x, y in pairs)) / size
        worst = max(worst, away if away == away else math.inf)
    return worst


def race(group, folder, log, deadline):
    """Rows of one group."""
    sides = {who: Side(who, group, folder, log) for who in SIDES}
    rows = []
    try:
        while time.time() < deadline:
            made = {who: each.ask("next") for who, each in sides.items()}
            if not all(made.values()):
                lost = [who for who in SIDES if made[who] is None]
                if lost:
                    rows.append({"name": f"{group}: the rest", "error": " and ".join(lost) + " ended"})
                break
            row = {"name": f"{group} {made['ours']['case']}"}
            rows.append(row)
            faults = [f"{who}: {made[who]['error']}" for who in SIDES if "error" in made[who]]
            if faults:
                row["error"] = "; ".join(faults)
                print(row["name"], row["error"], flush=True)
                continue
            turns = {who: [] for who in SIDES}
            for _ in range(TURNS):
                for who, each in sides.items():
                    turns[who].append(statistics.median(each.ask("time")["us"]))
            ratios = [a / b for a, b in zip(turns["triton"], turns["ours"])]
            row.update({who: statistics.median(turns[who]) for who in SIDES}, ratio=statistics.median(ratios), low=min(ratios), high=max(ratios),
                       difference=difference(made["triton"]["numbers"], made["ours"]["numbers"]))
            print(f"{row['name']:52s} triton {row['triton']:9.1f} us, ours {row['ours']:9.1f} us, {row['ratio']:.3f} ({row['low']:.3f} to "
                  f"{row['high']:.3f}), difference {row['difference']:.1e}", flush=True)
    except TypeError:
        rows.append({"name": f"{group}: the rest", "error": "a process ended while it was timed"})
    finally:
        for each in sides.values():
            each.end()
    return rows


def prepare(groups, folder, processes):
    """Compiles what the groups will ask for: Triton's tuners in shares, ours whole (it compiles side by side by itself)."""
    import gpu_turns_cases
    jobs = []
    for group in groups:
        count = gpu_turns_cases.SHARES.get(group, 1)
        jobs += [("triton", group, (i, count)) for i in range(count)] + [("ours", group, (0, 1))]
    jobs.sort(key=lambda job: -job[2][1])

    def one(job):
        who, group, share = job
        try:
            done = subprocess.run(command(who, group, folder, share), env=environment(who), capture_output=True, text=True, timeout=170, stdin=subprocess.DEVNULL)
            return None if not done.returncode else f"{who} {group} {share[0]}: {(done.stderr.strip().splitlines() or ['?'])[-1][:200]}"
        except subprocess.TimeoutExpired:
            return f"{who} {group} {share[0]}: not compiled in the time it had"
    with concurrent.futures.ThreadPoolExecutor(processes) as pool:
        return [fault for fault in pool.map(one, jobs) if fault]


def parse():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--folder", required=True)
    options.add_argument("--only", default="", help="groups whose name contains this; several with commas")
    options.add_argument("--processes", type=int, default=min(14, os.cpu_count() or 1), help="that compile ahead; 0: none do")
    options.add_argument("--seconds", type=float, default=240, help="no race begins later than this")
    options.add_argument("--out", default=os.path.join(ROOT, "build", "bench-turns.json"))
    options.add_argument("--side", help=argparse.SUPPRESS)
    options.add_argument("--share", help=argparse.SUPPRESS)
    return options.parse_args()


def main():
    chosen = parse()
    if chosen.side:
        return side(chosen.side, chosen.folder, chosen.share and tuple(int(part) for part in chosen.share.split("/")))
    import gpu_turns_cases
    started = time.time()
    groups = [group for group in gpu_turns_cases.GROUPS if any(part in group for part in chosen.only.split(","))]
    for fault in prepare(groups, chosen.folder, chosen.processes) if chosen.processes else []:
        print("compiling ahead:", fault)
    print(f"compiled ahead in {time.time() - started:.0f} s", flush=True)
    rows = []
    os.makedirs(os.path.dirname(os.path.abspath(chosen.out)), exist_ok=True)
    with open(os.path.splitext(chosen.out)[0] + ".log", "w") as log:
        for group in groups:
            rows += race(group, chosen.folder, log, started + chosen.seconds)
            with open(chosen.out, "w") as file:
                json.dump(rows, file, indent=1)
    ratios = [row["ratio"] for row in rows if "ratio" in row]
    for row in rows:
        if "error" in row:
            print(f"{row['name']}: {row['error']}")
    if ratios:
        print(f"{len(ratios)} raced, {sum(ratio < 0.97 for ratio in ratios)} below 0.97, geometric mean {math.exp(statistics.fmean(map(math.log, ratios))):.3f}; "
              f"{sum(row.get('difference', 0) > 2e-2 for row in rows)} differ; {time.time() - started:.0f} s")


if __name__ == "__main__":
    main()
