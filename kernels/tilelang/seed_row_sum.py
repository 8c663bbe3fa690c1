import tilelang.language as T

@T.prim_func
def reduce_sum(A: T.Buffer[(M, N), "float16"],
               B: T.Buffer[(M,), "float16"]):
    with T.Kernel(T.ceildiv(M, 32)) as bx:
        partial_sum = T.alloc_local((32,), "float32")

        # Initialize
        for i in T.Parallel(32):
            partial_sum[i] = 0.0

        # Reduce across columns
        for j in range(N):
            for i in T.Parallel(32):
                partial_sum[i] += A[bx * 32 + i, j]

        # Write result
        for i in T.Parallel(32):
            B[bx * 32 + i] = partial_sum[i]
# SPDX-License-Identifier: Apache-2.0
