# int8 times int8 wraps, also where the loop looks like a matrix product.
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((32, 32), "int8"), B: T.Tensor((32, 32), "int8"), C: T.Tensor((32, 32), "int32")):
    with T.Kernel(1) as bx:
        a = T.alloc_shared((32, 32), "int8")
        b = T.alloc_shared((32, 32), "int8")
        c = T.alloc_fragment((32, 32), "int32")
        T.copy(A, a)
        T.copy(B, b)
        T.clear(c)
        for i, j, k in T.Parallel(32, 32, 32):
            c[i, j] += a[i, k] * b[k, j]
        T.copy(c, C)
# SPDX-License-Identifier: Apache-2.0
