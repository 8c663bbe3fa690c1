# SPDX-License-Identifier: Apache-2.0
"""triton.runtime.autotuner: choosing among configurations by timing them, and arguments computed from others.

Both wrap what has `run`, `arg_names` and `fn`, so that they stack in any order on a jit function. How a choice is made is tuning.py;
a launch whose choice is known goes through the extension (native_tuner.c).
"""
import contextlib
import copy
import inspect
import json
import os
import sys
import time
import warnings

from ... import _native
from .. import knobs
from ..compiler.errors import CompilationError, CompileTimeAssertionFailure
from . import reference, tuning
from .errors import AutotunerError, OutOfResources, PTXASError
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

    def text(self):
        """All that makes it what it is, as files hold it."""
        return json.dumps({name: value if isinstance(value, (bool, int, float, str, type(None))) else str(value)
                           for name, value in self.all_kwargs().items()}, sort_keys=True)

    def __repr__(self):
        return f"Config({self})"

    def __str__(self):
        return ", ".join(f"{name}: {value}" for name, value in self.all_kwargs().items())


def _device_of(values):
    """The CUDA device of the first tensor that has one, as torch's current one: it is the one whose time is measured."""
    torch = sys.modules.get("torch")
    for value in values if torch else ():
        if getattr(value, "is_cuda", False):
            return torch.cuda.device(value.device)
    return contextlib.nullcontext()


class Autotuner(_native.Tuner, KernelInterface):
    """Times every configuration for each new key and keeps the fastest. Any number of threads may launch it."""

    def __init__(self, fn, arg_names, configs, key, reset_to_zero, restore_value, pre_hook=None, post_hook=None,
                 prune_configs_by=None, warmup=None, rep=None, use_cuda_graph=False, do_bench=None, cache_results=False):
        self.fn = fn
        self.configs = list(configs) if configs else [Config({})]
        self.keys = list(key)
        self.arg_names = arg_names
        _native.Tuner.__init__(self, fn if isinstance(fn, JITFunction) else None, tuple(arg_names), self.keys)
        self.cache, self.configs_timings, self.config_errors = {}, {}, {}
        self.bench_time, self.best_config, self.nargs = 0.0, None, None
        self.reset_to_zero, self.restore_value = list(reset_to_zero or ()), list(restore_value or ())
        self.user_pre_hook, self.user_post_hook = pre_hook, post_hook
        self.user_defined_pre_hook, self.user_defined_post_hook = pre_hook is not None, post_hook is not None
        prune = prune_configs_by or {}
        self.perf_model = prune.get("perf_model")
        self.configs_top_k = prune.get("top_k", 1.0)
        self.early_config_prune = prune.get("early_config_prune")
        self.num_warmups, self.num_reps = warmup, rep
        self._do_bench = do_bench
        self._times_as_usual = do_bench is None and not use_cuda_graph
        if use_cuda_graph and do_bench is None:
            from ..testing import do_bench_cudagraph
            self.num_warmups, self._do_bench = None, do_bench_cudagraph
        self.cache_results, self.use_cuda_graph = cache_results, use_cuda_graph
        self._lock = tuning.lock()
        self._pinned = {}
        inner = fn
        while not inspect.isfunction(inner) and hasattr(inner, "fn"):
            inner = inner.fn
        self.base_fn = inner
        self.__name__ = getattr(inner, "__name__", "kernel")
        self.__qualname__ = getattr(inner, "__qualname__", self.__name__)
        self.__module__ = getattr(inner, "__module__", None)
        self.__doc__ = getattr(inner, "__doc__", None)
        # as files of choices call it: the same whether its file is run or imported, another for a kernel of that name elsewhere
        file = os.path.splitext(os.path.basename(inner.__code__.co_filename))[0] if hasattr(inner, "__code__") else ""
        self._place = f"{file}.{self.__qualname__}"
        tuned = os.environ.get("TILEWRIGHT_TUNED")
        if tuned:
            self._pin_rows(tuning.rows_of(tuned, self._place), tuned)

    def __reduce__(self):
        return reference.reduce(self)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    # What a run of a configuration must leave as it was. A class made from this one may set hooks of its own, with Triton's arguments.
    def pre_hook(self, args, reset_only=False):
        if self.user_pre_hook is not None:
            return self.user_pre_hook(args, reset_only=reset_only)
        for name in self.reset_to_zero:
            _zero(args[name])
        return None if reset_only else {name: _copy(args[name]) for name in self.restore_value}

    def post_hook(self, args, exception=None):
        return None if self.user_post_hook is None else self.user_post_hook(args, exception=exception)

    def _put_back(self, args, exception, saved):
        self.post_hook(args, exception=exception)
        if self.user_post_hook is None and getattr(self.post_hook, "__func__", None) is Autotuner.post_hook:
            for name, value in (saved or {}).items():
                _assign(args[name], value)

    @property
    def do_bench(self):
        if self._do_bench is None:
            from .driver import driver
            self._do_bench = driver.active.get_benchmarker()
        return self._do_bench

    def _bench(self, *args, config, **meta):
        """The times of one configuration, for classes made from this one that choose by themselves."""
        return self._time(config, args, self.nargs or dict(zip(self.arg_names, args)), meta)

    def _time(self, config, args, nargs, meta, again=False):
        _refuse_clash(config, meta)
        current = {**meta, **config.all_kwargs()}
        full = {**nargs, **current}

        def once():
            if config.pre_hook:
                config.pre_hook(full)
            saved = self.pre_hook(full)
            try:
                self.fn.run(*args, **current)
            except Exception as error:
                try:
                    self._put_back(full, error, saved)
                finally:
                    raise
            self._put_back(full, None, saved)

        options = {name: value for name, value in (("warmup", self.num_warmups), ("rep", self.num_reps)) if value is not None}
        if again and self._times_as_usual:
            options = {**tuning.AGAIN, **options}
        try:
            return self.do_bench(once, quantiles=(0.5, 0.2, 0.8), **options)
        except (OutOfResources, CompilationError, PTXASError) as error:
            self.config_errors[config] = error
            if knobs.autotuning.print:
                print(f"Autotuning failed with {error}\nfor the configuration {config}")
            return [float("inf")] * 3

    def _prepared(self, args, nargs, meta):
        """config -> a function that compiles it ahead, or None where that cannot be done."""
        function = self.fn
        described = any(hasattr(value, "block_shape") for value in (*args, *meta.values()))

        def prepare(config):
            current = {**meta, **config.all_kwargs()}
            ours = args
            if described and config.pre_hook:  # it sets the blocks of descriptors: each compile has its own
                config.pre_hook({**nargs, **current})
                ours = tuple(copy.copy(value) if hasattr(value, "block_shape") else value for value in args)
            current.pop("warmup", None)
            return lambda: function.prepare(*ours, **current)

        return prepare if hasattr(function, "prepare") and not getattr(function, "_interpreted", False) else lambda config: None

    def _time_all(self, configs, args, nargs, meta):
        """Compiles and times them; {config: times}, in their order."""
        progress = tuning.Progress(self.__name__, len(configs))
        ahead = tuning.Ahead(configs, self._prepared(args, nargs, meta), progress)
        timings = {}
        try:
            if not _on_cuda((*args, *meta.values())):
                ahead.wait(configs)
            for config in configs:
                ahead.wait([config])
                timings[config] = self._time(config, args, nargs, meta)
                progress.timed += 1
                progress.failed = len(self.config_errors)
                middle = tuning.spread(timings[config])[0]
                if middle < float("inf") and (progress.best is None or middle < progress.best[0]):
                    progress.best = (middle, config)
                progress.show()
        finally:
            ahead.end()
            progress.end()
        return timings

    def _tune(self, args, nargs, meta):
        configs = self.prune_configs(meta, nargs)
        self.config_errors = {}
        start = time.perf_counter()
        with _device_of((*args, *meta.values())):
            timings = self._time_all(configs, args, nargs, meta)
            best = tuning.choose(timings, lambda config: self._time(config, args, nargs, meta, again=True))
        self.bench_time = time.perf_counter() - start
        self.configs_timings = timings
        mistakes = {config: error for config, error in self.config_errors.items()
                    if isinstance(error, CompilationError) and not isinstance(error, CompileTimeAssertionFailure)}
        if len(mistakes) == len(timings):
            raise next(iter(mistakes.values()))  # of the kernel, not of a configuration
        for config, error in mistakes.items():
            warnings.warn(f"the configuration {config} of `{self.__name__}` cannot be compiled and is passed over: {error.error_message}",
                          RuntimeWarning, stacklevel=4)
        if best is None:
            reasons = "".join(f"\n  {config}: {self.config_errors.get(config, 'no time was measured')}" for config in timings)
            raise AutotunerError(f"none of the {len(timings)} configurations of `{self.__name__}` can be launched:{reasons}") from next(
                iter(self.config_errors.values()), None)
        self.pre_hook({**nargs, **meta, **best.all_kwargs()}, reset_only=True)
        return best

    def _key(self, values):
        key = [values[name] for name in self.keys if name in values]
        key += [str(value.dtype) for value in values.values() if hasattr(value, "dtype")]
        return tuple(key)

    # --- choices that were made before ---

    def _store(self, args, kwargs):
        if not (self.cache_results or knobs.autotuning.cache):
            return None
        function = self.fn
        while not isinstance(function, JITFunction) and hasattr(function, "fn"):
            function = function.fn
        return tuning.Store(function, self.configs, _device_name((*args, *kwargs.values()))) if isinstance(function, JITFunction) else None

    def _by_text(self, text):
        return next((config for config in self.configs if config.text() == text), None)

    def _earlier(self, key, store, values):
        """The pinned configuration of a key, else the one on disk."""
        text = tuning.key_text(key)
        pinned = self._pinned.get(text) or self._pinned.get(None) or self._pinned.get(("target", "cuda" if _on_cuda(values) else "cpu"))
        return pinned or (self._by_text(store.read().get(text)) if store else None)

    def pin(self, choice, key=None):
        """Fixes the configuration: `choice` is a Config, its values as a dictionary, or what export() gave (a path or its content).
        key: the values of the key arguments and dtypes as in `cache`; None: for all keys."""
        if isinstance(choice, Config) or (isinstance(choice, dict) and "kernels" not in choice):
            wanted = choice if isinstance(choice, Config) else self._matching(choice)
            if key is None:
                self._pinned.clear()  # the last word is that of all keys
            self._pinned[tuning.key_text(key) if key is not None else None] = wanted
        else:
            rows = tuning.rows_of(choice, self._place)
            if not rows:
                raise ValueError(f"{'what is pinned' if isinstance(choice, dict) else choice} has no choice for `{self._place}`; tune it")
            self._pin_rows(rows, None if isinstance(choice, dict) else choice)
        with self._lock:
            self.cache.clear()
            self.forget()

    def _pin_rows(self, rows, file):
        where = "" if file is None else f" in {os.fspath(file)}"
        for row in rows:
            if "values" in row:  # `tilewright tune` wrote it, for all keys
                self._pinned["target", row["target"].split(":")[0]] = self._tuned(row, where)
                continue
            config = self._by_text(row["config"])
            if config is None:
                raise ValueError(f"the choice for `{self.__name__}`{where} is the configuration {row['config']}, which it has no more; tune it again")
            self._pinned[row["key"]] = config

    def _tuned(self, row, where):
        foreign = [name for name in row["options"] if name not in ("num_warps", "num_stages", "maxnreg")]
        if foreign:
            raise ValueError(f"the choice for `{self.__name__}`{where} sets {', '.join(foreign)}, which a launch from Python does not take; "
                             "tune it without")
        unknown = [name for name in row["values"] if name not in self.arg_names]
        if unknown:
            raise ValueError(f"the choice for `{self.__name__}`{where} gives {', '.join(unknown)}, and the kernel takes {', '.join(self.arg_names)}; tune it again")
        return Config(dict(row["values"]), **row["options"])

    def _matching(self, values):
        found = [config for config in self.configs if all(config.all_kwargs().get(name) == value for name, value in values.items())]
        if len(found) != 1:
            raise ValueError(f"{values} names {len(found)} of the {len(self.configs)} configurations of `{self.__name__}`, not one")
        return found[0]

    def export(self, path=None):
        """The choices so far, for pin(); with a path, they are added to that JSON file, which may hold several kernels and which
        TILEWRIGHT_TUNED=path makes all kernels of a program use."""
        rows = [{"key": tuning.key_text(key), "config": config.text()} for key, config in self.cache.items()]
        content = {"kernels": {self._place: rows}}
        if path is not None:
            if os.path.exists(path):
                with open(path) as file:
                    content["kernels"] = {**json.load(file)["kernels"], **content["kernels"]}
            beside = f"{path}.{os.getpid()}.tmp"  # whoever reads it meanwhile finds a whole one
            with open(beside, "w") as file:
                json.dump(content, file, indent=1)
            os.replace(beside, path)
        return content

    # --- launches ---

    def _config_of(self, key, args, nargs, kwargs):
        with self._lock:
            if key not in self.cache:
                store = self._store(args, kwargs)
                config = self._earlier(key, store, (*args, *kwargs.values()))
                if config is None:
                    config = self._tune(args, nargs, kwargs)
                    if store:
                        store.add(tuning.key_text(key), config, self.configs_timings)
                    if knobs.autotuning.print:
                        print(f"Triton autotuning for function {self.base_fn.__name__},\nwith key as {key},\n"
                              f"finished after {self.bench_time:.2f}s,\nbest config selected: {config};")
                self.cache[key] = config
            return self.cache[key]

    def run(self, *args, **kwargs):
        nargs = self.nargs = dict(zip(self.arg_names, args))
        config = self.configs[0]
        if len(self.configs) > 1:
            values = {name: value for name, value in {**nargs, **kwargs}.items() if name in self.arg_names}
            key = self._key(values)
            config = self.cache.get(key) or self._config_of(key, args, nargs, kwargs)
        self.best_config = config
        _refuse_clash(config, kwargs)
        if config.pre_hook is not None:
            config.pre_hook({**nargs, **kwargs, **config.all_kwargs()})
        if len(self.configs) > 1 or not kwargs.get("warmup"):
            plain = {name: value for name, value in kwargs.items() if name not in ("grid", "warmup")}
            self.remember(args, plain, config.all_kwargs(), config)
        return self.fn.run(*args, **kwargs, **config.all_kwargs())

    def prune_configs(self, kwargs, nargs=None):
        nargs = self.nargs if nargs is None else nargs
        configs = self.configs
        if self.early_config_prune:
            configs = self.early_config_prune(configs, nargs, **kwargs)
            configs = list(configs) if configs is not None else configs
            if not configs:
                raise AutotunerError("No valid autotuner configs after pruning. `early_config_prune` should return at least one config.")
        if self.perf_model:
            top = self.configs_top_k
            top = int(len(self.configs) * top) if isinstance(top, float) and top <= 1.0 else top
            if not isinstance(top, int):
                raise TypeError("Error while pruning configs, top_k must be either 1) a float <= 1.0 or 2) an int")
            if len(configs) > top:
                cost = {config: self.perf_model(**nargs, **kwargs, **config.all_kwargs()) for config in configs}
                configs = sorted(cost, key=cost.get)[:top]
        return configs

    def warmup(self, *args, **kwargs):
        nargs = self.nargs = dict(zip(self.arg_names, args))
        return [self.fn.warmup(*args, **kwargs, **config.all_kwargs()) for config in self.prune_configs(kwargs, nargs)]


def _on_cuda(values):
    return any(getattr(getattr(value, "base", value), "is_cuda", False) is True for value in values)


def _device_name(values):
    """What times depend on, beside the kernel."""
    if _on_cuda(values):
        import torch
        return torch.cuda.get_device_name()
    return f"cpu, {tuning.workers()} processors"


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
        self.__qualname__ = getattr(fn, "__qualname__", self.__name__)
        self.__module__ = getattr(fn, "__module__", None)
        self.__doc__ = getattr(fn, "__doc__", None)

    def __reduce__(self):
        return reference.reduce(self)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def _completed(self, args, kwargs):
        for name, compute in self.values.items():
            kwargs[name] = compute({**dict(zip(self.arg_names, args)), **kwargs})
        return kwargs

    def run(self, *args, **kwargs):
        return self.fn.run(*args, **self._completed(args, kwargs))

    def prepare(self, *args, **kwargs):
        return self.fn.prepare(*args, **self._completed(args, kwargs))


def heuristics(values):
    """Computes meta-parameters: {"NAME": lambda args: value}."""
    return lambda fn: Heuristics(fn, fn.arg_names, values)


__all__ = ["Autotuner", "AutotunerError", "Config", "Heuristics", "JITFunction", "OutOfResources", "autotune", "heuristics"]
