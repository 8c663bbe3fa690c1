"""triton.runtime.jit: jit functions.

A JITFunction is a Python function with its source, its parameters and its kernels. Compiling, dispatch and launching are
done by its base, tilewright._native.Function; names in the source are looked up in the function's own globals and closure when
the compiler meets them.
"""
import functools
import hashlib
import inspect
import re
import textwrap

from ... import _native
from .. import knobs
from ..compiler import errors
from . import hooks
from .errors import OutOfResources

type_canonicalisation_dict = {
    "bool": "i1", "int1": "i1", "uint1": "u1", "i1": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "float8e4nv": "fp8e4nv", "float8e5": "fp8e5",
    "float8e4b15": "fp8e4b15", "float8e4b8": "fp8e4b8", "float8e5b16": "fp8e5b16", "float8_e4m3fn": "fp8e4nv",
    "float8_e4m3fnuz": "fp8e4b8", "float8_e5m2": "fp8e5", "float8_e5m2fnuz": "fp8e5b16", "half": "fp16", "float16": "fp16",
    "bfloat16": "bf16", "float": "fp32", "float32": "fp32", "double": "fp64", "float64": "fp64", "void": "void",
}
type_canonicalisation_dict.update({name: name for name in list(type_canonicalisation_dict.values())})

# What the library calls them, where it is not the name above.
_LIBRARY_NAMES = {"fp16": "f16", "fp32": "f32", "fp64": "f64", "fp8e4nv": "f8e4m3", "fp8e5": "f8e5m2", "fp8e4b8": "f8e4b8",
                  "fp8e5b16": "f8e5b16", "fp8e4b15": "f8e4b15"}
_BUFFER_FORMATS = {"?": "i1", "b": "i8", "h": "i16", "i": "i32", "q": "i64", "l": "i64", "B": "u8", "H": "u16", "I": "u32", "Q": "u64",
                   "L": "u64", "e": "f16", "f": "f32", "d": "f64"}


_ARRAY_KINDS = {"b": "i", "i": "i", "u": "u", "f": "f"}


def _dtype_name(dtype):
    """The library's name of a dtype object of torch, numpy, ml_dtypes or triton.language, of a buffer's format, or of an array
    interface's type ("<f4")."""
    name = str(dtype)
    format = name[1:] if name[:1] in ("<", "=", "@") else name  # ctypes states the order of bytes
    if format in _BUFFER_FORMATS:
        return _BUFFER_FORMATS[format]
    if name[:1] in "<|=" and name[1:2] in _ARRAY_KINDS and name[2:].isdigit():
        return "i1" if name[1] == "b" else f"{_ARRAY_KINDS[name[1]]}{8 * int(name[2:])}"
    name = name.rsplit(".", 1)[-1]
    name = type_canonicalisation_dict.get(name, name)
    return _LIBRARY_NAMES.get(name, name)


def _make_error(status, message, function, cause, compile):
    """The exception for a status of the library; `compile` is the one under way (hooks.Compile), or None."""
    shared = re.search(r"(\d+) bytes of shared memory\D.*?\bhas (\d+)", message)
    if status in ("TW_ERROR_SOURCE", "TW_ERROR_UNSUPPORTED") and shared:
        return OutOfResources(int(shared.group(1)), int(shared.group(2)), "shared memory")
    if status in ("TW_ERROR_SOURCE", "TW_ERROR_UNSUPPORTED"):
        error = errors.from_report(message, function)
        if compile is not None and error.report:
            error.report += f"note: it was called with {compile.arguments_text()}\n"
        error.__cause__ = cause if cause is not None else ValueError(error.error_message)
        return error
    if status == "TW_ERROR_ARGUMENT":
        return OverflowError(message) if "does not fit" in message else TypeError(message)
    kinds = {"TW_ERROR_MEMORY": MemoryError, "TW_ERROR_NOT_FOUND": ValueError, "TW_ERROR_IO": OSError}
    error = kinds.get(status, RuntimeError)(message)
    error.__cause__ = cause
    return error


_native.configure(make_error=_make_error, dtype_name=_dtype_name)


class KernelInterface:
    """What can be launched as kernel[grid](..): a subclass has run(*args, grid, warmup, **kwargs)."""

    def warmup(self, *args, grid, **kwargs):
        return self.run(*map(MockTensor.wrap_dtype, args), grid=grid, warmup=True, **kwargs)

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)


class KernelParam:
    """A parameter of a kernel."""

    def __init__(self, num, param, do_not_specialize, do_not_specialize_on_alignment):
        self.num = num
        self._param = param
        self.do_not_specialize = do_not_specialize
        self.do_not_specialize_on_alignment = do_not_specialize_on_alignment

    @property
    def name(self):
        return self._param.name

    @property
    def annotation(self):
        note = self._param.annotation
        if note is inspect.Parameter.empty:
            return ""
        return note if isinstance(note, str) else getattr(note, "__name__", None) or str(note)

    @property
    def annotation_type(self):
        name = self.annotation.rsplit(".", 1)[-1].lstrip("*").removeprefix("k")
        return type_canonicalisation_dict.get(name, "")

    @property
    def is_constexpr(self):
        return "constexpr" in self.annotation

    @property
    def is_const(self):
        return "const" in self.annotation and not self.is_constexpr

    @property
    def default(self):
        return self._param.default

    @property
    def has_default(self):
        return self._param.default is not inspect.Parameter.empty


def _source_of(fn):
    """The text of a function from its `def` on, dedented, and the number of that line."""
    try:
        lines, first = inspect.getsourcelines(fn)
    except OSError as error:
        raise ValueError("@jit functions should be defined in a Python file") from error
    text = textwrap.dedent("".join(lines))
    start = re.search(r"^(async\s+)?def\s+\w+\s*[(\[]", text, re.MULTILINE)
    if not start:
        raise ValueError("@jit is for functions made by `def`")
    return text[start.start():], first + text.count("\n", 0, start.start())


def _cells(fn):
    """The closure of a function by name, or None."""
    return dict(zip(fn.__code__.co_freevars, fn.__closure__ or ())) or None


class _KernelCache:
    """The compiled kernels of a function, as a dictionary would show them."""

    def __init__(self, function):
        self._function = function

    def __len__(self):
        return len(self._function.results())

    def values(self):
        return self._function.results()

    def keys(self):
        return [kernel.hash for kernel in self.values()]

    def items(self):
        return [(kernel.hash, kernel) for kernel in self.values()]

    def __iter__(self):
        return iter(self.keys())

    def clear(self):
        self._function.forget()


class _DeviceCaches:
    """device_caches[device]: all kernels, whatever the device."""

    def __init__(self, function):
        cache = _KernelCache(function)
        self._row = (cache, cache, None, None, None)

    def __getitem__(self, device):
        return self._row

    def __contains__(self, device):
        return True

    def clear(self):
        self._row[0].clear()


class JITCallable:
    """What a kernel may call by its source."""


class JITFunction(JITCallable, _native.Function):
    """A function that is compiled. kernel[grid](*args, **options) launches it."""

    def __init__(self, fn, version=None, do_not_specialize=None, do_not_specialize_on_alignment=None, debug=None, noinline=None,
                 repr=None, launch_metadata=None):
        self.fn = fn
        self.signature = inspect.signature(fn)
        self.do_not_specialize = list(do_not_specialize or [])
        self.do_not_specialize_on_alignment = list(do_not_specialize_on_alignment or [])
        self.version = version
        self.debug = debug
        self.noinline = bool(noinline)
        self.launch_metadata = launch_metadata
        self.pre_run_hooks = []
        self.params = []
        self._rest = None  # the number of the parameter that takes all further arguments
        self._parts = {}
        rows = []
        for i, param in enumerate(self.signature.parameters.values()):
            plain = i in self.do_not_specialize or param.name in self.do_not_specialize
            unaligned = plain or i in self.do_not_specialize_on_alignment or param.name in self.do_not_specialize_on_alignment
            ours = KernelParam(i, param, plain, unaligned)
            if plain and ours.is_constexpr:
                raise ValueError(f"the parameter {param.name} is a tl.constexpr and cannot be in do_not_specialize")
            self.params.append(ours)
            if param.kind is inspect.Parameter.VAR_POSITIONAL:
                self._rest = i
                rows.append((param.name, (), True, plain))
            else:
                rows.append((param.name, param.default, ours.has_default, plain))
        self.arg_names = [param.name for param in self.params]
        self.constexprs = [param.num for param in self.params if param.is_constexpr]
        text, self.starting_line_number = _source_of(fn)
        self.file = fn.__code__.co_filename
        self._constant_names = {self.arg_names[i] for i in self.constexprs}
        _native.Function.__init__(self, fn.__name__, self.file, text, self.starting_line_number, fn.__globals__, _cells(fn), rows)
        self._rows = rows
        self.hooked = self._rest is not None
        self._repr = repr
        self.device_caches = _DeviceCaches(self)
        self.__doc__ = fn.__doc__
        self.__name__ = fn.__name__
        self.__qualname__ = fn.__qualname__
        self.__module__ = fn.__module__
        self.__globals__ = fn.__globals__

    src = property(lambda self: self.source)
    raw_src = property(lambda self: self.source.splitlines(keepends=True))

    def _unsafe_update_src(self, new_src):
        """Another text for the same function; what was compiled from the old one is dropped."""
        self._parts.clear()
        self.source = new_src

    @property
    def cache_key(self):
        return hashlib.sha256(f"{self.source}{self.starting_line_number}".encode()).hexdigest()

    def repr(self, specialization=None):
        return self._repr(specialization) if self._repr else self.__qualname__

    def launch_structured(self, grid, bound, options, warmup):
        """A launch with tuples or descriptors among its arguments. The function that is launched takes their parts."""
        structures, rows, values = [], [], []
        for (name, _, _, plain), value in zip(self._rows, bound.values()):
            parts = []
            text = "." if name in self._constant_names else _take_apart(value, name, parts)
            if text == ".":
                parts = [(name, value)]
            else:
                structures.append((name, text))
            rows += [(part, None, False, plain) for part, _ in parts]
            values += [value for _, value in parts]
        if callable(grid):
            grid = grid({name: _unwrap(value) for name, value in bound.items()})
        return self._parts_function(structures, rows).launch(grid, tuple(values), options, warmup)

    def _parts_function(self, structures, rows):
        key = tuple(structures)
        if key not in self._parts:
            self._parts[key] = _PartsFunction(self, structures, rows)
        return self._parts[key]

    def preload(self, specialization_data):
        """Compiles the kernel that a compile hook was told of, without a launch."""
        return hooks.preload(self, specialization_data, lambda structures, names: self._parts_function(
            structures, [(name, None, False, False) for name in names]), MockTensor.of_type)

    def launch(self, grid, args, kwargs, warmup):
        if self._rest is not None and len(args) > self._rest:
            args = (*args[:self._rest], args[self._rest:])
        return super().launch(grid, args, kwargs, warmup)

    def results(self):
        return [kernel for function in self._parts.values() for kernel in function.results()] + super().results()

    def forget(self):
        self._parts.clear()
        super().forget()

    def run(self, *args, grid, warmup=False, **kwargs):
        if self.hooked or knobs.runtime.hooked():
            return self.run_hooked(grid, args, kwargs, warmup)
        return self.launch(grid, args, kwargs, warmup)

    def run_hooked(self, grid, args, kwargs, warmup=False):
        """A launch that hooks see."""
        kwargs = kwargs or {}
        for hook in self.pre_run_hooks:
            hook(*args, **kwargs)
        if warmup or not knobs.runtime.hooked():
            return self.launch(grid, args, kwargs, warmup)
        kernel = self.launch(grid, args, kwargs, True)
        metadata = LaunchMetadata(self, kernel, grid, args)
        knobs.runtime.launch_enter_hook(metadata)
        kernel = self.launch(grid, args, kwargs, False)
        knobs.runtime.launch_exit_hook(metadata)
        return kernel

    def warmup(self, *args, grid, **kwargs):
        args = tuple(MockTensor.wrap_dtype(arg) for arg in args)
        kwargs = {name: MockTensor.wrap_dtype(arg) for name, arg in kwargs.items()}
        return self.run(*args, grid=grid, warmup=True, **kwargs)

    def add_pre_run_hook(self, hook):
        assert callable(hook)
        self.pre_run_hooks.append(hook)
        self.hooked = True

    def is_gluon(self):
        return False

    def __call__(self, *args, **kwargs):
        name = self.__name__
        raise RuntimeError(f"Cannot call @triton.jit'd outside of the scope of a kernel; launch it on a grid: {name}[(programs,)](..)")

    def __repr__(self):
        return f"JITFunction({self.__module__}:{self.__qualname__})"

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self.__call__, instance)

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self is other


class _PartsFunction(JITFunction):
    """A jit function whose arguments come in parts: tuples as their items, descriptors as pointer, shape, strides and block."""

    def __init__(self, origin, structures, rows):
        self.__dict__.update(origin.__dict__)
        self.origin, self.structures, self._rows = origin, structures, rows
        self._parts, self._rest, self.debug = {}, None, origin.debug
        self.arg_names = [row[0] for row in rows]
        _native.Function.__init__(self, origin.__name__, origin.file, origin.source, origin.starting_line_number, origin.fn.__globals__,
                                  _cells(origin.fn), rows, structures)


def _unwrap(value):
    from ..language.core import _unwrap_if_constexpr
    return _unwrap_if_constexpr(value)


def _elements_from(base):
    """How many elements lie from the first one of an array on, in the memory it is of; None: it does not say."""
    if hasattr(base, "untyped_storage"):
        return base.untyped_storage().nbytes() // base.element_size() - base.storage_offset()
    whole = getattr(base, "base", base) is None  # numpy: a view may have more behind it
    return getattr(base, "size", None) if whole and isinstance(getattr(base, "size", None), int) else None


def _check_descriptor(value, name):
    """What a descriptor says of its array must be there: the kernel relies on it."""
    rank, there = len(value.shape), _elements_from(value.base)
    if len(value.strides) != rank or len(value.block_shape) != rank:
        raise ValueError(f"argument `{name}`: shape, strides and block_shape of a descriptor have one rank, "
                         f"not {rank}, {len(value.strides)} and {len(value.block_shape)}")
    if any(int(extent) < 0 for extent in value.shape):
        raise ValueError(f"argument `{name}`: the descriptor has the shape {tuple(value.shape)}; extents are not negative")
    if there is None or not all(value.shape):
        return
    steps = [(int(extent) - 1) * int(stride) for extent, stride in zip(value.shape, value.strides)]
    last, first = sum(step for step in steps if step > 0), sum(step for step in steps if step < 0)
    if last >= there or first < 0:
        raise ValueError(f"argument `{name}`: the descriptor has the shape {tuple(value.shape)} and the strides {tuple(value.strides)}, "
                         f"elements {first} to {last} of an array of {there}")


def _take_apart(value, name, parts):
    """What an argument is made of, as the compiler reads it; its parts go to the list as (name, value)."""
    if isinstance(value, (tuple, list)):
        fields = getattr(value, "_fields", None)
        texts = []
        for i, item in enumerate(value):
            key = fields[i] if fields else i
            text = _take_apart(item, f"{name}.{key}", parts)
            texts.append(f"{key}:{text}" if fields else text)
        return f"({','.join(texts)})"
    if hasattr(value, "block_shape") and hasattr(value, "base"):
        from ..language.core import constexpr
        _check_descriptor(value, name)
        parts.append((f"{name}.base", value.base))
        for what, numbers in (("shape", value.shape), ("strides", value.strides)):
            parts += [(f"{name}.{what}.{i}", int(number)) for i, number in enumerate(numbers)]
        parts += [(f"{name}.block.{i}", constexpr(int(number))) for i, number in enumerate(value.block_shape)]
        return f"<{len(value.shape)}{' nan' if value.padding == 'nan' else ''}>"
    parts.append((name, value))
    return "."


class LaunchMetadata:
    """What launch hooks are given."""

    def __init__(self, function, kernel, grid, args):
        from .driver import driver
        self._data = {"name": kernel.name, "function": kernel.function, "stream": driver.active.get_current_stream()}
        if function.launch_metadata:
            bound = dict(zip(function.arg_names, args))
            self._data.update(function.launch_metadata(grid, kernel.metadata, bound))

    def get(self):
        return self._data


def jit(fn=None, *, version=None, repr=None, launch_metadata=None, do_not_specialize=None, do_not_specialize_on_alignment=None,
        debug=None, noinline=None):
    """Marks a function as a kernel, or as one that kernels call."""

    def decorate(function):
        assert callable(function)
        return JITFunction(function, version=version, do_not_specialize=do_not_specialize,
                           do_not_specialize_on_alignment=do_not_specialize_on_alignment, debug=debug, noinline=noinline,
                           repr=repr, launch_metadata=launch_metadata)

    return decorate if fn is None else decorate(fn)


class ConstexprFunction(JITCallable):
    """A plain Python function that kernels may call on constants."""

    def __init__(self, fn):
        self.fn = fn
        functools.update_wrapper(self, fn)

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self.__call__, instance)

    def __call__(self, *args, _semantic=None, **kwargs):
        from ..language.core import _unwrap_if_constexpr
        result = self.fn(*map(_unwrap_if_constexpr, args), **{name: _unwrap_if_constexpr(x) for name, x in kwargs.items()})
        return _unwrap_if_constexpr(result)


def constexpr_function(fn):
    """Marks a Python function as one that kernels call on constants, at compile time."""
    return ConstexprFunction(fn)


def aggregate(cls):
    """A class whose annotated fields are values of a kernel. Kernels make instances and call methods that are jit functions."""
    init = cls.__init__
    init = getattr(init, "fn", init)
    if init is object.__init__:
        raise TypeError(f"the aggregate {cls.__name__} has no __init__, which must set all its fields")
    cls.__triton_init__ = JITFunction(init)
    cls.__triton_aggregate__ = tuple(inspect.get_annotations(cls))

    def refuse(self, *args, **kwargs):
        raise RuntimeError(f"the aggregate {cls.__name__} can be made inside of kernels only")

    cls.__init__ = refuse
    return cls


def aggregate_replace(value, **fields):
    """Inside a kernel: the aggregate with other fields."""
    raise RuntimeError("aggregate_replace is for kernels")


class MockTensor:
    """Stands for a tensor of a dtype where only the type matters: kernel.warmup(torch.float32, ..)."""

    @staticmethod
    def wrap_dtype(arg):
        kind = type(arg)
        return MockTensor(arg) if kind.__name__ == "dtype" and kind.__module__ == "torch" else arg

    @staticmethod
    def of_type(kind):
        """What stands for an argument of a type of a signature: "*fp32", "i32"."""
        samples = {"fp": 0.5, "bf": 0.5, "i1": True, "i64": 1 << 40, "u64": 1 << 63}
        return MockTensor(kind[1:].removeprefix("k")) if kind.startswith("*") else samples.get(kind, samples.get(kind[:2], 2))

    def __init__(self, dtype, shape=None):
        self.dtype = dtype
        self.shape = [1] if shape is None else shape

    def stride(self):
        strides = [1]
        for extent in reversed(self.shape[1:]):
            strides.append(strides[-1] * extent)
        return tuple(reversed(strides))

    @staticmethod
    def data_ptr():
        return 0

    @staticmethod
    def ptr_range():
        return 0


class TensorWrapper:
    """A tensor whose elements a kernel takes for another dtype."""

    def __init__(self, base, dtype):
        self.dtype = dtype
        self.base = base
        self.data = base.data
        self.device = base.device
        self.shape = base.shape

    @property
    def is_cpu(self):
        return self.base.is_cpu

    @property
    def is_cuda(self):
        return self.base.is_cuda

    def data_ptr(self):
        return self.base.data_ptr()

    def untyped_storage(self):
        return self.base.untyped_storage()

    def stride(self, *args):
        return self.base.stride(*args)

    def element_size(self):
        return self.base.element_size()

    def numel(self):
        return self.base.numel()

    def cpu(self):
        return TensorWrapper(self.base.cpu(), self.dtype)

    def copy_(self, other):
        self.base.copy_(other.base)

    def clone(self):
        return TensorWrapper(self.base.clone(), self.dtype)

    def to(self, device):
        return TensorWrapper(self.base.to(device), self.dtype)

    def new_empty(self, sizes):
        return TensorWrapper(self.base.new_empty(sizes), self.dtype)

    def __str__(self):
        return f"TensorWrapper[{self.dtype}]({self.base})"


def reinterpret(tensor, dtype):
    """The tensor with its elements taken for another dtype; no copy."""
    if isinstance(tensor, TensorWrapper):
        return tensor.base if dtype == tensor.base.dtype else TensorWrapper(tensor.base, dtype)
    if hasattr(tensor, "data_ptr"):
        return TensorWrapper(tensor, dtype)
    raise TypeError(f"Cannot reinterpret a {type(tensor)}.")


__all__ = ["ConstexprFunction", "JITCallable", "JITFunction", "KernelInterface", "KernelParam", "MockTensor", "OutOfResources",
           "TensorWrapper", "aggregate", "aggregate_replace", "constexpr_function", "jit", "reinterpret", "type_canonicalisation_dict"]
