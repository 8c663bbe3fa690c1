# A sum that is cut off to an integer at every step is no sum of floats.
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((16, 40), "float32"), C: T.Tensor((16,), "int32")):
    with T.Kernel(1) as bx:
        c = T.alloc_fragment((16,), "int32")
        T.clear(c)
        for i, j in T.Parallel(16, 40):
            c[i] = T.cast(T.cast(c[i], "float32") + A[i, j], "int32")
        T.copy(c, C)
# SPDX-License-Identifier: Apache-2.0
