"""Errors of a kernel's source.

A CompilationError says, as Triton's does, `at LINE:COL:` counted from the `def` of the function that holds the mistake (the kernel,
or one that it calls), the lines up to that place with a caret, and the message; then the whole report of the compiler, with file,
line, rule, fix, and the calls that led there.
"""
import linecache
import re
import textwrap

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


def _called_source(file, line):
    """The text of the function that holds a line of a file, from its `def`, and the def's line; (None, 0) if there is none."""
    lines = linecache.getlines(file)[:line]
    for first in range(len(lines), 0, -1):
        if re.match(r"\s*def\s", lines[first - 1]):
            return textwrap.dedent("".join(lines[first - 1:])), first  # as the compiler counts columns
    return None, 0


def from_report(report, function):
    """The exception for the compiler's report on a jit function."""
    found = _HEAD.search(report)
    if not found:
        return CompilationError(error_message=report)
    text, line, column = found["text"], int(found["line"]), int(found["column"])
    source, first = getattr(function, "src", None), getattr(function, "starting_line_number", 0)
    if function is None or found["file"] != function.file or not 0 <= line - first < len(source.split("\n")):
        source, first = _called_source(found["file"], line)
    place = (line - first + 1, column - 1) if source else None
    kind = CompileTimeAssertionFailure if found["rule"] == "static-assert" else CompilationError
    return kind(source, None, text, report, place)
