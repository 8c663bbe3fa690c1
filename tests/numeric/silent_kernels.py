# SPDX-License-Identifier: Apache-2.0
"""silent_kernels.py: kernels of the shapes that went wrong in silence, or hung, in TileLang: hazards of pipelines, layouts that do not fit the threads, tiles that
matrix instructions do not cover, reductions over odd numbers of threads, tails. tilelang_kernels.py compares each with its mathematics, for several stages and
threads."""
import tilelang
import tilelang.language as T


@tilelang.jit
def overwritten(K, N, stages=2, threads=128):
    """A shared tile is read, changed and read again in each trip of a pipelined loop."""

    @T.prim_func
    def main(A: T.Tensor((K, N), "float32"), C: T.Tensor((N, ), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            s = T.alloc_shared((N, ), "float32")
            o = T.alloc_fragment((N, ), "float32")
            T.clear(o)
            for k in T.Pipelined(K, num_stages=stages):
                T.copy(A[k, 0:N], s)
                for j in T.Parallel(N):
                    o[j] += s[j]
                for j in T.Parallel(N):
                    s[j] = 2 * s[j]
                for j in T.Parallel(N):
                    o[j] += s[N - 1 - j]
            T.copy(o, C)

    return main


@tilelang.jit
def through_memory(K, N, stages=2, threads=128):
    """What an atomic has added to global memory is read behind it."""

    @T.prim_func
    def main(A: T.Tensor((K, N), "float32"), S: T.Tensor((N, ), "float32"), C: T.Tensor((K, N), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            s = T.alloc_shared((N, ), "float32")
            for k in T.Pipelined(K, num_stages=stages):
                T.copy(A[k, 0:N], s)
                for j in T.Parallel(N):
                    T.atomic_add(S[j], s[j])
                for j in T.Parallel(N):
                    C[k, j] = S[N - 1 - j]

    return main


@tilelang.jit
def cleared(M, N, K, stages=3, block=32, dtype="float16"):
    """A sum is cleared before each of several pipelined loops; the last block of K may be the only one, and is not full."""

    @T.prim_func
    def main(A: T.Tensor((2, M, K), dtype), B: T.Tensor((2, K, N), dtype), C: T.Tensor((2, M, N), "float32")):
        with T.Kernel(T.ceildiv(N, block), T.ceildiv(M, block), threads=128) as (bx, by):
            a = T.alloc_shared((block, block), dtype)
            b = T.alloc_shared((block, block), dtype)
            c = T.alloc_fragment((block, block), "float32")
            for n in range(2):
                T.clear(c)
                for k in T.Pipelined(T.ceildiv(K, block), num_stages=stages):
                    T.copy(A[n, by * block, k * block], a)
                    T.copy(B[n, k * block, bx * block], b)
                    T.gemm(a, b, c)
                T.copy(c, C[n, by * block, bx * block])

    return main


@tilelang.jit
def siblings(M, N, K, first=1, second=3, block=32, dtype="float16"):
    """Two pipelined loops of different stages share their tiles."""

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, block), T.ceildiv(M, block), threads=128) as (bx, by):
            a = T.alloc_shared((block, block), dtype)
            b = T.alloc_shared((block, block), dtype)
            c = T.alloc_fragment((block, block), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, block), num_stages=first):
                T.copy(A[by * block, k * block], a)
                T.copy(B[k * block, bx * block], b)
                T.gemm(a, b, c)
            for k in T.Pipelined(T.ceildiv(K, block), num_stages=second):
                T.copy(A[by * block, k * block], a)
                T.copy(B[k * block, bx * block], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * block, bx * block])

    return main


@tilelang.jit
def covered(M, N, K, block_M=24, block_N=40, block_K=24, stages=2, threads=128, dtype="float16"):
    """Tiles of a product in extents that no matrix instruction has."""

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (bx, by):
            a = T.alloc_shared((block_M, block_K), dtype)
            b = T.alloc_shared((block_K, block_N), dtype)
            c = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=stages):
                T.copy(A[by * block_M, k * block_K], a)
                T.copy(B[k * block_K, bx * block_N], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * block_M, bx * block_N])

    return main


@tilelang.jit
def turned(N, threads=96):
    """One tile by two indices in one loop, then by a longer loop than it was written by."""

    @T.prim_func
    def main(A: T.Tensor((N, N), "float32"), C: T.Tensor((N, N), "float32"), R: T.Tensor((N * N, ), "float32")):
        with T.Kernel(1, threads=threads) as bx:
            f = T.alloc_fragment((N, N), "float32")
            r = T.alloc_fragment((N * N, ), "float32")
            T.copy(A, f)
            for i, j in T.Parallel(N, N):
                C[i, j] = f[i, j] - 2 * f[j, i]
            for i in T.Parallel(N):
                r[i] = 1.0
            for i in T.Parallel(N * N):
                r[i] = f[i // N, i % N] + 1
            for i in T.Parallel(N * N):
                R[i] = r[i]

    return main


@tilelang.jit
def sums(M, N, threads=96, dtype="float32"):
    """Sums and maxima of rows, with any number of threads; sums of narrow integers do not wrap."""

    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), S: T.Tensor((M, ), "float32"), X: T.Tensor((M, ), "float32"), W: T.Tensor((M, ), "int32")):
        with T.Kernel(1, threads=threads) as bx:
            a = T.alloc_fragment((M, N), dtype)
            w = T.alloc_fragment((M, N), "int8")
            s = T.alloc_fragment((M, ), "float32")
            x = T.alloc_fragment((M, ), dtype)
            wide = T.alloc_fragment((M, ), "int32")
            T.copy(A, a)
            T.reduce_sum(a, s, dim=1)
            T.reduce_max(a, x, dim=1)
            for i, j in T.Parallel(M, N):
                w[i, j] = T.cast(100, "int8")
            T.reduce_sum(w, wide, dim=1)
            T.copy(s, S)
            for i in T.Parallel(M):
                X[i] = x[i]
            T.copy(wide, W)

    return main


@tilelang.jit
def every_lane(N, block=64, threads=128):
    """An atomic on each element of a loop; blocks whose last one is not full."""

    @T.prim_func
    def main(A: T.Tensor((N, ), "float32"), S: T.Tensor((7, ), "float32"), C: T.Tensor((N, ), "float32")):
        with T.Kernel(T.ceildiv(N, block), threads=threads) as bx:
            s = T.alloc_shared((block, ), "float32")
            T.annotate_safe_value({A: 5.0})
            T.copy(A[bx * block], s)
            for i in T.Parallel(block):
                T.atomic_add(S[(bx * block + i) % 7], s[i])
            for i in T.Parallel(block):
                s[i] = s[i] + 1
            T.copy(s, C[bx * block])

    return main
