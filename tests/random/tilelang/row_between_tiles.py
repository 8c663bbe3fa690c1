# A row that weighs a tile is loaded before the other tile of the product, whose place is computed behind it.
import tilelang.language as T

@T.prim_func
def k(A: T.Tensor((2, 32, 96), "float16"), W: T.Tensor((2, 96), "float16"), X: T.Tensor((2, 100, 32), "float16"), O: T.Tensor((2, 32, 32), "float32")):
    with T.Kernel(2, threads=128) as bx:
        a = T.alloc_shared((32, 32), "float16")
        w = T.alloc_shared((32,), "float16")
        x = T.alloc_shared((32, 32), "float16")
        s = T.alloc_fragment((32, 32), "float16")
        o = T.alloc_fragment((32, 32), "float32")
        T.clear(o)
        for n in T.Pipelined(3, num_stages=2):
            T.copy(A[bx, 0:32, n * 32 : (n + 1) * 32], a)
            T.copy(W[bx, n * 32 : (n + 1) * 32], w)
            for i, j in T.Parallel(32, 32):
                s[i, j] = a[i, j] * w[j]
            T.copy(X[bx, bx * 4 + n * 32 : bx * 4 + (n + 1) * 32, 0:32], x)
            T.gemm(s, x, o)
        T.copy(o, O[bx, 0, 0])
# SPDX-License-Identifier: Apache-2.0
