"""C = A B^T of 8-bit numbers, with a scale for each row of A and each row of B.

int8 is summed in int32, exactly; float8 in float32, where every `promote` steps of K move to a sum of their own: matrix
units keep few bits of long sums of 8-bit floats."""
import tilelang
import tilelang.language as T


@tilelang.jit
def gemm_scaled(M, N, K, dtype="int8", promote=4, block_M=64, block_N=64, block_K=64, num_stages=3):
    whole = T.dtype(dtype) == "int8"
    accum = "int32" if whole else "float32"
    steps = T.ceildiv(K, block_K)
    runs = 1 if whole else T.ceildiv(steps, promote)
    length = steps if whole else promote

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((N, K), dtype), SA: T.Tensor((M,), "float32"), SB: T.Tensor((N,), "float32"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            a = T.alloc_shared((block_M, block_K), dtype)
            b = T.alloc_shared((block_N, block_K), dtype)
            c = T.alloc_fragment((block_M, block_N), accum)
            total = T.alloc_fragment((block_M, block_N), accum)

            T.clear(total)
            for run in T.serial(runs):
                T.clear(c)
                for k in T.Pipelined(length, num_stages=num_stages):
                    T.copy(A[by * block_M, (run * length + k) * block_K], a)
                    T.copy(B[bx * block_N, (run * length + k) * block_K], b)
                    T.gemm(a, b, c, transpose_B=True)
                for i, j in T.Parallel(block_M, block_N):
                    total[i, j] += c[i, j]
            for i, j in T.Parallel(block_M, block_N):
                row, column = by * block_M + i, bx * block_N + j
                C[row, column] = T.cast(total[i, j], "float32") * SA[row] * SB[column]

    return main
# SPDX-License-Identifier: Apache-2.0
