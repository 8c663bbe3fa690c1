# A neighbour that the condition drops is not read: a tile has no outside.
import tilelang.language as T


@T.prim_func
def k(A: T.Tensor((16,), "int32"), B: T.Tensor((16,), "int32"), C: T.Tensor((16,), "int32")):
    with T.Kernel(1) as bx:
        a = T.alloc_shared((16,), "int32")
        T.copy(A, a)
        for i in T.Parallel(16):
            B[i] = T.if_then_else(i > 0, a[i - 1], -5) + T.if_then_else(i < 15, a[i + 1], 7)
        for i in T.Parallel(16):
            C[i] = T.if_then_else(i > 2 and a[i - 3] > 0, a[i], 0)
# SPDX-License-Identifier: Apache-2.0
