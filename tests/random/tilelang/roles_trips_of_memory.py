import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((3, 255, 16), "int32"), C1: T.Tensor((3, 64, 16), "int32"), C3: T.Tensor((3, 64, 16), "int32"), O: T.Tensor((3, 256, 16), "int32")):
    with T.Kernel(3, threads=512) as bx:
        a = T.alloc_shared((2, 64, 16), "int32")
        o = T.alloc_shared((2, 64, 16), "int32")
        acc1 = T.alloc_fragment((64, 16), "int32")
        own1 = T.alloc_fragment((64, 16), "int32")
        acc3 = T.alloc_fragment((64, 16), "int32")
        own3 = T.alloc_fragment((64, 16), "int32")
        ready = T.alloc_barrier([128] * 2)
        free = T.alloc_barrier([128] * 2)
        made = T.alloc_barrier([128] * 2)
        taken = T.alloc_barrier([128] * 2)
        with T.ws(2):
            for k in T.serial((bx % 3)):
                T.barrier_wait(made[k % 2], k // 2 % 2)
                T.copy(o[k % 2, :, :], O[bx, k * 64, 0])
                T.barrier_arrive(taken[k % 2])
        with T.ws(3):
            T.fill(acc3, 2)
            for k in T.serial(T.ceildiv((bx % 3) - 1, 2)):
                T.barrier_wait(ready[(k * 2 + 1) % 2], (k * 2 + 1) // 2 % 2)
                T.copy(a[(k * 2 + 1) % 2, :, :], own3)
                T.barrier_arrive(free[(k * 2 + 1) % 2])
                for i, j in T.Parallel(64, 16):
                    acc3[i, j] = (acc3[i, j] ^ own3[i, j]) + (k * 2 + 1)
                T.barrier_wait(taken[(k * 2 + 1) % 2], ((k * 2 + 1) // 2 + 1) % 2)
                for i, j in T.Parallel(64, 16):
                    o[(k * 2 + 1) % 2, i, j] = acc3[i, j] * 2 + i
                T.barrier_arrive(made[(k * 2 + 1) % 2])
            T.copy(acc3, C3[bx, 0, 0])
        with T.ws(1):
            T.fill(acc1, 1)
            for k in T.serial(T.ceildiv((bx % 3) - 0, 2)):
                T.barrier_wait(ready[(k * 2 + 0) % 2], (k * 2 + 0) // 2 % 2)
                for i, j in T.Parallel(64, 16):
                    acc1[i, j] = acc1[i, j] + a[(k * 2 + 0) % 2, i, j]
                T.barrier_arrive(free[(k * 2 + 0) % 2])
                T.barrier_wait(taken[(k * 2 + 0) % 2], ((k * 2 + 0) // 2 + 1) % 2)
                for i, j in T.Parallel(64, 16):
                    o[(k * 2 + 0) % 2, i, j] = acc1[i, j] * 2 + i
                T.barrier_arrive(made[(k * 2 + 0) % 2])
            T.copy(acc1, C1[bx, 0, 0])
        with T.ws(0):
            for k in T.serial((bx % 3)):
                T.barrier_wait(free[k % 2], (k // 2 + 1) % 2)
                T.copy(A[bx, k * 64, 0], a[k % 2, :, :])
                T.barrier_arrive(ready[k % 2])
# | import tilelang.language as T
# | 
# | 
# | @T.prim_func
# | def main(A: T.Tensor((3, 255, 16), "int32"), C1: T.Tensor((3, 64, 16), "int32"), C3: T.Tensor((3, 64, 16), "int32"), O: T.Tensor((3, 256, 16), "int32")):
# |     with T.Kernel(3, threads=512) as bx:
# |         a = T.alloc_shared((2, 64, 16), "int32")
# |         o = T.alloc_shared((2, 64, 16), "int32")
# |         acc1 = T.alloc_fragment((64, 16), "int32")
# |         own1 = T.alloc_fragment((64, 16), "int32")
# |         acc3 = T.alloc_fragment((64, 16), "int32")
# |         own3 = T.alloc_fragment((64, 16), "int32")
# |         T.fill(acc1, 1)
# |         T.fill(acc3, 2)
# |         for k in T.serial((bx % 3)):
# |             T.copy(A[bx, k * 64, 0], a[k % 2, :, :])
# |             if k % 2 == 0:
# |                 for i, j in T.Parallel(64, 16):
# |                     acc1[i, j] = acc1[i, j] + a[k % 2, i, j]
# |                 for i, j in T.Parallel(64, 16):
# |                     o[k % 2, i, j] = acc1[i, j] * 2 + i
# |             if k % 2 == 1:
# |                 T.copy(a[k % 2, :, :], own3)
# |                 for i, j in T.Parallel(64, 16):
# |                     acc3[i, j] = (acc3[i, j] ^ own3[i, j]) + k
# |                 for i, j in T.Parallel(64, 16):
# |                     o[k % 2, i, j] = acc3[i, j] * 2 + i
# |             T.copy(o[k % 2, :, :], O[bx, k * 64, 0])
# |         T.copy(acc1, C1[bx, 0, 0])
# |         T.copy(acc3, C3[bx, 0, 0])
# SPDX-License-Identifier: Apache-2.0
