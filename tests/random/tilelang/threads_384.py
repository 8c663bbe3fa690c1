# A number of threads that is no power of two.
import tilelang.language as T

@T.prim_func
def k(A: T.Tensor((2, 48, 40), "float16"), B: T.Tensor((40, 33), "float16"), C: T.Tensor((2, 48, 33), "float32"), R: T.Tensor((2, 48), "float32"), S: T.Tensor((2, 40), "float32")):
    with T.Kernel(2, threads=384) as bx:
        a = T.alloc_shared((48, 48), "float16")
        b = T.alloc_shared((48, 48), "float16")
        c = T.alloc_fragment((48, 48), "float32")
        f = T.alloc_fragment((48, 48), "float32")
        r = T.alloc_fragment((48,), "float32")
        s = T.alloc_fragment((48,), "float32")
        T.copy(A[bx, 0, 0], a)
        T.copy(B[0, 0], b)
        T.gemm(a, b, c, clear_accum=True)
        T.copy(a, f)
        T.reduce_max(c, r, dim=1)
        T.reduce_sum(f, s, dim=0)
        for i, j in T.Parallel(48, 48):
            c[i, j] = c[i, j] + s[i]
        T.copy(c, C[bx, 0, 0])
        T.copy(r, R[bx, 0])
        T.copy(s, S[bx, 0])
# SPDX-License-Identifier: Apache-2.0
