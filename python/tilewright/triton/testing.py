# SPDX-License-Identifier: Apache-2.0
"""triton.testing: timing and comparing.

On the CPU times are of the host's clock: a launch has finished when it returns. On CUDA they are of the device's events.

TILEWRIGHT_BENCH=N shortens what takes long: do_bench makes at most N calls, and perf_report takes the N first values of its axis.
"""
import contextlib
import functools
import math
import os
import statistics
import subprocess
import time


def _short():
    """TILEWRIGHT_BENCH, or None."""
    text = os.environ.get("TILEWRIGHT_BENCH", "")
    return max(1, int(text)) if text.isdigit() else None


def _calls(milliseconds, estimate):
    """How many calls fill that time, at least one; not more than TILEWRIGHT_BENCH says."""
    return min(max(1, int(milliseconds / estimate)), _short() or 1 << 30)


def nvsmi(attrs):
    """Numbers that nvidia-smi tells of the first GPU: ["clocks.current.sm"]."""
    told = subprocess.check_output(["nvidia-smi", "-i", "0", "--query-gpu=" + ",".join(attrs), "--format=csv,noheader,nounits"])
    return [int(text) for text in told.decode().split(",")]


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


def _forget(tensors):
    for tensor in tensors or ():
        tensor.grad = None


def _event_times(fn, count, before):
    """Milliseconds of `count` calls on a CUDA device, with `before` run ahead of each and not counted."""
    import torch
    events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(count)]
    for start, end in events:
        before()
        start.record()
        fn()
        end.record()
    torch.cuda.synchronize()
    return [start.elapsed_time(end) for start, end in events]


def _bench_cuda(fn, driver, warmup, rep, grad_to_none):
    cache = driver.get_empty_cache_for_benchmark()

    def before():
        _forget(grad_to_none)
        driver.clear_cache(cache)

    def whole():  # with the flush, which takes longer than a small kernel: it is part of the time that is to be spent
        for _ in range(5):
            before()
            fn()

    fn()
    estimate = max(_event_times(whole, 1, lambda: None)[0] / 5, 1e-3)
    for _ in range(_calls(warmup, estimate)):
        fn()
    return _event_times(fn, _calls(rep, estimate), before)


def _active_cuda():
    from .backends.driver import CUDADriver
    from .runtime.driver import driver
    return driver.active if isinstance(driver.active, CUDADriver) else None


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    """Milliseconds of a call, over about `rep` milliseconds of calls after `warmup` milliseconds of them. On CUDA the L2 is
    flushed before each timed call; on the CPU no cache is."""
    assert return_mode in ("min", "max", "mean", "median", "all")
    cuda = _active_cuda()
    if cuda:
        return _summarize_statistics(_bench_cuda(fn, cuda, warmup, rep, grad_to_none), quantiles, return_mode)

    def once():
        _forget(grad_to_none)
        start = time.perf_counter()
        fn()
        return (time.perf_counter() - start) * 1e3

    once()
    estimate = max(min(once() for _ in range(_calls(3, 1))), 1e-4)
    for _ in range(_calls(warmup, estimate)):
        once()
    return _summarize_statistics([once() for _ in range(_calls(rep, estimate))], quantiles, return_mode)


def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean"):
    """Milliseconds of a call inside a CUDA graph, without what the host does for a launch; do_bench on the CPU, which has no
    graphs."""
    if _active_cuda():
        import torch
        with torch.cuda.stream(torch.cuda.Stream()):
            fn()
            _forget(grad_to_none)
            estimate = max(statistics.median(_event_times(fn, 5, lambda: None)), 1e-3)
            calls = max(1, int(rep / estimate))
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                for _ in range(calls):
                    _forget(grad_to_none)
                    fn()
            return _summarize_statistics([t / calls for t in _event_times(graph.replay, 10, lambda: None)], quantiles, return_mode)
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

    def columns(self):
        """The heads of the table: what is measured stands with its unit."""
        return [*self.x_names, *(f"{name} ({self.ylabel})" if self.ylabel else str(name) for name in self.line_names)]


class Mark:
    """A function with its benchmarks; run prints a table of each."""

    def __init__(self, fn, benchmarks):
        self.fn = fn
        self.benchmarks = benchmarks

    def _table(self, bench, kwargs):
        rows = []
        for x in list(bench.x_vals)[:_short()]:
            xs = x if isinstance(x, (tuple, list)) else [x] * len(bench.x_names)
            values = []
            for line in bench.line_vals:
                value = self.fn(**dict(zip(bench.x_names, xs)), **{bench.line_arg: line}, **bench.args, **kwargs)
                values.append(value[0] if isinstance(value, (tuple, list)) else value)
            rows.append([*xs, *values])
        return rows

    def run(self, show_plots=False, print_data=False, save_path="", return_df=False, save_precision=6, **kwargs):
        """Measures and prints; with save_path writes PLOT_NAME.csv, a picture of it and results.html to that folder."""
        from ._plot import save
        benches = self.benchmarks if isinstance(self.benchmarks, (list, tuple)) else [self.benchmarks]
        tables, pictures = [], []
        for bench in benches:
            rows = self._table(bench, kwargs)
            tables.append(rows)
            if print_data or show_plots:
                print(f"{bench.plot_name}:")
                cells = [["", *bench.columns()]]
                cells += [[str(i), *(f"{value:.6f}" if isinstance(value, float) else str(value) for value in row)] for i, row in enumerate(rows)]
                widths = [max(map(len, column)) for column in zip(*cells)]
                for row in cells:
                    print("  ".join(cell.rjust(width) for cell, width in zip(row, widths)))
            if save_path or show_plots:
                pictures.append(save(bench, rows, save_path, save_precision, show_plots))
        if save_path:
            with open(os.path.join(save_path, "results.html"), "w") as file:
                file.write("<html><body>\n" + "".join(f'<img src="{picture}"/>\n' for picture in pictures) + "</body></html>\n")
        if return_df:
            import pandas
            frames = [pandas.DataFrame(rows, columns=bench.columns()) for bench, rows in zip(benches, tables)]
            return frames if isinstance(self.benchmarks, (list, tuple)) else frames[0]
        return None


def _device_properties(device):
    from .runtime.driver import driver
    return driver.active.utils.get_device_properties(driver.active.get_current_device() if device is None else device)


def get_dram_gbps(device=None):
    """What the memory of a device can move, in GB/s, by its clock and width."""
    found = _device_properties(device)
    return found["mem_clock_rate"] * found["mem_bus_width"] * 2 / 1e6 / 8


def _tflops(device, clock_rate, operations):
    """Of as many operations of a quarter of a multiprocessor and cycle; clock_rate in kHz."""
    return _device_properties(device)["multiprocessor_count"] * 4 * clock_rate * operations * 1e-9


def get_max_tensorcore_tflops(dtype, clock_rate, device=None):
    """What the matrix units of a device can do with a dtype, by their count and clock."""
    bits = getattr(dtype, "itemsize", 4) * 8
    operations = {32: 256, 16: 512, 8: 1024}.get(bits)
    if operations is None:
        raise RuntimeError("dtype not supported")
    return _tflops(device, clock_rate, operations)


def get_max_simd_tflops(dtype, clock_rate, device=None):
    """What the vector units of a device can do with a dtype, by their count and clock."""
    bits = getattr(dtype, "itemsize", 4) * 8
    operations = {32: 64, 16: 128}.get(bits)
    if operations is None:
        raise RuntimeError("dtype not supported")
    return _tflops(device, clock_rate, operations)


def perf_report(benchmarks):
    """Marks a function of (x names.., line argument, ..) -> number as a benchmark."""
    return lambda fn: Mark(fn, benchmarks)


@contextlib.contextmanager
def set_gpu_clock(ref_sm_clock=1350, ref_mem_clock=1215):
    """Fixed clocks of a GPU, which are for its administrator to set; on the CPU there is nothing to set."""
    if _active_cuda():
        raise RuntimeError("set_gpu_clock is not there: clocks of a GPU are set with nvidia-smi, by who may do so")
    yield 0, 0


def cuda_memcheck(**target_kwargs):
    """For tests that ask for it: runs them as they are."""

    def decorate(test):

        @functools.wraps(test)
        def run(*args, **kwargs):
            return test(*args, **kwargs)

        return run

    return decorate
