# SPDX-License-Identifier: Apache-2.0
"""triton.runtime.annotations: parameters whose annotations were replaced at run time.

The compiler reads annotations in the source. Where fn.__annotations__ says something else (a decorator set it), the text of the
function is given that annotation, in place: no line moves.
"""
import ast
import re

from .trees import tree_of


def closure_values(fn):
    """What the closure of a function holds, by name; cells that are still empty are left out."""
    found = {}
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or ()):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            pass
    return found


def _text_of(note):
    """An annotation as a kernel's source states it; None: it says nothing to the compiler."""
    from ..language import core
    if isinstance(note, str):
        return repr(note.rsplit(".", 1)[-1]) if note else None
    if note is core.constexpr:
        return repr("constexpr")
    if isinstance(note, core.pointer_type):
        return repr(f"*{note.element_ty}")
    return repr(note.name) if isinstance(note, core.dtype) else None


def _stated(node, scope):
    """What an annotation of the source means; _UNKNOWN where that cannot be told without running code."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Constant):
        return node.value
    if not isinstance(node, ast.Name) or node.id not in scope:
        return _UNKNOWN
    found = scope[node.id]
    for part in reversed(parts):
        found = getattr(found, part, _UNKNOWN)
    return found


_UNKNOWN = object()


_HEAD_END = re.compile(r"\)\s*(->[^:\n]*)?:[ \t]*(#[^\n]*)?\n")


def _parsed(text):
    """The `def`, without its body where the end of the head is plain to see: functions are many, and long."""
    end = _HEAD_END.search(text)
    for part in ([text[:end.end()] + "    pass\n"] if end else []) + [text]:
        try:
            return tree_of(part).body[0]
        except SyntaxError:
            pass
    return None  # the compiler says what is wrong


def restate(text, fn):
    """The source of a function with the annotations that it has now."""
    now = getattr(fn, "__annotations__", {})
    tree = _parsed(text)
    if tree is None:
        return text
    scope, edits = None, []
    rows = [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]
    for arg in rows:
        given = arg.annotation and ast.unparse(arg.annotation)
        if arg.arg not in now:
            if given:  # it was taken away
                edits.append((arg, None))
            continue
        note = now[arg.arg]
        if isinstance(note, str) and note == given:  # from __future__ import annotations
            continue
        if scope is None:
            scope = {**fn.__globals__, **closure_values(fn)}
        old = _stated(arg.annotation, scope) if given else None
        if old is _UNKNOWN or old is note or (isinstance(old, str) and old == note):
            continue
        edits.append((arg, _text_of(note)))
    if not edits:
        return text
    lines = text.encode().split(b"\n")  # ast counts bytes
    for arg, note in sorted(edits, key=lambda edit: (edit[0].lineno, edit[0].col_offset), reverse=True):
        row, begin = arg.lineno - 1, arg.col_offset + len(arg.arg.encode())
        if arg.annotation and arg.end_lineno != arg.lineno:
            continue  # over several lines: as it stands
        end = arg.end_col_offset
        lines[row] = lines[row][:begin] + (f": {note}".encode() if note else b"") + lines[row][end:]
    return b"\n".join(lines).decode()
