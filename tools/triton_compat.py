#!/usr/bin/env python3
"""triton_compat.py: runs Triton's own unit tests on our CPU target (or, with --device cuda, on a GPU) and prints the table of docs/triton-compat.md.

    tools/triton_compat.py CHECKOUT [--jobs 2] [--sample 10] [--file language/test_core.py] [--match EXPRESSION] [--device cpu]
                            [--hang 900] [--seconds 400] [--log FILE] [--read FILE] [--page FILE]

CHECKOUT is a clone of triton-lang/triton at tag v3.6.0 (or $TILEWRIGHT_UPSTREAM). Needs numpy, scipy, pytest and torch in the
Python that runs it, and the package `tilewright` on its path. Each job is a process with every n-th case; one that crashes or
hangs is started again behind the case that it met, which counts as failed. --sample n runs every n-th case only; --seconds runs the
cases in a fixed random order and begins none after that time, so that what ran is a fair sample. --log keeps what was said of each
case, --read takes groups from there, --page rewrites docs/triton-compat.md with the result.

The file is also the pytest plugin of these processes.
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


# By their path below python/test/unit.
FILES = {
    "language/test_core.py": Group("interpreter"), "language/test_standard.py": Group("interpreter"),
    "language/test_random.py": Group("interpreter"), "language/test_block_pointer.py": Group("interpreter"),
    "language/test_tensor_descriptor.py": Group("interpreter"), "language/test_core.py::test_scaled_dot": Group(None, "test_scaled_dot", 9),
    "language/test_matmul.py": Group(None, None, 60), **{name: Group() for name in (
        "language/test_conversions.py", "language/test_tuple.py", "language/test_mxfp.py", "language/test_annotations.py",
        "language/test_compile_errors.py", "language/test_decorator.py", "language/test_libdevice.py", "language/test_subprocess.py",
        "language/test_compile_only.py", "language/test_frontend.py", "language/test_line_info.py",
        "language/test_pipeliner.py", "language/test_reproducer.py", "language/test_warp_specialization.py",
        "runtime/test_autotuner.py", "runtime/test_bindings.py", "runtime/test_blaslt.py", "runtime/test_build.py", "runtime/test_cache.py",
        "runtime/test_compilation_listener.py", "runtime/test_driver.py", "runtime/test_launch.py", "runtime/test_specialize.py",
        "runtime/test_subproc.py", "cuda/test_libdevice.py", "cuda/test_mixed_io.py", "cuda/test_tensor_descriptor.py",
        "cuda/test_tma_descriptor.py", "cuda/test_tma_store_gemm.py", "tools/test_aot.py", "tools/test_disasm.py", "tools/test_irsource.py",
        "tools/test_linear_layout.py", "tools/test_triton_to_gluon.py", "instrumentation/test_gpuhello.py", "test_debug.py",
        "test_debug_dump.py", "test_debuginfo.py", "test_filecheck.py", "test_knobs.py", "test_link.py", "test_perf_warning.py")},
}

# Why a test fails where we mean it to, by its name.
REASONS = {
    "test_optimize_thread_locality": "counts operations of `asm[\"ttgir\"]`, an intermediate form of Triton's GPU compiler",
    "test_assume": "looks for `llvm.assume` in `asm[\"llir\"]`",
    "test_tensor_descriptor_batched_gemm_3d_tma": "calls `torch.cuda.synchronize`, which needs a GPU",
    "test_zero_strided_tensors": "calls `torch.cuda.device`, which needs a GPU",
    "test_print": "expects what is the same for all to be said by each of the 128 threads; here a program says it once",
    "test_int_annotation": "looks for words of MLIR (`arith.extui`) in `asm[\"ttir\"]`, which is our IR; the types are as asked, but for uint1, which is none here",
    "test_float_annotation": "looks for words of MLIR (`arith.extf`) in `asm[\"ttir\"]`, which is our IR; the types are as asked",
    "test_power_of_two_shapes": "demands an error for extents that are no powers of two; any extent is taken here",
    "test_power_of_two_shapes_2": "demands an error for extents that are no powers of two; any extent is taken here",
    "test_err_in_unary_op": "demands an error for `not` of a tuple, which works here",
    "test_where_warning": "demands a warning for `tl.where` of integers",
    "test_fp8_support": "demands an error for types of 8 bits that one GPU lacks; all are there",
    "test_err_undefined_variable": "demands Triton's words",
    "test_err_static_assert": "demands an exception without a cause",
    "test_err_in_nested_call": "looks for the place in the cause of the exception; it is in the exception itself",
    "test_err_in_builtin": "looks for a file of Triton's in the message",
    "test_returns_branched_on_non_constexpr": "looks for the place in the cause of the exception; it is in the exception itself",
    "test_global_var_access": "demands Triton's words",
    "test_constexpr_annotated_global_var_access": "demands Triton's words",
    "test_max_num_imprecise_acc_limit": "demands Triton's words and no more",
    "test_dot_scaled_shape_verification": "demands Triton's words",
    "test_compile_only_sm100": "looks for `tcgen05` in the PTX of a chip that we have no instructions of its own for",
    "test_compile_only_dot": "matches the text of Triton's GPU IR (ttgir)",
    "test_compile_only_k_loop": "matches the text of Triton's GPU IR (ttgir)",
    "test_compile_only_dot_mxfp": "matches the text of Triton's GPU IR (ttgir)",
    "test_triton_reproducer_path": "looks for reproducers of MLIR's passes",
    "test_module_walk": "walks the operations of an MLIR module",
    "test_specialize": "counts kernels: three for an integer that is 1, a multiple of 16 or neither; here what is known of an integer is tested at the launch, and there are two",
    "test_annotation": "counts kernels: three for an integer that is 1, a multiple of 16 or neither; here there is one, as the annotation says its type",
    "test_conflicting_global_in_inner_function": "demands Triton's words",
    "test_jit_noinline": "demands that `noinline` shows in `asm[\"ttir\"]`; all functions are inlined",
    "test_higher_order_kernel": "counts what `static_print` says: a kernel that is found on disk is not traced again by Triton; here it is",
    "test_is_lazy": "reloads Triton's modules by their places in `sys.modules` and reads private names of the driver",
    "test_add": "makes tensors on a GPU",
    "test_load_reduce": "makes tensors on a GPU",
    "test_tma_load_store": "makes tensors on a GPU",
    "test_fn_dump": "looks for dumps of MLIR's passes; `asm[\"tir\"]` and `tilewright ir --print-after` show ours",
    "test_triton_debuginfo_on": "looks for LLVM's debug records in `asm[\"llir\"]`",
    "test_knobs_utils": "tests helpers that Triton's knobs are made of",
    "test_set_knob_directly": "tests helpers that Triton's knobs are made of",
    "test_nvidia_tool": "demands the path of a ptxas inside of the package",
    "test_mma_remark": "looks for remarks of Triton's passes; `explain` says such things here",
    "test_remark_vectorization": "looks for remarks of Triton's passes; `explain` says such things here",
    "test_remark_swp_op_before_operands": "makes tensors on a GPU, and looks for remarks of Triton's passes",
    "unit/language/test_frontend.py": "the file compares Triton's IR with patterns (`triton._filecheck`)",
    "unit/language/test_line_info.py": "the file compares Triton's IR with patterns (`triton._filecheck`)",
    "unit/test_filecheck.py": "the file tests `triton._filecheck`",
    "unit/runtime/test_build.py": "the file tests how Triton builds its C parts (`triton.runtime.build`)",
    "unit/runtime/test_compilation_listener.py": "the file asks for the times of Triton's own stages (`knobs.CompileTimes`)",
    "unit/runtime/test_specialize.py": "the file tests a part of Triton's C++ library (`triton._C`)",
    "unit/test_link.py": "the file tests a part of Triton's C++ library (`triton._C`)",
    "unit/tools/test_aot.py": "the file tests Triton's ahead-of-time compiler; `tilewright emit` is ours",
    "unit/tools/test_irsource.py": "the file compiles texts of Triton's IR",
    "unit/tools/test_linear_layout.py": "the file tests layouts of Triton's C++ library",
    "unit/tools/test_triton_to_gluon.py": "the file tests a translator to Gluon",
    "test_call": "`[1-noinline]` demands a compile error for an argument that Triton cannot pass to a function that is not inlined; we inline it",
}
PAGE = """# Triton's own unit tests

Triton's own tests, tag v3.6.0, `python/test/unit/`, run on the CPU target: of some files the cases that are marked `interpreter`, of
others all, or every n-th where they are many. The files are not part of this repository. The command, with torch, numpy, scipy,
expecttest and pytest in the Python that runs it, and the package [installed](python.md):

    git clone --depth 1 --branch v3.6.0 https://github.com/triton-lang/triton
    tools/triton_compat.py triton --page docs/triton-compat.md

{sampled}{table}

Skips are the tests' own: they ask for CUDA or HIP, or for dtypes of one GPU. A file that cannot be imported counts as one case.

## What fails, and why

{failures}
"""

# --- the plugin ---

_log = os.environ.get("TILEWRIGHT_COMPAT_LOG")
DEVICE_FAULT = 77  # the status of a process that met one
_deadline = float(os.environ.get("TILEWRIGHT_COMPAT_DEADLINE", 0))


def _write(**record):
    with open(_log, "a") as file:
        file.write(json.dumps(record) + "\n")


def pytest_configure(config):
    """Files that ask for the capability of the GPU while they are collected learn that there is none."""
    import torch
    if config.getoption("--device") == "cpu" and not torch.cuda.is_available():
        torch.cuda.get_device_capability = lambda device=None: (0, 0)


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


def start(checkout, name, part, parts, options, log):
    tests, group = checkout / "python" / "test", FILES[name]
    test_file = "unit/" + name.split("::")[0]
    environment = dict(os.environ, TILEWRIGHT_COMPAT_LOG=str(log), TILEWRIGHT_COMPAT_PART=f"{part}/{parts}/{options.sample * group.every}",
                       TILEWRIGHT_COMPAT_MARK=group.mark if group.mark and options.device == "cpu" else "",
                       TILEWRIGHT_COMPAT_DEADLINE=str(options.deadline), OMP_NUM_THREADS="1")
    given = [folder for folder in environment.get("PYTHONPATH", "").split(os.pathsep) if folder]
    environment["PYTHONPATH"] = os.pathsep.join(os.path.abspath(folder) for folder in [os.path.dirname(__file__), *given])
    command = [sys.executable, "-m", "tilewright", "pytest", "-q", "-p", "triton_compat", "-p", "no:cacheprovider", f"--device={options.device}", "--tb=short"]
    match = " and ".join(filter(None, (group.match, options.match)))
    command += ["-k", match] if match else []
    return subprocess.Popen([*command, test_file], cwd=tests, env=environment, stdout=subprocess.DEVNULL,
                            stderr=open(f"{log}.err", "w"))


def run_part(checkout, name, part, parts, options, log):
    """Generator that drives one process to its end; yields while it runs."""
    while True:
        process, size, since = start(checkout, name, part, parts, options, log), -1, time.monotonic()
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


def make_table(results, device):
    lines = ["| file | cases | passed | failed | skipped by its own guards | collected | passed / (collected - skipped) |", "|---|---|---|---|---|---|---|"]
    for name, cases in results.items():
        count = collections.Counter(record["outcome"] for record in cases.values())
        ran = count["passed"] + count["failed"]
        group = FILES[name]
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


def explain_failures(results):
    """One line for each test: our reason, or what it said."""
    tests = collections.defaultdict(list)
    for name in results:
        for (test, text), cases in group_failures(results[name]):
            tests[name, test].append((len(cases), text))
    lines = []
    for (name, test), groups in tests.items():
        count = sum(number for number, _ in groups)
        what = f"`{name}`" if test.endswith(".py") else f"`{name}::{test}`, {count} case{'s' if count > 1 else ''}"
        lines.append(f"- {what}: {REASONS.get(test) or groups[0][1]}.")
    return "\n".join(lines) if lines else "Nothing."


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", nargs="?", default=os.environ.get("TILEWRIGHT_UPSTREAM"))
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--file", action="append", choices=list(FILES))
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
        parser.error("say where the checkout of Triton is")
    checkout = pathlib.Path(options.checkout).resolve()
    earlier = collections.defaultdict(dict)
    for path in options.read:
        for record in map(json.loads, pathlib.Path(path).read_text().splitlines()):
            earlier[record["group"]][record["case"]] = record
    names = [name for name in options.file or FILES if name not in earlier]
    options.deadline = time.time() + options.seconds if options.seconds else 0
    results, chosen = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        logs = {(name, part): pathlib.Path(folder) / f"{name.replace('/', '.')}.{part}" for name in names for part in range(options.jobs)}
        waiting = [run_part(checkout, name, part, options.jobs, options, log) for (name, part), log in logs.items()]
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
    results = {name: results.get(name) or earlier[name] for name in FILES if name in results or name in earlier}
    table = make_table(results, options.device)
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
        pathlib.Path(options.page).write_text(PAGE.format(sampled=sampled, table=table, failures=explain_failures(results)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
