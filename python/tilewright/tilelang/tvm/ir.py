# SPDX-License-Identifier: Apache-2.0
"""tvm.ir: modules of kernels."""
from .._absent import absent_attribute


def __getattr__(name):
    return absent_attribute("tvm.ir", name)
