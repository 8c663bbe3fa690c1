# SPDX-License-Identifier: Apache-2.0
"""triton._utils: names of types."""
from .runtime.jit import type_canonicalisation_dict


def canonicalize_dtype(dtype):
    """ "fp32" for torch.float32 and its like."""
    return type_canonicalisation_dict[str(dtype).rsplit(".", 1)[-1]]


def canonicalize_ptr_dtype(dtype, is_const):
    return f"{'*k' if is_const else '*'}{canonicalize_dtype(dtype)}"
