import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((1, 47, 32), "int32"), C1: T.Tensor((1, 16, 32), "int32"), C2: T.Tensor((1, 16, 32), "int32")):
    with T.Kernel(1, threads=384) as bx:
        a = T.alloc_shared((2, 16, 32), "int32")
        acc1 = T.alloc_fragment((16, 32), "int32")
        own1 = T.alloc_fragment((16, 32), "int32")
        acc2 = T.alloc_fragment((16, 32), "int32")
        own2 = T.alloc_fragment((16, 32), "int32")
        ready = T.alloc_barrier([128] * 2)
        free = T.alloc_barrier([128] * 2)
        with T.ws(2):
            T.fill(acc2, 1)
            for k in T.serial(T.ceildiv(3 - 1, 2)):
                T.barrier_wait(ready[(k * 2 + 1) % 2], (k * 2 + 1) // 2 % 2)
                for i, j in T.Parallel(16, 32):
                    acc2[i, j] = acc2[i, j] * 3 + a[(k * 2 + 1) % 2, i, j]
                T.barrier_arrive(free[(k * 2 + 1) % 2])
            T.copy(acc2, C2[bx, 0, 0])
        with T.ws(1):
            T.fill(acc1, 1)
            for k in T.serial(T.ceildiv(3 - 0, 2)):
                T.barrier_wait(ready[(k * 2 + 0) % 2], (k * 2 + 0) // 2 % 2)
                T.copy(a[(k * 2 + 0) % 2, :, :], own1)
                T.barrier_arrive(free[(k * 2 + 0) % 2])
                for i, j in T.Parallel(16, 32):
                    acc1[i, j] = T.max(acc1[i, j], own1[i, j])
            T.copy(acc1, C1[bx, 0, 0])
        with T.ws(0):
            for k in T.serial(3):
                T.barrier_wait(free[k % 2], (k // 2 + 1) % 2)
                for i, j in T.Parallel(16, 32):
                    a[k % 2, i, j] = A[bx, k * 16 + i, j] + k
                T.barrier_arrive(ready[k % 2])
# | import tilelang.language as T
# | 
# | 
# | @T.prim_func
# | def main(A: T.Tensor((1, 47, 32), "int32"), C1: T.Tensor((1, 16, 32), "int32"), C2: T.Tensor((1, 16, 32), "int32")):
# |     with T.Kernel(1, threads=384) as bx:
# |         a = T.alloc_shared((2, 16, 32), "int32")
# |         acc1 = T.alloc_fragment((16, 32), "int32")
# |         own1 = T.alloc_fragment((16, 32), "int32")
# |         acc2 = T.alloc_fragment((16, 32), "int32")
# |         own2 = T.alloc_fragment((16, 32), "int32")
# |         T.fill(acc1, 1)
# |         T.fill(acc2, 1)
# |         for k in T.serial(3):
# |             for i, j in T.Parallel(16, 32):
# |                 a[k % 2, i, j] = A[bx, k * 16 + i, j] + k
# |             if k % 2 == 0:
# |                 T.copy(a[k % 2, :, :], own1)
# |                 for i, j in T.Parallel(16, 32):
# |                     acc1[i, j] = T.max(acc1[i, j], own1[i, j])
# |             if k % 2 == 1:
# |                 for i, j in T.Parallel(16, 32):
# |                     acc2[i, j] = acc2[i, j] * 3 + a[k % 2, i, j]
# |         T.copy(acc1, C1[bx, 0, 0])
# |         T.copy(acc2, C2[bx, 0, 0])
# SPDX-License-Identifier: Apache-2.0
