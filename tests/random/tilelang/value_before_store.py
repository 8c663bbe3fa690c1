# A name keeps the element that it was bound to when the body writes over it.
import tilelang.language as T


@T.prim_func
def k(A: T.Tensor((16,), "int32"), B: T.Tensor((16,), "int32")):
    with T.Kernel(1) as bx:
        a = T.alloc_shared((16,), "int32")
        b = T.alloc_fragment((16,), "int32")
        T.copy(A, a)
        for i in T.Parallel(16):
            old = a[i]
            a[i] = a[i] * 2 + i
            b[i] = old + a[i]
            a[i] = old
        for i in T.Parallel(16):
            t = A[i]
            A[i] = a[15 - i]
            B[i] = t * 3 + b[i]
# SPDX-License-Identifier: Apache-2.0
