# SPDX-License-Identifier: Apache-2.0
"""triton.runtime.tuning: how a kernel is tuned: compile all configurations side by side, time each, choose, remember.

Compiles run ahead in threads (JITFunction.prepare), one a processor. On CUDA a configuration is timed as soon as it is compiled, while
others still are; on the CPU the timing waits for the last compile, because both want the same processors.

The choice is the fastest; but configurations whose times overlap with its times (from the 20th to the 80th of 100) are as fast as far
as can be told: those are timed once more, and among those that still overlap the first of the list is taken. So the same kernel tuned
twice gives the same choice unless times differ by more than their spread.
"""
import concurrent.futures
import hashlib
import json
import os
import sys
import tempfile
import threading

from ... import _native
from . import cache


def rows_of(choices, place):
    """The choices for the kernel at that place: of a file, or of what it holds."""
    name, content = "what is pinned", choices
    if not isinstance(choices, dict):
        name = os.fspath(choices)
        with open(choices) as file:
            try:
                content = json.load(file)
            except ValueError:
                content = None
    if not isinstance(content, dict) or not isinstance(content.get("kernels"), dict):
        raise ValueError(f'{name} is no file of choices: an object with "kernels" is expected, as `tilewright tune -o` and export() write it')
    return content["kernels"].get(place, ())


def workers():
    """How many compiles run side by side."""
    wish = os.environ.get("TILEWRIGHT_COMPILE_THREADS")
    if wish and wish.isdigit():
        return int(wish)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Progress:
    """One line on a terminal: how far the tuning is. Nothing where standard error is no terminal, or TILEWRIGHT_PROGRESS=0."""

    def __init__(self, name, total):
        self.name, self.total = name, total
        self.compiled = self.timed = self.failed = 0
        self.best = None
        self.shown = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TILEWRIGHT_PROGRESS") != "0"

    def show(self):
        if self.shown:
            best = f", best {self.best[0]:.4g} ms ({self.best[1]})" if self.best else ""
            failed = f", {self.failed} failed" if self.failed else ""
            line = f"tuning {self.name}: {self.timed} of {self.total} timed, {self.compiled} compiled{failed}{best}"
            sys.stderr.write("\r\x1b[K" + line[:119])
            sys.stderr.flush()

    def end(self):
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class Ahead:
    """Compiles that run ahead of their use; prepare(config) -> a function that compiles it, or None."""

    def __init__(self, configs, prepare, progress):
        self._futures, self._pool, self._progress = {}, None, progress
        jobs = [(config, prepare(config)) for config in configs] if workers() > 1 and len(configs) > 1 else []
        jobs = [(config, job) for config, job in jobs if job]
        if jobs:
            self._pool = concurrent.futures.ThreadPoolExecutor(min(workers(), len(jobs)), thread_name_prefix="tilewright-compile")
            for config, job in jobs:
                self._futures[config] = self._pool.submit(job)
                self._futures[config].add_done_callback(self._count)

    def _count(self, future):
        self._progress.compiled += 1

    def wait(self, configs):
        """Until these are compiled, or have failed, which their launch says again; Ctrl-C ends the wait."""
        for config in configs:
            future = self._futures.get(config)
            while future is not None and not future.done():
                concurrent.futures.wait([future], timeout=0.1)
                self._progress.show()

    def end(self):
        if self._pool is not None:
            for future in self._futures.values():
                future.cancel()
            _native.cancel_ahead()
            self._pool.shutdown(wait=True)


def spread(times):
    """(median, low, high) of what a benchmark gave."""
    if isinstance(times, (list, tuple)):
        low, high = (times[1], times[2]) if len(times) >= 3 else (times[0], times[0])
        return times[0], low, high
    return times, times, times


def equals(timings):
    """The configurations that are as fast as the fastest, as far as their times tell; in the order of the list."""
    rows = {config: spread(times) for config, times in timings.items()}
    median, _, high = min(rows.values())
    return [config for config, (middle, low, _) in rows.items() if middle == median or low <= high] if median < float("inf") else []


AGAIN = {"warmup": 5, "rep": 25}  # milliseconds of the second look


def choose(timings, time_again):
    """The configuration to use. time_again(config) -> times once more."""
    same = equals(timings)
    if len(same) > 1:
        again = {}
        for config in same[:8]:
            first, second = spread(timings[config]), spread(time_again(config))
            both = [(first[0] + second[0]) / 2, max(first[1], second[1]), min(first[2], second[2])]
            again[config] = both if both[1] <= both[2] else list(second)
        same = equals(again) or same
    return same[0] if same else None


class Store:
    """Choices on disk: one JSON file for each kernel with its configurations, compiler and device."""

    def __init__(self, function, configs, device):
        told = [cache.triton_key(), function.cache_key, device, *(config.text() for config in configs)]
        name = getattr(function, "__name__", "kernel")
        digest = hashlib.sha256("\n".join(told).encode()).hexdigest()
        self.path = os.path.join(cache.default_cache_dir(), "autotune", f"{name}-{digest[:32]}.json")

    def read(self):
        """{key as text: text of the configuration}; nothing where the file is missing or broken."""
        try:
            with open(self.path) as file:
                rows = json.load(file)
            return {row["key"]: row["config"] for row in rows["choices"]}
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def add(self, key, config, timings):
        """Another choice. Two processes that tune at once may lose one; the next run tunes it again."""
        rows = {**self.read(), key: config.text()}
        content = {"choices": [{"key": key, "config": text} for key, text in rows.items()],
                   "times of the last": {other.text(): spread(times)[0] for other, times in timings.items()}}
        try:
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            handle, made = tempfile.mkstemp(dir=os.path.dirname(self.path))
            with os.fdopen(handle, "w") as file:
                json.dump(content, file, indent=1)
            os.replace(made, self.path)
        except OSError:
            pass  # as with compiled kernels: what cannot be kept is made again


def key_text(key):
    """A key as it is written to files."""
    return json.dumps([value if isinstance(value, (bool, int, float, str, type(None))) else str(value) for value in key])


lock = threading.RLock  # one for each tuner: a key is tuned once, whoever asks
