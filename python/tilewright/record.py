# SPDX-License-Identifier: Apache-2.0
"""tilewright.record: TILEWRIGHT_RECORD=FILE, a line in FILE for each kernel that is launched, as arguments of the command line:

    /home/me/script.py:scale --arg 'x=*f32' --arg n=i32 --arg BLOCK=256 --set num_warps=8
    # /home/me/script.py:walk: the constant `tree` is an object of type __main__.Tree, which cannot be written as an argument

Numbers, strings, truth values and None are words; dtypes, tuples and what could be taken for another thing stand in brackets, as Python,
and so do functions and other things that the module has a name for.
"""
import math
import numbers
import os
import re
import shlex
import types

_recorded = set()


class Unwritten(Exception):
    """Something that no argument of the command line says; the message says what and why."""


def wanted():
    return bool(os.environ.get("TILEWRIGHT_RECORD"))


def write(file, name, words):
    """words() gives the arguments, or raises Unwritten. One line, once."""
    path = os.environ.get("TILEWRIGHT_RECORD")
    if not path:
        return
    try:
        line = shlex.join(words())
    except Unwritten as why:
        line = " ".join(f"# {os.path.abspath(file)}:{name}: {why}".split())
    if (path, line) not in _recorded:
        _recorded.add((path, line))
        with open(path, "a") as file:
            file.write(line + "\n")


def place(file, name):
    """The kernel as the command line names it."""
    if not os.path.isfile(file):
        raise Unwritten(f"its source is in no file ({file})")
    return f"{os.path.abspath(file)}:{name}"


def _python(value, names):
    """The value as Python's text that means the same among these names; names: {text: value}."""
    unwrapped = getattr(value, "value", value) if type(value).__name__ == "constexpr" else value
    if unwrapped is not value:
        return _python(unwrapped, names)
    if value is None or type(value) in (bool, str):
        return repr(value)
    if isinstance(value, numbers.Integral):
        return repr(int(value))
    if isinstance(value, numbers.Real):
        if not math.isfinite(value):
            return f"float('{float(value)}')"
        return repr(float(value))
    if type(value) in (tuple, list):
        inner = [_python(each, names) for each in value]
        return "(" + ", ".join(inner) + ("," if len(inner) == 1 else "") + ")" if type(value) is tuple else "[" + ", ".join(inner) + "]"
    if type(value) is dict:
        return "{" + ", ".join(f"{_python(key, names)}: {_python(each, names)}" for key, each in value.items()) + "}"
    if isinstance(value, str):  # TileLang's dtypes are texts
        return repr(str(value))
    for name, known in names.items():
        if known is value and name.isidentifier():
            return name
    for name, known in names.items():
        if isinstance(known, types.ModuleType):  # tl.float16, helpers.relu
            found = next((attribute for attribute, each in vars(known).items() if each is value and attribute.isidentifier()), None)
            if found:
                return f"{name}.{found}"
    raise Unwritten(f"an object of type {type(value).__module__}.{type(value).__qualname__} has no name in its module, and cannot be written as an argument")


def _is_word(text):
    """Would the command line read the text as a string, and nothing else?"""
    if not text or not text.isprintable() or text[0] in "*([{+-.0123456789" or ":" in text:
        return False
    return text.lower() not in ("none", "true", "false", "inf", "nan", "infinity") and not re.match(r"(tl\.|T\.)?\w*\d|tl\.|T\.", text)


def constant(name, value, names):
    """`name=value` for --arg."""
    if type(value).__name__ == "constexpr":
        value = value.value
    if value is None or type(value) is bool:
        return f"{name}={str(value).lower()}"
    if type(value) is str and _is_word(value):
        return f"{name}={value}"
    if isinstance(value, numbers.Integral) and -2**63 <= value < 2**63:
        return f"{name}={int(value)}"
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        return f"{name}={float(value)!r}"
    try:
        text = _python(value, names)
    except Unwritten as why:
        raise Unwritten(f"the constant `{name}`: {why}") from None
    return f"{name}={text if text[0] in '([{' else f'({text})'}"
