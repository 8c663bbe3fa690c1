# SPDX-License-Identifier: Apache-2.0
"""triton.runtime.jit: jit functions.

A JITFunction is a Python function with its source, its parameters and its kernels. Compiling, dispatch and launching are
done by its base, tilewright._native.Function; names in the source are looked up in the function's own globals and closure when
the compiler meets them.
"""
import functools
import inspect

from ... import _native, host
from ...host import EMIT, LAUNCH, PREPARE, SANITIZE, WARMUP, type_canonicalisation_dict
from .. import knobs
from ..compiler import errors
from ..compiler.compiler import texts_of
from . import annotations, cache, hooks, interpreter, keys, reference
from ._async_compile import active_mode
from .errors import OutOfResources, SanitizerError
from .structures import block_constants, part_names, take_apart
from .tensors import MockTensor, TensorWrapper, reinterpret


def _make_error(status, message, found, function, cause, compile):
    """The exception for a status of the library and its diagnostics; `compile` is the one under way (hooks.Compile), or None."""
    if status in ("TW_ERROR_SOURCE", "TW_ERROR_UNSUPPORTED"):
        short = next((row for row in found if row.code == "shared-memory" and row.needed), None)
        if short:
            return OutOfResources(short.needed, short.available, "shared memory")
        error = errors.from_diagnostics(found, message, function, cause)
        if compile is not None and error.report:
            error.report += f"note: it was called with {compile.arguments_text()}\n"
        return error
    if status == "TW_ERROR_LAUNCH" and any(row.file and row.code for row in found):  # at a line of the kernel
        return SanitizerError(message, found)
    return host.plain_error(status, message, found, cause)


host.default_maker = _make_error
_native.configure(block_constants=block_constants)


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
        return host.function_text(fn)
    except OSError as error:
        raise ValueError("@jit functions should be defined in a Python file") from error
    except ValueError as error:
        raise ValueError("@jit is for functions made by `def`") from error


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
        self.parts = {}  # what the arguments are made of -> the function that takes their parts (native_parts.c)
        self.contradiction = None  # said when it is compiled: a module that holds such a kernel can be imported
        rows = []
        for i, param in enumerate(self.signature.parameters.values()):
            plain = i in self.do_not_specialize or param.name in self.do_not_specialize
            unaligned = plain or i in self.do_not_specialize_on_alignment or param.name in self.do_not_specialize_on_alignment
            ours = KernelParam(i, param, plain, unaligned)
            if unaligned and ours.is_constexpr:
                self.contradiction = f"{param.name} marked as constexpr and listed in do_not_specialize/do_not_specialize_on_alignment"
            self.params.append(ours)
            if param.kind is inspect.Parameter.VAR_KEYWORD:
                self.contradiction = (f"a kernel cannot take `**{param.name}`, as in Triton 1: give each constant a parameter, "
                                      f"`NAME: tl.constexpr`, and write `NAME` for `{param.name}[\"NAME\"]`")
            elif param.kind is inspect.Parameter.VAR_POSITIONAL:
                self._rest = i
                rows.append((param.name, (), True, plain))
            else:
                rows.append((param.name, param.default, ours.has_default, plain))
        self.arg_names = [param.name for param in self.params]
        self.constexprs = [param.num for param in self.params if param.is_constexpr]
        text, self.starting_line_number = _source_of(fn)
        text = annotations.restate(text, fn)
        self.file = fn.__code__.co_filename
        self._constant_names = {self.arg_names[i] for i in self.constexprs}
        _native.Function.__init__(self, fn.__name__, self.file, text, self.starting_line_number, fn.__globals__, host.cells(fn), rows)
        self._rows = rows
        self._interpreted = bool(knobs.runtime.interpret)
        self.hooked = self._rest is not None or self._interpreted or self.contradiction is not None
        self._repr = repr
        self.device_caches = _DeviceCaches(self)
        self.__doc__ = fn.__doc__
        self.__name__ = fn.__name__
        self.__qualname__ = fn.__qualname__
        self.__module__ = fn.__module__
        self.__globals__ = fn.__globals__

    src = property(lambda self: self.source)
    _raw_src = None

    @property
    def raw_src(self):
        """The lines that readers of the program know; who makes a function from a text of its own may say which. Nothing is compiled from them."""
        return self._raw_src or self.source.splitlines(keepends=True)

    @raw_src.setter
    def raw_src(self, lines):
        self._raw_src = lines

    def _unsafe_update_src(self, new_src):
        """Another text for the same function; what was compiled from the old one is dropped."""
        self.parts.clear()
        self.source = new_src

    @property
    def cache_key(self):
        return keys.cache_key(self)

    def repr(self, specialization=None):
        return self._repr(specialization) if self._repr else self.__qualname__

    def launch_structured(self, grid, bound, options, purpose):
        """A launch with tuples or descriptors among its arguments. The function that is launched takes their parts."""
        structures, values = [], []
        for name, value in bound.items():
            if name in self._constant_names:
                values.append(value)
                continue
            text = take_apart(value, name, values)
            if text != ".":
                structures.append((name, text))
        function = self.parts.get(self._parts_key(structures)) or self._parts_function(structures, self._part_rows(bound))
        return function.launch(grid, tuple(values), options, purpose)

    def _part_rows(self, bound):
        return [(part, None, False, plain) for (name, _, _, plain), value in zip(self._rows, bound.values())
                for part in ([name] if name in self._constant_names else part_names(value, name))]

    def _parts_key(self, structures):
        texts = dict(structures)
        return "".join([texts.get(name, ".") for name in self.arg_names])

    def _parts_function(self, structures, rows):
        key = self._parts_key(structures)
        if key not in self.parts:
            self.parts[key] = _PartsFunction(self, structures, rows)
        return self.parts[key]

    def preload(self, specialization_data):
        """Compiles the kernel that a compile hook was told of, without a launch."""
        return hooks.preload(self, specialization_data, lambda structures, names: self._parts_function(
            structures, [(name, None, False, False) for name in names]), MockTensor.of_type)

    def launch(self, grid, args, kwargs, purpose):
        if self._rest is not None and len(args) > self._rest:
            args = (*args[:self._rest], args[self._rest:])
        return super().launch(grid, args, kwargs, purpose)

    def results(self):
        """All kernels that were compiled, the last one last."""
        found = [kernel for function in self.parts.values() for kernel in function.results()] + super().results()
        return sorted(found, key=lambda kernel: kernel.number)

    def forget(self):
        self.parts.clear()
        super().forget()

    def run(self, *args, grid, warmup=False, **kwargs):
        if self.hooked or knobs.runtime.hooked():
            return self.run_hooked(grid, args, kwargs, warmup)
        return self.launch(grid, args, kwargs, WARMUP if warmup else LAUNCH)

    def run_hooked(self, grid, args, kwargs, warmup=False):
        """A launch that hooks see, or that is interpreted."""
        hooks.check(self)
        kwargs = kwargs or {}
        for hook in self.pre_run_hooks:
            hook(*args, **kwargs)
        if self._interpreted and not warmup:
            return interpreter.run(lambda *call: self.launch(*call, SANITIZE), grid, args, kwargs)
        if warmup or not knobs.runtime.hooked():
            return self.launch(grid, args, kwargs, WARMUP if warmup else LAUNCH)
        kernel = self.launch(grid, args, kwargs, WARMUP)
        metadata = LaunchMetadata(self, kernel, grid, args, kwargs)
        knobs.runtime.launch_enter_hook(metadata)
        kernel = self.launch(grid, args, kwargs, LAUNCH)
        knobs.runtime.launch_exit_hook(metadata)
        return kernel

    def warmup(self, *args, grid, **kwargs):
        args = tuple(MockTensor.wrap_dtype(arg) for arg in args)
        kwargs = {name: MockTensor.wrap_dtype(arg) for name, arg in kwargs.items()}
        mode = active_mode.get()
        if mode is None:
            return self.run(*args, grid=grid, warmup=True, **kwargs)
        return mode.submit((self, args, kwargs), lambda: self.prepare(*args, grid=grid, **kwargs),
                           lambda: self.run(*args, grid=grid, warmup=True, **kwargs))

    def prepare(self, *args, grid=(1, ), **kwargs):
        """Compiles for these arguments into the cache on disk, in a context of the calling thread's own: several threads do so side
        by side. The launch that follows finds it."""
        cache.follow()
        self.launch(grid, args, kwargs, PREPARE)

    @property
    def sanitize(self):
        """kernel.sanitize[grid](..): a launch on the host that raises SanitizerError for what the kernel does wrong."""
        return _Sanitized(self)

    def _emitted(self, target, args, kwargs):
        """The kernel for these arguments (or what was compiled last), emitted for a target; it need not run here."""
        if args or kwargs:
            kwargs = {name: MockTensor.wrap_dtype(arg) for name, arg in kwargs.items()}
            return self.launch((target, ), tuple(map(MockTensor.wrap_dtype, args)), kwargs, EMIT)
        known = self.results()
        if not known:
            raise ValueError(f"`{self.__name__}` was not compiled yet: launch it, or pass the arguments of a launch")
        return self.lower(known[-1], target)

    def emit(self, target, *args, **kwargs):
        """The texts that are emitted for a target ("cpu", "cuda", "cuda:sm_80", "tenstorrent"), by name; for the arguments of a launch,
        or, without them, for the kernel that was compiled last."""
        return texts_of(self._emitted(target, args, kwargs))

    def explain(self, *args, **kwargs):
        """What the compiler proved and chose, one line a finding; for the arguments of a launch, or the kernel that was compiled last."""
        return self._emitted(None, args, kwargs).explain()

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

    def get_capture_scope(self):
        """The names that the kernel sees: its globals, and what its closure holds."""
        return {**self.fn.__globals__, **annotations.closure_values(self.fn)}

    @property
    def used_global_vals(self):
        """{(name, id of its scope): (value, scope)} of the globals that compiled kernels rely on."""
        return {(name, id(scope)): (value, scope) for scope, name, value in self.names()
                if isinstance(scope, dict) and not isinstance(value, JITCallable)}

    def __reduce__(self):
        return reference.reduce(self)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self is other


class _Sanitized:

    def __init__(self, function):
        self._function = function

    def __getitem__(self, grid):
        return lambda *args, **kwargs: interpreter.run(lambda *call: self._function.launch(*call, SANITIZE), grid, args, kwargs)


class _PartsFunction(JITFunction):
    """A jit function whose arguments come in parts: tuples as their items, descriptors as pointer, shape, strides and block."""

    def __init__(self, origin, structures, rows):
        self.__dict__.update(origin.__dict__)
        self.origin, self.structures, self._rows = origin, structures, rows
        self.parts, self._rest, self.debug = {}, None, origin.debug
        self.arg_names = [row[0] for row in rows]
        _native.Function.__init__(self, origin.__name__, origin.file, origin.source, origin.starting_line_number, origin.fn.__globals__,
                                  host.cells(origin.fn), rows, structures)


def _unwrap(value):
    from ..language.core import _unwrap_if_constexpr
    return _unwrap_if_constexpr(value)


class LaunchMetadata:
    """What launch hooks are given. What the program says of a launch is asked for when a hook wants it."""

    def __init__(self, function, kernel, grid, args, kwargs):
        self.kernel_name = kernel.name
        self._told = None
        self._ask = function, kernel, grid, args, kwargs

    def get(self):
        if self._told is None:
            self._told = self._tell(*self._ask)
        return self._told

    def _tell(self, function, kernel, grid, args, kwargs):
        from .driver import driver
        told = {"name": kernel.name, "function": kernel.function, "stream": driver.active.get_current_stream()}
        if function.launch_metadata:
            defaults = {param.name: param.default for param in function.params if param.has_default}
            bound = {**defaults, **dict(zip(function.arg_names, args)), **{name: kwargs[name] for name in function.arg_names if name in kwargs}}
            told.update(function.launch_metadata(grid(bound) if callable(grid) else grid, kernel.metadata, bound))
        return told


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
        self._text = None
        functools.update_wrapper(self, fn)

    @property
    def src(self):
        if self._text is None:
            self._text, self.starting_line_number = _source_of(self.fn)
        return self._text

    @property
    def cache_key(self):

        def refuse(name, value):
            raise RuntimeError(f"the constexpr function `{self.__name__}` reads `{name}`, which is neither a constant nor a function that "
                               "kernels know: what it answers has no key")

        return keys.cache_key(self, refuse)

    def _unsafe_update_src(self, new_src):
        """Another text for the same function."""
        made = {}
        exec(compile(new_src, self.fn.__code__.co_filename, "exec"), self.fn.__globals__, made)
        self.fn, self._text = made[self.fn.__name__], new_src

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
    cls.__triton_aggregate__ = tuple(cls.__dict__.get("__annotations__") or getattr(inspect, "get_annotations", lambda cls: {})(cls))

    def refuse(self, *args, **kwargs):
        raise RuntimeError(f"the aggregate {cls.__name__} can be made inside of kernels only")

    cls.__init__ = refuse
    return cls


def aggregate_replace(value, **fields):
    """Inside a kernel: the aggregate with other fields."""
    raise RuntimeError("aggregate_replace is for kernels")


__all__ = ["ConstexprFunction", "JITCallable", "JITFunction", "KernelInterface", "KernelParam", "MockTensor", "OutOfResources",
           "TensorWrapper", "aggregate", "aggregate_replace", "constexpr_function", "jit", "reinterpret", "type_canonicalisation_dict"]
