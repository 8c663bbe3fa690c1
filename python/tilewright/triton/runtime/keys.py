# SPDX-License-Identifier: Apache-2.0
"""triton.runtime.keys: what makes the text of a kernel what it is: its own source, the sources of all that it calls, and the constants
that it reads. `cache_key` of a jit function is their digest; results of tuning are kept under it."""
import ast
import functools
import hashlib
import textwrap
import types

from .trees import tree_of

_MISSING = object()


@functools.lru_cache(maxsize=1024)
def _chains(source):
    """The names that a source reads, as tuples: ("tl", "reduce"); in their order, each once."""
    try:
        tree = tree_of(textwrap.dedent(source))
    except SyntaxError:  # what cannot be compiled has no key but its text
        return []
    found = {}
    for node in ast.walk(tree):
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name):
            found[(node.id, *reversed(parts))] = None
    return sorted(found)


def _scope(fn):
    cells = {}
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or ()):
        try:
            cells[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            pass
    return {**fn.__globals__, **cells}


def _value(chain, scope):
    """What a chain of names means; only modules are looked into."""
    value = scope.get(chain[0], _MISSING)
    for name in chain[1:]:
        if not isinstance(value, types.ModuleType):
            return value
        value = getattr(value, name, _MISSING)
    return value


def _own(function):
    return [function.src, str(getattr(function, "starting_line_number", 0)), str(getattr(function, "noinline", False))]


def _collect(function, is_callable, is_constant, seen, texts, refuse):
    if id(function) in seen:
        return
    seen.add(id(function))
    texts += _own(function)
    scope = _scope(function.fn)
    for chain in _chains(function.src):
        value = _value(chain, scope)
        if is_callable(value):
            _collect(value, is_callable, is_constant, seen, texts, None)
        elif is_constant(value):
            texts.append(f"{'.'.join(chain)}={value!r}")
        elif refuse and value is not _MISSING and not isinstance(value, types.ModuleType):
            refuse(".".join(chain), value)


def cache_key(function, refuse=None):
    """refuse(name, value) is called for values outside of the kernel's language that the function itself reads."""
    from ..language.core import constexpr, dtype
    from .jit import JITCallable
    texts = []
    _collect(function, lambda value: isinstance(value, JITCallable) and hasattr(value, "src"),
             lambda value: isinstance(value, (constexpr, dtype, bool, int, float, str)), set(), texts, refuse)
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
