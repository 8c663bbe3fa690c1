# SPDX-License-Identifier: Apache-2.0
"""triton.language.extra.hip."""
from ... import core
from . import libdevice  # noqa: F401

core.register_module(__name__, "triton.language.extra.hip")
