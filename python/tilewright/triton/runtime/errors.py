# SPDX-License-Identifier: Apache-2.0
"""Errors of launches."""
from ..errors import TritonError


class InterpreterError(TritonError):
    """What a run under TRITON_INTERPRET stops with."""

    def __init__(self, error_message=None):
        super().__init__(error_message)
        self.error_message = error_message


class SanitizerError(InterpreterError, RuntimeError):
    """A sanitized launch met mistakes: each at its line, with the program, the element, the index and the argument. The text is the
    whole report; `diagnostics` are its parts (compiler.errors.Diagnostic)."""

    def __init__(self, error_message=None, diagnostics=()):
        super().__init__(error_message)
        self.diagnostics = list(diagnostics)

    def __reduce__(self):
        return type(self), (self.error_message, self.diagnostics)


class OutOfResources(TritonError):
    """A configuration needs more of something than the target has."""

    def __init__(self, required, limit, name):
        super().__init__(required, limit, name)
        self.required = required
        self.limit = limit
        self.name = name

    def __str__(self):
        return f"out of resource: {self.name}, Required: {self.required}, Hardware limit: {self.limit}. Reducing block sizes or `num_stages` may help."


class AutotunerError(TritonError):
    """Tuning has nothing to choose from."""

    def __str__(self):
        return f"Autotuner error: {super().__str__()}"


class WarpsError(ValueError, AssertionError):
    """A number of warps that cannot be; Triton asserts it."""


class PTXASError(TritonError):
    """Never raised here: there is no ptxas."""

    def __init__(self, error_message=None):
        super().__init__(error_message)
        self.error_message = error_message
