# SPDX-License-Identifier: Apache-2.0
"""Errors of a kernel's source, made from the compiler's diagnostics.

A CompilationError says, as Triton's does, `at LINE:COL:` counted from the `def` of the function that holds the mistake (the kernel,
or one that it calls), the lines up to that place with a caret, and the message; then the whole report of the compiler, with file,
line, rule, fix, and the calls that led there. `error.diagnostics` are its parts.
"""
import linecache
import textwrap

from ...host import Diagnostic  # noqa: F401
from ..errors import TritonError

class CompilationError(TritonError):
    """A kernel's source cannot be compiled."""

    def __init__(self, src=None, node=None, error_message=None, report=None, place=None, diagnostics=()):
        super().__init__(error_message)
        self.src = src
        self.node = node
        self.error_message = error_message
        self.report = report
        self.place = place or ((node.lineno, node.col_offset) if node is not None else None)
        self.diagnostics = list(diagnostics)

    def __str__(self):
        parts = []
        if self.place:
            line, column = self.place
            parts.append(f"at {line}:{column}:")
            parts += (self.src or "").split("\n")[max(line - 12, 0):line] + [" " * column + "^"]
        parts.append(self.error_message or "")
        if self.report:
            parts += ["", self.report]
        return "\n".join(parts)

    def __reduce__(self):
        return type(self), (self.src, None, self.error_message, self.report, self.place, self.diagnostics)


class CompileTimeAssertionFailure(CompilationError):
    """A static_assert does not hold."""


class UnsupportedLanguageConstruct(CompilationError):
    """A part of Python that kernels do not have."""


def _called_source(file, line):
    """The text of the function that holds a line of a file, from its `def`, and the def's line; (None, 0) if there is none."""
    lines = linecache.getlines(file)[:line]
    for first in range(len(lines), 0, -1):
        if lines[first - 1].lstrip().startswith("def "):
            return textwrap.dedent("".join(lines[first - 1:])), first  # as the compiler counts columns
    return None, 0


def _placed(row, function):
    """(source, (line, column)) of a diagnostic, counted from the `def` of the function that holds it; (None, None): not to be found."""
    source, first = getattr(function, "src", None), getattr(function, "starting_line_number", 0)
    if function is None or row.file != function.file or not 0 <= row.line - first < len(source.split("\n")):
        source, first = _called_source(row.file, row.line)
    return (source, (row.line - first + 1, row.column - 1)) if source else (None, None)


def from_diagnostics(diagnostics, message, function, cause=None):
    """The exception for what the compiler says of a jit function; `message` is the same as a text, `cause` what Python raised."""
    first = next((row for row in diagnostics if row.severity == "error" and row.file), None)
    if first is None:
        error, first_text = CompilationError(error_message=message, diagnostics=diagnostics), message
    else:
        kind = CompileTimeAssertionFailure if first.code == "static-assert" else CompilationError
        source, place = _placed(first, function)
        error, first_text = kind(source, None, first.text, message, place, diagnostics), first.text
    plain = None if isinstance(error, CompileTimeAssertionFailure) else ValueError(first_text)
    error.__cause__ = cause if cause is not None else plain
    return error
