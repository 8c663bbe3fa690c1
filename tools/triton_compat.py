#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""triton_compat.py: runs Triton's own unit tests on our CPU target (or, with --device cuda, on a GPU) and prints the table of docs/triton-compat.md.

    tools/triton_compat.py CHECKOUT [--jobs 2] [--sample 10] [--file language/test_core.py] [--match EXPRESSION] [--device cpu]
                            [--hang 900] [--seconds 400] [--log FILE] [--read FILE] [--page FILE]

CHECKOUT is a clone of triton-lang/triton at tag v3.6.0 (or $TILEWRIGHT_UPSTREAM). Needs numpy, scipy, pytest and torch in the
Python that runs it, and the package `tilewright` on its path. --sample n runs every n-th case only; --seconds runs the
cases in a fixed random order and begins none after that time, so that what ran is a fair sample. --log keeps what was said of each
case, --read takes groups from there, --page rewrites docs/triton-compat.md with the result.

The file is also a pytest plugin of the processes that run them.
"""
import sys

import compat
from compat import Group

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


class Triton(compat.Suite):
    below, plugin, page, reasons = "unit/", "triton_compat", PAGE, REASONS

    def open(self, checkout):
        self.folder = checkout / "python" / "test"

    def arguments(self, options):
        return [f"--device={options.device}"]


def pytest_configure(config):
    """Files that ask for the capability of the GPU while they are collected learn that there is none."""
    import torch
    if config.getoption("--device") == "cpu" and not torch.cuda.is_available():
        torch.cuda.get_device_capability = lambda device=None: (0, 0)


if __name__ == "__main__":
    sys.exit(compat.main(Triton(FILES), __doc__))
