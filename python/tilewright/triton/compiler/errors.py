"""Errors of a kernel's source.

A CompilationError says, as Triton's does, `at LINE:COL:` counted from the kernel's own `def`, the lines up to that place with a
caret, and the message; then the whole report of the compiler, with file, line, rule and fix.
"""
import re

from ..errors import TritonError

_HEAD = re.compile(r"^(?P<file>.*?):(?P<line>\d+):(?P<column>\d+): error: (?P<text>.*?)(?: \[(?P<rule>[\w-]+)\])?$", re.M)


class CompilationError(TritonError):
    """A kernel's source cannot be compiled."""

    def __init__(self, src=None, node=None, error_message=None, report=None, place=None):
        super().__init__(error_message)
        self.src = src
        self.node = node
        self.error_message = error_message
        self.report = report
        self.place = place or ((node.lineno, node.col_offset) if node is not None else None)

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
        return type(self), (self.src, None, self.error_message, self.report, self.place)


class CompileTimeAssertionFailure(CompilationError):
    """A static_assert does not hold."""


class UnsupportedLanguageConstruct(CompilationError):
    """A part of Python that kernels do not have."""


def from_report(report, function):
    """The exception for the compiler's report on a jit function."""
    found = _HEAD.search(report)
    if not found:
        return CompilationError(error_message=report)
    text, line, column = found["text"], int(found["line"]), int(found["column"])
    place = None
    if function is not None and found["file"] == function.file:
        place = (line - function.starting_line_number + 1, column - 1)
    kind = CompileTimeAssertionFailure if found["rule"] == "static-assert" else CompilationError
    return kind(getattr(function, "src", None), None, text, report, place)
