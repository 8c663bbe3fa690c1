# A tile that a loop inside of another one fills anew on each trip, of which there may be none: nothing of it is handed on.
import tilelang.language as T

@T.prim_func
def k(A: T.Tensor((64, 32), "float32"), C: T.Tensor((64, 32), "float32")):
    with T.Kernel(1, threads=128):
        s = T.alloc_shared((16, 32), "float32")
        c = T.alloc_fragment((16, 32), "float32")
        n = T.alloc_var("int32", 0)
        while n < 4:
            T.clear(c)
            for i in range(n):
                T.copy(A[i * 16, 0], s)
                for a, b in T.Parallel(16, 32):
                    c[a, b] += s[a, b]
            T.copy(c, C[n * 16, 0])
            n = n + 1
# SPDX-License-Identifier: Apache-2.0
