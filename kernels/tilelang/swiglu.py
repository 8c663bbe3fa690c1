"""C = A * sigmoid(A) * B, element by element: the middle of a gated layer."""
import tilelang
import tilelang.language as T


@tilelang.jit
def swiglu(M, N, block_M=8, block_N=256, threads=256, dtype="float16"):

    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), B: T.Tensor((M, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (bx, by):
            for i, j in T.Parallel(block_M, block_N):
                a = T.cast(A[by * block_M + i, bx * block_N + j], "float32")
                C[by * block_M + i, bx * block_N + j] = a / (1.0 + T.exp(-a)) * B[by * block_M + i, bx * block_N + j]

    return main
# SPDX-License-Identifier: Apache-2.0
