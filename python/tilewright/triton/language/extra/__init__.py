# SPDX-License-Identifier: Apache-2.0
"""triton.language.extra: libraries of functions for kernels."""
from .. import core
from . import cuda, hip, libdevice  # noqa: F401

core.register_module(__name__, "triton.language.extra")
