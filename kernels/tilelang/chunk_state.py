"""Mamba-2: the state that each chunk of a sequence leaves by itself.

With a(l) the running sum of dt * A inside of a chunk: S[p, n] = sum over its places l of
x[l, p] * B[l, n] * dt(l) * e^(a(end) - a(l)). Heads of a group share B."""
import tilelang
import tilelang.language as T

LOG2_E = 1.4426950408889634


@tilelang.jit
def chunk_state(Z, L, H, G, P, N, chunk=64, block_P=64, block_N=64, block_L=32, num_stages=2, threads=128, dtype="float16"):
    chunks = L // chunk
    assert L % chunk == 0 and chunk % block_L == 0

    @T.prim_func
    def main(
        B: T.Tensor((Z, L, G, N), dtype), X: T.Tensor((Z, L, H, P), dtype), DT: T.Tensor((Z, H, chunks, chunk), dtype), A: T.Tensor((Z, H, chunks, chunk), "float32"), S: T.Tensor((Z, chunks, H, P, N), dtype)
    ):
        with T.Kernel(H, T.ceildiv(P, block_P) * T.ceildiv(N, block_N), Z * chunks, threads=threads) as (h, tile, zc):
            x = T.alloc_shared((block_L, block_P), dtype)
            weighed = T.alloc_fragment((block_L, block_P), dtype)
            b = T.alloc_shared((block_L, block_N), dtype)
            s = T.alloc_fragment((block_P, block_N), "float32")
            z, c = zc // chunks, zc % chunks
            p, n = tile // T.ceildiv(N, block_N) * block_P, tile % T.ceildiv(N, block_N) * block_N

            T.clear(s)
            for k in T.Pipelined(chunk // block_L, num_stages=num_stages):
                first = c * chunk + k * block_L
                T.copy(X[z, first : first + block_L, h, p : p + block_P], x)
                T.copy(B[z, first : first + block_L, h // (H // G), n : n + block_N], b)
                for l, i in T.Parallel(block_L, block_P):
                    decay = T.exp2((A[z, h, c, chunk - 1] - A[z, h, c, k * block_L + l]) * LOG2_E)
                    weighed[l, i] = x[l, i] * decay * DT[z, h, c, k * block_L + l]
                T.gemm(weighed, b, s, transpose_A=True)
            T.copy(s, S[z, c, h, p : p + block_P, n : n + block_N])

    return main
# SPDX-License-Identifier: Apache-2.0
