# SPDX-License-Identifier: Apache-2.0
"""triton.compiler.compiler: what a launch returns, and compiling without a launch."""
import glob
import itertools
import os
import re
import shutil
import subprocess
import tempfile
import types

from ..backends.compiler import GPUTarget


def disassembler():
    """CUDA's nvdisasm or cuobjdump: in PATH, in CUDA's own folders, in NVIDIA's and Triton's packages. None: not here."""
    folders = [os.environ[name] + "/bin" for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)] + ["/usr/local/cuda/bin"]
    packages = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    folders += glob.glob(packages + "/nvidia/*/bin") + [packages + "/triton/backends/nvidia/bin"]
    for name, option in (("nvdisasm", "-c"), ("cuobjdump", "-sass")):
        path = shutil.which(name) or shutil.which(name, path=os.pathsep.join(folders))
        if path:
            return path, option
    return None


def disassembled(cubin):
    found = disassembler()
    if not found:
        raise RuntimeError("asm[\"sass\"] needs nvdisasm or cuobjdump of CUDA, and neither is in PATH, CUDA_HOME or /usr/local/cuda; "
                           "asm[\"cubin\"] has the bytes, asm[\"ptx\"] the text above them")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        done = subprocess.run([*found, file.name], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{found[0]} failed: {done.stderr.strip()[:400]}")
    return done.stdout


# Triton's texts that have no like here; what stands under their names says so in its first line.
_NO_TTGIR = "// Tilewright has no TritonGPU IR. This is Tile IR for {} after all passes, with layouts, schedule and places (docs/ir.md).\n"
_NO_LLIR = "; Tilewright makes no LLVM IR. This is the text that it emits for the target's own compiler.\n"


class LazyDict(dict):
    """The texts of a kernel, by kind. They are made when they are asked for."""

    def __init__(self, kernel):
        super().__init__()
        self._kernel = kernel

    def __missing__(self, name):
        if name not in self.keys():
            code = "cuda (the emitted text, also cu), ptx, cubin and sass" if self._kernel._on_cuda else "c"
            raise KeyError(f"this kernel has no text {name!r}; it has source, ttir (the IR as the door makes it), "
                           f"tir (the IR after the passes, also ttgir), explain, and {code} (also llir)")
        if name == "ptx":
            self[name] = self._kernel._native.assembly()
        elif name == "sass":
            self[name] = disassembled(self["cubin"])
        else:
            self.update(self._kernel._texts())
        return self[name]

    def __contains__(self, name):
        return name in self.keys()

    def get(self, name, default=None):
        return self[name] if name in self else default

    def keys(self):
        return ["source", "ttir", "ttgir", "llir", "tir", *(("cuda", "cu", "ptx", "cubin", "sass") if self._kernel._on_cuda else ("c", )), "explain"]

    def __iter__(self):
        return iter(self.keys())

    def __len__(self):
        return len(self.keys())

    def values(self):
        return [self[name] for name in self.keys()]

    def items(self):
        return [(name, self[name]) for name in self.keys()]


# What a kernel of the CPU says of itself. Programs divide by these: a core has 32 vector registers, and what a program keeps beside
# them lies in its caches.
_CPU_REGISTERS, _CPU_SHARED = 32, 1024
_numbers = itertools.count()  # of kernels, as they were compiled


def texts_of(emitted):
    """The texts of an emitted kernel, by name: {"add_kernel.cu": ..}."""
    return {name: text for name, text in emitted.artifacts().items() if isinstance(text, str)}


class CompiledKernel:
    """A kernel compiled for the types and constants of one launch."""

    def __init__(self, function, native, options, key):
        self._function = function
        self._native = native
        self.name = native.name
        self.number = next(_numbers)
        self.src = function
        self.asm = LazyDict(self)
        place, _, arch = native.target.partition(":")
        self._on_cuda = place == "cuda"
        taken = native.resources()
        # As many as a thread is given, in steps of 8: who divides a multiprocessor's by these gets the blocks that it holds.
        self.n_regs = min(-(-taken["registers"] // 8) * 8, 255) if self._on_cuda else _CPU_REGISTERS
        self.n_spills = taken["local_bytes"] // 4
        self.n_max_threads = taken["max_threads"] or 1024
        target = GPUTarget("cuda", int(re.search(r"\d+", arch).group()), 32) if self._on_cuda else GPUTarget("cpu", 0, 32)
        self.function = native
        self.module = native
        self.hash = key
        options = self._options = dict(options)
        self.metadata = types.SimpleNamespace(
            name=self.name, target=target, num_warps=options.get("num_warps", 4),
            num_stages=options.get("num_stages", 3), num_ctas=options.get("num_ctas", 1), shared=taken["shared_bytes"] if self._on_cuda else _CPU_SHARED, hash=self.hash,
            global_scratch_size=0, debug=bool(options.get("debug")), warp_size=32, **{
                name: value
                for name, value in options.items() if name not in ("num_warps", "num_stages", "num_ctas", "debug", "warp_size")
            })

    def _init_handles(self):
        return self

    @property
    def run(self):
        return lambda grid_0, grid_1, grid_2, stream, function, *args: self[(grid_0, grid_1, grid_2)](*args[-len(self._function.arg_names):])

    def __getitem__(self, grid):

        def launch(*args, stream=None):
            return getattr(self._function, "origin", self._function).launch(grid, args, self._options, 0)

        return launch

    def written(self):
        """The arguments that the kernel may write through, by name; a part of one counts for it."""
        names = self._function.arg_names
        return {name.split(".")[0] for i, name in enumerate(names) if self._native.writes(i)}

    def explain(self):
        """What the compiler proved and chose, one line a finding."""
        return self._native.explain()

    def emit(self, target):
        """The texts that are emitted for a target, by name: {"add_kernel.cu": ..}."""
        return texts_of(self._function.lower(self, target))

    def _texts(self):
        lowered = self._function.lower(self, None)
        printed = [(name, ir) for name, _, ir in lowered.passes() if ir]
        artifacts = {**lowered.artifacts(), **self._native.artifacts()}

        def find(ending):
            return next((text for name, text in artifacts.items() if name.endswith(ending)), "")

        code = {"cuda": find(".cu"), "cu": find(".cu"), "cubin": find(".cubin")} if self._on_cuda else {"c": find(".c")}
        text, target = code.get("cuda") or code.get("c"), self.metadata.target
        return {"source": self._function.src, "ttir": printed[0][1], "ttgir": _NO_TTGIR.format(f"{target.backend}:{target.arch}" if self._on_cuda else "the CPU") + printed[-1][1], "llir": _NO_LLIR + text,
                "tir": printed[-1][1], "explain": lowered.explain(), **code}


class ASTSource:
    """A jit function with the types and constants to compile it for."""

    def __init__(self, fn, signature, constexprs=None, attrs=None):
        self.fn = fn
        self.ext = "ttir"
        self.name = fn.__name__
        self.signature = signature
        self.constants = {}
        for key, value in (constexprs or {}).items():
            name = fn.arg_names[key[0] if isinstance(key, tuple) else key] if not isinstance(key, str) else key
            self.constants[name] = value
        self.attrs = attrs or {}


def compile(src, target=None, options=None):
    """Compiles a jit function for a signature: {"x_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}; for a GPUTarget of CUDA where
    kernels run on such a GPU or on the emulator (src.fn.emit(target, ..) gives the texts for any)."""
    from ..runtime.driver import driver
    from ..runtime.jit import MockTensor
    options = dict(options or {})
    if target is not None and target.backend == "cuda":
        options.setdefault("arch", f"sm{target.arch}")
    elif target is not None and target.backend != driver.active.get_current_target().backend:
        raise ValueError(f"triton.compile for {target!r} is refused: kernels run on {driver.active.get_current_target()!r}")
    args = dict(src.constants)
    for name, kind in src.signature.items():
        if name in src.constants or kind == "constexpr":
            args[name] = src.constants.get(name)
        else:
            args[name] = MockTensor.of_type(kind)
    return src.fn.warmup(grid=(1, ), **args, **options)


def make_backend(target):
    from ..backends.compiler import CPUBackend, CUDABackend
    return (CUDABackend if target.backend == "cuda" else CPUBackend)(target)
