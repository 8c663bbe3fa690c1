# Reductions convert to the output first, whatever the direction.
import tilelang.language as T


@T.prim_func
def k(A: T.Tensor((8, 6), "int32"), F: T.Tensor((8, 6), "float16"), O: T.Tensor((8,), "int8"), M: T.Tensor((8,), "int8"), Q: T.Tensor((6,), "float32"), R: T.Tensor((8,), "uint8"), N: T.Tensor((8, 1), "int16")):
    with T.Kernel(1) as bx:
        a = T.alloc_shared((8, 6), "int32")
        f = T.alloc_shared((8, 6), "float16")
        o = T.alloc_fragment((8,), "int8")
        m = T.alloc_fragment((8,), "int8")
        q = T.alloc_fragment((6,), "float32")
        r = T.alloc_fragment((8,), "uint8")
        n = T.alloc_fragment((8, 1), "int16")
        T.copy(A, a)
        T.copy(F, f)
        T.fill(m, 5)
        T.reduce_sum(a, o, dim=1)
        T.reduce_max(a, m, dim=1, clear=False)
        T.reduce_sum(f, q, dim=0)
        T.reduce_min(a, r, dim=1)
        T.reduce_sum(a, n, dim=1)
        T.copy(o, O)
        T.copy(m, M)
        T.copy(q, Q)
        T.copy(r, R)
        T.copy(n, N)
# SPDX-License-Identifier: Apache-2.0
