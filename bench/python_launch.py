#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python_launch.py: what a warm launch costs from Python, in microseconds of the launching thread's own time.

    PYTHONPATH=build/python python3 bench/python_launch.py

The kernels do nothing, so that what is left is the launch: binding and tagging the arguments, finding the kernel, handing it to
the library. Medians of 20 rounds.
"""
import statistics
import time

import numpy as np

import tilewright.triton as triton


@triton.jit
def nothing(n):
    pass


@triton.jit
def four(x, y, out, n):
    pass


@triton.jit
def nineteen(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s):
    pass


@triton.autotune(configs=[triton.Config({}, num_warps=warps) for warps in (2, 4)], key=["n"], warmup=0, rep=0)
@triton.jit
def tuned(x, y, out, n):
    pass


def measure(launch, calls=2000):
    launch()
    rounds = []
    for _ in range(20):
        start = time.thread_time()
        for _ in range(calls):
            launch()
        rounds.append((time.thread_time() - start) / calls * 1e6)
    return statistics.median(rounds)


def main():
    grid = (1, )
    x, y, out = (np.zeros(1000, np.float32) for _ in range(3))
    numbers = range(2, 15)
    kinds = {"numpy": (x, y, out)}
    try:
        import torch
        kinds["torch"] = tuple(map(torch.from_numpy, (x, y, out)))
    except ImportError:
        print("torch is not installed: without its rows")
    print(f"{'one number':40} {measure(lambda: nothing[grid](5)):6.2f}")
    for kind, (x, y, out) in kinds.items():
        print(f"{kind + ': 3 arrays and a number':40} {measure(lambda: four[grid](x, y, out, 5)):6.2f}")
        plain, chosen = measure(lambda: four[grid](x, y, out, 5, num_warps=2)), measure(lambda: tuned[grid](x, y, out, 5))
        print(f"{kind + ': the same, autotuned':40} {chosen:6.2f}, {chosen / plain:.2f} of a plain one with num_warps")
        print(f"{kind + ': 6 arrays and 13 numbers':40} {measure(lambda: nineteen[grid](x, y, out, x, y, out, *numbers)):6.2f}")


if __name__ == "__main__":
    main()
