# SPDX-License-Identifier: Apache-2.0
"""tilelang.jit: kernels from functions: jit (lazy and eager), compile, par_compile.

    @tilelang.jit(out_idx=[-1])
    def matmul(M, N, K):                    lazy: Python runs it; it returns a kernel as it is written (T.prim_func)
        @T.prim_func
        def main(A: T.Tensor((M, K), T.float16), ..): ..
        return main
    kernel = matmul(1024, 1024, 1024)       a JITKernel

    @tilelang.jit
    def add(A, B, block: int = 128):        eager: the function is the kernel; sizes and outputs are stated in its body
        N = T.const("N")
        A: T.Tensor((N, ), T.float32)
        ..
    c = add(a, b)                           compiled for what the arguments are, and run
"""
import ast
import concurrent.futures
import inspect
import os
import types

from ... import host, record
from ...host import LAUNCH, PREPARE, WARMUP
from ..language.dtypes import follow_torch
from ..language.functions import KernelParam, PrimFunc, text_of
from . import kernel as _kernel
from .kernel import CompiledFunction, JITKernel, Sources, options_of
from .target import Target, cuda_device

__all__ = ["JITImpl", "JITKernel", "compile", "jit", "par_compile"]


def compile(func=None, out_idx=None, execution_backend=None, target=None, target_host=None, verbose=None, pass_configs=None, compile_flags=None):
    """A kernel that runs, of one as it is written."""
    return JITKernel(func, out_idx, execution_backend, target, target_host, verbose, pass_configs, compile_flags)


def _workers(wanted, count):
    told = os.environ.get("TILEWRIGHT_COMPILE_THREADS", "")
    return max(1, min(count, wanted or (int(told) if told.isdigit() else os.cpu_count() or 1)))


def compile_many(makers, num_workers=None, ignore_error=False):
    """Kernels of functions that make them uncompiled, compiled side by side; None where ignore_error lets one fail."""

    def prepare(maker):
        made = maker()
        made.prepare()
        return made

    results = []
    with concurrent.futures.ThreadPoolExecutor(_workers(num_workers, len(makers))) as pool:
        for future in [pool.submit(prepare, maker) for maker in makers]:
            try:
                made = future.result()
                made._compile()
                results.append(made)
            except Exception:
                if not ignore_error:
                    raise
                results.append(None)
    return results


def par_compile(funcs, out_idx=None, execution_backend=None, target=None, target_host=None, verbose=None, pass_configs=None, compile_flags=None, num_workers=None,
                ignore_error=False):
    """Several kernels, compiled side by side."""
    return compile_many([
        lambda func=func: JITKernel(func, out_idx, execution_backend, target, target_host, verbose, pass_configs, compile_flags, compile=False) for func in list(funcs)
    ], num_workers, ignore_error)


def _own_nodes(body):
    """The nodes of a function's body, those of functions inside of it apart."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)


def _called(node, name):
    return isinstance(node, ast.Call) and (getattr(node.func, "attr", None) or getattr(node.func, "id", None)) == name


def _is_eager(definition):
    """Is the function the kernel itself? It launches, or states its tensors, in its own body."""
    for node in _own_nodes(definition.body):
        if isinstance(node, ast.With) and any(_called(item.context_expr, "Kernel") for item in node.items):
            return True
        if isinstance(node, ast.AnnAssign) and node.value is None and "Tensor" in ast.dump(node.annotation):
            return True
    return False


def _returned(definition):
    """Names that the function returns at its end, or None."""
    last = [node for node in _own_nodes(definition.body) if isinstance(node, ast.Return) and node.value is not None]
    values = [] if not last else last[-1].value.elts if isinstance(last[-1].value, ast.Tuple) else [last[-1].value]
    return [value.id for value in values] if all(isinstance(value, ast.Name) for value in values) else None


def _key(value):
    """What tells arguments of a factory apart."""
    if isinstance(value, (list, tuple)):
        return type(value), tuple(map(_key, value))
    if isinstance(value, dict):
        return dict, tuple((name, _key(each)) for name, each in value.items())
    return type(value), value


class JITImpl(Sources):
    """What tilelang.jit makes."""

    def __init__(self, func, out_idx=None, execution_backend=None, target=None, target_host=None, verbose=None, pass_configs=None, debug_root_path=None,
                 compile_flags=None):
        self.func = self.orig_func = func
        self.out_idx, self.execution_backend, self.target_host = out_idx, execution_backend, target_host
        self.verbose, self.pass_configs, self.compile_flags, self.debug_root_path = verbose, pass_configs, compile_flags, debug_root_path
        self.target = Target(target if target is not None else "auto")
        self._kernels = {}
        self._function = None
        self._last = ((), {})
        self.__name__ = self._function_name = getattr(func, "__name__", "kernel")
        self.__doc__, self.__module__ = func.__doc__, func.__module__
        self.__qualname__ = getattr(func, "__qualname__", self.__name__)
        self.__wrapped__ = func if isinstance(func, types.FunctionType) else None
        self.mode, self._definition = "lazy", None
        if isinstance(func, PrimFunc):
            self.signature, self.func_source = func.signature, func.source
            return
        self.signature = inspect.signature(func)
        self.func_source, self._line = text_of(func, "tilelang.jit")
        self._definition = ast.parse(self.func_source).body[0]
        self.mode = "eager" if _is_eager(self._definition) else "lazy"
        if self.mode == "eager":
            if out_idx is not None:
                raise ValueError(f"tilelang.jit(out_idx=..): `{func.__name__}` is a kernel itself; state its outputs with T.empty(..) and return them")
            self._open_eager()

    # --- eager ---

    def _open_eager(self):
        follow_torch()
        rows = [(name, None if param.default is param.empty else param.default, param.default is not param.empty, True)
                for name, param in self.signature.parameters.items()]
        self._function = CompiledFunction(self.__name__, self.func.__code__.co_filename, self.func_source, self._line, self.func.__globals__, host.cells(self.func),
                                          rows, [], options_of(self.pass_configs), True)
        self._order = self._outputs = None
        self._records = record.wanted()
        self._dynamic = any(_called(node, "dynamic") or _called(node, "symbolic") for node in _own_nodes(self._definition.body))

    def _sort_outputs(self):
        """Outputs come in the order of the parameters; they are wanted in the order of `return`."""
        self._outputs = [name for name, _, output in self._function.parameters() if output]
        wanted = _returned(self._definition)
        if wanted is not None and sorted(wanted) == sorted(self._outputs) and wanted != self._outputs:
            self._order = [self._outputs.index(name) for name in wanted]

    def _run(self, args, kwargs):
        made = self._function.launch(None, args, kwargs, LAUNCH)
        if self._records:
            record.write(self.func.__code__.co_filename, self.__qualname__, lambda: self._command_words(args, kwargs))
        if self._outputs is None:
            self._last = args, kwargs
            self._sort_outputs()
        if isinstance(made, list):
            return tuple(made) if self._order is None else tuple(made[place] for place in self._order)
        return made

    def _arguments(self):
        return self._last

    def _command_words(self, args, kwargs):
        """What the command line takes to compile the same."""
        if "." in self.__qualname__:
            raise record.Unwritten("it is made by a function or by a method, and the command line knows kernels of the module alone")
        words = [record.place(self.func.__code__.co_filename, self.__name__)]
        bound = self.signature.bind_partial(*args, **kwargs)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            words += ["--arg", _kernel._array_word(name, value) if hasattr(value, "shape") else record.constant(name, value, self.func.__globals__)]
        for name, value in options_of(self.pass_configs).items():
            words += ["--set", f"{name}={value}"]
        return words

    # --- lazy ---

    def get_tir(self, *args, **kwargs):
        """The kernel as it is written, for these arguments."""
        if isinstance(self.func, PrimFunc):
            return self.func
        if self.mode == "eager":
            return _EagerText(self, args, kwargs)
        made = self.func(*args, **kwargs)
        if isinstance(made, JITImpl) and isinstance(made.func, PrimFunc):
            made = made.func
        if not isinstance(made, PrimFunc):
            raise TypeError(f"`{self.__name__}` must return a kernel (a function decorated with T.prim_func); it returned {made!r}")
        return made

    elaborate = get_tir

    def _make(self, args, kwargs, compile, pass_configs=None):
        """A kernel; pass_configs are over those of the function."""
        if self.mode == "eager":
            return EagerKernel(self, args, kwargs, compile)
        func = self.get_tir(*args, **kwargs)
        made_by = None
        if record.wanted() and not isinstance(self.func, PrimFunc):
            bound = self.signature.bind(*args, **kwargs)
            bound.apply_defaults()
            made_by = self.func, dict(bound.arguments)
        passes = {**(self.pass_configs or {}), **(pass_configs or {})}
        return JITKernel(func, self.out_idx, self.execution_backend, self.target, self.target_host, self.verbose, passes, self.compile_flags, compile, made_by)

    def compile(self, *args, **kwargs):
        """A kernel for these arguments; of an eager function, for these constants and sizes."""
        made = self._make(args, kwargs, True)
        if self.debug_root_path:
            os.makedirs(self.debug_root_path, exist_ok=True)
            with open(os.path.join(self.debug_root_path, f"tilelang_jit_kernel_{self.__name__}.c"), "w") as file:
                file.write(made.get_kernel_source())
        return made

    def par_compile(self, configs, num_workers=None, ignore_error=False):
        """Kernels for several arguments (dicts, or tuples), compiled side by side."""

        def maker(config):
            if not isinstance(config, (dict, tuple)):
                raise ValueError(f"a configuration is a dict of arguments, or a tuple of them, not {config!r}")
            return lambda: self._make(*(((), config) if isinstance(config, dict) else (config, {})), False)

        return compile_many([maker(config) for config in configs], num_workers, ignore_error)

    def get_kernel_source(self, *args, **kwargs):
        if self.mode == "lazy":
            return self.compile(*args, **kwargs).get_kernel_source()
        self._last = (args, kwargs) if args or kwargs else self._last
        return super().get_kernel_source()

    def __call__(self, *args, **kwargs):
        if self._function is not None:
            return self._run(args, kwargs)
        try:
            form = tuple(map(_key, args)), tuple((name, _key(value)) for name, value in kwargs.items())
            found = self._kernels.get(form)
            if found is not None:
                return found
            bound = self.signature.bind(*args, **kwargs)
            bound.apply_defaults()
            key = tuple((name, _key(value)) for name, value in bound.arguments.items())
            found = self._kernels.get(key)
        except TypeError:  # wrong arguments, or such that cannot be told apart: made anew
            return self.compile(*args, **kwargs)
        if found is None:
            found = self._kernels[key] = self.compile(*args, **kwargs)
        self._kernels[form] = found
        return found

    def __get__(self, owner, cls=None):
        return self if owner is None else types.MethodType(self, owner)

    def __repr__(self):
        return f"<tilelang.jit {self.__qualname__} ({self.mode})>"


class _EagerText(PrimFunc):
    """An eager function as it is written, for some constants."""

    def __init__(self, impl, args, kwargs):
        self.fn = self.orig_func = impl.func
        self.__name__, self.source, self.signature = impl.__name__, impl.func_source, impl.signature
        self.annotations, self.attrs = {}, {"global_symbol": impl.__name__}


class EagerKernel(Sources):
    """An eager function with some of its arguments: constants, and sizes by name; the arrays come with the call."""

    def __init__(self, impl, args, kwargs, compile):
        self._impl, self._given, self._named = impl, args, kwargs
        self._function, self._function_name, self.target = impl._function, impl.__name__, impl.target
        self.config = self.latency = self.ref_latency = None
        self.prim_func = _EagerText(impl, args, kwargs)
        if compile:
            self._compile()

    def _arguments(self):
        return self._given, self._named

    def _compile(self, purpose=WARMUP):
        if not any(hasattr(value, "shape") for value in (*self._given, *self._named.values())):
            if self._impl._dynamic:
                return  # only a call has its sizes
            self._function.emit(self._given, self._named, self.target.library or ("cuda" if cuda_device() is not None else None))
        elif purpose == PREPARE or cuda_device() is not None or not (self.target.library or "cpu").startswith("cuda"):
            self._function.launch(None, self._given, self._named, purpose)

    def _is_open(self, args):
        return self._impl._dynamic and not any(hasattr(value, "shape") for value in (*self._given, *self._named.values()))

    def prepare(self):
        self._compile(PREPARE)

    def __call__(self, *args, **kwargs):
        """Runs it: arrays by position or name."""
        names = [name for name, constant, output in self._function.parameters() if not constant and not output]
        arrays = dict(zip(names, args)) if len(args) <= len(names) else None
        if arrays is None:
            raise TypeError(f"`{self._function_name}` takes the arrays {', '.join(names)}; {len(args)} were given")
        bound = dict(zip(self._impl.signature.parameters, self._given))
        return self._impl._run((), {**bound, **self._named, **arrays, **kwargs})

    def get_profiler(self, tensor_supply_type=None):
        from ..profiler import Profiler
        from ..utils.tensor import TensorSupplyType
        made = self._emitted()
        rows = [(place, name, output) for place, (name, constant, output) in enumerate(self._function.parameters()) if not constant]
        params, outputs = [], []
        for place, name, output in rows:
            dtype, shape = made.shape(place) or ("i32", ())
            outputs += [len(params)] if output else []
            params.append(KernelParam(_kernel._DTYPES[dtype], shape, name))
        return Profiler(params, outputs, tensor_supply_type or TensorSupplyType.Auto, self)


def jit(func=None, *, out_idx=None, target=None, target_host=None, execution_backend=None, verbose=None, pass_configs=None, debug_root_path=None,
        compile_flags=None, **options):
    """Makes a function one that gives kernels (it returns a T.prim_func), or a kernel itself (eager)."""
    for name in options:
        raise TypeError(f"tilelang.jit has no option `{name}`")

    def decorate(fn):
        if not isinstance(fn, (types.FunctionType, PrimFunc)):
            raise TypeError(f"tilelang.jit decorates a function, not {fn!r}")
        return JITImpl(fn, out_idx, execution_backend, target, target_host, verbose, pass_configs, debug_root_path, compile_flags)

    return decorate if func is None else decorate(func)


lazy_jit = jit
