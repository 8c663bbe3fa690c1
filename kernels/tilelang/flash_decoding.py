"""One query a head against a long row of keys, which several blocks share.

Block p of a head's `parts` takes its part of the keys and leaves its output and the logarithm of its sum; a second launch
weighs the parts. Heads of a group share keys and values, so that they are the rows of one product."""
import tilelang
import tilelang.language as T

LOG2_E = 1.4426950408889634


@tilelang.jit
def flash_decoding(Z, H, G, N, D, parts=3, block_H=16, block_N=64, num_stages=2, threads=128, dtype="float16"):
    scale = D**-0.5 * LOG2_E
    heads = H // G
    share = T.ceildiv(T.ceildiv(N, block_N), parts)  # blocks of keys

    @T.macro
    def attend(Q, K, V, out, sums):
        with T.Kernel(heads, parts, Z, threads=threads) as (h, part, z):
            q = T.alloc_shared((block_H, D), dtype)
            k = T.alloc_shared((block_N, D), dtype)
            v = T.alloc_shared((block_N, D), dtype)
            s = T.alloc_fragment((block_H, block_N), "float32")
            p = T.alloc_fragment((block_H, block_N), dtype)
            o = T.alloc_fragment((block_H, D), "float32")
            top = T.alloc_fragment((block_H,), "float32")
            before = T.alloc_fragment((block_H,), "float32")
            more = T.alloc_fragment((block_H,), "float32")
            total = T.alloc_fragment((block_H,), "float32")

            for i, j in T.Parallel(block_H, D):
                q[i, j] = T.if_then_else(i < G, Q[z, h * G + i, j], 0)
            T.clear(o)
            T.clear(total)
            T.fill(top, -1e30)
            for n in T.Pipelined(share, num_stages=num_stages):
                first = (part * share + n) * block_N
                T.copy(K[z, h, first : first + block_N, :], k)
                T.gemm(q, k, s, transpose_B=True, clear_accum=True, policy=T.GemmWarpPolicy.FullCol)
                for i, j in T.Parallel(block_H, block_N):
                    s[i, j] = T.if_then_else(first + j < N, s[i, j] * scale, -T.infinity("float32"))
                T.copy(top, before)
                T.reduce_max(s, top, dim=1, clear=False)
                for i, j in T.Parallel(block_H, block_N):
                    s[i, j] = T.exp2(s[i, j] - top[i])
                T.reduce_sum(s, more, dim=1)
                for i in T.Parallel(block_H):
                    before[i] = T.exp2(before[i] - top[i])
                    total[i] = total[i] * before[i] + more[i]
                for i, j in T.Parallel(block_H, D):
                    o[i, j] *= before[i]
                T.copy(s, p)
                T.copy(V[z, h, first : first + block_N, :], v)
                T.gemm(p, v, o, policy=T.GemmWarpPolicy.FullCol)
            for i, j in T.Parallel(block_H, D):
                if i < G:
                    out[z, h * G + i, part, j] = o[i, j] / T.max(total[i], 1e-30)
            for i in T.Parallel(block_H):
                if i < G:
                    sums[z, h * G + i, part] = top[i] + T.log2(T.max(total[i], 1e-30))

    @T.macro
    def join(out, sums, O):
        with T.Kernel(H, Z, threads=threads) as (h, z):
            weight = T.alloc_fragment((parts,), "float32")
            top = T.alloc_fragment((1,), "float32")
            total = T.alloc_fragment((1,), "float32")
            part = T.alloc_fragment((parts, D), "float32")
            o = T.alloc_fragment((D,), "float32")

            T.copy(sums[z, h, :], weight)
            T.copy(out[z, h, :, :], part)
            T.reduce_max(weight, top, dim=0)
            for i in T.Parallel(parts):
                weight[i] = T.exp2(weight[i] - top[0])
            T.reduce_sum(weight, total, dim=0)
            for i, j in T.Parallel(parts, D):
                part[i, j] *= weight[i] / total[0]
            T.reduce_sum(part, o, dim=0)
            T.copy(o, O[z, h, :])

    @T.prim_func
    def main(Q: T.Tensor((Z, H, D), dtype), K: T.Tensor((Z, heads, N, D), dtype), V: T.Tensor((Z, heads, N, D), dtype), O: T.Tensor((Z, H, D), dtype)):
        out = T.alloc_global((Z, H, parts, D), "float32")
        sums = T.alloc_global((Z, H, parts), "float32")
        attend(Q, K, V, out, sums)
        join(out, sums, O)

    return main
# SPDX-License-Identifier: Apache-2.0
