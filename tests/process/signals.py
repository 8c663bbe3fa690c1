# SPDX-License-Identifier: Apache-2.0
"""signals.py: Ctrl-C and its kin while a compiler hangs and while a kernel does not end.

The process ends by the signal, within a second (a busy machine is given more); no compiler, nothing it started, and no folder stays.
"""
import os
import pathlib
import signal
import subprocess
import time

TARGETS = {"cpu": [], "interp": ["--target", "interp"], "emulated": ["--target", "cuda", "--emulate"],
           "tenstorrent": ["--target", "tenstorrent"]}
HEAD = """
import triton
import triton.language as tl

@triton.jit
def k(x, n):
"""
PLAIN = HEAD + "    o = tl.arange(0, 64)\n    tl.store(x + o, tl.load(x + o) + 1)\n"
ENDLESS = {
    "while": HEAD + "    i = 0.0\n    while i < n:\n        i += tl.load(x + 1) * 0\n    tl.store(x, i)\n",
    "for": HEAD + "    s = tl.zeros((64,), tl.float32)\n    for i in range(0, n.to(tl.int64) * 1000000):\n"
                  "        s += tl.load(x + tl.arange(0, 64)) * 0\n    tl.store(x + tl.arange(0, 64), s)\n",
    "grid": HEAD + "    tl.atomic_add(x + tl.program_id(0) % 64, 1.0)\n",
}


def await_that(condition, seconds=10):
    end = time.time() + seconds
    while not condition() and time.time() < end:
        time.sleep(0.01)
    return condition()


def running_with(mark):
    """Processes that were started with this word in their environment."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (entry / "environ").read_bytes():
                found.append(entry.name)
        except OSError:
            pass
    return found


def obey():
    """A shell starts what runs in its background with SIGINT ignored."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Test:

    def __init__(self, tilewright, folder, say):
        self.tilewright, self.root, self.say = tilewright, pathlib.Path(folder), say
        self.count = self.wrong = 0

    def start(self, text, options, grid, environment, before=None, command="run"):
        self.count += 1
        self.work = self.root / f"work_{self.count}"
        self.work.mkdir()
        self.cache = self.work / "cache"
        self.mark = f"TILEWRIGHT_TEST_MARK={os.getpid()}_{self.count}"
        (self.work / "k.py").write_text(text)
        environment = {**os.environ, "TILEWRIGHT_CACHE_DIR": str(self.cache), "TMPDIR": str(self.work), **environment}
        environment.update([self.mark.split("=")])
        launch = [] if command == "build" else ["--grid", grid]
        extra = {"build": ["-o", "built"], "tune": ["--try", "variant=0,1"]}.get(command, [])
        return subprocess.Popen([self.tilewright, command, "k.py", "--arg", "x=zeros:f32[64]", "--arg", "n=1000000", *launch, *extra,
                                 "--set", f"max_steps={1 << 60}", *options],
                                cwd=self.work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                preexec_fn=lambda: (obey(), before and before()))

    def end(self, name, process, numbers, limit=3.0):
        start = time.time()
        for number in numbers:
            process.send_signal(number)
            if len(numbers) > 1:
                time.sleep(0.005)
        try:
            said, _ = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            said = process.communicate()[0] + " (it went on)"
        spent = time.time() - start
        faults = []
        if process.returncode != -numbers[0]:
            faults.append(f"status {process.returncode}")
        if spent > limit:
            faults.append(f"took {spent:.2f} s")
        if said:
            faults.append(f"said {said!r}")
        # Killed outright, it needs its guard, which is another process.
        if not await_that(lambda: not running_with(self.mark), 5 if numbers[0] == signal.SIGKILL else 1):
            faults.append("processes stay")
        left = [str(path) for path in self.work.rglob("*") if "room-" in path.name or path.name.startswith(("cc", "built", "tilewright"))]
        if left:
            faults.append(f"left {left}")
        if faults:
            self.wrong += 1
            self.say(f"{name}: {', '.join(faults)}")


def hanging_compilers(t):
    script = t.root / "cc"
    script.write_text("#!/bin/sh\nmktemp >/dev/null\nsleep 100 &\necho >>\"$TILEWRIGHT_TEST_STARTED\"\nsleep 100\n")
    script.chmod(0o755)
    lists = [[signal.SIGINT], [signal.SIGTERM], [signal.SIGHUP], [signal.SIGKILL], [signal.SIGINT] * 2, [signal.SIGTERM] * 5]
    cases = [("run", target, numbers) for target in ("cpu", "emulated", "tenstorrent") for numbers in (lists if target == "cpu" else lists[:2])]
    cases += [(command, "cpu", numbers) for command in ("check", "bench", "tune", "build") for numbers in lists[:1] + lists[3:4]]
    for command, target, numbers in cases:
        started = t.root / f"started_{t.count}"
        process = t.start(PLAIN, TARGETS[target], "1", {"CC": str(script), "CXX": str(script), "TILEWRIGHT_TEST_STARTED": str(started)}, command=command)
        name = f"{command} with a hanging compiler for {target}, {[n.name for n in numbers]}"
        if not await_that(started.exists):
            t.wrong += 1
            t.say(f"{name}: it was not started")
        t.end(name, process, numbers)


def endless_kernels(t):
    for target, options in TARGETS.items():
        for name, text in ENDLESS.items():
            if target == "tenstorrent" and name != "for":
                continue  # which it refuses
            grid = "2000000000" if name == "grid" else "2"
            process = t.start(text, options, grid, {})
            # it has been compiled when its parts lie in the cache and no folder to work in is left
            await_that(lambda: target == "interp" or process.poll() is not None or
                       (any(t.cache.glob("??/*")) and not any(t.cache.glob("room-*"))), 30)
            time.sleep(0.5)
            if process.poll() is not None:
                t.wrong += 1
                t.say(f"{name} on {target}: it ended by itself: {process.communicate()[0]}")
                continue
            t.end(f"{name} on {target}", process, [signal.SIGINT if t.count % 2 else signal.SIGTERM])
    for command in ("bench", "tune"):
        process = t.start(ENDLESS["for"], [], "2", {}, command=command)
        await_that(lambda: process.poll() is not None or (any(t.cache.glob("??/*")) and not any(t.cache.glob("room-*"))), 30)
        time.sleep(0.5)
        if process.poll() is not None:
            t.wrong += 1
            t.say(f"{command} of an endless kernel ended by itself: {process.communicate()[0]}")
            continue
        t.end(f"{command} of an endless kernel", process, [signal.SIGINT])


def ignored(t):
    """What the caller has told us to ignore (nohup) does not end us."""
    process = t.start(ENDLESS["for"], [], "1", {}, lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    await_that(lambda: any(t.cache.glob("??/*")))
    process.send_signal(signal.SIGHUP)
    time.sleep(0.3)
    if process.poll() is not None:
        t.wrong += 1
        t.say("an ignored signal ended it")
    t.end("ignored", process, [signal.SIGTERM])


def main(tilewright, folder, say):
    t = Test(tilewright, folder, say)
    hanging_compilers(t)
    endless_kernels(t)
    ignored(t)
    return t.count, t.wrong
