import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((2, 255, 16), "int32"), C2: T.Tensor((2, 64, 16), "int32"), C1: T.Tensor((2, 64, 16), "int32"), O: T.Tensor((2, 512, 16), "int32")):
    with T.Kernel(2, threads=512) as bx:
        a = T.alloc_shared((2, 64, 16), "int32")
        o = T.alloc_shared((2, 64, 16), "int32")
        acc2 = T.alloc_fragment((64, 16), "int32")
        own2 = T.alloc_fragment((64, 16), "int32")
        acc1 = T.alloc_fragment((64, 16), "int32")
        own1 = T.alloc_fragment((64, 16), "int32")
        ready = T.alloc_barrier([128] * 2)
        free = T.alloc_barrier([128] * 2)
        made = T.alloc_barrier([128] * 2)
        taken = T.alloc_barrier([128] * 2)
        with T.ws(0):
            for t in T.serial(2):
                for k in T.serial(4):
                    T.barrier_wait(made[(t * 4 + k) % 2], (t * 4 + k) // 2 % 2)
                    T.copy(o[(t * 4 + k) % 2, :, :], O[bx, (t * 4 + k) * 64, 0])
                    T.barrier_arrive(taken[(t * 4 + k) % 2])
        with T.ws(1):
            T.fill(acc1, 2)
            for t in T.serial(2):
                for k in T.serial(T.ceildiv(4 - 1, 2)):
                    T.barrier_wait(ready[(t * 4 + (k * 2 + 1)) % 2], (t * 4 + (k * 2 + 1)) // 2 % 2)
                    for i, j in T.Parallel(64, 16):
                        acc1[i, j] = acc1[i, j] + a[(t * 4 + (k * 2 + 1)) % 2, i, j]
                    T.barrier_arrive(free[(t * 4 + (k * 2 + 1)) % 2])
                    T.barrier_wait(taken[(t * 4 + (k * 2 + 1)) % 2], ((t * 4 + (k * 2 + 1)) // 2 + 1) % 2)
                    for i, j in T.Parallel(64, 16):
                        o[(t * 4 + (k * 2 + 1)) % 2, i, j] = acc1[i, j] * 2 + i
                    T.barrier_arrive(made[(t * 4 + (k * 2 + 1)) % 2])
            T.copy(acc1, C1[bx, 0, 0])
        with T.ws(2):
            T.fill(acc2, 0)
            for t in T.serial(2):
                for k in T.serial(T.ceildiv(4 - 0, 2)):
                    T.barrier_wait(ready[(t * 4 + (k * 2 + 0)) % 2], (t * 4 + (k * 2 + 0)) // 2 % 2)
                    T.copy(a[(t * 4 + (k * 2 + 0)) % 2, :, :], own2)
                    T.barrier_arrive(free[(t * 4 + (k * 2 + 0)) % 2])
                    for i, j in T.Parallel(64, 16):
                        acc2[i, j] = (acc2[i, j] ^ own2[i, j]) + (t * 4 + (k * 2 + 0))
                    T.barrier_wait(taken[(t * 4 + (k * 2 + 0)) % 2], ((t * 4 + (k * 2 + 0)) // 2 + 1) % 2)
                    for i, j in T.Parallel(64, 16):
                        o[(t * 4 + (k * 2 + 0)) % 2, i, j] = acc2[i, j] * 3 + i
                    T.barrier_arrive(made[(t * 4 + (k * 2 + 0)) % 2])
            T.copy(acc2, C2[bx, 0, 0])
        with T.ws(3):
            for t in T.serial(2):
                for k in T.serial(4):
                    T.barrier_wait(free[(t * 4 + k) % 2], ((t * 4 + k) // 2 + 1) % 2)
                    for i, j in T.Parallel(64, 16):
                        a[(t * 4 + k) % 2, i, j] = A[bx, k * 64 + i, j] ^ bx
                    T.barrier_arrive(ready[(t * 4 + k) % 2])
# | import tilelang.language as T
# | 
# | 
# | @T.prim_func
# | def main(A: T.Tensor((2, 255, 16), "int32"), C2: T.Tensor((2, 64, 16), "int32"), C1: T.Tensor((2, 64, 16), "int32"), O: T.Tensor((2, 512, 16), "int32")):
# |     with T.Kernel(2, threads=512) as bx:
# |         a = T.alloc_shared((2, 64, 16), "int32")
# |         o = T.alloc_shared((2, 64, 16), "int32")
# |         acc2 = T.alloc_fragment((64, 16), "int32")
# |         own2 = T.alloc_fragment((64, 16), "int32")
# |         acc1 = T.alloc_fragment((64, 16), "int32")
# |         own1 = T.alloc_fragment((64, 16), "int32")
# |         T.fill(acc2, 0)
# |         T.fill(acc1, 2)
# |         for t in T.serial(2):
# |             for k in T.serial(4):
# |                 for i, j in T.Parallel(64, 16):
# |                     a[(t * 4 + k) % 2, i, j] = A[bx, k * 64 + i, j] ^ bx
# |                 if k % 2 == 0:
# |                     T.copy(a[(t * 4 + k) % 2, :, :], own2)
# |                     for i, j in T.Parallel(64, 16):
# |                         acc2[i, j] = (acc2[i, j] ^ own2[i, j]) + (t * 4 + k)
# |                     for i, j in T.Parallel(64, 16):
# |                         o[(t * 4 + k) % 2, i, j] = acc2[i, j] * 3 + i
# |                 if k % 2 == 1:
# |                     for i, j in T.Parallel(64, 16):
# |                         acc1[i, j] = acc1[i, j] + a[(t * 4 + k) % 2, i, j]
# |                     for i, j in T.Parallel(64, 16):
# |                         o[(t * 4 + k) % 2, i, j] = acc1[i, j] * 2 + i
# |                 T.copy(o[(t * 4 + k) % 2, :, :], O[bx, (t * 4 + k) * 64, 0])
# |         T.copy(acc2, C2[bx, 0, 0])
# |         T.copy(acc1, C1[bx, 0, 0])
# SPDX-License-Identifier: Apache-2.0
