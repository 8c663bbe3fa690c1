# A buffer that is read and one that is written, both with steps of two.
import tilelang.language as T

@T.prim_func
def k(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1) as bx:
        s = T.alloc_shared((64,), "float32")
        d = T.alloc_shared((64,), "float32")
        T.copy(A, s)
        for i in T.Parallel(32):
            d[2 * i] = s[2 * i + 1]
            d[2 * i + 1] = s[2 * i]
        T.copy(d, B)
# SPDX-License-Identifier: Apache-2.0
