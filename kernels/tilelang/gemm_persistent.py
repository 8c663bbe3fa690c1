"""C = A B with as many blocks as there are multiprocessors, each of which takes every blocks-th tile, in groups along N."""
import tilelang
import tilelang.language as T


@tilelang.jit
def gemm_persistent(M, N, K, blocks=132, group=8, block_M=64, block_N=64, block_K=32, num_stages=3, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(blocks, threads=128) as block:
            a = T.alloc_shared((block_M, block_K), dtype)
            b = T.alloc_shared((block_K, block_N), dtype)
            c = T.alloc_fragment((block_M, block_N), "float32")

            for by, bx in T.Persistent([T.ceildiv(M, block_M), T.ceildiv(N, block_N)], blocks, block, group):
                T.clear(c)
                for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                    T.copy(A[by * block_M, k * block_K], a)
                    T.copy(B[k * block_K, bx * block_N], b)
                    T.gemm(a, b, c)
                T.copy(c, C[by * block_M, bx * block_N])

    return main
# SPDX-License-Identifier: Apache-2.0
