# SPDX-License-Identifier: Apache-2.0
"""tilelang.jit.kernel: kernels that run: JITKernel, over the extension's Function.

    kernel = tilelang.compile(main, out_idx=[-1])
    c = kernel(a, b)          # on the CPU for arrays of the CPU, on their device for CUDA tensors; c is made by the call

Shapes and dtypes are part of what is compiled; sizes of T.dynamic come with the arrays of a call. What is compiled is found again by the
extension without going through Python.
"""
import sys
import types

from ... import _native, host, record
from ...host import LAUNCH, PREPARE, SANITIZE, WARMUP
from .. import errors
from ..language.dtypes import dtype as _dtype
from ..language.functions import PrimFunc
from ..language.symbols import Expr
from .target import Target, cuda_device

_DTYPES = {"i1": "bool", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
           "f8e4b8": "float8_e4m3fnuz", "f8e5b16": "float8_e5m2fnuz", **{f"{sign}{bits}": f"{'u' if sign == 'u' else ''}int{bits}"
                                                                       for sign in "iu" for bits in (8, 16, 32, 64)}}
# Names of pass_configs that mean something here; all others concern passes that are not here.
_PASS_OPTIONS = {"tl.disable_warp_specialized": ("roles", "off")}


class Sample:
    """Stands for an array of a dtype and a shape where nothing is run."""

    def __init__(self, dtype, shape, device=None, strides=None):
        self.dtype, self.shape = str(_dtype(dtype).stored), _dtype(dtype).stored_shape(shape)
        self._strides = None if strides is None else tuple(strides)
        self.device = device
        self.is_cpu = device is None

    def data_ptr(self):
        return 0

    def stride(self):
        made, step = [], 1
        for extent in reversed(self.shape):
            made.insert(0, step)
            step *= extent
        return self._strides or tuple(made)


class CompiledFunction(_native.Function):
    """A function with what was compiled of it. launch(None, args, kwargs, purpose) is the extension's."""

    def __init__(self, name, file, source, line, space, closure, rows, outputs, options, eager=False, annotations=None, attrs=None):
        self.eager = eager
        self.annotations = annotations_of(attrs or {})
        self.__annotations__ = annotations or {}
        super().__init__(name, file, source, line, space, closure, rows, [], outputs, options)

    make_error = staticmethod(errors.make_error)

    @staticmethod
    def make_output(dtype, shape, like):
        """An array for an output, beside the first array of the call."""
        name = _DTYPES[dtype]
        torch = sys.modules.get("torch")
        if torch is not None and (like is None or isinstance(like, torch.Tensor)):
            device = like.device if like is not None else "cpu" if cuda_device() is None else "cuda"
            return torch.empty(shape, dtype=_dtype(name).as_torch(), device=device)
        import numpy
        return numpy.empty(shape, _dtype(name).as_numpy())


def _pairs(value):
    """Dicts as pairs of name and value, which the compiler reads."""
    return tuple((name, _pairs(each)) for name, each in value.items()) if isinstance(value, dict) else tuple(value) if isinstance(value, list) else value


def annotations_of(attrs):
    """What tilelang.tt says of a kernel, as pairs."""
    sharding = attrs.get("tt.sharding")
    return _pairs(attrs.get("tt.schedule", {})) + ((("sharding", _pairs(sharding)), ) if sharding else ())


def options_of(pass_configs):
    """The library's options for TileLang's pass_configs."""
    made = {}
    for key, value in (pass_configs or {}).items():
        option = _PASS_OPTIONS.get(str(getattr(key, "value", key)))
        if option and value:
            made[option[0]] = option[1]
    return made


def output_places(out_idx, count, name):
    """out_idx as a list of places from 0."""
    rows = [] if out_idx is None else list(out_idx) if isinstance(out_idx, (list, tuple)) else [out_idx]
    places = []
    for row in rows:
        if isinstance(row, bool) or not hasattr(row, "__index__") or not -count <= row.__index__() < count:
            raise ValueError(f"out_idx={out_idx!r}: `{name}` has {count} parameters, counted from 0, or from the end as -1")
        places.append(row.__index__() % count)
    return places


def _array_word(name, array, default=None):
    """`name=empty:f32[256]`, of an array of the call or a stated dtype and shape; `name=f32` of a number by its dtype."""
    if hasattr(array, "shape"):
        return f"{name}=empty:{host.dtype_name(array.dtype)}[{','.join(str(int(extent)) for extent in array.shape)}]"
    return f"{name}={host.dtype_name(default)}" if default else record.constant(name, array, {})


def command_words(kernel, arrays):
    """What `tilewright explain`, `ir`, `emit` or `build` take to compile the kernel for these arrays (by name)."""
    func, outer = kernel.prim_func, kernel.made_by
    path = func.__qualname__.split(".<locals>.")
    if outer is not None:  # of a function of tilelang.jit: its arguments are known
        path, around, names = outer[0].__qualname__.split(".<locals>.") + [""], outer[1], outer[0].__globals__
    else:
        around, names = func.around or {}, func.fn.__globals__
    if len(path) > 2 or "." in path[0]:
        raise record.Unwritten("it is made by a function inside of another one, or by a method, whose arguments are not known")
    words = [record.place(func.fn.__code__.co_filename, path[0])]
    for name, value in around.items() if len(path) == 2 else ():
        words += ["--arg", record.constant(name, value, names)]
    stated = {param.name: None if param.name in func.buffer_map else param.dtype for param in func.params}
    for name, array in arrays.items():
        words += ["--arg", _array_word(name, array, stated.get(name))]
    for name, value in kernel._options.items():
        words += ["--set", f"{name}={value}"]
    return words


class Sources:
    """What there is to look at of a compiled function: `_function` with the arguments `_arguments()`."""

    def _emitted(self):
        args, kwargs = self._arguments()
        if self._is_open(args):
            made = self._function.results()
            if not made:
                raise ValueError(f"`{self._function_name}` has sizes that a call gives: call it first, then there is a text")
            return self._function.lower(made[-1], self.target.library)
        return self._function.emit(args, kwargs, self.target.library or ("cuda" if cuda_device() is not None else None))

    def _is_open(self, args):
        """Are there sizes that only a call gives?"""
        return any(isinstance(arg, Sample) and any(isinstance(extent, Expr) for extent in arg.shape) for arg in args)

    def get_kernel_source(self, kernel_only=True):
        """The text that is compiled: CUDA's, or C."""
        made = self._emitted().artifacts()
        for ending in (".cu", ".c", "compute.cpp"):
            for name, text in made.items():
                if name.endswith(ending):
                    return text
        return "\n".join(text for text in made.values() if isinstance(text, str))

    kernel_source = property(get_kernel_source)

    def get_host_source(self):
        """Launches are made by the library: there is no text for them."""
        return f"// `{self._function_name}` is launched by Tilewright's library (tw_kernel_launch)\n"

    host_source = property(get_host_source)

    def get_ir(self):
        """The IR as the language makes it."""
        return next(text for _, _, text in self._emitted().passes() if text)

    def explain(self):
        """What the compiler proved and chose, one line a finding."""
        return self._emitted().explain()

    def sanitize(self, *args, **kwargs):
        """A call on the interpreter, which raises LaunchError for what the kernel does wrong: races, reads of what nobody wrote."""
        return self._function.launch(None, args, kwargs, SANITIZE)

    def show_source(self, which="kernel"):
        print(self.get_kernel_source())

    def export_sources(self, kernel_path=None, host_path=None):
        for path, text in ((kernel_path, self.get_kernel_source), (host_path, self.get_host_source)):
            if path is not None:
                with open(path, "w") as file:
                    file.write(text())


class JITKernel(Sources):
    """A kernel that runs. With out_idx the parameters at these places are made by the call, which returns them."""

    def __init__(self, func, out_idx=None, execution_backend=None, target=None, target_host=None, verbose=None, pass_configs=None, compile_flags=None, compile=True,
                 made_by=None):
        if not isinstance(func, PrimFunc):
            raise TypeError(f"a kernel is made of a function decorated with T.prim_func, not of {func!r}")
        self.prim_func = func
        self.target = Target(target if target is not None else "auto")
        self.execution_backend = execution_backend or "auto"
        self.verbose, self.pass_configs, self.compile_flags = bool(verbose), dict(pass_configs or {}), compile_flags
        names = list(func.signature.parameters)
        self.out_idx = output_places(out_idx, len(names), func.__name__)
        self._function_name = func.__name__
        rows = [(name, None, False, True) for name in names]
        self._options = options_of(self.pass_configs)
        self._function = CompiledFunction(func.__name__, func.fn.__code__.co_filename, func.source, func.line, func.globals, func.closure, rows,
                                          [names[place] for place in self.out_idx], self._options, False, func.annotations, func.attrs)
        self._order = None  # of outputs that out_idx does not name in the order of the parameters
        if len(self.out_idx) > 1 and self.out_idx != sorted(self.out_idx):
            self._order = [sorted(self.out_idx).index(place) for place in self.out_idx]
        self.config = self.latency = self.ref_latency = None
        self.made_by = made_by  # the function that made it and its arguments, where tilelang.jit called it
        self._records = record.wanted()
        if compile:
            self._compile()

    @property
    def params(self):
        return self.prim_func.params

    @property
    def result_idx(self):
        return self.out_idx

    @property
    def artifact(self):
        return self

    adapter = torch_function = property(lambda self: self)

    def _samples(self):
        """Arguments as the annotations state them, without the outputs; None: only a call has their sizes."""
        try:
            params = self.params
        except TypeError:
            return None
        wants_cuda = (self.target.library or "cuda").startswith("cuda")
        device = cuda_device() if wants_cuda else None
        made = []
        for place, param in enumerate(params):
            if place in self.out_idx:
                continue
            if param.name not in self.prim_func.buffer_map:
                made.append(1.5 if "float" in param.dtype else 2)
            elif any(isinstance(extent, Expr) for extent in param.shape):
                return None
            else:
                strides = self.prim_func.buffer_map[param.name].strides
                if strides is not None and any(isinstance(stride, Expr) for stride in strides):
                    return None
                made.append(Sample(param.dtype, param.shape, None if device is None else types.SimpleNamespace(type="cuda", index=device), strides))
        return tuple(made)

    def _arguments(self):
        samples = self._samples()
        return (tuple(Sample(param.dtype, param.shape) for param in self.params) if samples is None else samples), {}

    def _compile(self, purpose=WARMUP):
        """Compiles ahead of the first call, where the shapes are known."""
        samples = self._samples()
        if samples is None:
            return
        library = self.target.library
        if library is not None and library.startswith("cuda") and cuda_device() is None or library == "tenstorrent":
            self._function.emit(samples, {}, library)  # nothing here can run it: the text alone
        else:
            self._function.launch(None, samples, {}, purpose)

    def prepare(self):
        """Compiles into the cache on disk; several threads do so side by side."""
        self._compile(PREPARE)

    def __call__(self, *args, **kwargs):
        made = self._function.launch(None, args, kwargs, LAUNCH)
        if self._records:
            self._record(args, kwargs)
        return made if self._order is None else [made[place] for place in self._order]

    def _record(self, args, kwargs):
        names = [name for place, name in enumerate(self.prim_func.signature.parameters) if place not in self.out_idx]
        record.write(self.prim_func.fn.__code__.co_filename, self.prim_func.__qualname__,
                     lambda: command_words(self, {**dict(zip(names, args)), **kwargs}))

    def get_profiler(self, tensor_supply_type=None):
        from ..profiler import Profiler
        from ..utils.tensor import TensorSupplyType
        return Profiler(self.params, self.out_idx, tensor_supply_type or TensorSupplyType.Auto, self)

    def __repr__(self):
        return f"<tilelang kernel {self._function_name}>"
