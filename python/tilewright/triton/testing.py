"""triton.testing: timing and comparing.

Times are of the host's clock: on the CPU a launch has finished when it returns.
"""
import contextlib
import functools
import math
import statistics
import time


def _quantile(times, q):
    times = sorted(times)
    at = (len(times) - 1) * q
    low = math.floor(at)
    high = min(low + 1, len(times) - 1)
    return times[low] + (times[high] - times[low]) * (at - low)


def _summarize_statistics(times, quantiles, return_mode):
    if quantiles is not None:
        found = [_quantile(times, q) for q in quantiles]
        return found[0] if len(found) == 1 else found
    if return_mode == "all":
        return times
    return {"min": min, "max": max, "mean": statistics.fmean, "median": statistics.median}[return_mode](times)


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    """Milliseconds of a call, over about `rep` milliseconds of calls after `warmup` milliseconds of them. Between calls a buffer
    of 64 MB is not flushed, as a device's cache would be: that is the caller's to do where it matters."""
    assert return_mode in ("min", "max", "mean", "median", "all")

    def once():
        for tensor in grad_to_none or ():
            tensor.grad = None
        start = time.perf_counter()
        fn()
        return (time.perf_counter() - start) * 1e3

    once()
    estimate = max(min(once() for _ in range(3)), 1e-4)
    for _ in range(max(1, int(warmup / estimate))):
        once()
    return _summarize_statistics([once() for _ in range(max(1, int(rep / estimate)))], quantiles, return_mode)


def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean"):
    """The same as do_bench: the CPU has no graphs to replay."""
    return do_bench(fn, rep=rep, grad_to_none=grad_to_none, quantiles=quantiles, return_mode=return_mode)


def assert_close(x, y, atol=None, rtol=None, err_msg=""):
    """AssertionError unless both hold equal numbers, up to atol + rtol * |y|; without them 0.01 for half precision, else 1e-5."""
    import numpy as np

    def array(value):
        if hasattr(value, "detach"):
            value = value.detach().cpu()
            value = value.float() if str(value.dtype) in ("torch.bfloat16", "torch.float16") else value
        return np.asarray(value)

    half = any("float16" in str(getattr(value, "dtype", "")) for value in (x, y))
    absolute = atol if atol is not None else 1e-2 if half else 1e-5
    relative = rtol if rtol is not None else 0.0 if half else 1e-5
    absolute = absolute(getattr(x, "dtype", None)) if callable(absolute) else absolute
    relative = relative(getattr(x, "dtype", None)) if callable(relative) else relative
    np.testing.assert_allclose(array(x), array(y), atol=absolute, rtol=relative, equal_nan=True, err_msg=err_msg)


class Benchmark:
    """What perf_report measures: x values, one line for each value of an argument."""

    def __init__(self, x_names, x_vals, line_arg, line_vals, line_names, plot_name, args, xlabel="", ylabel="", x_log=False,
                 y_log=False, styles=None):
        self.x_names, self.x_vals = x_names, x_vals
        self.line_arg, self.line_vals, self.line_names = line_arg, line_vals, line_names
        self.plot_name, self.args = plot_name, args
        self.xlabel, self.ylabel, self.x_log, self.y_log, self.styles = xlabel, ylabel, x_log, y_log, styles


class Mark:
    """A function with its benchmarks; run prints a table of each."""

    def __init__(self, fn, benchmarks):
        self.fn = fn
        self.benchmarks = benchmarks

    def _table(self, bench, kwargs):
        rows = []
        for x in bench.x_vals:
            xs = x if isinstance(x, (tuple, list)) else [x] * len(bench.x_names)
            values = []
            for line in bench.line_vals:
                value = self.fn(**dict(zip(bench.x_names, xs)), **{bench.line_arg: line}, **bench.args, **kwargs)
                values.append(value[0] if isinstance(value, (tuple, list)) else value)
            rows.append([*xs, *values])
        return rows

    def run(self, show_plots=False, print_data=False, save_path="", return_df=False, **kwargs):
        benches = self.benchmarks if isinstance(self.benchmarks, (list, tuple)) else [self.benchmarks]
        tables = []
        for bench in benches:
            rows = self._table(bench, kwargs)
            tables.append(rows)
            if print_data or show_plots:
                print(f"{bench.plot_name}:")
                print("  ".join(f"{name:>14}" for name in [*bench.x_names, *bench.line_names]))
                for row in rows:
                    print("  ".join(f"{value:>14.6g}" if isinstance(value, float) else f"{value!s:>14}" for value in row))
        if return_df:
            import pandas
            frames = [pandas.DataFrame(rows, columns=[*bench.x_names, *bench.line_names]) for bench, rows in zip(benches, tables)]
            return frames if isinstance(self.benchmarks, (list, tuple)) else frames[0]
        return None


def perf_report(benchmarks):
    """Marks a function of (x names.., line argument, ..) -> number as a benchmark."""
    return lambda fn: Mark(fn, benchmarks)


@contextlib.contextmanager
def set_gpu_clock(ref_sm_clock=1350, ref_mem_clock=1215):
    """Nothing to set on the CPU."""
    yield 0, 0


def cuda_memcheck(**target_kwargs):
    """For tests that ask for it: runs them as they are."""

    def decorate(test):

        @functools.wraps(test)
        def run(*args, **kwargs):
            return test(*args, **kwargs)

        return run

    return decorate
