import tilelang.language as T

@T.prim_func
def elementwise_add(A: T.Buffer[(M, N), "float16"],
                    B: T.Buffer[(M, N), "float16"],
                    C: T.Buffer[(M, N), "float16"]):
    with T.Kernel(T.ceildiv(M, 32), T.ceildiv(N, 32)) as (bx, by):
        for i, j in T.Parallel(32, 32):
            C[by * 32 + i, bx * 32 + j] = \
                A[by * 32 + i, bx * 32 + j] + B[by * 32 + i, bx * 32 + j]
# SPDX-License-Identifier: Apache-2.0
