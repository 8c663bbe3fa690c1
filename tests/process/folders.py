# SPDX-License-Identifier: Apache-2.0
"""folders.py: caches, temporary folders, compilers and file names as a hostile environment sets them.

Every run gives the right numbers or a refusal in words; a cache that cannot be used is said once; nothing is taken for an option of
a compiler or for a command of a shell; nothing appears outside of the folders that were named.
"""
import os
import pathlib
import resource
import subprocess

ADD = """
import triton
import triton.language as tl

@triton.jit
def k(x, n):
    o = tl.arange(0, 64)
    tl.store(x + o, tl.load(x + o, mask=o < n) + %d, mask=o < n)
"""
TARGETS = {"cpu": [], "emulated": ["--target", "cuda", "--emulate"], "tenstorrent": ["--target", "tenstorrent"]}
ODD = ["-x", "-o pwned", "a b", "quote'\"quote", "$(touch pwned)", "`touch pwned`", "; touch pwned ;", "new\nline", "back\\slash", "%s%n",
       "@file", "-I", "--help", "ünï", "-Wl,-rpath,pwned", "a=b", "*", "~", "&", "|touch pwned"]


class Place:
    """An empty working folder, and the environment of a run in it."""

    def __init__(self, tilewright, folder, say):
        self.tilewright, self.root, self.say = tilewright, pathlib.Path(folder), say
        self.count = self.wrong = 0

    def fresh(self):
        self.count += 1
        self.work = self.root / f"work_{self.count}"
        self.work.mkdir()
        (self.work / "k.py").write_text(ADD % self.count)  # never in a cache before

    def run(self, environment, options=(), file="k.py", largest=None):
        """largest: bytes of a file, as a disk that is full has it."""
        limit = largest and (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest)))
        kept = {"PATH": os.environ["PATH"], "HOME": str(self.work / "home"), **environment}
        kept = {name: value for name, value in kept.items() if value is not None}
        return subprocess.run([self.tilewright, "run", file, "--arg", "x=ones:f32[64]", "--arg", "n=60", "--grid", "1", *options],
                              cwd=self.work, env=kept, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=120,
                              preexec_fn=limit)

    def expect(self, name, done, ok=True, words="", allowed=("k.py", "home")):
        right = done.returncode == (0 if ok else 1) and words in done.stdout
        if ok:
            right = right and "60 of 64 elements changed" in done.stdout
        strangers = [entry.name for entry in self.work.iterdir() if entry.name not in allowed]
        if right and not strangers and done.stdout.count("compiled kernels are not kept") <= 1:
            return
        self.wrong += 1
        self.say(f"{name}: status {done.returncode}, left {strangers}\n{done.stdout[-1500:]}")

    def rooms(self, name, *folders):
        left = [str(room) for folder in folders for room in pathlib.Path(folder).glob("room-*")]
        if left:
            self.wrong += 1
            self.say(f"{name}: left {left}")


def odd_names(p):
    for number, odd in enumerate(ODD):
        target = list(TARGETS)[number % len(TARGETS)]
        for variable in ("TILEWRIGHT_CACHE_DIR", "TMPDIR", "XDG_CACHE_HOME", "HOME")[:2 if number > 3 else 4]:
            p.fresh()
            environment = {variable: odd}
            if variable == "TMPDIR":
                (p.work / odd).mkdir()
                environment["TILEWRIGHT_CACHE_DIR"] = "/proc/nothing"
            p.expect(f"{variable}={odd!r} on {target}", p.run(environment, TARGETS[target]), allowed=("k.py", "home", odd))
            p.rooms(f"{variable}={odd!r}", p.work / odd, p.work / odd / "tilewright", p.work / odd / ".cache/tilewright")


def bad_caches(p):
    def no_home(cache):
        return {"HOME": None}, "no cache folder is known"

    def empty(cache):
        return {"TILEWRIGHT_CACHE_DIR": "", "HOME": ""}, "no cache folder is known"

    def file(cache):
        cache.write_text("a file")
        return {}, "is not a folder"

    def below_file(cache):
        cache.write_text("a file")
        return {"TILEWRIGHT_CACHE_DIR": str(cache / "inside")}, "lies below a file"

    def link(cache):
        (p.work / "home").mkdir()
        cache.symlink_to(p.work / "home")
        return {}, "is a symbolic link"

    def loop(cache):
        cache.symlink_to(cache)
        return {}, "is a symbolic link"

    def dangling(cache):
        cache.symlink_to(p.root / "nowhere")
        return {}, "is a symbolic link"

    def shared(cache):
        cache.mkdir()
        cache.chmod(0o777)
        return {}, "can be written by others"

    def foreign(cache):
        cache.mkdir()
        if os.geteuid() != 0:
            return {"TILEWRIGHT_CACHE_DIR": "/usr"}, "belongs to another user"
        os.chown(cache, 12345, 12345)
        return {}, "belongs to another user"

    def pipe(cache):
        os.mkfifo(cache)
        return {}, "is not a folder"

    def proc(cache):
        return {"TILEWRIGHT_CACHE_DIR": "/proc/tilewright/cache"}, "cannot be made"

    def device(cache):
        return {"TILEWRIGHT_CACHE_DIR": "/dev/null"}, "is not a folder"

    def long(cache):
        return {"TILEWRIGHT_CACHE_DIR": "/tmp/" + "x/" * 2000}, "too long"

    def long_name(cache):
        return {"TILEWRIGHT_CACHE_DIR": str(cache) + "x" * 300}, "has too long a name"

    for make in (no_home, empty, file, below_file, link, loop, dangling, shared, foreign, pipe, proc, device, long, long_name):
        for target, options in TARGETS.items():
            p.fresh()
            cache = p.work / "cache"
            environment, words = make(cache)
            done = p.run({"TILEWRIGHT_CACHE_DIR": str(cache) if "HOME" not in environment else None, **environment}, options)
            p.expect(f"{make.__name__} on {target}", done, words=words, allowed=("k.py", "home", "cache"))
            if make is link:
                p.rooms("link", p.work / "home")


def good_caches(p):
    """Kept, found again, and no word about it."""
    for name, environment in {"relative": {"TILEWRIGHT_CACHE_DIR": "cache"}, "dots": {"TILEWRIGHT_CACHE_DIR": "./a/../cache"},
                              "home": {}, "through a link": {"TILEWRIGHT_CACHE_DIR": "link/cache"}}.items():
        p.fresh()
        (p.work / "a").mkdir()
        (p.work / "real").mkdir()
        (p.work / "link").symlink_to("real")
        for _ in range(2):
            done = p.run(environment)
            p.expect(name, done, allowed=("k.py", "home", "cache", "a", "link", "real"))
            if "not kept" in done.stdout:
                p.wrong += 1
                p.say(f"{name}: a good cache is refused\n{done.stdout}")


def compilers(p):
    for number, (text, ok, words) in enumerate([
            ("gcc -O0", True, ""), ("  gcc\t-O1   -g ", True, ""), ("env gcc", True, ""), ("-x", False, "is not a program in PATH"),
            ("/no/such/cc", False, "is not a program in PATH"), ("gcc --no-such-option", False, "refused the emitted code"),
            ("/bin/false", False, "refused the emitted code"), ("/bin/true", False, "could not be loaded"), ("sleep", False, "refused"),
            ("gcc" + " -O1" * 20, False, "more than 16 words"), ("/", False, ""), (".", False, ""), ("'gcc'", False, "is not a program"),
            ("gcc\n-O1", True, "")]):
        for target, options in TARGETS.items():
            p.fresh()
            compiler = text.replace("gcc", "g++") if target != "cpu" else text
            p.expect(f"CC={compiler!r} on {target}", p.run({"CC": compiler, "CXX": compiler}, options), ok, words)
    p.fresh()
    p.expect("CC blank", p.run({"CC": "", "CXX": ""}))
    p.fresh()
    p.expect("CC of spaces", p.run({"CC": "   "}), False, "CC is set to")


def full_disks(p):
    for largest in range(6 << 10, 17 << 10, 2 << 10):  # the sources fit, or not; what the compiler makes of them fits, or not
        p.fresh()
        done = p.run({"TILEWRIGHT_CACHE_DIR": "kept"}, largest=largest)
        ok = done.returncode == 0
        p.expect(f"files of {largest} bytes at most", done, ok, "" if ok else "no room to compile in", ("k.py", "home", "kept"))
        p.rooms("full disk", p.work / "kept")


def file_names(p):
    for odd in ODD:
        p.fresh()
        name = odd.replace("/", "_") + ".py"
        (p.work / name).write_text((p.work / "k.py").read_text())
        p.expect(f"file {name!r}", p.run({}, file="./" + name), allowed=("k.py", "home", name))


def main(tilewright, folder, say):
    place = Place(tilewright, folder, say)
    for part in (odd_names, bad_caches, good_caches, compilers, full_disks, file_names):
        part(place)
    return place.count, place.wrong
