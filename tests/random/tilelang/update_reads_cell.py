# `cell += cell * e` is no sum of products.
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((16, 8), "float32"), C: T.Tensor((16,), "float32")):
    with T.Kernel(1) as bx:
        c = T.alloc_fragment((16,), "float32")
        T.fill(c, 1.0)
        for i, j in T.Parallel(16, 8):
            c[i] += c[i] * A[i, j]
        T.copy(c, C)
# SPDX-License-Identifier: Apache-2.0
