# What lies outside of a tensor, tiles turned round, boxes that one number or another box is added to.
import tilelang.language as T

@T.prim_func
def k(A: T.Tensor((6, 5), "float32"), B: T.Tensor((5, 6), "float32"), C: T.Tensor((4, 4), "float32"), D: T.Tensor((4,), "int32"), E: T.Tensor((4,), "float32")):
    with T.Kernel():
        s = T.alloc_shared((6, 5), "float32")
        t = T.alloc_fragment((5, 6), "float32")
        u = T.alloc_shared((3, 4), "float32")
        T.copy(A[4, 2], u)
        T.annotate_safe_value({A: -7.0})
        T.copy(A[0, 0], s)
        T.transpose(s, t)
        T.copy(t, B)
        for i, j in T.Parallel(4, 4):
            C[i, j] = A[i + 4, j + 3]
        T.copy(A[3:6, 3:7], C[1:4, :])
        D[0] = T.if_then_else(T.any_of(A[0, :]), 1048576, 2)
        D[1] = T.if_then_else(T.all_of(u), 1, 2)
        T.atomic_add(E, 2)
        T.atomic_addx4(E[0:4], C[0, 0:4])
        T.atomic_add(E[1:3], A[5, 3] * 2)
# SPDX-License-Identifier: Apache-2.0
