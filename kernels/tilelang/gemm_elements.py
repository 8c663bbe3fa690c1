"""C = A @ B written element by element: the compiler finds the matrix product in the innermost loop."""
import tilelang.language as T


@T.prim_func
def gemm(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
    with T.Kernel(T.ceildiv(N, 32), T.ceildiv(M, 32)) as (bx, by):
        A_tile = T.alloc_shared((32, 32), dtype)
        B_tile = T.alloc_shared((32, 32), dtype)
        C_tile = T.alloc_local((32, 32), dtype)

        for i, j in T.Parallel(32, 32):
            C_tile[i, j] = 0.0

        for k in T.Pipelined(T.ceildiv(K, 32), num_stages=2):
            for i, j in T.Parallel(32, 32):
                A_tile[i, j] = A[by * 32 + i, k * 32 + j]
                B_tile[i, j] = B[k * 32 + i, bx * 32 + j]

            for i, j, kk in T.Parallel(32, 32, 32):
                C_tile[i, j] += A_tile[i, kk] * B_tile[kk, j]

        for i, j in T.Parallel(32, 32):
            C[by * 32 + i, bx * 32 + j] = C_tile[i, j]
# SPDX-License-Identifier: Apache-2.0
