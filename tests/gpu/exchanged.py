# SPDX-License-Identifier: Apache-2.0
import tilelang
import tilelang.language as T


@tilelang.jit
def walsh(A, n: int):
    B = T.const("b")
    A: T.Tensor((B, n), T.float32)
    O = T.empty((B, n), T.float32)
    with T.Kernel(B, threads=64) as bx:
        each = n // 64
        own = T.alloc_local((each, ), T.float32)
        seen = T.alloc_local((each, ), T.float32)
        shared = T.alloc_shared((64, each), T.float32)
        tx = T.get_thread_binding(0)
        for i in T.vectorized(each):
            own[i] = A[bx, tx * each + i]
        for i in T.serial(5):
            for j in T.serial(each):
                seen[j] = T.tvm_warp_shuffle(0xFFFFFFFF, own[j], (tx ^ (1 << i)) % 32, 32, 32)
                own[j] = T.if_then_else((tx >> i) & 1 == 0, own[j] + seen[j], seen[j] - own[j])
        for j in T.vectorized(each):
            shared[tx, j] = own[j]
        for j in T.vectorized(each):
            own[j] = own[j] + shared[63 - tx, j] * 2
        for i in T.vectorized(each):
            O[bx, tx * each + i] = own[i]
    return O
