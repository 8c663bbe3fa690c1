# A loop of one trip that is one line has no block to open: a bool tile in the text before that of a product.
import tilelang.language as T


@T.prim_func
def k(A: T.Tensor((32, 5), "bool"), B: T.Tensor((8, 8), "int8"), O: T.Tensor((32, 5), "bool"), C: T.Tensor((8, 8), "int32")):
    with T.Kernel(1) as bx:
        p = T.alloc_shared((32, 5), "bool")
        b = T.alloc_shared((8, 8), "int8")
        c = T.alloc_fragment((8, 8), "int32")
        T.copy(A, p)
        T.copy(B, b)
        T.gemm(b, b, c, transpose_A=True, clear_accum=True)
        for i, j in T.Parallel(32, 5):
            O[i, j] = p[i, j]
        for i, j in T.Parallel(8, 8):
            C[i, j] = c[i, j]
# SPDX-License-Identifier: Apache-2.0
