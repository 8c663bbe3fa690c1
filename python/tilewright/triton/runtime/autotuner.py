"""triton.runtime.autotuner: choosing among configurations by timing them, and arguments computed from others.

Both wrap what has `run`, `arg_names` and `fn`, so that they stack in any order on a jit function.
"""
import contextlib
import inspect
import sys
import time

from .. import knobs
from ..compiler.errors import CompileTimeAssertionFailure
from .errors import OutOfResources, PTXASError
from .jit import JITFunction, KernelInterface


class Config:
    """Values for meta-parameters, and options of the launch."""

    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None, ir_override=None):
        self.kwargs = kwargs
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.ir_override = ir_override

    def all_kwargs(self):
        options = {"num_warps": self.num_warps, "num_ctas": self.num_ctas, "num_stages": self.num_stages, "maxnreg": self.maxnreg,
                   "ir_override": self.ir_override}
        return {**self.kwargs, **{name: value for name, value in options.items() if value is not None}}

    def _identity(self):
        return tuple(self.all_kwargs().items()) + (self.pre_hook, )

    def __hash__(self):
        return hash(self._identity())

    def __eq__(self, other):
        return isinstance(other, Config) and self._identity() == other._identity()

    def __str__(self):
        return ", ".join(f"{name}: {value}" for name, value in self.all_kwargs().items())


def _device_of(values):
    """The CUDA device of the first tensor that has one, as torch's current one: it is the one whose time is measured."""
    torch = sys.modules.get("torch")
    for value in values if torch else ():
        if getattr(value, "is_cuda", False):
            return torch.cuda.device(value.device)
    return contextlib.nullcontext()


class Autotuner(KernelInterface):
    """Times every configuration for each new key and keeps the fastest."""

    def __init__(self, fn, arg_names, configs, key, reset_to_zero, restore_value, pre_hook=None, post_hook=None,
                 prune_configs_by=None, warmup=None, rep=None, use_cuda_graph=False, do_bench=None, cache_results=False):
        self.fn = fn
        self.arg_names = arg_names
        self.configs = configs or [Config({})]
        self.keys = key
        self.cache = {}
        self.configs_timings = {}
        self.bench_time = 0.0
        self.best_config = None
        self.nargs = None
        self.reset_to_zero = list(reset_to_zero or [])
        self.restore_value = list(restore_value or [])
        self.saved = {}
        self.user_pre_hook, self.user_post_hook = pre_hook, post_hook
        prune = prune_configs_by or {}
        self.perf_model = prune.get("perf_model")
        self.configs_top_k = prune.get("top_k", 1.0)
        self.early_config_prune = prune.get("early_config_prune")
        self.num_warmups, self.num_reps = warmup, rep
        self._bench = do_bench
        if use_cuda_graph and do_bench is None:
            from ..testing import do_bench_cudagraph
            self.num_warmups, self._bench = None, do_bench_cudagraph
        self.cache_results = cache_results
        inner = fn
        while not inspect.isfunction(inner) and hasattr(inner, "fn"):
            inner = inner.fn
        self.base_fn = inner
        self.__name__ = getattr(inner, "__name__", "kernel")
        self.__doc__ = getattr(inner, "__doc__", None)

    # What a run of a configuration must leave as it was.
    def pre_hook(self, args, reset_only=False):
        if self.user_pre_hook is not None:
            return self.user_pre_hook(args, reset_only=reset_only)
        for name in self.reset_to_zero:
            _zero(args[name])
        if not reset_only:
            self.saved = {name: _copy(args[name]) for name in self.restore_value}

    def post_hook(self, args, exception=None):
        if self.user_post_hook is not None:
            return self.user_post_hook(args, exception=exception)
        for name, saved in self.saved.items():
            _assign(args[name], saved)
        self.saved = {}

    @property
    def do_bench(self):
        if self._bench is None:
            from .driver import driver
            self._bench = driver.active.get_benchmarker()
        return self._bench

    def _time(self, config, args, meta):
        _refuse_clash(config, meta)
        current = {**meta, **config.all_kwargs()}
        full = {**self.nargs, **current}

        def once():
            if config.pre_hook:
                config.pre_hook(full)
            self.pre_hook(full)
            try:
                self.fn.run(*args, **current)
            except Exception as error:
                try:
                    self.post_hook(full, exception=error)
                finally:
                    raise
            self.post_hook(full, exception=None)

        options = {name: value for name, value in (("warmup", self.num_warmups), ("rep", self.num_reps)) if value is not None}
        try:
            return self.do_bench(once, quantiles=(0.5, 0.2, 0.8), **options)
        except (OutOfResources, CompileTimeAssertionFailure, PTXASError) as error:
            if knobs.autotuning.print:
                print(f"Autotuning failed with {error}")
            return [float("inf")] * 3

    def _tune(self, args, kwargs):
        pruned = self.prune_configs(kwargs)
        start = time.perf_counter()
        with _device_of(args + tuple(kwargs.values())):
            timings = {config: self._time(config, args, kwargs) for config in pruned}
        self.bench_time = time.perf_counter() - start
        self.configs_timings = timings
        best = min(timings, key=lambda config: tuple(timings[config]) if isinstance(timings[config], (list, tuple)) else (timings[config], ))
        self.pre_hook({**self.nargs, **kwargs, **best.all_kwargs()}, reset_only=True)
        return best

    def _key(self, values):
        key = [values[name] for name in self.keys if name in values]
        key += [str(value.dtype) for value in values.values() if hasattr(value, "dtype")]
        return tuple(key)

    def run(self, *args, **kwargs):
        self.nargs = dict(zip(self.arg_names, args))
        used = "config"
        if len(self.configs) > 1:
            values = {name: value for name, value in {**self.nargs, **kwargs}.items() if name in self.arg_names}
            key = self._key(values)
            if key not in self.cache:
                used = "tuned"
                self.cache[key] = self._tune(args, kwargs)
            config = self.cache[key]
        else:
            config = self.configs[0]
        self.best_config = config
        _refuse_clash(config, kwargs)
        if knobs.autotuning.print and used == "tuned":
            print(f"Triton autotuning for function {self.base_fn.__name__},\nwith key as {key},\n"
                  f"finished after {self.bench_time:.2f}s,\nbest config selected: {config};")
        if config.pre_hook is not None:
            config.pre_hook({**self.nargs, **kwargs, **config.all_kwargs()})
        result = self.fn.run(*args, **kwargs, **config.all_kwargs())
        self.nargs = None
        return result

    def prune_configs(self, kwargs):
        configs = self.configs
        if self.early_config_prune:
            configs = self.early_config_prune(configs, self.nargs, **kwargs)
            if not configs:
                raise AutotunerError("No valid autotuner configs after pruning. `early_config_prune` should return at least one config.")
        if self.perf_model:
            top = self.configs_top_k
            top = int(len(self.configs) * top) if isinstance(top, float) and top <= 1.0 else top
            if not isinstance(top, int):
                raise TypeError("Error while pruning configs, top_k must be either 1) a float <= 1.0 or 2) an int")
            if len(configs) > top:
                cost = {config: self.perf_model(**self.nargs, **kwargs, **config.all_kwargs()) for config in configs}
                configs = sorted(cost, key=cost.get)[:top]
        return configs

    def warmup(self, *args, **kwargs):
        self.nargs = dict(zip(self.arg_names, args))
        results = [self.fn.warmup(*args, **kwargs, **config.all_kwargs()) for config in self.prune_configs(kwargs)]
        self.nargs = None
        return results


class AutotunerError(Exception):
    """Tuning has nothing to choose from."""


def _refuse_clash(config, meta):
    clash = meta.keys() & config.kwargs.keys()
    if clash:
        raise ValueError(f"Conflicting meta-parameters: {', '.join(sorted(clash))}. Make sure that you don't re-define auto-tuned symbols.")


def _zero(tensor):
    tensor.zero_() if hasattr(tensor, "zero_") else tensor.fill(0)


def _copy(tensor):
    return tensor.clone() if hasattr(tensor, "clone") else tensor.copy()


def _assign(tensor, saved):
    if hasattr(tensor, "copy_"):
        tensor.copy_(saved)
    else:
        tensor[...] = saved


def autotune(configs, key, prune_configs_by=None, reset_to_zero=None, restore_value=None, pre_hook=None, post_hook=None, warmup=None,
             rep=None, use_cuda_graph=False, do_bench=None, cache_results=False):
    """Launches with the fastest of the configurations, measured once for each value of the key arguments."""

    def decorate(fn):
        return Autotuner(fn, fn.arg_names, configs, key, reset_to_zero, restore_value, pre_hook=pre_hook, post_hook=post_hook,
                         prune_configs_by=prune_configs_by, warmup=warmup, rep=rep, use_cuda_graph=use_cuda_graph,
                         do_bench=do_bench, cache_results=cache_results)

    return decorate


class Heuristics(KernelInterface):
    """Meta-parameters computed from the other arguments."""

    def __init__(self, fn, arg_names, values):
        self.fn = fn
        self.values = values
        self.arg_names = arg_names
        self.__name__ = getattr(fn, "__name__", "kernel")

    def run(self, *args, **kwargs):
        for name, compute in self.values.items():
            kwargs[name] = compute({**dict(zip(self.arg_names, args)), **kwargs})
        return self.fn.run(*args, **kwargs)


def heuristics(values):
    """Computes meta-parameters: {"NAME": lambda args: value}."""
    return lambda fn: Heuristics(fn, fn.arg_names, values)


__all__ = ["Autotuner", "AutotunerError", "Config", "Heuristics", "JITFunction", "OutOfResources", "autotune", "heuristics"]
