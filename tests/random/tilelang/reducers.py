# Cells that many iterations update, with and without a number to begin with.
import tilelang.language as T

@T.prim_func
def k(A: T.Tensor((6, 5), "float32"), I: T.Tensor((6, 5), "int32"), B: T.Tensor((6,), "float32"), C: T.Tensor((6,), "int32"), D: T.Tensor((5,), "float32"), E: T.Tensor((5,), "int32")):
    with T.Kernel(1) as bx:
        s = T.alloc_reducer((6,), "float32")
        x = T.alloc_reducer((6,), "int32", op="max")
        o = T.alloc_reducer(5, "float32", op="sum", replication="all")
        e = T.alloc_reducer((5,), "int32", op="bitand")
        T.reducer_init(s, 100.0)
        T.reducer_init(x)
        T.reducer_init(e)
        T.clear(o)
        for r in T.serial(2):
            for i, j in T.Parallel(6, 5):
                T.reducer_update(s[i], A[i, j] + r)
                T.reducer_update(x[i], I[i, j] - r)
                T.reducer_update(e[j], I[i, j] | r)
                o[j] += A[i, j] * 2
        out = T.alloc_fragment((6,), "float32")
        top = T.alloc_fragment((6,), "int32")
        T.finalize_reducer(s, out)
        T.finalize_reducer(x, top)
        T.finalize_reducer(o)
        T.copy(out, B)
        T.copy(top, C)
        T.copy(o, D)
        T.finalize_reducer(e, E)
# SPDX-License-Identifier: Apache-2.0
