"""Mamba-2: the output of a sequence in chunks.

O[l] = e^a(l) C[l] S_before + sum over s <= l of (C[l] . B[s]) e^(a(l) - a(s)) dt(s) x[s] + D x[l], where a is the running
sum of dt * A inside of the chunk, S_before the state that the chunks before have left, and CB the products C[l] . B[s]
of a chunk. Heads of a group share C and CB."""
import tilelang
import tilelang.language as T

LOG2_E = 1.4426950408889634


@tilelang.jit
def chunk_scan(Z, L, H, G, P, N, chunk=64, block_M=64, block_P=64, block_N=32, block_L=32, num_stages=2, threads=128, dtype="float16"):
    chunks = L // chunk
    assert L % chunk == 0 and chunk % block_M == 0 and chunk % block_L == 0

    @T.prim_func
    def main(
        CB: T.Tensor((Z, chunks, G, chunk, chunk), dtype), X: T.Tensor((Z, L, H, P), dtype), DT: T.Tensor((Z, H, chunks, chunk), dtype), A: T.Tensor((Z, H, chunks, chunk), "float32"),
        C: T.Tensor((Z, L, G, N), dtype), S: T.Tensor((Z, chunks, H, P, N), dtype), D: T.Tensor((H,), dtype), O: T.Tensor((Z, L, H, P), dtype)
    ):
        with T.Kernel(H, chunk // block_M * T.ceildiv(P, block_P), Z * chunks, threads=threads) as (h, tile, zc):
            c_tile = T.alloc_shared((block_M, block_N), dtype)
            state = T.alloc_shared((block_P, block_N), dtype)
            cb = T.alloc_shared((block_M, block_L), dtype)
            weighed = T.alloc_fragment((block_M, block_L), dtype)
            x = T.alloc_shared((block_L, block_P), dtype)
            o = T.alloc_fragment((block_M, block_P), "float32")
            z, c, g = zc // chunks, zc % chunks, h // (H // G)
            m, p = tile // T.ceildiv(P, block_P) * block_M, tile % T.ceildiv(P, block_P) * block_P
            row = c * chunk + m

            T.clear(o)
            for n in T.Pipelined(T.ceildiv(N, block_N), num_stages=num_stages):
                T.copy(C[z, row : row + block_M, g, n * block_N : (n + 1) * block_N], c_tile)
                T.copy(S[z, c, h, p : p + block_P, n * block_N : (n + 1) * block_N], state)
                T.gemm(c_tile, state, o, transpose_B=True)
            for i, j in T.Parallel(block_M, block_P):
                o[i, j] *= T.exp2(A[z, h, c, m + i] * LOG2_E)
            for k in T.Pipelined((m + block_M) // block_L, num_stages=num_stages):
                T.copy(CB[z, c, g, m : m + block_M, k * block_L : (k + 1) * block_L], cb)
                T.copy(X[z, c * chunk + k * block_L : c * chunk + (k + 1) * block_L, h, p : p + block_P], x)
                for i, j in T.Parallel(block_M, block_L):
                    decay = T.exp2((A[z, h, c, m + i] - A[z, h, c, k * block_L + j]) * LOG2_E)
                    weighed[i, j] = T.if_then_else(k * block_L + j <= m + i, cb[i, j] * decay * DT[z, h, c, k * block_L + j], 0)
                T.gemm(weighed, x, o)
            for i, j in T.Parallel(block_M, block_P):
                o[i, j] += D[h] * X[z, row + i, h, p + j]
            T.copy(o, O[z, row : row + block_M, h, p : p + block_P])

    return main
# SPDX-License-Identifier: Apache-2.0
