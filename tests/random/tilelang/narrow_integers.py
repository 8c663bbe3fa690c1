# The types in which numbers of different types meet.
import tilelang.language as T


@T.prim_func
def k(A: T.Tensor((64,), "int8"), U: T.Tensor((64,), "uint8"), H: T.Tensor((64,), "int16"), O: T.Tensor((6, 64), "int32"), P: T.Tensor((64,), "bool")):
    with T.Kernel(1) as bx:
        a = T.alloc_shared((64,), "int8")
        p = T.alloc_shared((64,), "bool")
        T.copy(A, a)
        for i in T.Parallel(64):
            p[i] = a[i] > U[i]
            O[0, i] = a[i] * a[i]
            O[1, i] = a[i] * 3
            O[2, i] = a[i] + U[i]
            O[3, i] = (a[i] << 4) >> 2
            O[4, i] = -a[i] // 7 + H[i] % 5
            O[5, i] = T.if_then_else(p[i], a[i], H[i])
        T.copy(p, P)
# SPDX-License-Identifier: Apache-2.0
