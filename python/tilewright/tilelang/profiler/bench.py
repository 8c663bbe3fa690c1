# SPDX-License-Identifier: Apache-2.0
"""tilelang.profiler.bench: do_bench."""


def do_bench(fn, warmup=25, rep=100, _n_warmup=0, _n_repeat=0, quantiles=None, fast_flush=True, backend="event", return_mode="mean", device=None, grad_to_none=None,
             early_stop_baseline=None):
    """Milliseconds of a call, over about `rep` milliseconds of calls after `warmup` milliseconds of them."""
    from ...triton import testing
    if return_mode not in ("min", "max", "mean", "median"):
        raise ValueError(f"return_mode is min, max, mean or median, not {return_mode!r}")
    if backend == "cudagraph":
        return testing.do_bench_cudagraph(fn, rep=rep, grad_to_none=grad_to_none, quantiles=quantiles, return_mode=return_mode)
    return testing.do_bench(fn, warmup=warmup, rep=rep, grad_to_none=grad_to_none, quantiles=quantiles, return_mode=return_mode)
