# SPDX-License-Identifier: Apache-2.0
"""tilelang.engine: lower."""
from .._absent import absent_attribute
from . import callback
from .callback import register_c_postproc, register_cuda_postproc, register_hip_postproc
from .lower import CompiledArtifact, lower

__all__ = ["CompiledArtifact", "callback", "lower", "register_c_postproc", "register_cuda_postproc", "register_hip_postproc"]


def __getattr__(name):
    return absent_attribute("tilelang.engine", name)
