# SPDX-License-Identifier: Apache-2.0
"""compat.py: runs the unit tests of another compiler's checkout under our package, and counts what passes: for triton_compat.py and tilelang_compat.py.

Each job is a process with every n-th case; one that crashes or hangs is started again behind the case that it met, which counts as failed.
The file is also the pytest plugin of these processes. A suite is the tests of one compiler: its files, and why some fail where we mean them to.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time
import typing


class Group(typing.NamedTuple):
    mark: typing.Optional[str] = None  # on the CPU: only cases with it
    match: typing.Optional[str] = None  # only cases whose name has it
    every: int = 1  # of those, every n-th: they are many, or long


class Suite:
    """The tests of a compiler. `files` are paths below the folder `below` of `folder`, which the checkout has."""
    below = ""  # behind folder, with its `/`
    plugin = ""  # a module that pytest loads in each process
    page = ""  # the page in docs/, with places for sampled, table and failures
    reasons: dict = {}  # why a test fails where we mean it to, by its name or its file's

    def __init__(self, files):
        self.files = files

    def open(self, checkout):
        self.folder = checkout

    def arguments(self, options):
        return []

    def environment(self, options):
        return {}

    def write(self, path, results, sampled, table):
        """The page of docs/ anew."""
        path.write_text(self.page.format(sampled=sampled, table=table, failures=explain_failures(self, results)))


# --- the plugin ---

_log = os.environ.get("TILEWRIGHT_COMPAT_LOG")
DEVICE_FAULT = 77  # the status of a process that met one
_deadline = float(os.environ.get("TILEWRIGHT_COMPAT_DEADLINE", 0))


def _write(**record):
    with open(_log, "a") as file:
        file.write(json.dumps(record) + "\n")


def pytest_collection_modifyitems(config, items):
    part, parts, sample = map(int, os.environ["TILEWRIGHT_COMPAT_PART"].split("/"))
    done = {json.loads(line)["case"] for line in open(_log)} if os.path.exists(_log) else set()
    mark = os.environ.get("TILEWRIGHT_COMPAT_MARK")
    chosen = [item for item in items if not mark or item.get_closest_marker(mark)]
    if _deadline:
        random.Random(1).shuffle(chosen)
    chosen = chosen[::sample]
    if part == 0:
        pathlib.Path(f"{_log}.chosen").write_text(str(len(chosen)))
    chosen = chosen[part::parts]
    items[:] = [item for item in chosen if item.nodeid not in done]


def pytest_collectreport(report):
    if report.failed:
        _write(case=report.nodeid, outcome="failed", text=str(report.longrepr)[-2000:])


def pytest_runtest_protocol(item):
    if _deadline and time.time() > _deadline:
        item.session.shouldstop = "no time left"
        return True
    return None


def pytest_runtest_logstart(nodeid, location):
    _write(case=nodeid, outcome="started")


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        text = ""
        if report.outcome == "failed":
            crash = getattr(report.longrepr, "reprcrash", None)
            text = crash.message if crash else str(report.longrepr)[-2000:]
        elif report.outcome == "skipped":
            text = str(report.longrepr[-1]) if isinstance(report.longrepr, tuple) else str(report.longrepr)
        outcome = "skipped" if hasattr(report, "wasxfail") else report.outcome
        _write(case=report.nodeid, outcome=outcome, text=text[:2000], seconds=round(report.duration, 3))


def pytest_runtest_logfinish(nodeid, location):
    """A fault of the device stays with its process: the next case needs another one."""
    torch = sys.modules.get("torch")
    if torch and torch.cuda.is_initialized():
        try:
            torch.cuda.synchronize()
        except Exception:
            os._exit(DEVICE_FAULT)


# --- the runner ---


def read_log(path):
    """The last word on each case."""
    cases = {}
    if path.exists():
        for line in path.read_text().splitlines():
            record = json.loads(line)
            known = cases.get(record["case"])
            if record["outcome"] == "started" and known:
                continue
            if known and known["outcome"] == "failed":
                continue
            cases[record["case"]] = record
    return cases


def start(suite, name, part, parts, options, log):
    group = suite.files[name]
    environment = dict(os.environ, **suite.environment(options), TILEWRIGHT_COMPAT_LOG=str(log), TILEWRIGHT_COMPAT_PART=f"{part}/{parts}/{options.sample * group.every}",
                       TILEWRIGHT_COMPAT_MARK=group.mark if group.mark and options.device == "cpu" else "",
                       TILEWRIGHT_COMPAT_DEADLINE=str(options.deadline), OMP_NUM_THREADS="1")
    given = [folder for folder in environment.get("PYTHONPATH", "").split(os.pathsep) if folder]
    environment["PYTHONPATH"] = os.pathsep.join(os.path.abspath(folder) for folder in [os.path.dirname(__file__), *given])
    command = [sys.executable, "-m", "tilewright", "pytest", "-q", "-p", "compat", "-p", suite.plugin, "-p", "no:cacheprovider", "--tb=short", *suite.arguments(options)]
    match = " and ".join(filter(None, (group.match, options.match)))
    command += ["-k", match] if match else []
    return subprocess.Popen([*command, suite.below + name.split("::")[0]], cwd=suite.folder, env=environment, stdout=subprocess.DEVNULL,
                            stderr=open(f"{log}.err", "w"))


def run_part(suite, name, part, parts, options, log):
    """Generator that drives one process to its end; yields while it runs."""
    while True:
        process, size, since = start(suite, name, part, parts, options, log), -1, time.monotonic()
        while process.poll() is None:
            now = log.stat().st_size if log.exists() else 0
            if now != size:
                size, since = now, time.monotonic()
            elif time.monotonic() - since > options.hang:
                process.kill()
                process.wait()
                break
            yield
        open_cases = [case for case, record in read_log(log).items() if record["outcome"] == "started"]
        if not open_cases and process.returncode != DEVICE_FAULT:
            return
        with log.open("a") as file:
            for case in open_cases:
                why = "hangs" if process.returncode == -9 else f"the process ended with status {process.returncode}"
                file.write(json.dumps({"case": case, "outcome": "failed", "text": why}) + "\n")


def first_line(text):
    """What a failure says, without what differs from case to case."""
    found = re.search(r"error: (.*)", text)
    line = found[1] if found else text.strip().split("\n")[0]
    line = re.sub(r"\\n.*", "", line)
    line = re.sub(r"0x[0-9a-f]+", "0x..", line)
    line = re.sub(r"\b(a |an )?((u?int|b?float)\d+|fp8e\w+|float8\w+|bool)(\[[\d, ]*\])?", "T", line)
    line = re.sub(r"`[-+*/%&|^<>=]+`", "`op`", line)
    line = re.sub(r"\b\d+(\.\d+)?(e[+-]?\d+)?\b", "N", line)
    return line[:180]


def group_failures(cases):
    groups = collections.defaultdict(list)
    for case, record in cases.items():
        if record["outcome"] == "failed":
            groups[case.split("::")[-1].split("[")[0], first_line(record.get("text", ""))].append(case.split("::")[-1])
    return sorted(groups.items(), key=lambda item: -len(item[1]))


def make_table(suite, results, device):
    lines = ["| file | cases | passed | failed | skipped by its own guards | collected | passed / (collected - skipped) |", "|---|---|---|---|---|---|---|"]
    for name, cases in results.items():
        count = collections.Counter(record["outcome"] for record in cases.values())
        ran = count["passed"] + count["failed"]
        group = suite.files[name]
        which = f"marked `{group.mark}`" if group.mark and device == "cpu" else "all" if group.every == 1 else f"every {group.every}th"
        share = f"{100 * count['passed'] / ran:.1f} %" if ran else "-"
        lines.append(f"| `{name}` | {which} | {count['passed']} | {count['failed']} | {count['skipped']} | {ran + count['skipped']} | {share} |")
    return "\n".join(lines)


def count_ran(results, chosen):
    """How much of what was chosen ran: with --seconds time may have ended before."""
    lines = []
    for name, cases in results.items():
        count = collections.Counter(record["outcome"] for record in cases.values())
        ran = count["passed"] + count["failed"]
        share = f", {100 * count['passed'] / ran:.2f} % of those not skipped passed" if ran else ""
        lines.append(f"{name}: {ran + count['skipped']} of {chosen[name]} cases ran{share}" if chosen.get(name) else f"{name}: an earlier run")
    return "\n".join(lines)


def list_groups(results):
    return [f"{len(cases):5}  {name}::{test}: {text}\n         e.g. {cases[0]}" for name in results
            for (test, text), cases in group_failures(results[name])]


def explain_failures(suite, results):
    """One line for each test: our reason, or what it said."""
    tests = collections.defaultdict(list)
    for name in results:
        for (test, text), cases in group_failures(results[name]):
            tests[name, test].append((len(cases), text))
    lines = []
    for (name, test), groups in tests.items():
        count = sum(number for number, _ in groups)
        what = f"`{name}`" if test.endswith(".py") else f"`{name}::{test}`, {count} case{'s' if count > 1 else ''}"
        lines.append(f"- {what}: {suite.reasons.get(test) or groups[0][1]}.")
    return "\n".join(lines) if lines else "Nothing."


def main(suite, about):
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", nargs="?", default=os.environ.get("TILEWRIGHT_UPSTREAM"))
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--file", action="append", help="a file of tests, or several")
    parser.add_argument("--match")
    parser.add_argument("--device", default="cpu", help="where the tests' tensors live: cpu or cuda")
    parser.add_argument("--hang", type=float, default=900, help="seconds without a finished case")
    parser.add_argument("--seconds", type=float, help="begin no case after that time, and take them in a random order")
    parser.add_argument("--log", help="write what was said of each case there, one JSON object a line")
    parser.add_argument("--read", action="append", default=[], help="what an earlier run kept by --log: its groups are not run again")
    parser.add_argument("--groups", help="write the groups of failures there, with an example each")
    parser.add_argument("--page", help="rewrite this page")
    options = parser.parse_args()
    if not options.checkout:
        parser.error("say where the checkout is")
    suite.open(pathlib.Path(options.checkout).resolve())
    for name in options.file or ():
        if name not in suite.files:
            parser.error(f"{name} is none of the files: {', '.join(suite.files)}")
    earlier = collections.defaultdict(dict)
    for path in options.read:
        for record in map(json.loads, pathlib.Path(path).read_text().splitlines()):
            earlier[record["group"]][record["case"]] = record
    names = [name for name in options.file or suite.files if name not in earlier]
    options.deadline = time.time() + options.seconds if options.seconds else 0
    results, chosen = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        logs = {(name, part): pathlib.Path(folder) / f"{name.replace('/', '.')}.{part}" for name in names for part in range(options.jobs)}
        waiting = [run_part(suite, name, part, options.jobs, options, log) for (name, part), log in logs.items()]
        running = []
        while waiting or running:
            while waiting and len(running) < options.jobs:
                running.append(waiting.pop(0))
            running = [job for job in running if next(job, "ended") is None]
            time.sleep(0.2)
        for name in names:
            results[name] = {case: record for part in range(options.jobs) for case, record in read_log(logs[name, part]).items()}
            counted = pathlib.Path(f"{logs[name, 0]}.chosen")
            chosen[name] = int(counted.read_text()) if counted.exists() else 0
            for part in range(options.jobs):
                if not results[name] and pathlib.Path(f"{logs[name, part]}.err").exists():
                    print(pathlib.Path(f"{logs[name, part]}.err").read_text()[-2000:], file=sys.stderr)
    results = {name: results.get(name) or earlier[name] for name in suite.files if name in results or name in earlier}
    table = make_table(suite, results, options.device)
    print(table)
    print(count_ran(results, chosen))
    if options.log:
        pathlib.Path(options.log).write_text("".join(json.dumps({"group": name, **record}) + "\n" for name in results
                                                     for record in results[name].values()))
    if options.groups:
        pathlib.Path(options.groups).write_text("\n".join(list_groups(results)) + "\n")
    else:
        print("\n".join(list_groups(results)))
    if options.page:
        sampled = f"Of each file every {options.sample}th case was run.\n\n" if options.sample > 1 else ""
        sampled += "What ran is a random part of all cases.\n\n" if options.seconds else ""
        suite.write(pathlib.Path(options.page), results, sampled, table)
    return 0

