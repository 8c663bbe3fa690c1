# One bool of a tile, and of a box of it.
import tilelang.language as T

@T.prim_func
def k(A: T.Tensor((4, 6), "int32"), B: T.Tensor((4, 3), "int32")):
    with T.Kernel(4) as bx:
        a = T.alloc_fragment((1, 6), "int32")
        for i, j in T.Parallel(1, 6):
            a[i, j] = T.if_then_else(A[bx, j] > 3 * bx, j, 0)
        if T.any_of(a):
            B[bx, 0] = 1
        if T.all_of(a[0, 2:5]):
            B[bx, 1] = 1
        B[bx, 2] = T.if_then_else(T.any_of(a[0:1, 4:6]), 5, 6)
# SPDX-License-Identifier: Apache-2.0
