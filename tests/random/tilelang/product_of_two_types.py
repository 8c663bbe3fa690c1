# Factors of two types meet in one that holds both.
import tilelang.language as T

@T.prim_func
def k(A: T.Tensor((5, 9), "float16"), B: T.Tensor((9, 6), "float32"), C: T.Tensor((5, 6), "float32"), P: T.Tensor((5, 9), "int8"), Q: T.Tensor((9, 6), "uint8"), R: T.Tensor((5, 6), "int32")):
    with T.Kernel(1) as bx:
        a = T.alloc_shared((16, 16), "float16")
        b = T.alloc_shared((16, 16), "float32")
        c = T.alloc_fragment((16, 16), "float32")
        p = T.alloc_shared((16, 16), "int8")
        q = T.alloc_shared((16, 16), "uint8")
        r = T.alloc_fragment((16, 16), "int32")
        T.copy(A[0, 0], a)
        T.copy(B[0, 0], b)
        T.gemm(a, b, c, clear_accum=True)
        T.copy(c, C[0, 0])
        T.copy(P[0, 0], p)
        T.copy(Q[0, 0], q)
        T.gemm(p, q, r, clear_accum=True)
        T.copy(r, R[0, 0])
# SPDX-License-Identifier: Apache-2.0
