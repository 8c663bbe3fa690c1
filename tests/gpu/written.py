"""written.py: TileLang kernels whose threads, roles and barriers do not become one program of tile operations; they run as they are written.

Threads: `turns` (shuffles in loops that each warp runs as often as its data say), `steps` (barriers in a loop whose trips memory tells).
Roles: `pairs` (a producer that counts in ones, a consumer that counts in twos), `late` (the consumer stands before the producer), `halves` (a
producer, and two consumer warpgroups that take every other tile and turns with the matrix units), `trade` (two warpgroups that hand a tile to and fro, with a trip count of the launch),
`single` (one thread arrives for its warpgroup)."""
import tilelang.language as T

M, N, K, S = 100, 72, 130, 2


@T.prim_func
def turns(counts: T.Tensor((4,), "int32"), A: T.Tensor((2, 128), "int32"), B: T.Tensor((2, 128), "int32")):
    with T.Kernel(2, threads=128) as bx:
        tx = T.get_thread_binding()
        own = T.alloc_local((2,), "int32")
        own[0] = A[bx, tx]
        own[1] = 0
        for i in T.serial(counts[tx // 32]):
            own[i % 2] = own[(i + 1) % 2] + T.shfl_xor(own[0], 1 << (i % 5)) * (i + 1)
        B[bx, tx] = own[0] - own[1]


@T.prim_func
def steps(counts: T.Tensor((3, 96), "int32"), A: T.Tensor((3, 96), "float32"), B: T.Tensor((3, 96), "float32"), H: T.Tensor((3, 4), "float32")):
    with T.Kernel(3, threads=96) as bx:
        tx = T.get_thread_binding()
        s = T.alloc_shared((96,), "float32")
        h = T.alloc_shared((4,), "float32")
        x = T.alloc_var("float32")
        T.fill(h, 0)
        x = A[bx, tx]
        for i in T.serial(counts[bx, tx]):
            s[tx] = x
            T.sync_threads()
            x = x * 0.5 + s[(tx + i + 1) % 96]
            T.sync_threads()
            T.atomic_add(h[(tx + i) % 4], 1.0)
        T.sync_threads()
        B[bx, tx] = x
        if tx < 4:
            H[bx, tx] = h[tx]


@T.prim_func
def pairs(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
    with T.Kernel(T.ceildiv(N, 64), T.ceildiv(M, 64), threads=256) as (bx, by):
        a = T.alloc_shared((2, 64, 32), "float16")
        b = T.alloc_shared((2, 32, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        ready = T.alloc_barrier([128] * 2)
        free = T.alloc_barrier([128] * 2)
        tx = T.get_thread_binding()
        if tx < 128:
            T.set_max_nreg(240, 1)
            T.clear(c)
            for k in T.serial(T.ceildiv(K, 64)):
                T.barrier_wait(ready[0], k % 2)
                T.wgmma_gemm(a[0, :, :], b[0, :, :], c)
                T.wait_wgmma(0)
                T.barrier_arrive(free[0])
                T.barrier_wait(ready[1], k % 2)
                T.wgmma_gemm(a[1, :, :], b[1, :, :], c)
                T.wait_wgmma(0)
                T.barrier_arrive(free[1])
            T.copy(c, C[by * 64, bx * 64])
        else:
            T.set_max_nreg(24, 0)
            for k in T.serial(T.ceildiv(K, 64) * 2):
                T.barrier_wait(free[k % 2], (k // 2 + 1) % 2)
                T.tma_copy(A[by * 64, k * 32], a[k % 2, :, :], barrier=ready[k % 2])
                for i in T.serial(16):
                    b[k % 2, (tx - 128) // 64 * 16 + i, (tx - 128) % 64] = B[k * 32 + (tx - 128) // 64 * 16 + i, bx * 64 + (tx - 128) % 64]
                T.barrier_arrive(ready[k % 2])


@T.prim_func
def late(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
    with T.Kernel(T.ceildiv(N, 64), T.ceildiv(M, 64), threads=256) as (bx, by):
        a = T.alloc_shared((S, 64, 32), "float16")
        b = T.alloc_shared((S, 32, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        ready = T.alloc_barrier([128] * S)
        free = T.alloc_barrier([128] * S)
        with T.ws(0):
            T.clear(c)
        for k in range(T.ceildiv(K, 32)):
            with T.ws(0):
                T.barrier_wait(ready[k % S], k // S % 2)
                T.wgmma_gemm(a[k % S, :, :], b[k % S, :, :], c)
                T.wait_wgmma(0)
                T.barrier_arrive(free[k % S])
            with T.ws(1):
                T.barrier_wait(free[k % S], (k // S + 1) % 2)
                T.tma_copy(A[by * 64, k * 32], a[k % S, :, :], barrier=ready[k % S])
                T.tma_copy(B[k * 32, bx * 64], b[k % S, :, :], barrier=ready[k % S])
                T.barrier_arrive(ready[k % S])
        with T.ws(0):
            T.copy(c, C[by * 64, bx * 64])


@T.prim_func
def halves(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((2, M, N), "float32")):
    with T.Kernel(T.ceildiv(N, 64), T.ceildiv(M, 64), threads=384) as (bx, by):
        a = T.alloc_shared((2, 64, 32), "float16")
        b = T.alloc_shared((2, 32, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        ready = T.alloc_barrier([128] * 2)
        free = T.alloc_barrier([128] * 2)
        turn = T.alloc_barrier([128] * 2)
        tx = T.get_thread_binding()
        if tx >= 256:
            for k in T.serial(T.ceildiv(K, 64) * 2):
                T.barrier_wait(free[k % 2], (k // 2 + 1) % 2)
                T.copy(A[by * 64, k * 32], a[k % 2, :, :])
                T.copy(B[k * 32, bx * 64], b[k % 2, :, :])
                T.barrier_arrive(ready[k % 2])
        elif tx < 128:
            T.clear(c)
            for k in T.serial(T.ceildiv(K, 64)):
                T.barrier_wait(ready[0], k % 2)
                T.barrier_wait(turn[0], (k + 1) % 2)
                T.gemm(a[0, :, :], b[0, :, :], c)
                T.barrier_arrive(turn[1])
                T.barrier_arrive(free[0])
            T.copy(c, C[0, by * 64, bx * 64])
        else:
            T.clear(c)
            for k in T.serial(T.ceildiv(K, 64)):
                T.barrier_wait(ready[1], k % 2)
                T.barrier_wait(turn[1], k % 2)
                T.gemm(a[1, :, :], b[1, :, :], c)
                T.barrier_arrive(turn[0])
                T.barrier_arrive(free[1])
            T.copy(c, C[1, by * 64, bx * 64])


@T.prim_func
def trade(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64, 64), "float32"), trips: T.int32):
    with T.Kernel(1, threads=256) as bx:
        s = T.alloc_shared((64, 64), "float32")
        f = T.alloc_fragment((64, 64), "float32")
        there = T.alloc_barrier(128)
        back = T.alloc_barrier(128)
        tx = T.get_thread_binding()
        if tx < 128:
            T.copy(A, f)
            for i in T.serial(trips):
                T.copy(f, s)
                T.barrier_arrive(there)
                T.barrier_wait(back, i % 2)
                T.copy(s, f)
                for y, x in T.Parallel(64, 64):
                    f[y, x] = f[y, x] + i
            T.copy(f, B)
        else:
            for i in T.serial(trips // 2):
                for j in T.serial(2):
                    T.barrier_wait(there, j)
                    T.copy(s, f)
                    for y, x in T.Parallel(64, 64):
                        f[y, x] = f[y, x] * 0.5
                    T.copy(f, s)
                    T.barrier_arrive(back)


@T.prim_func
def single(A: T.Tensor((128,), "float32"), B: T.Tensor((128,), "float32")):
    with T.Kernel(1, threads=256) as bx:
        s = T.alloc_shared((128,), "float32")
        there = T.alloc_barrier(1)
        tx = T.get_thread_binding()
        if tx < 128:
            T.barrier_wait(there, 0)
            B[tx] = s[127 - tx]
        else:
            s[tx - 128] = A[tx - 128] * 3
            if tx == 128:
                T.barrier_arrive(there)
# SPDX-License-Identifier: Apache-2.0
