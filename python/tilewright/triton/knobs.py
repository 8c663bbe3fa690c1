# SPDX-License-Identifier: Apache-2.0
"""triton.knobs: settings, from the environment or set in the program.

Each group is an object; reading an attribute gives what the program set, else the environment's value, else the default.
group.scope() is a context at whose end all is as before. A setting that would change what a kernel does, and that is not there, is
refused where it would count, with its name; settings of how Triton's own compiler works are kept and have no effect.
"""
import contextlib
import functools
import importlib
import os
import re
import shutil
import subprocess
import sys

from .. import _native

propagate_env = True
_UNSET = object()


class Knob:
    """One setting: its variable of the environment, and how to read it."""

    def __init__(self, key, default=None, read=str):
        self.key = key
        self.default = default
        self.read = read

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, group, owner=None):
        if group is None:
            return self
        value = group.__dict__.get(self.name, _UNSET)
        if value is not _UNSET:
            return value
        text = os.environ.get(self.key) if self.key else None
        return self.default if text is None else self.read(text)

    def __set__(self, group, value):
        group.__dict__[self.name] = value
        if propagate_env and self.key and isinstance(value, (str, bool, int)):
            os.environ[self.key] = {True: "1", False: "0"}.get(value, str(value)) if isinstance(value, bool) else str(value)

    def __delete__(self, group):
        group.__dict__.pop(self.name, None)


class FolderKnob(Knob):
    """A folder; without a value, one below the home folder of Triton."""

    def __init__(self, key, name):
        super().__init__(key)
        self.folder = name

    def __get__(self, group, owner=None):
        found = super().__get__(group, owner)
        return found if found is not None else os.path.join(group.home_dir, ".triton", self.folder)


class ClassKnob(Knob):
    """A class that the environment names as MODULE:CLASS."""

    def __get__(self, group, owner=None):
        found = super().__get__(group, owner)
        if not isinstance(found, str):
            return found
        module, _, name = found.partition(":")
        if not name:
            raise RuntimeError(f"Unable to read {self.key}: '{found}' isn't of the form MODULE:CLASS")
        return getattr(importlib.import_module(module), name)


class NvidiaTool:
    """A program of CUDA: where it is, and its version."""

    def __init__(self, path, version):
        self.path, self.version = path, version

    @staticmethod
    @functools.lru_cache
    def from_path(path):
        try:
            said = subprocess.run([path, "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
        except OSError:
            return None
        release = re.search(r"release (\d+\.\d+)", said)
        return NvidiaTool(path, release.group(1)) if release else None


class ToolKnob(Knob):
    """A program of CUDA. Kernels are not made with it; what asks for it gets the one of this machine, or is told that there is none."""

    def __init__(self, tool):
        super().__init__(f"TRITON_{tool.upper().replace('-', '_')}_PATH")
        self.tool = tool

    def __get__(self, group, owner=None):
        found = super().__get__(group, owner)
        if found is self or isinstance(found, NvidiaTool):
            return found
        for path in (found, shutil.which(self.tool), os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", self.tool)):
            tool = path and NvidiaTool.from_path(path)
            if tool:
                return tool
        raise RuntimeError(f"Cannot find {self.tool}: it is not in PATH, and {self.key} does not name it")


class RefusedKnob(Knob):
    """One that cannot be set, and why."""

    def __init__(self, why):
        super().__init__(None)
        self.why = why

    def __set__(self, group, value):
        if value is not None:
            raise ValueError(f"{self.name} is not there: {self.why}")


def _truth(text):
    return text.lower() in ("1", "true", "on", "yes", "y")


def _flag(key, default=False):
    return Knob(key, default, _truth)


class base_knobs:

    @property
    def knob_descriptors(self):
        return {name: knob for name, knob in vars(type(self)).items() if isinstance(knob, Knob)}

    @property
    def knobs(self):
        return {name: getattr(self, name) for name in self.knob_descriptors}

    def copy(self):
        other = type(self)()
        other.__dict__.update(self.__dict__)
        return other

    def reset(self):
        for name in self.knob_descriptors:
            self.__dict__.pop(name, None)
        return self

    @contextlib.contextmanager
    def scope(self):
        mine = dict(self.__dict__)
        keys = [knob.key for knob in self.knob_descriptors.values() if knob.key]
        environment = {key: os.environ.get(key) for key in keys}
        try:
            yield self
        finally:
            self.__dict__.clear()
            self.__dict__.update(mine)
            for key, text in environment.items():
                os.environ.pop(key, None) if text is None else os.environ.__setitem__(key, text)


class HookChain:
    """Hooks that are called one after the other."""

    def __init__(self, reversed=False, every_launch=False):
        self.calls = []
        self.reversed = reversed
        self.every_launch = every_launch

    def add(self, hook):
        if hook not in self.calls:
            self.calls.append(hook)
            _native.count_hook(int(self.every_launch))

    def remove(self, hook):
        if hook in self.calls:
            self.calls.remove(hook)
            _native.count_hook(-int(self.every_launch))

    def __call__(self, *args, **kwargs):
        for hook in (self.calls[::-1] if self.reversed else list(self.calls)):
            hook(*args, **kwargs)

    def __bool__(self):
        return bool(self.calls)


class build_knobs(base_knobs):
    cc = Knob("CC")
    cudacrt_path = Knob("TRITON_CUDACRT_PATH")
    cudart_path = Knob("TRITON_CUDART_PATH")
    impl = Knob(None)

    @property
    def backend_dirs(self):
        return {path for path in (self.cudacrt_path, self.cudart_path) if path is not None}


class redis_knobs(base_knobs):
    key_format = Knob("TRITON_REDIS_KEY_FORMAT", "triton:{key}:{filename}")
    host = Knob("TRITON_REDIS_HOST", "localhost")
    port = Knob("TRITON_REDIS_PORT", 6379, int)


class cache_knobs(base_knobs):
    home_dir = Knob("TRITON_HOME", os.path.expanduser("~/"))
    dump_dir = FolderKnob("TRITON_DUMP_DIR", "dump")
    override_dir = FolderKnob("TRITON_OVERRIDE_DIR", "override")
    dir = FolderKnob("TRITON_CACHE_DIR", "cache")
    manager_class = ClassKnob("TRITON_CACHE_MANAGER")
    remote_manager_class = ClassKnob("TRITON_REMOTE_CACHE_BACKEND")

    def get_triton_dir(self, dirname):
        return os.path.join(self.home_dir, ".triton", dirname)


class compilation_knobs(base_knobs):
    override = _flag("TRITON_KERNEL_OVERRIDE")
    dump_ir = _flag("TRITON_KERNEL_DUMP")
    store_binary_only = _flag("TRITON_STORE_BINARY_ONLY")
    always_compile = _flag("TRITON_ALWAYS_COMPILE")
    use_ir_loc = Knob("USE_IR_LOC")
    enable_asan = _flag("TRITON_ENABLE_ASAN")
    disable_line_info = _flag("TRITON_DISABLE_LINE_INFO")
    front_end_debugging = _flag("TRITON_FRONT_END_DEBUGGING")
    allow_non_constexpr_globals = _flag("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS")
    instrumentation_mode = Knob("TRITON_INSTRUMENTATION_MODE", "")
    listener = Knob(None)


class autotuning_knobs(base_knobs):
    cache = _flag("TRITON_CACHE_AUTOTUNING")
    print = _flag("TRITON_PRINT_AUTOTUNING")


class runtime_knobs(base_knobs):
    interpret = _flag("TRITON_INTERPRET")
    debug = _flag("TRITON_DEBUG")
    sanitize_overflow = _flag("TRITON_SANITIZE_OVERFLOW", True)
    override_arch = Knob("TRITON_OVERRIDE_ARCH")
    jit_cache_hook = Knob(None)
    jit_post_compile_hook = Knob(None)
    add_stages_inspection_hook = RefusedKnob("kernels are not made by Triton's stages here; asm[..] of what a launch returns has all texts")

    def __init__(self):
        self.launch_enter_hook = HookChain(every_launch=True)
        self.launch_exit_hook = HookChain(reversed=True, every_launch=True)
        self.kernel_load_start_hook = HookChain()
        self.kernel_load_end_hook = HookChain(reversed=True)

    def hooked(self):
        return bool(self.launch_enter_hook or self.launch_exit_hook)


class language_knobs(base_knobs):
    fp32_default = Knob("TRITON_F32_DEFAULT")
    default_fp_fusion = _flag("TRITON_DEFAULT_FP_FUSION", True)


class nvidia_knobs(base_knobs):
    cuobjdump = ToolKnob("cuobjdump")
    nvdisasm = ToolKnob("nvdisasm")
    ptxas = ToolKnob("ptxas")
    ptxas_blackwell = ToolKnob("ptxas-blackwell")
    dump_nvptx = _flag("NVPTX_ENABLE_DUMP")
    disable_ptxas_opt = _flag("DISABLE_PTXAS_OPT")
    ptxas_options = Knob("PTXAS_OPTIONS")
    mock_ptx_version = Knob("TRITON_MOCK_PTX_VERSION")
    dump_ptxas_log = _flag("TRITON_DUMP_PTXAS_LOG")
    libdevice_path = Knob("TRITON_LIBDEVICE_PATH")
    libcuda_path = Knob("TRITON_LIBCUDA_PATH")

    @property
    def knobs(self):
        """Their values; of tools that are missing None."""
        found = {}
        for name in self.knob_descriptors:
            try:
                found[name] = getattr(self, name)
            except RuntimeError:
                found[name] = None
        return found


class amd_knobs(base_knobs):
    use_buffer_ops = _flag("AMDGCN_USE_BUFFER_OPS", True)
    use_buffer_atomics = _flag("AMDGCN_USE_BUFFER_ATOMICS", True)
    buffer_ops_analyze_small_tensor_range = _flag("AMDGCN_ANALYZE_SMALL_TENSOR_RANGE")
    dump_amdgcn = _flag("AMDGCN_ENABLE_DUMP")
    libhip_path = Knob("TRITON_LIBHIP_PATH")
    use_block_pingpong = Knob("TRITON_HIP_USE_BLOCK_PINGPONG", None, _truth)
    use_in_thread_transpose = Knob("TRITON_HIP_USE_IN_THREAD_TRANSPOSE", None, _truth)
    use_async_copy = _flag("TRITON_HIP_USE_ASYNC_COPY")
    scalarize_packed_fops = _flag("AMDGCN_SCALARIZE_PACKED_FOPS")


class proton_knobs(base_knobs):
    disable = _flag("TRITON_PROTON_DISABLE")
    cupti_lib_dir = Knob("TRITON_CUPTI_LIB_PATH", "")
    enable_nvtx = _flag("TRITON_ENABLE_NVTX", True)


build = build_knobs()
redis = redis_knobs()
cache = cache_knobs()
compilation = compilation_knobs()
autotuning = autotuning_knobs()
runtime = runtime_knobs()
language = language_knobs()
nvidia = nvidia_knobs()
amd = amd_knobs()
proton = proton_knobs()


def refresh_knobs():
    """All values are read when they are asked for: there is nothing to refresh."""


class _PlainGlobals:
    """True while kernels may use globals that are no constexpr; the extension asks it."""

    def __bool__(self):
        return bool(sys.modules[__name__].compilation.allow_non_constexpr_globals)


plain_globals = _PlainGlobals()
