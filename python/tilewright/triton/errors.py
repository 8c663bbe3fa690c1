# SPDX-License-Identifier: Apache-2.0
"""The roots of Triton's exceptions."""


class TritonError(Exception):
    """What all errors of Triton are."""
