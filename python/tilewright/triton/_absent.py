# SPDX-License-Identifier: Apache-2.0
"""triton._absent: names of Triton's that programs import and that are not here.

A program that imports one runs; what calls one, or makes an object of one, is told its name. Only names that Triton has are answered so:
all others are an ImportError or AttributeError as ever, and a program that looks whether something is there (`hasattr`, `try: import`)
is told no. Gluon, which is a language of its own, is not here either, and its import says that.
"""
import importlib
import importlib.abc
import importlib.machinery
import sys

_PACKAGE = __name__.rpartition(".")[0]

# module: its names; NAME=WHERE is another place's name, which is there
_TABLE = {
    "_utils": "find_paths_if get_iterable_path is_namedtuple set_iterable_path validate_block_shape get_primitive_bitwidth",
    "backends.amd": "",
    "backends.amd.compiler": "GPUTarget=backends.compiler HIPBackend HIPOptions get_min_dot_size is_in_thread_transpose_enabled "
                             "is_pingpong_schedule_enabled",
    "backends.amd.driver": "HIPDriver HIPLauncher HIPUtils make_launcher ty_to_cpp",
    "backends.compiler": "Language",
    "backends.driver": "Benchmarker GPUDriver",
    "backends.nvidia": "",
    "backends.nvidia.compiler": "CUDABackend=backends.compiler CUDAOptions GPUTarget=backends.compiler PTXASError=runtime.errors get_features "
                                "get_ptx_version_from_options get_ptxas min_dot_size ptx_get_version sm_arch_from_capability",
    "backends.nvidia.driver": "CudaDriver=backends.driver:CUDADriver CudaLauncher CudaUtils=backends.driver:CUDAUtils make_launcher ty_to_cpp",
    "compiler": "IRSource get_cache_key",
    "compiler.code_generator": "ASTFunction BoundJITMethod CodeGenerator ContainsReturnChecker ast_to_ttir enter_sub_region "
                               "flatten_values_to_ir mangle_fn unflatten_ir_values",
    "compiler.compiler": "AsmDict CompileTimer IRSource Language filter_traceback get_cache_key max_shared_mem parse",
    "knobs": "CompilationListener CompileTimes env_base env_bool env_class env_int env_nvidia_tool env_opt_bool env_opt_str env_str getenv "
             "setenv",
    "language.core": "_aggregate=runtime.jit:aggregate _reduce_with_indices _unsplat _wrap_axis binary_op_type_legalization check_bit_width "
                     "dispatch extern=language.core:builtin extern_elementwise is_negative_zero tensor_descriptor_base_type "
                     "validate_block_shape",
    "language.extra.cuda": "convert_custom_float8_sm70 convert_custom_float8_sm80",
    "language.extra.cuda.gdc": "gdc_launch_dependents=language.extra.cuda gdc_wait=language.extra.cuda",
    "language.extra.cuda.utils": "convert_custom_float8 convert_custom_float8_sm70 convert_custom_float8_sm80 globaltimer=language.extra.cuda "
                                 "num_threads=language.extra.cuda num_warps=language.extra.cuda smid=language.extra.cuda",
    "language.extra.hip": "memrealtime",
    "language.semantic": "TritonSemantic",
    "language.standard": "_argmax_combine _argmax_combine_tie_break_fast _argmin_combine _argmin_combine_tie_break_fast _bitonic_merge "
                         "_compare_and_swap _pick_sum_dtype sort_impl",
    "runtime._allocation": "set_profile_allocator",
    "runtime.build": "_build compile_module_from_src",
    "runtime.cache": "RemoteCacheManager get_cache_key",
    "runtime.interpreter": "ASTTransformer FunctionRewriter GridExecutor InterpreterBuilder InterpreterOptions TensorHandle",
    "runtime.jit": "BoundConstexprFunction DependenciesFinder JitFunctionInfo=runtime.hooks compute_cache_key create_function_from_signature "
                   "get_full_name get_jit_fn_file_line mangle_type native_specialize_impl serialize_specialization_data",
    "tools.compile": "CompileArgs compile_kernel main",
    "tools.disasm": "extract get_sass path_to_cuobjdump",
    "tools.link": "HeaderParser KernelLinkerMeta LinkerError",
    "tools.ragged_tma": "to_ragged_indices",
}


def _refuse(path):

    def refuse(*args, **kwargs):
        raise NotImplementedError(f"{path} is a part of Triton that Tilewright does not have")

    return refuse


def _stand_in(module, name):
    path = f"triton.{module}.{name}"
    made = _refuse(path)
    if name.lstrip("_")[0].isupper():
        made = type(name, (), {"__init__": made})
    made.__name__ = made.__qualname__ = name
    made.__module__ = f"{_PACKAGE}.{module}"
    made.__doc__ = f"{path} is not here: calling it says so."
    return made


def fill(name):
    """Gives the module of that name what it lacks."""
    space = vars(sys.modules[name])
    module = name[len(_PACKAGE) + 1:]
    for entry in _TABLE.get(module, "").split():
        own, _, where = entry.partition("=")
        if where:
            place, _, other = where.partition(":")
            space.setdefault(own, getattr(importlib.import_module(f"{_PACKAGE}.{place}"), other or own))
        elif own not in space:
            space[own] = _stand_in(module, own)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules of the table that no file is there for. It is asked last."""

    def find_spec(self, name, path=None, target=None):
        inside = name[len(_PACKAGE) + 1:] if name.startswith(_PACKAGE + ".") else None
        if inside not in _TABLE:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=any(other.startswith(inside + ".") for other in _TABLE))

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        fill(module.__name__)


sys.meta_path.append(_Finder())
for _module in _TABLE:
    if f"{_PACKAGE}.{_module}" in sys.modules:
        fill(f"{_PACKAGE}.{_module}")
