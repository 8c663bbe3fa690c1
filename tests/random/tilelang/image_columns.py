# Columns of an image: a stride, padding, a window whose numbers do not fill the tile, places past the last.
import tilelang.language as T

@T.prim_func
def k(X: T.Tensor((2, 5, 4, 3), "float32"), Y: T.Tensor((27, 6), "float32"), Z: T.Tensor((12, 6), "float32")):
    with T.Kernel(2) as by:
        xs = T.alloc_shared((8, 16), "float32")
        ys = T.alloc_shared((16, 8), "float32")
        acc = T.alloc_fragment((8, 8), "float32")
        T.clear(acc)
        for n in T.Pipelined(2, num_stages=2):
            T.im2col(X, xs, by, n, 3, 2, 1, 1)
            T.copy(Y[n * 16, 0], ys)
            T.gemm(xs, ys, acc)
        T.copy(acc, Z[by * 8, 0])
# SPDX-License-Identifier: Apache-2.0
