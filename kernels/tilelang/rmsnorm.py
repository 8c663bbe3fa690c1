"""Y = X / sqrt(mean of the squares of a row + eps) * W, a row of W for all."""
import tilelang
import tilelang.language as T


@tilelang.jit
def rmsnorm(M, N, block_M=4, block_N=128, eps=1e-6, dtype="float16", threads=128):
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), W: T.Tensor((N,), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(M, block_M), threads=threads) as bx:
            x = T.alloc_shared((block_M, block_N), dtype)
            square = T.alloc_fragment((block_M, block_N), "float32")
            scale = T.alloc_fragment((block_M,), "float32")

            T.clear(square)
            for k in T.Pipelined(T.ceildiv(N, block_N), num_stages=2):
                T.copy(X[bx * block_M, k * block_N], x)
                for i, j in T.Parallel(block_M, block_N):
                    square[i, j] += T.cast(x[i, j], "float32") * T.cast(x[i, j], "float32")
            T.reduce_sum(square, scale, dim=1)
            for i in T.Parallel(block_M):
                scale[i] = T.rsqrt(scale[i] / N + eps)
            for k in T.Pipelined(T.ceildiv(N, block_N), num_stages=2):
                for i, j in T.Parallel(block_M, block_N):
                    Y[bx * block_M + i, k * block_N + j] = X[bx * block_M + i, k * block_N + j] * scale[i] * W[k * block_N + j]

    return main
# SPDX-License-Identifier: Apache-2.0
