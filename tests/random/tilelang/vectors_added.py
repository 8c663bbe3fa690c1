# Two and four elements side by side, added to rows that numbers choose.
import tilelang.language as T

@T.prim_func
def k(A: T.Tensor((3, 8), "float32"), I: T.Tensor((3,), "uint8"), B: T.Tensor((2, 8), "float32")):
    with T.Kernel(1) as bx:
        S = T.alloc_shared((3, 8), "float32")
        T.copy(A, S)
        for i, j in T.Parallel(3, 2):
            T.atomic_addx4(B[T.cast(I[i], "int32") % 2, 4 * j], S[i, 4 * j])
        for i, j in T.Parallel(3, 4):
            T.atomic_addx2(B[1 - T.cast(I[i], "int32") % 2, 2 * j], S[i, 2 * j])
# SPDX-License-Identifier: Apache-2.0
