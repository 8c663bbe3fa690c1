# Single elements of tiles in plain loops and branches.
import tilelang.language as T


@T.prim_func
def k(A: T.Tensor((40,), "int32"), B: T.Tensor((40,), "int32"), C: T.Tensor((1,), "int32")):
    with T.Kernel(1) as bx:
        a = T.alloc_shared((40,), "int32")
        m = T.alloc_local((1,), "int32")
        T.copy(A, a)
        m[0] = -100
        for i in T.serial(40):
            m[0] = T.max(m[0], a[i])
        for i in T.serial(1, 40):
            a[i] = a[i] + a[i - 1]
        for i in range(0, 40, 3):
            if a[i] > m[0]:
                a[i] = m[0]
            else:
                a[39 - i] += 1
        T.copy(a, B)
        T.copy(m, C)
# SPDX-License-Identifier: Apache-2.0
