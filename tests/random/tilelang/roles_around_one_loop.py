import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((3, 79, 32), "int32"), C0: T.Tensor((3, 16, 32), "int32"), C2: T.Tensor((3, 16, 32), "int32")):
    with T.Kernel(3, threads=384) as bx:
        a = T.alloc_shared((2, 16, 32), "int32")
        acc0 = T.alloc_fragment((16, 32), "int32")
        own0 = T.alloc_fragment((16, 32), "int32")
        acc2 = T.alloc_fragment((16, 32), "int32")
        own2 = T.alloc_fragment((16, 32), "int32")
        ready = T.alloc_barrier([128] * 2)
        free = T.alloc_barrier([256] * 2)
        with T.ws(2):
            T.fill(acc2, 1)
        with T.ws(0):
            T.fill(acc0, 0)
        for k in T.serial(5):
            with T.ws(2):
                T.barrier_wait(ready[k % 2], k // 2 % 2)
                T.copy(a[k % 2, :, :], own2)
                T.barrier_arrive(free[k % 2])
                for i, j in T.Parallel(16, 32):
                    acc2[i, j] = (acc2[i, j] ^ own2[i, j]) + k
            with T.ws(0):
                T.barrier_wait(ready[k % 2], k // 2 % 2)
                for i, j in T.Parallel(16, 32):
                    acc0[i, j] = (acc0[i, j] ^ a[k % 2, i, j]) + k
                T.barrier_arrive(free[k % 2])
            with T.ws(1):
                T.barrier_wait(free[k % 2], (k // 2 + 1) % 2)
                for i, j in T.Parallel(16, 32):
                    a[k % 2, i, j] = A[bx, k * 16 + i, j] * 3
                T.barrier_arrive(ready[k % 2])
        with T.ws(2):
            T.copy(acc2, C2[bx, 0, 0])
        with T.ws(0):
            T.copy(acc0, C0[bx, 0, 0])
# | import tilelang.language as T
# | 
# | 
# | @T.prim_func
# | def main(A: T.Tensor((3, 79, 32), "int32"), C0: T.Tensor((3, 16, 32), "int32"), C2: T.Tensor((3, 16, 32), "int32")):
# |     with T.Kernel(3, threads=384) as bx:
# |         a = T.alloc_shared((2, 16, 32), "int32")
# |         acc0 = T.alloc_fragment((16, 32), "int32")
# |         own0 = T.alloc_fragment((16, 32), "int32")
# |         acc2 = T.alloc_fragment((16, 32), "int32")
# |         own2 = T.alloc_fragment((16, 32), "int32")
# |         T.fill(acc0, 0)
# |         T.fill(acc2, 1)
# |         for k in T.serial(5):
# |             for i, j in T.Parallel(16, 32):
# |                 a[k % 2, i, j] = A[bx, k * 16 + i, j] * 3
# |             for i, j in T.Parallel(16, 32):
# |                 acc0[i, j] = (acc0[i, j] ^ a[k % 2, i, j]) + k
# |             T.copy(a[k % 2, :, :], own2)
# |             for i, j in T.Parallel(16, 32):
# |                 acc2[i, j] = (acc2[i, j] ^ own2[i, j]) + k
# |         T.copy(acc0, C0[bx, 0, 0])
# |         T.copy(acc2, C2[bx, 0, 0])
# SPDX-License-Identifier: Apache-2.0
