"""Y = softmax of the rows of X, in one walk over blocks of a row and one to write.

A row's maximum m and sum s of e^(x - m) come block by block: a larger maximum scales the sum that is there. Powers of 2
take the place of those of e, with x / ln 2."""
import tilelang
import tilelang.language as T

LOG2_E = 1.4426950408889634


@tilelang.jit
def softmax(M, N, block_M=4, block_N=128, dtype="float16", threads=128):
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(M, block_M), threads=threads) as bx:
            x = T.alloc_fragment((block_M, block_N), "float32")
            p = T.alloc_fragment((block_M, block_N), "float32")
            top = T.alloc_fragment((block_M,), "float32")
            before = T.alloc_fragment((block_M,), "float32")
            part = T.alloc_fragment((block_M,), "float32")
            total = T.alloc_fragment((block_M,), "float32")

            T.fill(top, -T.infinity("float32"))
            T.clear(total)
            for k in T.Pipelined(T.ceildiv(N, block_N), num_stages=2):
                for i, j in T.Parallel(block_M, block_N):
                    x[i, j] = T.if_then_else(k * block_N + j < N, X[bx * block_M + i, k * block_N + j] * LOG2_E, -T.infinity("float32"))
                T.copy(top, before)
                T.reduce_max(x, top, dim=1, clear=False)
                for i, j in T.Parallel(block_M, block_N):
                    p[i, j] = T.exp2(x[i, j] - top[i])
                T.reduce_sum(p, part, dim=1)
                for i in T.Parallel(block_M):
                    total[i] = total[i] * T.exp2(before[i] - top[i]) + part[i]
            for k in T.Pipelined(T.ceildiv(N, block_N), num_stages=2):
                for i, j in T.Parallel(block_M, block_N):
                    Y[bx * block_M + i, k * block_N + j] = T.exp2(X[bx * block_M + i, k * block_N + j] * LOG2_E - top[i]) / total[i]

    return main
# SPDX-License-Identifier: Apache-2.0
