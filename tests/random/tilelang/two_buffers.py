# A buffer lives as long as something reads it.
import tilelang.language as T

@T.prim_func
def k(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1) as bx:
        s = T.alloc_shared((64,), "float32")
        f = T.alloc_fragment((64,), "float32")
        T.copy(A, f)
        for i in T.Parallel(64):
            f[i] = f[i] * 2.0
        for i in T.Parallel(64):
            s[63 - i] = A[i]
        for i in T.Parallel(64):
            B[i] = f[i] + s[i]
# SPDX-License-Identifier: Apache-2.0
