# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C ends what takes long, as KeyboardInterrupt, and leaves a process that goes on working."""
import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import tilewright.triton as triton
import tilewright.triton.language as tl


@pytest.fixture(autouse=True)
def interrupts():
    """A shell that starts the tests in the background has them ignore SIGINT; the processes they start inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


SECONDS = 3  # a user waits less than one; a machine that does other things is given more


@triton.jit
def spin(x, n):
    i = 0
    while i < n:
        i += tl.load(x)
    tl.store(x + 1, i)


@triton.jit
def count_far(x, n):
    s = tl.program_id(0)
    for i in range(0, n.to(tl.int64) * 1000000000):
        s = s * 3 + 1
    tl.store(x + 1, s)


@triton.jit
def count_programs(x, n):
    tl.atomic_add(x + tl.program_id(0) % 64, 1)


@triton.jit
def add_one(x, y):
    o = tl.arange(0, 64)
    tl.store(y + o, tl.load(x + o) + 1)


def strike(after=0.2, number=signal.SIGINT):
    timer = threading.Timer(after, lambda: os.kill(os.getpid(), number))
    timer.start()
    return timer


def still_works():
    x, y = np.arange(64, dtype=np.int32), np.zeros(64, dtype=np.int32)
    add_one[(1,)](x, y)
    assert (y == x + 1).all()


CASES = [(spin, (2,)), (count_far, (1,)), (count_programs, (2**31 - 1, 2**31 - 1))]


@pytest.mark.parametrize("kernel, grid", CASES, ids=[kernel.__name__ for kernel, _ in CASES])
def test_a_launch_ends(kernel, grid):
    x = np.zeros(1024, dtype=np.int32)
    kernel.warmup(x, 1000000, grid=grid)
    for _ in range(2):
        strike()
        start = time.time()
        with pytest.raises(KeyboardInterrupt):
            kernel[grid](x, 1000000)
        assert time.time() - start < SECONDS
        still_works()


def test_a_handler_of_the_user_decides():
    x, seen = np.zeros(1024, dtype=np.int32), []

    def handler(number, frame):
        seen.append(number)
        if len(seen) == 2:
            raise LookupError("twice")

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        strike(0.1, signal.SIGUSR1), strike(0.3, signal.SIGUSR1)
        with pytest.raises(LookupError, match="twice"):
            spin[(1,)](x, 5)
        assert len(seen) == 2
    finally:
        signal.signal(signal.SIGUSR1, before)
    still_works()


def test_a_wait_for_another_thread_ends():
    """The main thread waits for a launch of another thread, which Ctrl-C does not concern."""
    x = np.zeros(1024, dtype=np.int32)
    spin.warmup(x, 5, grid=(1,))
    other = threading.Thread(target=lambda: spin[(1,)](x, 5))
    other.start()
    time.sleep(0.1)
    strike()
    with pytest.raises(KeyboardInterrupt):
        still_works()
    x[0] = 5  # the other one sees it and ends
    other.join(5)
    assert not other.is_alive()
    still_works()


HANGING = textwrap.dedent("""\
    import os, signal, sys, threading
    import numpy as np
    import tilewright.triton as triton
    import tilewright.triton.language as tl

    @triton.jit
    def kernel(x):
        tl.store(x, 1)

    x = np.zeros(4, dtype=np.int32)
    print("ready", flush=True)
    try:
        kernel[(1,)](x)
    except KeyboardInterrupt:
        print("interrupted", [name for name in os.listdir(os.environ["TILEWRIGHT_CACHE_DIR"]) if "room" in name])
        os.environ.pop("CC")
        kernel[(1,)](x)
        print("then", x[0])
""")


def rooms(cache):
    return [path for path in cache.glob("room-*")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=["INT", "TERM", "KILL"])
def test_a_compile_ends(tmp_path, number):
    """No compiler and no folder stays, even where Python dies on the spot."""
    script, cache, alive = tmp_path / "cc", tmp_path / "cache", tmp_path / "alive"
    script.write_text(f"#!/bin/sh\n(while :; do echo >{alive}; sleep 0.02; done) &\nsleep 100\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    program = tmp_path / "program.py"
    program.write_text(HANGING)
    process = subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "CC": str(script), "TILEWRIGHT_CACHE_DIR": str(cache)})
    assert process.stdout.readline() == "ready\n"
    deadline = time.time() + 10
    while not alive.exists() and time.time() < deadline:
        time.sleep(0.02)
    assert rooms(cache)
    process.send_signal(number)
    said, _ = process.communicate(timeout=20)
    if number == signal.SIGINT:
        assert said == "interrupted []\nthen 1\n" and process.returncode == 0
    else:
        assert process.returncode == -number
    deadline = time.time() + 2
    while rooms(cache) and time.time() < deadline:
        time.sleep(0.02)
    assert not rooms(cache)
    alive.unlink()
    time.sleep(0.2)
    assert not alive.exists()


@pytest.mark.parametrize("name, value", [("TILEWRIGHT_TARGET", "interp"), ("TILEWRIGHT_SANITIZE", "1")])
def test_the_interpreter_ends(monkeypatch, name, value):

    @triton.jit
    def kernel(x, n):
        i = 0
        while i < n:
            i += tl.load(x)
        tl.store(x + 1, i)

    monkeypatch.setenv(name, value)
    x = np.zeros(16, dtype=np.int32)
    strike()
    start = time.time()
    with pytest.raises(KeyboardInterrupt):
        kernel[(1,)](x, 5)
    assert time.time() - start < SECONDS
    x[0] = 5
    kernel[(1,)](x, 5)
    assert x[1] == 5
    monkeypatch.delenv(name)
    still_works()


def test_the_emulator_ends(monkeypatch):

    @triton.jit
    def kernel(x, n):
        i = 0
        while i < n:
            i += tl.load(x)
        tl.store(x + 1, i)

    monkeypatch.setenv("TILEWRIGHT_EMULATE", "1")
    x = np.zeros(16, dtype=np.int32)
    kernel.warmup(x, 5, grid=(1,))
    strike()
    start = time.time()
    with pytest.raises(KeyboardInterrupt):
        kernel[(1,)](x, 5)
    assert time.time() - start < SECONDS
    x[0] = 5
    made = kernel[(1,)](x, 5)
    assert x[1] == 5 and made._native.target.startswith("cuda")
    monkeypatch.delenv("TILEWRIGHT_EMULATE")
    still_works()


def test_a_compile_ahead_ends(tmp_path):
    """Ctrl-C while configurations are compiled: at once, with all compilers gone."""
    script, cache, alive = tmp_path / "cc", tmp_path / "cache", tmp_path / "alive"
    script.write_text(f"#!/bin/sh\n(while :; do echo >{alive}; sleep 0.02; done) &\nsleep 100\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent("""
        import os, numpy as np, tilewright.triton as triton, tilewright.triton.language as tl
        @triton.autotune(configs=[triton.Config({"B": n}) for n in (16, 32, 64)], key=[], warmup=0, rep=0)
        @triton.jit
        def kernel(x, B: tl.constexpr):
            tl.store(x + tl.arange(0, B), 1)
        x = np.zeros(64, np.float32)
        print("ready", flush=True)
        try:
            kernel[(1,)](x)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        del os.environ["CC"]
        kernel[(1,)](x)
        print("then", x.sum() > 0)
    """))
    process = subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "CC": str(script), "TILEWRIGHT_CACHE_DIR": str(cache), "TILEWRIGHT_COMPILE_THREADS": "3"})
    assert process.stdout.readline() == "ready\n"
    deadline = time.time() + 20
    while not alive.exists() and time.time() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    start = time.time()
    assert process.stdout.readline() == "interrupted\n" and time.time() - start < SECONDS
    said, _ = process.communicate(timeout=60)
    assert said == "then True\n" and process.returncode == 0 and not rooms(cache)
    alive.unlink()
    time.sleep(0.2)
    assert not alive.exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_interrupt_inside_of_the_compiler_is_no_mistake_of_the_kernel(error):

    class Host:
        @property
        def size(self):
            raise error("now")

    host = Host()

    @triton.jit
    def kernel(x):
        tl.store(x, host.size)

    with pytest.raises(error, match="now"):
        kernel[(1,)](np.zeros(4, np.int32))
    still_works()
