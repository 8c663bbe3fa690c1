"""C = A B with K in parts: each block adds its part of the sum to C, or leaves it for a second launch that adds the parts.

Sums of floats by atomics come in any order, so that bits may differ from run to run; in two launches they do not."""
import tilelang
import tilelang.language as T


@tilelang.jit
def gemm_splitk(M, N, K, parts=3, atomic=False, block_M=64, block_N=64, block_K=32, num_stages=3, dtype="float16"):
    share = T.ceildiv(T.ceildiv(K, block_K), parts)

    @T.macro
    def multiply(A, B, C, W):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), parts, threads=128) as (bx, by, part):
            a = T.alloc_shared((block_M, block_K), dtype)
            b = T.alloc_shared((block_K, block_N), dtype)
            c = T.alloc_fragment((block_M, block_N), "float32")

            T.clear(c)
            for k in T.Pipelined(share, num_stages=num_stages):
                at = (part * share + k) * block_K
                T.copy(A[by * block_M, at], a)
                T.copy(B[at, bx * block_N], b)
                T.gemm(a, b, c)
            if atomic:
                T.atomic_add(C[by * block_M, bx * block_N], c)
            else:
                T.copy(c, W[part, by * block_M, bx * block_N])

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float32")):
        if atomic:
            with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
                T.fill(C[by * block_M : (by + 1) * block_M, bx * block_N : (bx + 1) * block_N], 0)
            multiply(A, B, C, C)
        else:
            W = T.alloc_global((parts, M, N), "float32")
            multiply(A, B, C, W)
            with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
                sum = T.alloc_fragment((block_M, block_N), "float32")
                T.clear(sum)
                for part in T.serial(parts):
                    for i, j in T.Parallel(block_M, block_N):
                        sum[i, j] += W[part, by * block_M + i, bx * block_N + j]
                T.copy(sum, C[by * block_M, bx * block_N])

    return main
# SPDX-License-Identifier: Apache-2.0
