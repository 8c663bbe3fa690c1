# SPDX-License-Identifier: Apache-2.0
"""Objects of the extension that were made behind its back: without their __init__, with a failed one, by copy or pickle,
with arguments that are nonsense. Each may raise; none may bring the process down.

The sweep runs in a process of its own and writes down what it is about to do, so that a crash names its call.
"""
import os
import subprocess
import sys

import pytest

SWEEP = r'''
import copy, gc, itertools, pickle, sys, types, weakref
import numpy as np
import tilewright.triton as triton
import tilewright.triton.language as tl
from tilewright import _native

log = open(sys.argv[1], "w")
CALLS = raised = 0


def attempt(name, call):
    global CALLS, raised
    log.seek(0), log.truncate(), log.write(name), log.flush()
    CALLS += 1
    try:
        return call()
    except BaseException as error:
        raised += 1
        if isinstance(error, (SystemExit, KeyboardInterrupt, SystemError)):
            raise  # a SystemError is the extension's own mistake
        return None


@triton.jit
def helper(x):
    return x + 1


@triton.jit
def good(x):
    tl.store(x, 1)


x = np.zeros(16, np.float32)
good[(1,)](x)
kernel = good.results()[0]
native = [value for value in vars(kernel).values() if type(value).__module__ == "tilewright._native"]


class Bad:
    """Raises, or answers with nonsense, whatever it is asked."""
    def __bool__(self): raise LookupError
    def __index__(self): raise LookupError
    def __hash__(self): raise LookupError
    def __eq__(self, other): raise LookupError
    def __getattr__(self, name): raise LookupError
    def __len__(self): return -1
    def __getitem__(self, i): raise LookupError


VALUES = [None, 0, -1, 2**70, 1.5, "text", "\ud800", b"bytes", (), [], {}, x, Bad(), object, good, Bad, lambda *a: a]
types_of_ours = {t for t in vars(_native).values() if isinstance(t, type)} | {triton.JITFunction}


def unready():
    """One of each kind of object that nobody set up."""
    for t in types_of_ours:
        name = t.__name__
        for how, make in [("__new__", lambda: t.__new__(t)), ("object.__new__", lambda: object.__new__(t)),
                          ("call", lambda: t()), ("subclass", lambda: type("Sub", (t,), {}).__new__(type("Sub", (t,), {})))]:
            made = attempt(f"{name} by {how}", make)
            if made is not None:
                yield f"{name} by {how}", made

    def failed(*args):
        f = _native.Function.__new__(_native.Function)
        attempt("Function.__init__" + repr(args)[:200], lambda: f.__init__(*args))
        attempt("Function.__init__ again", lambda: f.__init__(*args))
        return f

    row = ("x", None, False, False)
    yield "empty parameters", failed("k", "f.py", "def k(x):\n    pass\n", 1, {}, None, [])
    yield "no rows", failed("k", "f.py", "def k(x):\n    pass\n", 1, {}, None, [1])
    yield "short row", failed("k", "f.py", "def k(x):\n    pass\n", 1, {}, None, [row, ("y",)])
    yield "too many", failed("k", "f.py", "def k(x):\n    pass\n", 1, {}, None, [row] * 1000)
    yield "closure of another kind", failed("k", "f.py", "def k(x):\n    pass\n", 1, {}, 5, [row])
    yield "surrogates", failed("\ud800", "\ud800", "def k(x):\n    pass\n", 1, {}, None, [row])
    yield "source of surrogates", failed("k", "f.py", "\ud800", 1, {}, None, [row])
    yield "structures", failed("k", "f.py", "def k(x):\n    pass\n", 1, {}, None, [row], [5])
    rows = [row, ("y", None, False, False)]

    class Emptying:
        def __bool__(self):
            rows.clear()
            return False

    rows[0] = ("x", None, Emptying(), False)
    yield "a list that empties itself", failed("k", "f.py", "def k(x, y):\n    pass\n", 1, {}, None, rows)


def sweep(name, thing):
    for operation in (repr, str, hash, bool, len, iter, next, copy.copy, copy.deepcopy, pickle.dumps, weakref.ref, dir, vars,
                      lambda o: o == o, lambda o: o < o, lambda o: o + o, lambda o: o[0], lambda o: o[(1,)],
                      lambda o: o[(1,)](x), lambda o: o[Bad()](x), lambda o: o(x), lambda o: o.__reduce_ex__(4),
                      lambda o: o.__reduce_ex__(0), lambda o: o.__sizeof__(), gc.get_referents):
        attempt(f"{name}: {operation}", lambda: operation(thing))
    for attribute in sorted(set(dir(type(thing)))):
        if attribute in ("__class__", "__subclasshook__"):
            continue
        member = attempt(f"{name}.{attribute}", lambda: getattr(thing, attribute))
        for value in VALUES:
            attempt(f"{name}.{attribute} = {type(value)}", lambda: setattr(thing, attribute, value))
        attempt(f"del {name}.{attribute}", lambda: delattr(thing, attribute))
        if not callable(member) or attribute in ("__init__", "__del__", "__reduce__", "__reduce_ex__"):
            continue
        for value in VALUES:
            attempt(f"{name}.{attribute}({type(value)})", lambda: member(value))
        for values in [(), ((1,), (), {}, False), ((1,), (x,), {}, False), ((1,), (x,), {}, True), (0, (), {5: 6}, 0), (x, x, x)]:
            attempt(f"{name}.{attribute}{[type(v) for v in values]}", lambda: member(*values))
    gc.collect()


for name, thing in unready():
    # a kernel that names it as a global
    @triton.jit
    def names_it(x):
        tl.store(x, stranger(1))
    names_it.__globals__["stranger"] = thing
    attempt(f"{name} as a global of a kernel", lambda: names_it[(1,)](x))
    attempt(f"{name} as an argument", lambda: good[(1,)](thing))
    sweep(name, thing)
    del thing
    gc.collect()

for number, thing in enumerate([*native, good[(1,)]]):
    sweep(f"{type(thing).__name__} of a kernel", thing)

for name in sorted(vars(_native)):
    function = getattr(_native, name)
    if isinstance(function, type) or not callable(function) or name in ("configure", "set_constexpr", "count_hook"):
        continue
    for values in [(), *((v,) for v in VALUES), *itertools.product(VALUES[:8], VALUES[:8])]:
        attempt(f"_native.{name}{[type(v) for v in values]}", lambda: function(*values))
        attempt(f"_native.{name}(x={[type(v) for v in values]})", lambda: function(x=values))

x[:] = 0
good[(1,)](x)
assert x[0] == 1, "the extension still works"
print(CALLS, raised, flush=True)

# From here on its own helpers are nonsense.
LIMIT = 3
for name in ("make_error", "dtype_name", "make_kernel", "default_device", "before_compile", "plain_globals", "constexpr"):
    for value in VALUES:
        if name == "constexpr":
            attempt(f"set_constexpr({type(value)})", lambda: _native.set_constexpr(value))
        else:
            attempt(f"configure({name}={type(value)})", lambda: _native.configure(**{name: value}))

        @triton.jit
        def another(x):
            tl.store(x, LIMIT)

        @triton.jit
        def wrong(x):
            tl.stor(x)

        attempt(f"launch with {name} {type(value)}", lambda: another[(1,)](x))
        attempt(f"launch of a wrong one with {name} {type(value)}", lambda: wrong[(1,)](x))
        attempt(f"bfloat with {name} {type(value)}", lambda: another[(1,)](memoryview(b"1234")))
'''


def test_sweep(tmp_path):
    program, log = tmp_path / "sweep.py", tmp_path / "last"
    program.write_text(SWEEP)
    done = subprocess.run([sys.executable, "-X", "faulthandler", str(program), str(log)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=300, env={**os.environ, "TILEWRIGHT_DEVICE": "cpu"})
    assert done.returncode == 0, f"at {log.read_text()}\n{done.stderr[-3000:]}"
    calls, raised = map(int, done.stdout.split()[-2:])
    assert calls > 3000 and raised > 1000


def test_message():
    from tilewright import _native
    with pytest.raises(RuntimeError, match="was never set up: its __init__ has not run to its end"):
        _native.Function.__new__(_native.Function)[(1,)]()
    with pytest.raises(TypeError):
        _native.Kernel()
