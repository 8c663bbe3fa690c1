# Two updates of a cell in one body: of one kind they are two sums, of two kinds their order counts.
import tilelang.language as T


@T.prim_func
def k(A: T.Tensor((16, 8), "int32"), S: T.Tensor((16,), "int32"), P: T.Tensor((16,), "int32"), Q: T.Tensor((16, 8), "int32")):
    with T.Kernel(1) as bx:
        s = T.alloc_fragment((16,), "int32")
        p = T.alloc_fragment((16,), "int32")
        T.fill(s, 1)
        T.fill(p, 1)
        for i, j in T.Parallel(16, 8):
            s[i] += A[i, j]
            s[i] = s[i] + A[15 - i, j]
        for i, j in T.Parallel(16, 8):
            p[i] += A[i, j]
            Q[i, j] = p[i]
            p[i] *= 3
        T.copy(s, S)
        T.copy(p, P)
# SPDX-License-Identifier: Apache-2.0
