"""The gradients of attention.py: DQ, DK and DV of O = softmax(Q K^T * scale) V for the gradient DO, with groups of heads that share keys and values.

L has each row's logarithm (to base 2) of the sum of its weights, so that P = 2^(Q K^T * scale * log2 e - L). Three launches: each row's sum of O * DO (delta);
DK and DV, a block of keys going over the queries of all heads of its group; DQ, a block of queries going over the keys. dS = P * (DO V^T - delta) * scale.
No number is added by an atomic: two runs give the same bits."""
import tilelang
import tilelang.language as T

LOG2_E = 1.4426950408889634


@tilelang.jit
def attention_backward(Z, H, G, M, N, D, causal=False, block_M=64, block_N=64, num_stages=2, threads=128, dtype="float16"):
    scale = D**-0.5
    heads = H // G  # of keys and values
    ahead = N - M  # query i of the last N sees keys up to its own place

    @T.prim_func
    def main(
        Q: T.Tensor((Z, H, M, D), dtype), K: T.Tensor((Z, heads, N, D), dtype), V: T.Tensor((Z, heads, N, D), dtype), O: T.Tensor((Z, H, M, D), dtype),
        DO: T.Tensor((Z, H, M, D), dtype), L: T.Tensor((Z, H, M), "float32"), DQ: T.Tensor((Z, H, M, D), dtype), DK: T.Tensor((Z, heads, N, D), dtype),
        DV: T.Tensor((Z, heads, N, D), dtype)
    ):
        delta = T.alloc_global((Z, H, M), "float32")

        with T.Kernel(T.ceildiv(M, block_M), H, Z, threads=threads) as (bm, h, z):
            o = T.alloc_fragment((block_M, D), dtype)
            do = T.alloc_fragment((block_M, D), dtype)
            both = T.alloc_fragment((block_M, D), "float32")
            row = T.alloc_fragment((block_M,), "float32")
            T.copy(O[z, h, bm * block_M : (bm + 1) * block_M, :], o)
            T.copy(DO[z, h, bm * block_M : (bm + 1) * block_M, :], do)
            for i, d in T.Parallel(block_M, D):
                both[i, d] = T.cast(o[i, d], "float32") * T.cast(do[i, d], "float32")
            T.reduce_sum(both, row, dim=1)
            T.copy(row, delta[z, h, bm * block_M : (bm + 1) * block_M])

        with T.Kernel(T.ceildiv(N, block_N), heads, Z, threads=threads) as (bn, h, z):
            k = T.alloc_shared((block_N, D), dtype)
            v = T.alloc_shared((block_N, D), dtype)
            q = T.alloc_shared((block_M, D), dtype)
            do = T.alloc_shared((block_M, D), dtype)
            s = T.alloc_fragment((block_N, block_M), "float32")
            dp = T.alloc_fragment((block_N, block_M), "float32")
            p = T.alloc_fragment((block_N, block_M), dtype)
            ds = T.alloc_fragment((block_N, block_M), dtype)
            l = T.alloc_shared((block_M,), "float32")
            row = T.alloc_shared((block_M,), "float32")
            dk = T.alloc_fragment((block_N, D), "float32")
            dv = T.alloc_fragment((block_N, D), "float32")
            T.copy(K[z, h, bn * block_N : (bn + 1) * block_N, :], k)
            T.copy(V[z, h, bn * block_N : (bn + 1) * block_N, :], v)
            T.clear(dk)
            T.clear(dv)
            first = T.max(0, bn * block_N - ahead) // block_M if causal else 0
            for g in T.serial(G):
                for m in T.Pipelined(first, T.ceildiv(M, block_M), num_stages=num_stages):
                    T.copy(Q[z, h * G + g, m * block_M : (m + 1) * block_M, :], q)
                    T.copy(DO[z, h * G + g, m * block_M : (m + 1) * block_M, :], do)
                    T.copy(L[z, h * G + g, m * block_M : (m + 1) * block_M], l)
                    T.copy(delta[z, h * G + g, m * block_M : (m + 1) * block_M], row)
                    T.gemm(k, q, s, transpose_B=True, clear_accum=True)
                    T.gemm(v, do, dp, transpose_B=True, clear_accum=True)
                    for j, i in T.Parallel(block_N, block_M):
                        seen = bn * block_N + j <= m * block_M + i + ahead if causal else True
                        s[j, i] = T.if_then_else(seen, T.exp2(s[j, i] * (scale * LOG2_E) - l[i]), 0.0)
                        p[j, i] = T.cast(s[j, i], dtype)
                        ds[j, i] = T.cast(s[j, i] * (dp[j, i] - row[i]) * scale, dtype)
                    T.gemm(p, do, dv)
                    T.gemm(ds, q, dk)
            T.copy(dk, DK[z, h, bn * block_N : (bn + 1) * block_N, :])
            T.copy(dv, DV[z, h, bn * block_N : (bn + 1) * block_N, :])

        with T.Kernel(T.ceildiv(M, block_M), H, Z, threads=threads) as (bm, h, z):
            q = T.alloc_shared((block_M, D), dtype)
            do = T.alloc_shared((block_M, D), dtype)
            k = T.alloc_shared((block_N, D), dtype)
            v = T.alloc_shared((block_N, D), dtype)
            s = T.alloc_fragment((block_M, block_N), "float32")
            dp = T.alloc_fragment((block_M, block_N), "float32")
            ds = T.alloc_fragment((block_M, block_N), dtype)
            l = T.alloc_fragment((block_M,), "float32")
            row = T.alloc_fragment((block_M,), "float32")
            dq = T.alloc_fragment((block_M, D), "float32")
            T.copy(Q[z, h, bm * block_M : (bm + 1) * block_M, :], q)
            T.copy(DO[z, h, bm * block_M : (bm + 1) * block_M, :], do)
            T.copy(L[z, h, bm * block_M : (bm + 1) * block_M], l)
            T.copy(delta[z, h, bm * block_M : (bm + 1) * block_M], row)
            T.clear(dq)
            seen = T.min(N, (bm + 1) * block_M + ahead) if causal else N
            for n in T.Pipelined(T.ceildiv(seen, block_N), num_stages=num_stages):
                T.copy(K[z, h // G, n * block_N : (n + 1) * block_N, :], k)
                T.copy(V[z, h // G, n * block_N : (n + 1) * block_N, :], v)
                T.gemm(q, k, s, transpose_B=True, clear_accum=True)
                T.gemm(do, v, dp, transpose_B=True, clear_accum=True)
                for i, j in T.Parallel(block_M, block_N):
                    weighs = n * block_N + j <= bm * block_M + i + ahead if causal else True
                    s[i, j] = T.if_then_else(weighs, T.exp2(s[i, j] * (scale * LOG2_E) - l[i]), 0.0)
                    ds[i, j] = T.cast(s[i, j] * (dp[i, j] - row[i]) * scale, dtype)
                T.gemm(ds, k, dq)
            T.copy(dq, DQ[z, h, bm * block_M : (bm + 1) * block_M, :])

    return main
# SPDX-License-Identifier: Apache-2.0
