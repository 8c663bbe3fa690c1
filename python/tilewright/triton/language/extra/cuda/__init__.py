# SPDX-License-Identifier: Apache-2.0
"""triton.language.extra.cuda."""
from ... import core
from . import libdevice  # noqa: F401

globals().update(core.TABLES["C"])
core.register_module(__name__, "triton.language.extra.cuda")
