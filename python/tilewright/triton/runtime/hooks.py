# SPDX-License-Identifier: Apache-2.0
"""triton.runtime.hooks: what hooks see of a compile, and preload.

`knobs.runtime.jit_cache_hook` is called before a kernel is compiled (a true answer means: do not; the launch gives None),
`jit_post_compile_hook` after it, both as in Triton; `kernel_load_start_hook` and `kernel_load_end_hook` once it is loaded. What they
are given holds `specialization_data`, a text from which `JITFunction.preload` compiles the same kernel without a launch.
"""
import hashlib
import json
import operator
import os
import reprlib

from ... import _native, record
from .. import knobs
from ..compiler.compiler import CompiledKernel
from ..compiler.errors import CompilationError
from . import cache, discarded, options as _options  # noqa: F401 (the extension asks it)
from .errors import OutOfResources, WarpsError

# The extension's tags of parameters, as types of a signature; 8 and more are pointers to a dtype.
_TAGS = ("constexpr", "constexpr", None, "i32", "i64", "u64", "fp32", "i1")
_TRITON_NAMES = {"f16": "fp16", "f32": "fp32", "f64": "fp64", "f8e4m3": "fp8e4nv", "f8e5m2": "fp8e5", "f8e4b8": "fp8e4b8",
                 "f8e5b16": "fp8e5b16", "f8e4b15": "fp8e4b15"}
_OUR_NAMES = {theirs: ours for ours, theirs in _TRITON_NAMES.items()}
_DTYPES = [name for name, _ in _native.dtypes()]
_OPTIONS = {"num_warps": 4, "num_ctas": 1, "num_stages": 3, "enable_fp_fusion": True, "launch_cooperative_grid": False, "extern_libs": ()}


class JitFunctionInfo:
    """The function that is compiled: its module, its name, itself."""

    def __init__(self, module, name, jit_function):
        self.module, self.name, self.jit_function = module, name, jit_function


def _type_text(tag, param):
    if tag > len(_TAGS):
        name = _DTYPES[tag - len(_TAGS) - 1]
        return "*" + _TRITON_NAMES.get(name, name)
    return _TAGS[tag] or param


def _plain(value):
    """A constant as JSON has it; what it has not is told by its text and cannot be preloaded."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (tuple, list)):
        return {"tuple": [_plain(item) for item in value]}
    if type(value).__name__ == "dtype" and hasattr(value, "name"):
        return {"dtype": value.name}
    return {"other": f"{type(value).__qualname__} {getattr(value, 'cache_key', None) or value}"}


def _lively(value):
    from ..language import core
    if not isinstance(value, dict):
        return value
    if "tuple" in value:
        return tuple(_lively(item) for item in value["tuple"])
    if "dtype" in value:
        return core.dtype(value["dtype"])
    raise RuntimeError(f"a constant of this kind cannot be preloaded: {value['other']}")


def _constant(value):
    from ..language.core import constexpr
    return value if type(value) is int and value == 1 else constexpr(_lively(value))


class Compile:
    """One compile, before and after."""

    def __init__(self, function, tags, constants, options, device, warmup):
        self.function = getattr(function, "origin", function)
        self.warmup = warmup
        annotations = {param.name: param.annotation_type for param in self.function.params}
        self.signature = {name: _type_text(tag, annotations.get(name)) for name, tag in zip(function.arg_names, tags)}
        self.constants = {name: 1 if tag == 1 else value
                          for name, tag, value in zip(function.arg_names, tags, constants) if tag <= 1}
        self.full_name = f"{self.function.__module__}.{self.function.__qualname__}"
        self.device = device
        self.options = options
        self.parts = list(getattr(function, "structures", ()))
        content = {
            "name": self.full_name, "signature": self.signature, "device": device,
            "constants": {name: _plain(value) for name, value in self.constants.items()},
            "options": {name: _plain(value) for name, value in options.items()},
            "structures": list(self.parts),
        }
        self.data = json.dumps(content)
        self.key = hashlib.sha256((self.function.cache_key + self.data).encode()).hexdigest()

    def arguments_text(self):
        """What the kernel was called with, as far as a message shows it: `x: *fp32, n: i32, BLOCK: 64, y: None`."""
        def shown(name, kind):
            if name not in self.constants:
                return kind
            value = self.constants[name]
            plain = value is None or isinstance(value, (bool, int, float, str))
            return reprlib.repr(value) if plain else f"an object of type {type(value).__module__}.{type(value).__qualname__}"
        texts = [f"{name}: {shown(name, kind)}" for name, kind in self.signature.items()]
        return ", ".join(texts[:16] + ["..."] * (len(texts) > 16))

    def command_words(self):
        """What `tilewright explain`, `ir`, `emit` or `build` take to compile the same: `script.py:kernel --arg 'x=*f32' --arg BLOCK=64`."""
        words = [record.place(self.function.file, self.function.__name__)]
        if "<locals>" in self.function.__qualname__:
            raise record.Unwritten("it is made by a function, and the command line knows kernels of the module alone")
        if self.parts:
            raise record.Unwritten(f"the argument `{self.parts[0][0]}` is a tuple or a descriptor, whose parts have no names on the command line")
        names = self.function.fn.__globals__
        for name, kind in self.signature.items():
            if name in self.constants:
                words += ["--arg", record.constant(name, self.constants[name], names)]
            else:
                bare = kind.lstrip("*")
                words += ["--arg", f"{name}={'*' * kind.count('*')}{_OUR_NAMES.get(bare, bare)}"]
        for name in ("num_warps", "num_stages"):
            if name in self.options:
                words += ["--set", f"{name}={self.options[name]}"]
        return words

    def call(self, hook):
        function = self.function
        options = {name: self.options.get(name, default) for name, default in _OPTIONS.items()}
        if isinstance(options["extern_libs"], dict):
            options["extern_libs"] = tuple(options["extern_libs"].items())
        shown = ", ".join(f"{name}={value}" for name, value in options.items() if name != "extern_libs")
        types = ", ".join(f"{name}: {kind}" for name, kind in self.signature.items())
        told = {"key": self.key, "signature": self.signature, "device": max(self.device, 0), "constants": self.constants, **options,
                "configs": [{}], "specialization_data": self.data, "is_warmup": self.warmup}
        return hook(key=self.key, repr=f"{function.__qualname__}[{shown}]({types})",
                    fn=JitFunctionInfo(function.__module__, function.__qualname__, function), compile=told,
                    is_manual_warmup=self.warmup, already_compiled=False)


def _check_warps(given):
    """What Triton refuses; the rest is for the library, which says what it takes."""
    try:
        warps = operator.index(given)
    except TypeError:
        return
    if 1 < warps <= 32 and warps & (warps - 1):
        raise WarpsError(f"num_warps is {warps}; it must be a power of 2")
    if warps > 32 and not warps & (warps - 1):
        raise OutOfResources(32 * warps, 1024, "threads")


def check(function):
    """Raises what is wrong with a function as it was declared."""
    if function.contradiction:
        raise CompilationError(error_message=function.contradiction)


def before_compile(function, tags, constants, options, device, warmup):
    """What make_kernel will need, or None: a hook says that the kernel is not to be compiled."""
    _check_warps(options.get("num_warps"))
    if knobs.compilation.override:
        raise ValueError("TRITON_KERNEL_OVERRIDE is set, and kernels cannot be replaced by texts of Triton's here; unset it")
    cache.follow()
    written = getattr(function, "origin", function)
    check(written)
    discarded.check(written)
    compile = Compile(function, tags, constants, options, device, warmup)
    record.write(compile.function.file, compile.function.__name__, compile.command_words)
    hook = knobs.runtime.jit_cache_hook
    return None if hook is not None and compile.call(hook) else compile


def make_kernel(function, native, options, compile):
    kernel = CompiledKernel(function, native, options, compile.key)
    if compile.function._repr:  # jit(repr=..): the program names its kernels by what they are compiled for
        kernel.name = kernel.metadata.name = compile.function.repr(compile)
    loaded = (kernel.module, kernel.function, kernel.name, kernel.metadata, kernel.hash)
    knobs.runtime.kernel_load_start_hook(*loaded)
    knobs.runtime.kernel_load_end_hook(*loaded)
    hook = knobs.runtime.jit_post_compile_hook
    if hook is not None:
        compile.call(hook)
    return kernel


def kernel_ready(kernel):
    """A kernel that can be launched, and asked for its texts."""
    if knobs.compilation.dump_ir:
        dump(kernel)


def dump(kernel):
    """TRITON_KERNEL_DUMP: the texts of a kernel as files, in a folder of its own below TRITON_DUMP_DIR."""
    folder = os.path.join(knobs.cache.dump_dir, kernel.hash)
    os.makedirs(folder, exist_ok=True)
    for name in kernel.asm.keys():
        if name in ("ptx", "sass"):  # need tools that may not be here
            continue
        content = kernel.asm[name]
        with open(os.path.join(folder, f"{kernel.name}.{name}"), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())


def preload(function, specialization_data, parts_of, sample):
    """Compiles what a hook was told of; parts_of(structures, names) is the function that takes the parts of structures."""
    content = json.loads(specialization_data)
    name = f"{function.__module__}.{function.__qualname__}"
    if content["name"] != name:
        raise RuntimeError(f"Specialization data is for {content['name']} but trying to preload for {name}")
    values = tuple(_constant(content["constants"][name]) if name in content["constants"] else sample(kind)
                   for name, kind in content["signature"].items())
    options = {name: _lively(value) for name, value in content["options"].items()}
    structures = [tuple(row) for row in content["structures"]]
    if structures:
        function = parts_of(structures, list(content["signature"]))
    return function.launch((1, ), values, options, 1)


_native.configure(before_compile=before_compile, make_kernel=make_kernel, kernel_ready=kernel_ready)
