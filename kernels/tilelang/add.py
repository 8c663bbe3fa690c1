"""C = A + B, one 32 x 32 tile a block."""
import tilelang.language as T


@T.prim_func
def elementwise_add(A: T.Tensor((M, N), dtype), B: T.Tensor((M, N), dtype), C: T.Tensor((M, N), dtype)):
    with T.Kernel(T.ceildiv(N, 32), T.ceildiv(M, 32)) as (bx, by):
        for i, j in T.Parallel(32, 32):
            C[by * 32 + i, bx * 32 + j] = A[by * 32 + i, bx * 32 + j] + B[by * 32 + i, bx * 32 + j]
# SPDX-License-Identifier: Apache-2.0
