# What each program of a row stores is the same for all rows.
import tilelang.language as T

@T.prim_func
def k(N: T.Tensor((4,), "int32"), A: T.Tensor((4, 12), "float32"), B: T.Tensor((4, 12), "float32"), C: T.Tensor((4,), "float32")):
    with T.Kernel(4) as bx:
        n = N[bx] % 1
        s = T.alloc_shared((12,), "float32")
        r = T.alloc_fragment((1,), "float32")
        T.clear(s)
        T.clear(r)
        for i in T.Parallel(T.min(n, 12)):
            s[i] = A[bx, i] * 2
        for i in T.Parallel(n - 3):
            B[bx, i] = A[bx, i] + 1
        for i in T.Parallel(T.min(n, 12)):
            r[0] += s[i]
        C[bx] = r[0]
        T.copy(s, B[bx, 6])
# SPDX-License-Identifier: Apache-2.0
