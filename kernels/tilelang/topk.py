"""The k largest numbers of each row, from the largest down, with their places; of equal ones the first.

Each round takes the maximum and the first place that has it, and strikes that place out."""
import tilelang
import tilelang.language as T


@tilelang.jit
def topk(M, N, k, block_M=8, dtype="float32", threads=128):
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), V: T.Tensor((M, k), dtype), I: T.Tensor((M, k), "int32")):
        with T.Kernel(T.ceildiv(M, block_M), threads=threads) as bx:
            x = T.alloc_fragment((block_M, N), "float32")
            place = T.alloc_fragment((block_M, N), "int32")
            top = T.alloc_fragment((block_M,), "float32")
            first = T.alloc_fragment((block_M,), "int32")

            T.copy(X[bx * block_M, 0], x)
            for r in T.serial(k):
                T.reduce_max(x, top, dim=1)
                for i, j in T.Parallel(block_M, N):
                    place[i, j] = T.if_then_else(x[i, j] == top[i], j, N)
                T.reduce_min(place, first, dim=1)
                for i in T.Parallel(block_M):
                    V[bx * block_M + i, r] = top[i]
                    I[bx * block_M + i, r] = first[i]
                for i, j in T.Parallel(block_M, N):
                    x[i, j] = T.if_then_else(j == first[i], -T.infinity("float32"), x[i, j])

    return main
# SPDX-License-Identifier: Apache-2.0
