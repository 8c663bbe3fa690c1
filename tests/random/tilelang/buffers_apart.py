# Two buffers of a loop that is not raised have their own memory.
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((32,), "float32"), B: T.Tensor((32,), "float32"), C: T.Tensor((16,), "float32")):
    with T.Kernel(1) as bx:
        a = T.alloc_shared((32,), "float32")
        b = T.alloc_shared((32,), "float32")
        T.copy(A, a)
        T.copy(B, b)
        for i in T.Parallel(16):
            C[i] = a[2 * i] + b[2 * i + 1]
# SPDX-License-Identifier: Apache-2.0
