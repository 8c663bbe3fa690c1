#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tilelang_examples.py: runs TileLang's own examples, as they stand, under `python -m tilewright`, and says what came of each.

    tools/tilelang_examples.py CHECKOUT [--jobs 16] [--each 45] [--seconds 400] [--device cuda] [--match PATTERN] [--log FILE]
    tools/tilelang_examples.py CHECKOUT --compile [--texts FOLDER]

CHECKOUT is a clone of tile-ai/tilelang at tag v0.1.13. Scripts that are for other chips, for pictures of layouts, or no programs are left out (SKIPPED).
--device cpu runs them on tensors of the CPU. --each is the time limit of a script, --seconds that of all: none is begun after it. Scripts that ran
out of memory with others beside them run once more alone. --compile runs no kernel: each one that a script would launch is compiled for the CPU and for sm_90a, with
the script's own shapes on tensors without memory, and once more on tensors with it for scripts that look into them; --texts keeps the CUDA texts.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

# Files that are no programs for our targets, by their path below examples/ (a folder ends with `/`).
SKIPPED = {
    "amd/": "AMD", "aws/": "Trainium", "blockscaled_gemm_sm100/": "Blackwell", "flash_attention_sm100/": "Blackwell", "gemm_sm120/": "Blackwell",
    "gemm_tcgen05/": "Blackwell", "deepseek_mla/amd/": "AMD", "plot_layout/": "pictures of layouts", "visual_layout_inference/": "pictures of layouts",
    "analyze/": "an analysis of TVM's IR", "autodd/": "a reducer of failing programs", "conftest.py": "no program",
}
SKIPPED_NAMES = re.compile(r"(^|/)(test_|regression_|__init__)|_triton|triton_|sm100|sm120|tcgen05|mfma|_amd|rocm")
PACKAGES = re.compile(r"No module named '([\w.]+)'")
CHECKS = re.compile(r"AssertionError|not close|[Mm]ismatch")


def scripts(examples, match):
    """Paths below examples/ of what can be run by itself."""
    found = []
    for path in sorted(examples.rglob("*.py")):
        name = path.relative_to(examples).as_posix()
        if any(name == row or row.endswith("/") and name.startswith(row) for row in SKIPPED) or SKIPPED_NAMES.search(name) or (match and not re.search(match, name)):
            continue
        text = path.read_text(errors="replace")
        if "tilelang" in text and ("T.Kernel" in text or "__main__" in text):
            found.append(name)
    return found


def verdict(status, text):
    """What a script's end means, and the line that says it."""
    lines = [line for line in text.strip().split("\n") if line.strip()]
    said = next((line.strip() for line in reversed(lines) if re.match(r"\s*(\w+\.)*\w*(Error|Exception|Interrupt|Exit)\b", line)), lines[-1].strip() if lines else "")
    where = re.findall(r"^\S+?:\d+:\d+: error: .*", text, re.MULTILINE)
    if status == 0:
        return "ran to the end", ""
    if status == "time":
        return "cut off", ""
    package = PACKAGES.search(said)
    if package:
        return "a package is not there", package[1]
    if "out of memory" in text[-4000:].lower():
        return "out of memory", said
    if "required: " in said or "error: the following arguments" in text[-600:]:
        return "wants arguments", said
    if where or "Tilewright does not have" in said:
        return "refused", (where[-1].split("error: ", 1)[1] if where else said)
    return "own check failed" if CHECKS.search(said) else "failed", said


class Job:
    def __init__(self, examples, name, options, folder):
        self.name, self.began, self.log = name, time.monotonic(), folder / (name.replace("/", ".") + ".log")
        environment = dict(os.environ, TILEWRIGHT_EXAMPLE_DEVICE=options.device, OMP_NUM_THREADS="2" if options.device == "cuda" else "1", PYTHONUNBUFFERED="1")
        here = os.path.dirname(os.path.abspath(__file__))
        given = [os.path.abspath(each) for each in environment.get("PYTHONPATH", "").split(os.pathsep) if each]
        environment["PYTHONPATH"] = os.pathsep.join([here, *given])
        if options.compile:
            environment["TILEWRIGHT_EXAMPLE_TEXTS"] = str(options.texts or "")
        command = [sys.executable, "-m", "tilewright", "-m", "example_run", str(examples / name)]
        self.process = subprocess.Popen(command, cwd=(examples / name).parent, env=environment, stdout=self.log.open("wb"), stderr=subprocess.STDOUT,
                                        stdin=subprocess.DEVNULL, start_new_session=True)

    def ended(self, each):
        """Its result, or None while it runs."""
        status = self.process.poll()
        took = time.monotonic() - self.began
        if status is None and took < each:
            return None
        if status is None:
            os.killpg(self.process.pid, 9)
            self.process.wait()
            status = "time"
        text = self.log.read_text(errors="replace")
        what, said = verdict(status, text)
        compiled = re.findall(r"^@compiled (\w+) (\S+) (.*)$", text, re.MULTILINE)
        return {"script": self.name, "what": what, "said": said[:400], "seconds": round(took, 1), "status": status, "compiled": compiled, "tail": text[-1500:]}


def run_all(examples, names, options, folder):
    waiting, running, results, deadline = list(names), [], [], time.monotonic() + options.seconds
    while waiting or running:
        while waiting and len(running) < options.jobs and time.monotonic() < deadline:
            running.append(Job(examples, waiting.pop(0), options, folder))
        if not running:
            break
        time.sleep(0.1)
        for job in list(running):
            result = job.ended(options.each)
            if result:
                running.remove(job)
                results.append(result)
    return results + [{"script": name, "what": "not begun", "said": "", "seconds": 0, "compiled": []} for name in waiting]


def goodness(result):
    """Of two compiles of a script's kernels the one in which all are made, else the one in which more are."""
    said = [row[2] == "ok" for row in result["compiled"]]
    return bool(said) and all(said), sum(said)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--each", type=float, default=45)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--match")
    parser.add_argument("--log")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--texts")
    options = parser.parse_args()
    examples = pathlib.Path(options.checkout).resolve() / "examples"
    if options.compile:
        options.device = "none"
        options.texts = options.texts and pathlib.Path(options.texts).resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        results = run_all(examples, scripts(examples, options.match), options, folder)
        again = [result["script"] for result in results if result["what"] == "out of memory"]
        if again and options.jobs > 1:
            options.jobs, options.seconds = 1, max(0, min(options.seconds / 6, 60))
            later = {result["script"]: result for result in run_all(examples, again, options, folder) if result["what"] != "not begun"}
            results = [later.get(result["script"], result) for result in results]
        bad = ("failed", "own check failed", "refused")
        failed = [result["script"] for result in results if result["what"] in bad or any(row[2] != "ok" for row in result["compiled"])]
        if options.compile and failed:
            options.device = "values"
            later = {result["script"]: result for result in run_all(examples, failed, options, folder)}
            results = [max(result, later.get(result["script"], result), key=goodness) for result in results]
    if options.log:
        pathlib.Path(options.log).write_text("".join(json.dumps(result) + "\n" for result in results))
    for result in sorted(results, key=lambda result: (result["what"], result["script"])):
        if result["what"] != "ran to the end":
            print(f"{result['what']:24} {result['script']} ({result['seconds']} s): {result['said'][:220]}")
    for what, count in collections.Counter(result["what"] for result in results).most_common():
        print(f"{count:5}  {what}")
    if options.compile:
        kernels = [row for result in results for row in result["compiled"]]
        bad = [row for row in kernels if row[2] != "ok"]
        files = {result["script"]: [row[2] for row in result["compiled"]] for result in results if result["compiled"]}
        whole = sum(all(each == "ok" for each in rows) for rows in files.values())
        print(f"kernels: {len(kernels)} compiles, {len(bad)} refused; files with kernels: {len(files)} of {len(results)}, whole: {whole}")
        for (text, count) in collections.Counter(row[2][:160] for row in bad).most_common():
            print(f"{count:5}  {text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
