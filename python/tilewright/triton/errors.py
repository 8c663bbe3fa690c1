"""The roots of Triton's exceptions."""


class TritonError(Exception):
    """What all errors of Triton are."""
