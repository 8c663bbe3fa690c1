# SPDX-License-Identifier: Apache-2.0
"""triton.profiler: how long kernels and scopes take, as a tree that is written to a file.

    start(name), .. launches and scopes .., finalize()      writes NAME.hatchet, which profiler.viewer prints

A node of the tree is a scope, or a kernel launched inside of it; it has a count, a time and what its program says of it ("flops16",
"bytes"). Times are of the device's events on CUDA, of the host's clock on the CPU. Only kernels of ours are seen one by one: what else
runs inside of a scope counts as time of the scope.
"""
import functools
import json
import os
import threading
import time

from .. import knobs
from ..backends.driver import CUDADriver
from ..runtime.driver import driver

DEFAULT_PROFILE_NAME = "proton"
_LATER = 4096  # pairs of events that wait to be read

_sessions = {}
_scopes = threading.local()


class _Node:
    """A scope or a kernel, with all its calls."""

    def __init__(self, name):
        self.name = name
        self.children, self.metrics = {}, {}
        self.count, self.nanoseconds = 0, 0.0

    def child(self, name):
        return self.children.setdefault(name, _Node(name))

    def add(self, metrics):
        for name, value in (metrics or {}).items():
            if isinstance(value, (int, float)):
                self.metrics[name] = self.metrics.get(name, 0) + value

    def tree(self):
        """As the file has it. A node with children takes the time that they take; one without, its own."""
        children = [child.tree() for child in self.children.values()]
        metrics = {"count": self.count, **self.metrics}
        if not children:
            metrics["time (ns)"] = self.nanoseconds
        return {"frame": {"name": self.name, "type": "function"}, "metrics": metrics, "children": children}


class _Clock:
    """Times between two moments of the current CUDA stream, or of the host."""

    def __init__(self):
        self._waiting = []

    def now(self):
        if not isinstance(driver.active, CUDADriver):
            return time.perf_counter_ns()
        import torch
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def count(self, node, start):
        node.count += 1
        end = self.now()
        if isinstance(end, int):
            node.nanoseconds += end - start
        else:
            self._waiting.append((node, start, end))
            if len(self._waiting) > _LATER:
                self.settle()

    def settle(self):
        for node, start, end in self._waiting:
            end.synchronize()
            node.nanoseconds += start.elapsed_time(end) * 1e6
        self._waiting.clear()


class _Session:

    def __init__(self, name, hook):
        self.path, self.named_by_program = name, hook == "triton"
        self.root, self.clock, self.active = _Node("ROOT"), _Clock(), True
        self._open = threading.local()

    def here(self):
        node = self.root
        for scope in getattr(_scopes, "names", ()):
            node = node.child(scope)
        return node

    def enter(self, metadata):
        data = metadata.get()
        node = self.here().child(str(data["name"]) if self.named_by_program else metadata.kernel_name)
        if self.named_by_program:
            node.add({name: value for name, value in data.items() if name not in ("name", "function", "stream")})
        self._open.launch = node, self.clock.now()

    def leave(self):
        node, start = self._open.__dict__.pop("launch", (None, None))
        if node:
            self.clock.count(node, start)

    def write(self, form):
        self.clock.settle()
        path = f"{self.path}.{form or 'hatchet'}"
        with open(path, "w") as file:
            json.dump([self.root.tree(), {}], file, indent=1)


def _enter(metadata):
    for session in _active():
        session.enter(metadata)


def _leave(metadata):
    for session in _active():
        session.leave()


def _active():
    return [session for session in _sessions.values() if session.active]


def _follow():
    """Launches are watched while a session is active: a launch that nobody watches costs nothing."""
    change = "add" if _active() else "remove"
    getattr(knobs.runtime.launch_enter_hook, change)(_enter)
    getattr(knobs.runtime.launch_exit_hook, change)(_leave)


def start(name=None, *, context="shadow", data="tree", backend=None, mode=None, hook=None):
    """Starts a session and gives its number. hook="triton": kernels go by the name, and with the metrics, of their launch_metadata."""
    for what, value, known in (("context", context, ("shadow", None)), ("data", data, ("tree", None)), ("backend", backend, (None, "cupti")),
                               ("mode", mode, (None, "")), ("hook", hook, (None, "", "triton"))):
        if value not in known:
            raise ValueError(f"profiler.start: {what}={value!r} is not there; the profiler times launches and scopes ({what}={known[0]!r})")
    number = max(_sessions, default=-1) + 1
    _sessions[number] = _Session(os.fspath(name) if name is not None else DEFAULT_PROFILE_NAME, hook)
    _follow()
    return number


def _of(session):
    if session is None:
        return list(_sessions)
    if session not in _sessions:
        raise ValueError(f"profiler: there is no session {session!r}; start() gives its number")
    return [session]


def activate(session=None):
    """Counts from here on; None: in all sessions."""
    for number in _of(session):
        _sessions[number].active = True
    _follow()


def deactivate(session=None):
    """Counts nothing until activate; None: in all sessions."""
    for number in _of(session):
        _sessions[number].active = False
    _follow()


def finalize(session=None, output_format=""):
    """Ends a session, or all, and writes its file."""
    if output_format not in ("", None, "hatchet"):
        raise ValueError(f"profiler.finalize: output_format={output_format!r} is not there, only 'hatchet'")
    for number in _of(session):
        ended = _sessions.pop(number)
        _follow()
        ended.write(output_format)


class scope:
    """`with scope("name", {"flops": n}):`, or a decorator: what runs inside is a node of that name."""

    def __init__(self, name, metrics=None):
        self.name, self.metrics = name, metrics
        self._starts = []

    def __enter__(self):
        enter_scope(self.name, metrics=self.metrics)
        return self

    def __exit__(self, *fault):
        exit_scope()

    def __call__(self, function):

        @functools.wraps(function)
        def inside(*args, **kwargs):
            with scope(self.name, self.metrics):
                return function(*args, **kwargs)

        return inside


class cpu_timed_scope(scope):
    """A scope with the host's time as well ("cpu_time (ns)")."""

    def __init__(self, name, metrics=None):
        if metrics and "cpu_time" in metrics:
            raise ValueError("The metric name 'cpu_time' is reserved.")
        super().__init__(name, metrics)

    def __enter__(self):
        self._starts.append(time.perf_counter_ns())
        return super().__enter__()

    def __exit__(self, *fault):
        exit_scope(metrics={"cpu_time (ns)": time.perf_counter_ns() - self._starts.pop()})


def enter_scope(name, *, metrics=None):
    if not hasattr(_scopes, "names"):
        _scopes.names, _scopes.starts = [], []
    _scopes.names.append(str(name))
    starts = []
    for session in _active():
        node = session.here()
        node.add(metrics)
        starts.append((session, node, session.clock.now()))
    _scopes.starts.append(starts)
    return len(_scopes.names) - 1


def exit_scope(name=None, *, metrics=None):
    if not getattr(_scopes, "names", None):
        raise RuntimeError("profiler.exit_scope: no scope is open")
    for session, node, start in _scopes.starts.pop():
        node.add(metrics)
        session.clock.count(node, start)
    _scopes.names.pop()
    return len(_scopes.names)


def profile(func=None, *, name=None, context="shadow", data="tree", backend=None, mode=None, hook=None):
    """A decorator: each call is a session of its own."""

    def decorate(function):

        @functools.wraps(function)
        def profiled(*args, **kwargs):
            session = start(name, context=context, data=data, backend=backend, mode=mode, hook=hook)
            try:
                return function(*args, **kwargs)
            finally:
                finalize(session)

        return profiled

    return decorate if func is None else decorate(func)
