"""C = A W^T with weights of 4 bits: two in a byte, the even one in the lower half, a scale and a zero point for each
group of `group` weights of a row.

W = (nibble - zero) * scale, rounded to A's type, then a product on matrix units."""
import tilelang
import tilelang.language as T


@tilelang.jit
def gemm_dequant(M, N, K, group=32, block_M=64, block_N=64, block_K=64, num_stages=3, dtype="float16"):
    groups = T.ceildiv(K, group)

    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype), W: T.Tensor((N, T.ceildiv(K, 2)), "uint8"), S: T.Tensor((N, groups), dtype), Z: T.Tensor((N, groups), "uint8"), C: T.Tensor((M, N), dtype)
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            a = T.alloc_shared((block_M, block_K), dtype)
            packed = T.alloc_shared((block_N, block_K // 2), "uint8")
            w = T.alloc_shared((block_N, block_K), dtype)
            c = T.alloc_fragment((block_M, block_N), "float32")

            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                T.copy(A[by * block_M, k * block_K], a)
                T.copy(W[bx * block_N, k * (block_K // 2)], packed)
                for i, j in T.Parallel(block_N, block_K):
                    row, at = bx * block_N + i, (k * block_K + j) // group
                    nibble = T.cast(packed[i, j // 2] >> ((j % 2) * 4) & 15, "float32")
                    w[i, j] = (nibble - T.cast(Z[row, at], "float32")) * T.cast(S[row, at], "float32")
                T.gemm(a, w, c, transpose_B=True)
            T.copy(c, C[by * block_M, bx * block_N])

    return main
# SPDX-License-Identifier: Apache-2.0
