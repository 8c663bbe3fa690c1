# SPDX-License-Identifier: Apache-2.0
"""tilelang.autotuner: the fastest of several configurations.

    @tilelang.autotune(configs=[{"block_M": 64}, {"block_M": 128}])
    @tilelang.jit(out_idx=[-1])
    def matmul(M, N, K, block_M=128): ..
    kernel = matmul(1024, 1024, 1024)        # kernel.config, kernel.latency

Configurations are compiled side by side (TILEWRIGHT_COMPILE_THREADS) and timed one after the other. One that cannot be compiled, or whose
results are not the reference's, is passed over with a warning; if none is left, the last one's error is raised.
"""
import inspect
import threading
import warnings

from ..jit import EagerKernel, JITImpl, JITKernel, _key, compile_many
from ..language.functions import PrimFunc
from ..profiler import do_bench
from ..utils.tensor import TensorSupplyType

__all__ = ["AutoTuner", "AutotuneResult", "autotune", "get_autotune_inputs", "set_autotune_inputs"]

_inputs = threading.local()


class set_autotune_inputs:
    """with set_autotune_inputs(a, b): what is tuned inside is timed with these tensors."""

    def __init__(self, *tensors):
        self.tensors = list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else list(tensors)

    def __enter__(self):
        _inputs.stack = [*getattr(_inputs, "stack", ()), self.tensors]

    def __exit__(self, *error):
        _inputs.stack.pop()


def get_autotune_inputs():
    stack = getattr(_inputs, "stack", None)
    return stack[-1] if stack else None


class AutotuneResult:
    """What tuning found: latency (milliseconds), config, ref_latency, libcode, func, kernel."""

    def __init__(self, latency=None, config=None, ref_latency=None, libcode=None, func=None, kernel=None):
        self.latency, self.config, self.ref_latency, self.libcode, self.func, self.kernel = latency, config, ref_latency, libcode, func, kernel

    def __repr__(self):
        return f"AutotuneResult(latency={self.latency}, config={self.config}, ref_latency={self.ref_latency})"


def _tuned_signature(fn):
    return inspect.signature(getattr(fn, "orig_func", fn))


class AutoTuner:
    """Tunes a function that gives kernels over a list of configurations."""

    def __init__(self, fn, configs):
        self.fn, self.configs = fn, configs
        self._compile_args, self._args, self._kwargs = {}, (), {}
        self.set_profile_args()

    @classmethod
    def from_kernel(cls, kernel, configs):
        return cls(kernel, configs)

    def set_compile_args(self, out_idx=None, target=None, execution_backend=None, target_host=None, verbose=None, pass_configs=None, **options):
        self._compile_args = {"out_idx": out_idx, "target": target, "execution_backend": execution_backend, "target_host": target_host, "verbose": verbose,
                              "pass_configs": pass_configs}
        return self

    def set_profile_args(self, warmup=25, rep=100, timeout=30, supply_type=TensorSupplyType.Auto, ref_prog=None, supply_prog=None, rtol=1e-2, atol=1e-2,
                         max_mismatched_ratio=0.01, skip_check=False, manual_check_prog=None, cache_input_tensors=False, backend="event", **options):
        self._profile = {"warmup": warmup, "rep": rep, "supply_type": supply_type, "ref_prog": ref_prog, "supply_prog": supply_prog, "rtol": rtol, "atol": atol,
                         "max_mismatched_ratio": max_mismatched_ratio, "skip_check": skip_check, "manual_check_prog": manual_check_prog, "backend": backend}
        return self

    def set_kernel_parameters(self, k_parameters, f_parameters=None):
        self._args, self._kwargs = k_parameters[0], dict(k_parameters[1])
        return self

    def _rows(self):
        rows = self.configs(*self._args, **self._kwargs) if callable(self.configs) else self.configs
        rows = [rows] if isinstance(rows, dict) else list(rows)
        names = set(_tuned_signature(self.fn).parameters)
        for row in rows:
            if not isinstance(row, dict):
                raise TypeError(f"a configuration is a dict of arguments, not {row!r}")
            wrong = sorted(set(row) - names - {"pass_configs"})
            if wrong:
                raise ValueError(f"the configuration {row} has `{wrong[0]}`, which is no parameter of `{getattr(self.fn, '__name__', self.fn)}`")
        if not rows:
            raise ValueError("there are no configurations to tune over")
        return rows

    def _maker(self, row):
        row = dict(row)
        passes = row.pop("pass_configs", None)

        def make():
            kwargs = {**self._kwargs, **row}
            if isinstance(self.fn, JITImpl):
                return self.fn._make(self._args, kwargs, False, passes)
            made = self.fn(*self._args, **kwargs)
            if isinstance(made, (JITKernel, )):
                return made
            options = dict(self._compile_args)
            options["pass_configs"] = {**(options.get("pass_configs") or {}), **(passes or {})}
            if not isinstance(made, PrimFunc):
                raise TypeError(f"`{getattr(self.fn, '__name__', self.fn)}` must return a kernel (a function decorated with T.prim_func); it returned {made!r}")
            return JITKernel(made, compile=False, **options)

        return make

    def _benchmark(self, kernel, tensors):
        p = self._profile
        profiler = kernel.get_profiler(p["supply_type"]) if tensors is None else None
        if tensors is None:
            scalars = [] if p["supply_prog"] else [param.name for param in profiler._get_params() if not param.shape and not isinstance(kernel, EagerKernel)]
            if scalars:
                raise ValueError(f"`{scalars[0]}` is a number, for which tuning makes none up: give the arguments, `with set_autotune_inputs(..)`, or supply_prog")
            tensors = p["supply_prog"](profiler._get_params()) if p["supply_prog"] else profiler._get_inputs()
        if p["ref_prog"] and not p["skip_check"]:
            profiler = profiler or kernel.get_profiler(p["supply_type"])
            if p["manual_check_prog"]:
                profiler.manual_assert_close(p["ref_prog"], tensors, p["manual_check_prog"])
            else:
                profiler.assert_allclose(p["ref_prog"], tensors, p["atol"], p["rtol"], p["max_mismatched_ratio"])
        return do_bench(lambda: kernel(*tensors), p["warmup"], p["rep"], backend=p["backend"]), tensors

    def run(self, warmup=None, rep=None, timeout=None, tensors=None, **options):
        """AutotuneResult of the fastest configuration."""
        for name, value in (("warmup", warmup), ("rep", rep)):
            if value is not None:
                self._profile[name] = value
        rows = self._rows()
        failures, best, reference = [], None, None
        tensors = tensors if tensors is not None else get_autotune_inputs()
        kernels = [None] * len(rows)
        makers = [self._maker(row) for row in rows]
        for place, made in enumerate(_compiled(makers)):
            if isinstance(made, Exception):
                failures.append((rows[place], made))
            else:
                kernels[place] = made
        for row, kernel in zip(rows, kernels):
            if kernel is None:
                continue
            try:
                latency, used = self._benchmark(kernel, tensors)
            except Exception as error:
                failures.append((row, error))
                continue
            if best is None or latency < best.latency:
                best = AutotuneResult(latency, row, None, None, kernel.prim_func, kernel)
                reference = used
        for row, error in failures if best is not None else ():
            warnings.warn(f"the configuration {row} is passed over: {str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__}", RuntimeWarning,
                          stacklevel=3)
        if best is None:
            raise failures[-1][1]
        if self._profile["ref_prog"]:
            best.ref_latency = do_bench(lambda: self._profile["ref_prog"](*reference), self._profile["warmup"], self._profile["rep"])
        best.kernel.config, best.kernel.latency, best.kernel.ref_latency = best.config, best.latency, best.ref_latency
        return best


def _compiled(makers):
    """A kernel or the exception, of each."""
    made = compile_many(makers, ignore_error=True)
    for place, kernel in enumerate(made):
        if kernel is None:
            try:
                made[place] = compile_many([makers[place]])[0]
            except Exception as error:
                made[place] = error
    return made


class AutoTuneImpl:
    """What tilelang.autotune makes of a function that tilelang.jit made."""

    def __init__(self, impl, configs, profile, do_not_specialize=()):
        self.jit_impl, self.configs, self._profile = impl, configs, profile
        self._open_names = frozenset(do_not_specialize)  # another value of one of these is not tuned anew
        self._tuner_cache = {}  # the configuration that was found, by the arguments that matter
        self._kernels = {}
        self._calls = {}  # of an eager function: what is added to the arguments of a call, by what they look like as they stand
        self.__name__, self.__doc__, self.__module__ = impl.__name__, impl.__doc__, impl.__module__
        self.signature = impl.signature

    def get_tunner(self):
        return AutoTuner(self.jit_impl, self.configs).set_profile_args(**self._profile)

    def __getattr__(self, name):
        return getattr(self.__dict__["jit_impl"], name)

    def _open(self, bound, rows):
        """Is one of the tuned parameters left open by the call?"""
        names = {name for row in rows for name in row}
        return not names <= set(bound.arguments)

    def __call__(self, *args, **kwargs):
        """The fastest kernel for these arguments; an eager function is run, but with __return_kernel=True gives its kernel."""
        impl = self.jit_impl
        if kwargs.pop("__return_kernel", False) and impl.mode == "eager":
            return self.compile(*args, **kwargs)
        if impl.mode == "eager":
            form = *map(self._key_of, args), *((name, self._key_of(value)) for name, value in kwargs.items())
            if form not in self._calls:  # binding names and asking for rows takes longer than many a kernel
                self._calls[form] = self._config(args, kwargs)
            return impl(*args, **{**kwargs, **self._calls[form]})
        bound, tuner, key = self._asked(args, kwargs)
        if not self._open(bound, tuner._rows()):
            self._tuner_cache.setdefault(key, {})
            return impl(*args, **kwargs)
        exact = tuple((name, *self._key_of(value)) for name, value in bound.arguments.items())
        if key not in self._tuner_cache:
            best = tuner.run()
            self._tuner_cache[key], self._kernels[exact] = best.config, best.kernel
        if exact not in self._kernels:  # sizes that are not tuned for
            self._kernels[exact] = compile_many([tuner._maker(self._tuner_cache[key])])[0]
            self._kernels[exact].config = self._tuner_cache[key]
        return self._kernels[exact]

    def _asked(self, args, kwargs):
        """The arguments by name, their tuner, and what stands for those that matter."""
        bound = self._given(args, kwargs)
        key = tuple((name, *self._key_of(value)) for name, value in bound.arguments.items() if name not in self._open_names)
        return bound, self.get_tunner().set_kernel_parameters((args, kwargs)), key

    def _config(self, args, kwargs):
        """What tuning adds to these arguments of an eager function."""
        bound, tuner, key = self._asked(args, kwargs)
        if not self._open(bound, tuner._rows()):
            return self._tuner_cache.setdefault(key, {})
        if key not in self._tuner_cache:
            self._tuner_cache[key] = tuner.run(tensors=[]).config
        return {name: value for name, value in self._tuner_cache[key].items() if name != "pass_configs"}

    @staticmethod
    def _key_of(value):
        return (tuple(value.shape), value.dtype) if hasattr(value, "shape") else (_key(value), )

    def compile(self, *args, **kwargs):
        """The kernel of the fastest configuration for these constants and sizes; of the one given, where nothing is left open."""
        tuner = self.get_tunner().set_kernel_parameters((args, kwargs))
        if not self._open(self._given(args, kwargs), tuner._rows()):
            return self.jit_impl.compile(*args, **kwargs)
        return tuner.run().kernel

    def _given(self, args, kwargs):
        """The arguments of a call by name; sizes that only the body names are left out."""
        return self.signature.bind_partial(*args, **{name: value for name, value in kwargs.items() if name in self.signature.parameters})

    def __repr__(self):
        return f"<tilelang.autotune of {self.jit_impl!r}>"


def autotune(func=None, *, configs, warmup=25, rep=100, timeout=100, supply_type=TensorSupplyType.Auto, ref_prog=None, supply_prog=None, rtol=1e-2, atol=1e-2,
             max_mismatched_ratio=0.01, skip_check=False, manual_check_prog=None, cache_input_tensors=False, do_not_specialize=None, **options):
    """Tunes what tilelang.jit made over configurations: dicts of arguments, or a function of the call's arguments that gives them. Another value of a parameter in
    do_not_specialize takes the configuration that was found before."""
    profile = {"warmup": warmup, "rep": rep, "timeout": timeout, "supply_type": supply_type, "ref_prog": ref_prog, "supply_prog": supply_prog, "rtol": rtol, "atol": atol,
               "max_mismatched_ratio": max_mismatched_ratio, "skip_check": skip_check, "manual_check_prog": manual_check_prog}

    def decorate(fn):
        if not isinstance(fn, JITImpl):
            raise TypeError("tilelang.autotune stands above tilelang.jit: decorate the function with @tilelang.jit first")
        unknown = [name for name in do_not_specialize or () if name not in fn.signature.parameters]
        if unknown:
            raise ValueError(f"do_not_specialize: `{unknown[0]}` is no parameter of `{fn.__name__}`")
        return AutoTuneImpl(fn, configs, profile, do_not_specialize or ())

    return decorate if func is None else decorate(func)
