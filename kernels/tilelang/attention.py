"""O = softmax(Q K^T * scale) V for each head, forward, with groups of heads that share keys and values.

A block has block_M queries of one head. Over blocks of keys it keeps each row's maximum and sum (as softmax.py does) and
the output so far, all scaled when the maximum grows. causal: query i of the last N sees keys up to its own place."""
import tilelang
import tilelang.language as T

LOG2_E = 1.4426950408889634


@tilelang.jit
def attention(Z, H, G, M, N, D, causal=False, block_M=64, block_N=64, num_stages=2, threads=128, dtype="float16"):
    scale = D**-0.5 * LOG2_E
    heads = H // G  # of keys and values

    @T.prim_func
    def main(
        Q: T.Tensor((Z, H, M, D), dtype), K: T.Tensor((Z, heads, N, D), dtype), V: T.Tensor((Z, heads, N, D), dtype), O: T.Tensor((Z, H, M, D), dtype)
    ):
        with T.Kernel(T.ceildiv(M, block_M), H, Z, threads=threads) as (bm, h, z):
            q = T.alloc_shared((block_M, D), dtype)
            k = T.alloc_shared((block_N, D), dtype)
            v = T.alloc_shared((block_N, D), dtype)
            s = T.alloc_fragment((block_M, block_N), "float32")
            p = T.alloc_fragment((block_M, block_N), dtype)
            o = T.alloc_fragment((block_M, D), "float32")
            top = T.alloc_fragment((block_M,), "float32")
            before = T.alloc_fragment((block_M,), "float32")
            part = T.alloc_fragment((block_M,), "float32")
            total = T.alloc_fragment((block_M,), "float32")

            T.copy(Q[z, h, bm * block_M : (bm + 1) * block_M, :], q)
            T.clear(o)
            T.clear(total)
            T.fill(top, -1e30)
            seen = T.min(N, (bm + 1) * block_M + N - M) if causal else N
            for n in T.Pipelined(T.ceildiv(seen, block_N), num_stages=num_stages):
                T.copy(K[z, h // G, n * block_N : (n + 1) * block_N, :], k)
                T.gemm(q, k, s, transpose_B=True, clear_accum=True, policy=T.GemmWarpPolicy.FullRow)
                for i, j in T.Parallel(block_M, block_N):
                    last = bm * block_M + i + N - M if causal else N - 1
                    s[i, j] = T.if_then_else(n * block_N + j <= T.min(last, N - 1), s[i, j] * scale, -T.infinity("float32"))
                T.copy(top, before)
                T.reduce_max(s, top, dim=1, clear=False)
                for i, j in T.Parallel(block_M, block_N):
                    s[i, j] = T.exp2(s[i, j] - top[i])
                T.reduce_sum(s, part, dim=1)
                for i in T.Parallel(block_M):
                    before[i] = T.exp2(before[i] - top[i])
                    total[i] = total[i] * before[i] + part[i]
                for i, j in T.Parallel(block_M, D):
                    o[i, j] *= before[i]
                T.copy(s, p)
                T.copy(V[z, h // G, n * block_N : (n + 1) * block_N, :], v)
                T.gemm(p, v, o, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(block_M, D):
                o[i, j] = o[i, j] / total[i]
            T.copy(o, O[z, h, bm * block_M : (bm + 1) * block_M, :])

    return main
# SPDX-License-Identifier: Apache-2.0
