# Boxes that begin at a variable and end at the same one.
import tilelang.language as T

@T.prim_func
def k(A: T.Tensor((20, 3), "float32"), N: T.Tensor((3,), "int32"), B: T.Tensor((6, 3), "float32")):
    with T.Kernel(3) as bx:
        first = T.alloc_var("int32")
        first = 0
        for i in T.serial(bx):
            first += N[i] % 5
        T.copy(A[first + 2 * bx : first + 2 * (bx + 1), :], B[2 * bx : 2 * bx + 2, :])
# SPDX-License-Identifier: Apache-2.0
