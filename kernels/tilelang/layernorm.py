"""Y = (X - mean) / sqrt(variance + eps) * W + B for each row.

The variance is the mean of squared distances from the mean, in a walk of its own: a difference of two large sums would
lose it."""
import tilelang
import tilelang.language as T


@tilelang.jit
def layernorm(M, N, block_M=4, block_N=128, eps=1e-5, dtype="float16", threads=128):
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), W: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(M, block_M), threads=threads) as bx:
            part = T.alloc_fragment((block_M, block_N), "float32")
            mean = T.alloc_fragment((block_M,), "float32")
            scale = T.alloc_fragment((block_M,), "float32")

            T.clear(part)
            for k in T.Pipelined(T.ceildiv(N, block_N), num_stages=2):
                for i, j in T.Parallel(block_M, block_N):
                    part[i, j] += T.cast(X[bx * block_M + i, k * block_N + j], "float32")
            T.reduce_sum(part, mean, dim=1)
            for i in T.Parallel(block_M):
                mean[i] = mean[i] / N
            T.clear(part)
            for k in T.Pipelined(T.ceildiv(N, block_N), num_stages=2):
                for i, j in T.Parallel(block_M, block_N):
                    away = T.if_then_else(k * block_N + j < N, X[bx * block_M + i, k * block_N + j] - mean[i], 0.0)
                    part[i, j] += away * away
            T.reduce_sum(part, scale, dim=1)
            for i in T.Parallel(block_M):
                scale[i] = T.rsqrt(scale[i] / N + eps)
            for k in T.Pipelined(T.ceildiv(N, block_N), num_stages=2):
                for i, j in T.Parallel(block_M, block_N):
                    row, column = bx * block_M + i, k * block_N + j
                    Y[row, column] = (X[row, column] - mean[i]) * scale[i] * W[column] + B[column]

    return main
# SPDX-License-Identifier: Apache-2.0
