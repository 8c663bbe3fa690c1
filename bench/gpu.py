# SPDX-License-Identifier: Apache-2.0
"""gpu.py: the CUDA target against Triton, torch, cuBLAS and cuDNN, in one process, on the same arrays (`make bench-gpu`).

    python3 bench/gpu.py [--only TEXT,..] [--quick] [--out build/bench-gpu/TIME] [--list]

Each row (gpu_rows.py) is compiled by Tilewright (build/libtilewright.so) and, from the same file, by Triton; each takes its
fastest of the same configurations, checked against torch in float64. Then all take turns (ABAB..) on random data, the L2 flushed
before every launch; a figure is the median of all launches, a ratio (rival's time / ours) the median over the turns, its spread
the least and the largest turn. A row is met when the ratio to the fastest rival of each of its bars reaches the bar. The table
goes to the terminal, and with every figure to OUT.md and OUT.json; bench/gpu_table.py makes one table of several runs.

Without torch there is nothing to race: the kernels are timed alone (gpu_alone.py) and the figures are absolute. Without Triton
its column says 'not measured', as do Triton's tutorials without TILEWRIGHT_BASELINES=DIR; such rows count as not met."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import gpu_rivals
from gpu_compile import cold_compile, python_launch
from gpu_library import ROOT, Library
from gpu_rivals import ROWS

TURNS = 7
LONG_S = 150  # races that begin later than this are short ones, so that a run ends within five minutes


class Clock:
    """Times launches by events, without waiting in between; `lead` covers what the host needs to launch."""

    def __init__(self, torch):
        self.torch = torch
        self.flush = torch.empty(256 << 20, dtype=torch.int8, device="cuda")

    def times(self, run, count, lead=0):
        """us of each of `count` launches."""
        cuda = self.torch.cuda
        events = [(cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)) for _ in range(count)]
        for begin, end in events:
            self.flush.zero_()
            if lead:
                cuda._sleep(lead)
            begin.record()
            run()
            end.record()
        cuda.synchronize()
        return [begin.elapsed_time(end) * 1e3 for begin, end in events]

    def lead(self, run):
        """Cycles to wait before a launch so that the device never waits for the host; the flush covers 50 us."""
        self.torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(5):
            run()
        us = (time.perf_counter() - start) * 1e6 / 5
        self.torch.cuda.synchronize()
        return int((us - 40) * 2000) if us > 50 else 0

    def race(self, runs, budget_ms):
        """name -> [us of each launch of a turn] for each turn."""
        plan = {}
        for name, run in runs.items():
            self.times(run, 2)
            once = statistics.median(self.times(run, 3))
            plan[name] = max(3, min(40, int(budget_ms * 1e3 / TURNS / max(once, 1)))), self.lead(run)
        turns = {name: [] for name in runs}
        for _ in range(TURNS):
            for name, run in runs.items():
                turns[name].append(self.times(run, *plan[name]))
        return turns


class Lost(Exception):
    """A kernel has faulted: nothing runs on the device any more, until the process ends."""


def best_of(torch, clock, case, row, who, build):
    """The fastest correct configuration: (run, configuration) or (None, why there is none)."""
    best, why = None, "no configuration"
    for constants, options in row.configs:
        try:
            run = build(constants, options)
            for name in row.outputs:
                case["arrays"][name].fill_(float("nan"))
            run()
            error = 0.0
            for name, part, want in case["wanted"]:
                got = part(case["arrays"][name]).double()
                error = max(error, ((got - want).norm() / want.norm()).nan_to_num(float("inf")).item())
            if not error < row.bound:
                why = f"WRONG with {constants} {options}: error {error:.3g}"
                print(f"{row.name}: {why}", flush=True)
                continue
            us = statistics.median(clock.times(run, 5))
            if best is None or us < best[0]:
                best = us, run, {**constants, **options}
        except Exception as fault:  # a configuration that does not fit is no row's end; a device that is lost is everybody's
            if isinstance(fault, getattr(torch, "AcceleratorError", ())):
                raise Lost(f"{who} with {constants} {options}: {fault}".splitlines()[0]) from fault
            why = (str(fault).strip().splitlines() or [type(fault).__name__])[0][:140]
    return best[1:] if best else (None, why)


def contestants(torch, triton, library, clock, row, case):
    """name -> run for all that can run, and what is to be said of the others and of the configurations."""
    arrays, runs, notes = case["arrays"], {}, {}

    def add(name, made):
        run, note = made
        if run:
            runs[name] = run
        if note:
            notes[name] = note

    add("ours", best_of(torch, clock, case, row, "ours", lambda c, o: gpu_rivals.ours(library, row, arrays, c, o)))
    for name in row.rivals:
        try:
            if name == "triton":
                made = best_of(torch, clock, case, row, name, lambda c, o: gpu_rivals.same_file(row, arrays, c, o)) if triton else (None, None)
            elif name == "torch":
                made = (lambda: row.function(torch, arrays)), None
            elif name == "torch.compile":
                made = (gpu_rivals.compiled_by_torch(torch, row, arrays), None) if triton else (None, None)
            elif name.startswith("tutorial"):
                def short(call):
                    call()
                    return statistics.median(clock.times(call, 3))
                made = gpu_rivals.tutorial(torch, name.split()[1], row, arrays, short) if triton else None, None
            else:
                made = getattr(gpu_rivals, name)(torch, row, arrays), None
            if made[0]:
                made[0]()  # compiles, tunes
            add(name, made)
        except Lost:
            raise
        except Exception as fault:
            notes[name] = (str(fault).strip().splitlines() or [type(fault).__name__])[-1][:140]
    return runs, notes


def measure(torch, triton, library, clock, row, budget_ms):
    case = {"arrays": gpu_rivals.make_arrays(torch, row)}
    case["wanted"] = row.check(torch, case["arrays"])
    runs, notes = contestants(torch, triton, library, clock, row, case)
    turns = clock.race(runs, budget_ms)
    us = {name: statistics.median(t for turn in all_turns for t in turn) for name, all_turns in turns.items()}
    ratios = {}
    for name in us:
        if name != "ours" and "ours" in us:
            each = [statistics.median(b) / statistics.median(a) for a, b in zip(turns["ours"], turns[name])]
            ratios[name] = statistics.median(each), min(each), max(each)
    scale = 1e-3 if row.unit == "GB/s" else 1e-6
    return dict(name=row.name, unit=row.unit, us=us, rate={name: row.work / t * scale for name, t in us.items()}, ratios=ratios, notes=notes,
                bars=[judge(bar, ratios) for bar in row.bars])


def judge(bar, ratios):
    """What is met counts the fastest rival of a bar; one that was not measured leaves it open (torch's own op alone may be missing)."""
    missing = [name for name in bar.rivals if name not in ratios]
    found = min((ratios[name] + (name,) for name in bar.rivals if name in ratios), default=None)
    met = found is not None and not missing and found[0] >= bar.ratio
    return dict(label=bar.label, bar=bar.ratio, ratio=found and found[0], low=found and found[1], high=found and found[2], rival=found and found[3],
                missing=missing, met=met)


# --- the table ---

def verdict(bar):
    if bar["ratio"] is None:
        return "not measured"
    return "met" if bar["met"] else "not measured: " + ", ".join(bar["missing"]) if bar["missing"] else "MISSED"


def line_of(row):
    cells = []
    for bar in row["bars"]:
        ratio = f"{bar['ratio']:.3f}x {bar['rival']} ({bar['low']:.3f} to {bar['high']:.3f}), bar {bar['bar']:.3g}" if bar["ratio"] else bar["label"]
        cells.append(f"{ratio}: {verdict(bar)}")
    rates = ", ".join(f"{name} {rate:.4g}" for name, rate in row["rate"].items())
    return f"{row['name']:36s} {row['unit']:8s} {rates}  |  {'; '.join(cells)}"


def markdown(head, rows):
    lines = [f"{head}\n", "| row | unit | ours | rivals | ratio (spread over turns) | bar | |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        ours = row["rate"].get("ours")
        rivals = ", ".join(f"{name} {rate:.4g}" for name, rate in row["rate"].items() if name != "ours")
        for bar in row["bars"] or [None]:
            level = f"{bar['bar']:.3g}" if bar else "-"
            ratio = f"{bar['ratio']:.3f} of {bar['rival']} ({bar['low']:.3f} to {bar['high']:.3f})" if bar and bar["ratio"] else "-"
            lines.append(f"| {row['name']} | {row['unit']} | {f'{ours:.4g}' if ours else '-'} | {rivals} | {ratio} | {level} | "
                         f"{verdict(bar) if bar else ''} |")
    return "\n".join(lines) + "\n"


def launch_figures(program, *args):
    """A C program's figures, as it prints them: {"ours_us": .., "driver_us": .., "turns": [ratios]}; None: it is not there, or failed."""
    program = os.path.join(ROOT, os.environ.get("TILEWRIGHT_BUILD", "build"), program)
    if not os.path.exists(program):
        return None
    done = subprocess.run([program, *args], capture_output=True, text=True, timeout=120)
    if done.returncode:
        print("launch:", done.stderr.strip()[:300])
        return None
    return json.loads(done.stdout)


def simple_row(name, unit, figures, rival, bar, turns):
    """A row of plain times (smaller is better): figures: {"ours": .., rival: ..}; turns: ratios rival's / ours."""
    ratio = (statistics.median(turns), min(turns), max(turns)) if turns else None
    ratios = {rival: ratio} if ratio else {}
    row = dict(name=name, unit=unit, us=figures, rate=figures, ratios=ratios, notes={}, bars=[])
    if bar:
        row["bars"] = [judge(bar, ratios)]
    return row


def parse():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--only", default="", help="rows whose name contains this; several with commas")
    options.add_argument("--quick", action="store_true", help="short races")
    options.add_argument("--out", default=os.path.join(ROOT, "build", "bench-gpu", time.strftime("%Y%m%d-%H%M%S")), help="OUT.md and OUT.json are written")
    options.add_argument("--list", action="store_true", help="the rows' names")
    options.add_argument("--processes", type=int, default=min(14, os.cpu_count() or 1), help="that compile ahead; 0: none do")
    return options.parse_args()


def main():
    chosen = parse()
    wanted = [row for row in ROWS if any(part in row.name for part in chosen.only.split(","))]
    if chosen.list:
        print("\n".join(row.name for row in ROWS) + "\nlaunch\ncold compile")
        return
    try:
        import torch
    except ImportError:
        import gpu_alone
        return gpu_alone.main(wanted, "torch is not installed: nothing to race, the figures are absolute")
    if not torch.cuda.is_available():
        sys.exit("bench/gpu.py: no CUDA device here; nothing was measured")
    try:
        import triton
        triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device="cuda", dtype=torch.int8))  # for descriptors
    except ImportError:
        triton = None
        print("triton is not installed: its columns are not measured")
    started = time.time()
    for fault in gpu_rivals.prepare(wanted, True, triton is not None, chosen.processes) if chosen.processes else []:
        print("compiling ahead:", fault)
    head = (f"{torch.cuda.get_device_name()}, torch {torch.__version__}, Triton {triton.__version__ if triton else 'not installed'}, "
            f"{time.strftime('%Y-%m-%d %H:%M')} UTC; compiled ahead in {time.time() - started:.0f} s")
    print(head, flush=True)
    library, clock, rows = Library(), Clock(torch), []

    def keep(row):
        rows.append(row)
        print(line_of(row), flush=True)
        for name, note in row["notes"].items():
            if name not in row["us"]:
                print(f"    {name}: {note}", flush=True)

    for row in wanted:
        try:
            short = chosen.quick or time.time() - started > LONG_S
            keep(measure(torch, triton, library, clock, row, 30 if short else 80))
        except Lost as fault:
            sys.exit(f"{row.name}: {fault}")
        except Exception as fault:
            print(f"{row.name}: {type(fault).__name__}: {(str(fault).splitlines() or [''])[0]}", flush=True)
        torch.cuda.empty_cache()
    if any(part in "launch" for part in chosen.only.split(",")):
        for row in python_launch(simple_row, torch, triton):
            keep(row)
        quick = ["--quick"] if chosen.quick else []
        figures = launch_figures("bench_gpu_launch", os.path.join(ROOT, "kernels/triton/add.py"), *quick)
        built = launch_figures("bench_gpu_built", *quick) or {}
        for name, one, bar in (("launch from C, 4 arguments", figures, gpu_rivals.LAUNCH_BAR),
                               ("launch of a built object, 4 arguments", built.get("add"), gpu_rivals.BUILT_BAR),
                               ("launch of a built object, 3 tensor maps", built.get("matmul"), gpu_rivals.BUILT_BAR)):
            if one:
                keep(simple_row(name, "us", {"ours": one["ours_us"], "cuLaunchKernel": one["driver_us"]}, "cuLaunchKernel", bar, one["turns"]))
    if any(part in "cold compile" for part in chosen.only.split(",")):
        for row in cold_compile(simple_row, torch, triton, 3 if chosen.quick else 9):
            keep(row)
    bars = [bar for row in rows for bar in row["bars"]]
    tail = f"{sum(bar['met'] for bar in bars)} of {len(bars)} bars met; {time.time() - started:.0f} s"
    print(f"{tail}; {os.path.relpath(chosen.out)}.md, .json")
    os.makedirs(os.path.dirname(os.path.abspath(chosen.out)), exist_ok=True)
    with open(chosen.out + ".md", "w") as file:
        file.write(markdown(head, rows) + f"\n{tail}\n")
    with open(chosen.out + ".json", "w") as file:
        json.dump(dict(head=head, tail=tail, rows=rows), file, indent=1)


if __name__ == "__main__":
    main()
