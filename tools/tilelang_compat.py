#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tilelang_compat.py: runs TileLang's own unit tests on our CPU target (or, with --device cuda, on a GPU) and prints the table of docs/tilelang-compat.md.

    tools/tilelang_compat.py CHECKOUT [--jobs 2] [--sample 10] [--file language] [--match EXPRESSION] [--device cpu]
                             [--hang 900] [--seconds 400] [--log FILE] [--read FILE] [--page FILE]

CHECKOUT is a clone of tile-ai/tilelang at tag v0.1.13 (or $TILEWRIGHT_UPSTREAM). Needs numpy, pytest and torch in the Python that runs it, and the package
`tilewright` on its path. On the CPU tensors that a test puts on a CUDA device lie on the CPU. A file is a folder of tests here.
--sample n runs every n-th case only; --seconds runs the cases in a fixed random order and begins none after that time. --log keeps what was said of each case,
--read takes folders from there, --page rewrites docs/tilelang-compat.md with the result.

The file is also a pytest plugin of the processes that run them.
"""
import ast
import collections
import os
import pathlib
import re
import sys

import pytest

import compat
from compat import Group

# Folders below testing/python.
FOLDERS = ("language", "issue", "kernel", "jit", "cpu", "cuda", "debug", "math", "fastmath", "autotune", "cache", "profiler", "quantize", "runtime", "utils", "target", "tools",
           "tilelibrary", "layout", "llvm", "carver", "components", "contrib", "backend", "analysis", "arith", "transform")
# What a test is about, by its own text and that of the functions of its file that it uses: the first row that fits. Independent of what came of it.
ABOUT = (
    ("another chip", r"sm_?1[02]0|tcgen05|(?<!or_)cdna|gfx9|\bhip\b|rocm|metal(?!lib)|nvf4|block_?scale|Cluster|cluster_dims|webgpu|tmem|cutedsl|requires_cuda_compute_version(_ge|_eq)?\((10|12)"),
    ("the text that TileLang generates", r"get_kernel_source|kernel_source\b|get_host_source|\.get_source|inspect_source|\.artifact\b|(not )?in (src|source|code)\b|cuda_source|rt_mod|\bptx|sass"),
    ("TVM's IR and passes", r"\btvm\.(?!DataType|target|testing)|\btirx?\b|tilelang\.transform(?! import PassConfigKey)|tl\.transform|PassContext|IRModule|\.script\(|post_order|structural_equal|tilelang\.lower\(|lower_and|"
     r"\.body\b|\.get_tir|LayoutInference|PrimFunc|decl_buffer|buffer_map|arith\."),
    ("private parts of TileLang", r"tilelang\.(jit\.\w|cache|_ffi_api|engine|env\b|instrumentation|language\.(kernel|tir|eager|dialect|proxy|ast|dtypes)|cuda\b|cpu\b|common|contrib|intrinsics|"
     r"tileop|carver|tools|autotuner\.|utils\.\w)|monkeypatch|mock|caplog|\benv\.|\._[a-z]\w+\(|\.attrs\b"),
)
# Folders whose tests are about the compiler's own parts.
INNER = {"transform": "TVM's IR and passes", "arith": "TVM's IR and passes", "analysis": "TVM's IR and passes", "layout": "TVM's IR and passes", "carver": "private parts of TileLang",
         "components": "private parts of TileLang", "tilelibrary": "TVM's IR and passes", "contrib": "private parts of TileLang", "backend": "private parts of TileLang",
         "target": "private parts of TileLang", "tools": "private parts of TileLang", "cache": "private parts of TileLang", "cuda": "the text that TileLang generates"}
PAGE = """{begin}

TileLang's own tests, tag v0.1.13, `testing/python/`, run on the CPU target with their CUDA tensors on the CPU. They are not part of this repository.

    tools/tilelang_compat.py tilelang --page docs/tilelang-compat.md

{sampled}A test is about the compiler's inside where its text, or that of a function of its file that it calls, looks at generated CUDA text, at TVM's IR, or at private modules,
or is for another chip; those are left out of the share, whether they pass or not: {inner}.

{table}

In all {passed} of {ran} of the others pass: {share:.1f} %. What fails, by file:

{failures}

{end}
"""
BEGIN, END = "<!-- tests: by tools/tilelang_compat.py -->", "<!-- end of tests -->"
# Why a test fails where we mean it to, by its name; else what it said.
REASONS = {
    "test_issue_1678": "reads a tile that nobody has written, which is an error here",
    "test_issue_1719_layout_1": "reads a tile that nobody has written, which is an error here",
    "test_issue_1719_layout_4": "reads a tile that nobody has written, which is an error here",
    "test_issue_1719_layout_7": "reads a tile that nobody has written, which is an error here",
    "test_issue_1993_dynamic_zero_grid_dim": "demands an error for a grid of no blocks; here it runs nothing",
    "test_issue_1993_static_zero_grid_dim": "demands an error for a grid of no blocks; here it runs nothing",
    **{f"test_{name}_rejected": "demands an error for tiles that warps do not share evenly; they work here" for name in
       ("square_uncovered_n", "square_uncovered_m", "fullrow_uncovered_n", "fullcol_uncovered_m", "wgmma_uncovered_n", "wgmma_uncovered_m", "wgmma_fullcol_uncovered_m")},
    "test_square_no_partition_clear_error": "demands an error for tiles that warps do not share evenly; they work here",
    "test_cpu_atomic_add_use_tma_rejected": "demands an error for a hint; how it is done is chosen here",
    "test_issue_2393_serial_reduce_gemm_fragment_is_rejected": "demands an error for a loop over a tile's elements; it works here",
    "test_matmul_compile": "asks for the name of a way to call kernels that is not here",
    "test_jit_argument_binding_reports_python_call_errors": "calls `parse_args`, a part of TileLang's own",
    "test_lazy_jit_unhashable_defaults_are_normalized_in_cache_key": "calls `parse_args`, a part of TileLang's own",
    "test_lazy_jit_cache_key_canonicalizes_defaults_and_call_forms": "calls `parse_args`, a part of TileLang's own",
    "test_lazy_jit_call_form_cache_requires_hashable_arguments": "calls `set_mode`, a part of TileLang's own",
    "test_lazy_jit_unsupported_unhashable_compile_time_value_errors": "calls `parse_args`, a part of TileLang's own",
    "test_nvrtc_kernel_handles_are_isolated_between_adapters": "looks at handles of TileLang's own",
    "test_reshape_shape_mismatch": "demands the error where the kernel is written; here it comes where it is compiled",
    "test_view_shape_mismatch": "demands the error where the kernel is written; here it comes where it is compiled",
    "test_alloc_var_rejects_unrepresentable_float32_initializer": "demands the error where the kernel is written",
    "test_noninjective_shared_layout_rejected": "demands an error for a layout that puts two elements in one place; layouts are hints here",
    "test_allreduce_rejects_non_power_of_two_logical_width": "demands an error for numbers of threads that are no powers of two; they work here",
    "test_atomic_store_rejects_unsupported_memory_orders": "demands the error where the kernel is written; here it comes where it is compiled",
    "test_atomic_load_rejects_unsupported_memory_orders": "demands the error where the kernel is written; here it comes where it is compiled",
    "test_dp4a_rejects_invalid_dtypes": "demands the error where the kernel is written; here it comes where it is compiled",
    "test_allreduce_scale_greater_than_one_rejects_non_power_of_two": "demands an error for numbers of threads that are no powers of two; they work here",
}


class Reader:
    """What tests are about (ABOUT)."""

    def __init__(self, folder):
        self.folder, self.files, self.rules = folder, {}, [(what, re.compile(rule, re.IGNORECASE if what == "another chip" else 0)) for what, rule in ABOUT]

    def parts(self, path):
        """The text of a file and its nodes by the names that they bind."""
        if path not in self.files:
            text, bound = path.read_text(), {}
            for node in ast.parse(text).body:
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    bound.update({(alias.asname or alias.name).split(".")[0]: node for alias in node.names if isinstance(node, ast.ImportFrom) or alias.asname})
                elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                    bound[node.name] = node
                elif isinstance(node, ast.Assign):
                    bound.update({target.id: node for target in node.targets if isinstance(target, ast.Name)})
            self.files[path] = text, bound
        return self.files[path]

    def text_of(self, path, name):
        """The text of a test and of all in its file that it uses."""
        text, bound = self.parts(path)
        waiting, seen, found = [name, "pytestmark"], set(), []
        while waiting:
            each = waiting.pop()
            if each in seen or each not in bound:
                continue
            seen.add(each)
            node = bound[each]
            found += [ast.get_source_segment(text, part) or "" for part in (node, *getattr(node, "decorator_list", ()))]
            waiting += [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
        return re.sub(r'"""[\s\S]*?"""|#.*|^ *print\(.*\)$', "", "\n".join(found), flags=re.MULTILINE)  # what is only printed is not looked at

    def about(self, case):
        """Why a case is left out, or None."""
        path, _, name = case.partition("::")
        below = path[path.index("python/"):]
        folder = below.split("/")[1]
        if folder in INNER:
            return INNER[folder]
        file = self.folder / below
        own = self.text_of(file, name.split("[")[0].split("::")[0]) if name else "\n".join(re.findall(r"^(?:from|import) .*", file.read_text(), re.MULTILINE))
        return next((what for what, rule in self.rules if rule.search(own)), None)


class TileLang(compat.Suite):
    below, plugin, page, reasons = "python/", "tilelang_compat", PAGE, REASONS

    def open(self, checkout):
        self.folder = checkout / "testing"

    def sorted_out(self, results):
        """(those left out by reason, the others by folder)."""
        reader, inner, rest = Reader(self.folder), collections.Counter(), {}
        for name, cases in results.items():
            for case, record in cases.items():
                what = reader.about(case)
                if what:
                    inner[what] += 1
                else:
                    rest.setdefault(name, {})[case] = record
        return inner, rest

    def write(self, path, results, sampled, table):
        inner, rest = self.sorted_out(results)
        counts = {name: collections.Counter(record["outcome"] for record in cases.values()) for name, cases in rest.items()}
        passed, failed = (sum(count[what] for count in counts.values()) for what in ("passed", "failed"))
        rows = ["| folder | passed | failed | skipped |", "|---|---|---|---|", *(f"| `{name}` | {count['passed']} | {count['failed']} | {count['skipped']} |" for name, count in counts.items())]
        made = self.page.format(begin=BEGIN, end=END, sampled=sampled, table="\n".join(rows), passed=passed, ran=passed + failed, share=100 * passed / max(1, passed + failed),
                                inner=", ".join(f"{count} {what}" for what, count in inner.most_common()), failures=self.explain(rest)).strip().replace(f"{self.folder}/", "")
        page = path.read_text()
        before, _, behind = page.partition(BEGIN)
        path.write_text(before + made + (behind.partition(END)[2] if behind else "\n"))

    def explain(self, rest):
        """A line for each file with failures: its tests with our reason, or what was said."""
        files = {}
        for cases in rest.values():
            for (test, said), found in compat.group_failures(cases):
                for case in found:
                    files.setdefault(next(path for path in cases if path.endswith(case)).partition("::")[0].partition("python/")[2], {}).setdefault((test, said), []).append(case)
        lines = []
        for file, groups in sorted(files.items()):
            told = [f"{test} ({len(cases)}): {self.reasons.get(test) or said}" if not test.endswith(".py") else self.reasons.get(test) or "cannot be imported" for (test, said), cases in
                    groups.items()]
            lines.append(f"- `{file}`: {'; '.join(told[:6])}{f'; and {len(told) - 6} more' if len(told) > 6 else ''}")
        return "\n".join(lines)

    def arguments(self, options):
        return ["--continue-on-collection-errors", f"--rootdir={self.folder}"]

    def environment(self, options):
        return {"TILEWRIGHT_COMPAT_DEVICE": options.device}


def pytest_configure(config):
    """Before a test is imported: tensors of a GPU lie on the CPU, and what asks for one finds one."""
    if os.environ.get("TILEWRIGHT_COMPAT_DEVICE") != "cpu":
        return
    from tilewright import cuda_on_cpu
    cuda_on_cpu.install()
    from tilewright.tilelang import testing
    testing.pretend_device((9, 0))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Cases that are left out of the share are counted, and not run."""
    reader, chosen = Reader(pathlib.Path.cwd()), []
    for item in items:
        if reader.about(item.nodeid):
            compat._write(case=item.nodeid, outcome="left out")
        else:
            chosen.append(item)
    items[:] = chosen


if __name__ == "__main__":
    sys.exit(compat.main(TileLang({name: Group() for name in FOLDERS}), __doc__))
