# Each block's share of the tiles, in groups that do not divide the last extent.
# defines: M=5 N=7 W=4 G=3
import tilelang.language as T

@T.prim_func
def k(A: T.Tensor((M, N), "int32"), B: T.Tensor((M * 4, N * 2), "float32"), C: T.Tensor((M * 4, N * 2), "float32")):
    with T.Kernel(W) as block:
        s = T.alloc_shared((4, 2), "float32")
        for i, j in T.Persistent([M, N], W, block, G):
            A[i, j] += 1 + block
            T.copy(B[i * 4, j * 2], s)
            for y, x in T.Parallel(4, 2):
                s[y, x] = s[y, x] * 2 + i
            T.copy(s, C[i * 4, j * 2])
# SPDX-License-Identifier: Apache-2.0
