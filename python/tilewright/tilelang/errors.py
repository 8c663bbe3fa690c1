# SPDX-License-Identifier: Apache-2.0
"""tilelang.errors: what goes wrong with a kernel, as exceptions."""
from .. import host


class TileLangError(Exception):
    """Any of them."""


class CompilationError(TileLangError, RuntimeError, ValueError):
    """A kernel's source cannot be compiled. The text is the compiler's report: file, line, caret, rule, fix; `diagnostics` are its parts
    (severity, code, text, file, line, column)."""

    def __init__(self, message="", diagnostics=()):
        super().__init__(message)
        self.diagnostics = list(diagnostics)

    def __reduce__(self):
        return type(self), (str(self), self.diagnostics)


class LaunchError(TileLangError, RuntimeError):
    """A launch stopped at a line of the kernel: an assertion that does not hold."""

    def __init__(self, message="", diagnostics=()):
        super().__init__(message)
        self.diagnostics = list(diagnostics)

    def __reduce__(self):
        return type(self), (str(self), self.diagnostics)


def make_error(status, message, found, function, cause, note):
    """The exception for a status of the library (see tilewright.host)."""
    if status in ("TW_ERROR_SOURCE", "TW_ERROR_UNSUPPORTED"):
        error = CompilationError(message, found)
        error.__cause__ = cause
        return error
    if status == "TW_ERROR_LAUNCH":
        return LaunchError(message, found)
    return host.plain_error(status, message, found, cause)
