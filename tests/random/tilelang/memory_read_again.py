# A tensor that one loop writes and the next one reads elsewhere; iterations that meet.
import tilelang.language as T


@T.prim_func
def k(A: T.Tensor((32,), "int32"), W: T.Tensor((32,), "int32"), X: T.Tensor((32,), "int32")):
    with T.Kernel(1) as bx:
        for i in T.Parallel(32):
            W[i] = A[i] * 2
        for i in T.Parallel(32):
            X[i] = W[31 - i]
        for i in T.Parallel(31):
            W[i] = W[i + 1]
        for i in T.Parallel(32):
            X[i] += W[i]
        for i in T.Parallel(64):
            X[i // 2] = W[i % 32] + i
# SPDX-License-Identifier: Apache-2.0
