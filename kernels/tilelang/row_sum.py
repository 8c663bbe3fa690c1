"""Y[m] = the sum of row m of X, in blocks of block_N columns."""
import tilelang
import tilelang.language as T


@tilelang.jit
def row_sum(M, N, block_M=4, block_N=1024, num_stages=2, threads=128, dtype="float16"):

    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((M,), "float32")):
        with T.Kernel(T.ceildiv(M, block_M), threads=threads) as bx:
            x = T.alloc_fragment((block_M, block_N), dtype)
            wide = T.alloc_fragment((block_M, block_N), "float32")
            y = T.alloc_fragment((block_M,), "float32")

            T.clear(y)
            for k in T.Pipelined(T.ceildiv(N, block_N), num_stages=num_stages):
                T.copy(X[bx * block_M : (bx + 1) * block_M, k * block_N : (k + 1) * block_N], x)
                T.copy(x, wide)
                T.reduce_sum(wide, y, dim=1, clear=False)
            T.copy(y, Y[bx * block_M : (bx + 1) * block_M])

    return main
# SPDX-License-Identifier: Apache-2.0
