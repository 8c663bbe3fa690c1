# Two warpgroups share the columns of a product of 64 rows that goes on with another one, and meet over its rows; what is masked begins it.
import tilelang.language as T


@T.prim_func
def k(Q: T.Tensor((64, 64), "float16"), K: T.Tensor((200, 64), "float16"), N: T.Tensor((1,), "int32"), O: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=256) as bx:
        qs = T.alloc_shared((64, 64), "float16")
        ks = T.alloc_shared((64, 64), "float16")
        sums = T.alloc_fragment((64, 64), "float32")
        most = T.alloc_fragment((64,), "float32")
        best = T.alloc_fragment((64,), "float32")
        T.copy(Q, qs)
        T.fill(best, -T.infinity("float32"))
        for n in T.Pipelined(4, num_stages=2):
            T.copy(K[n * 64:(n + 1) * 64, :], ks)
            for i, j in T.Parallel(64, 64):
                sums[i, j] = T.if_then_else(n * 64 + j >= 100 + i, -1e9, 0)
            T.gemm(qs, ks, sums, transpose_B=True)
            T.gemm(ks, qs, sums, transpose_B=True)
            T.reduce_max(sums, most, dim=1)
            for i in T.Parallel(64):
                best[i] = T.max(best[i], most[i])
        for i, j in T.Parallel(64, 64):
            if i < N[0] % 64:
                O[i, j] = best[i] + j
# SPDX-License-Identifier: Apache-2.0
