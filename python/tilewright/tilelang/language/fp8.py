# SPDX-License-Identifier: Apache-2.0
"""tilelang.language.fp8: the 8-bit floats of the platform."""
from .dtypes import NAMES


def determine_fp8_type(fp8_format="e4m3"):
    """The dtype of "e4m3" or "e5m2"."""
    if fp8_format not in ("e4m3", "e5m2"):
        raise ValueError(f"8-bit floats are \"e4m3\" and \"e5m2\", not {fp8_format!r}")
    return NAMES["float8_e4m3fn" if fp8_format == "e4m3" else "float8_e5m2"]


def determine_torch_fp8_type(fp8_format="e4m3"):
    return determine_fp8_type(fp8_format).as_torch()
