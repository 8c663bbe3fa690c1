import tilelang.language as T

@T.prim_func
def matmul(A: T.Buffer[(M, K), "float16"],
           B: T.Buffer[(K, N), "float16"],
           C: T.Buffer[(M, N), "float16"]):
    with T.Kernel(T.ceildiv(M, 32), T.ceildiv(N, 32)) as (bx, by):
        # Allocate shared memory tiles
        A_tile = T.alloc_shared((32, 32), "float16")
        B_tile = T.alloc_shared((32, 32), "float16")
        C_tile = T.alloc_local((32, 32), "float16")

        # Initialize accumulator
        for i, j in T.Parallel(32, 32):
            C_tile[i, j] = 0.0

        # K-loop: Accumulate partial products
        for k in T.Pipelined(T.ceildiv(K, 32)):
            # Load tiles from global memory
            for i, j in T.Parallel(32, 32):
                A_tile[i, j] = A[by * 32 + i, k * 32 + j]
                B_tile[i, j] = B[k * 32 + i, bx * 32 + j]

            # Compute: C_tile += A_tile @ B_tile
            for i, j, kk in T.Parallel(32, 32, 32):
                C_tile[i, j] += A_tile[i, kk] * B_tile[kk, j]

        # Write result back to global memory
        for i, j in T.Parallel(32, 32):
            C[by * 32 + i, bx * 32 + j] = C_tile[i, j]
# SPDX-License-Identifier: Apache-2.0
