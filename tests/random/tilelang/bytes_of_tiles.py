# Tiles seen as another type, read and written whole and by elements.
import tilelang.language as T

@T.prim_func
def k(A: T.Tensor((4, 4), "uint32"), B: T.Tensor((4, 8), "uint16"), C: T.Tensor((4, 4), "uint32"), D: T.Tensor((16, 4), "uint8"), E: T.Tensor((4, 2), "int64")):
    with T.Kernel(1) as bx:
        S = T.alloc_shared((4, 4), "uint32")
        T.copy(A, S)
        V = T.view(S, (4, 8), "uint16")
        T.copy(V, B)
        for i, j in T.Parallel(4, 4):
            V[i, 2 * j] = V[i, 2 * j + 1] + 1
        T.copy(S, C)
        W = T.view(S, (4, 2), "int64")
        for i, j in T.Parallel(4, 2):
            W[i, j] = W[i, j] + i
        T.copy(W, E)
        T.copy(T.view(S, (16, 4), "uint8"), D)
# SPDX-License-Identifier: Apache-2.0
