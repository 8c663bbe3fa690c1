# SPDX-License-Identifier: Apache-2.0
"""tilelang.cuda.intrinsics.sparse_layout: how many elements are kept of a sparse matrix (T.gemm_sp), and how many one number of their places is for."""
from ...language.dtypes import dtype

# Of so many elements of a row (the second number) so many are kept.
GROUP_CONFIG = {dtype(name): (1, 2) if name == "float32" else (2, 4)
                for name in ("float32", "float16", "bfloat16", "int8", "uint8", "float8_e4m3", "float8_e4m3fn", "float8_e5m2")}


def get_e_factor(a_dtype, meta_dtype):
    """Elements of the dense matrix for each number of the places: it has 4 bits for each group."""
    return dtype(meta_dtype).bits // 4 * GROUP_CONFIG[dtype(a_dtype)][1]


def get_e_replicate_factor(a_dtype):
    """Threads that share such a number."""
    return 1 if dtype(a_dtype).bits <= 8 else 2
