# A slice of a middle dimension, with its extents written out.
# defines: B=2 S=20 H=3 D=8
import tilelang
import tilelang.language as T


@T.prim_func
def k(Q: T.Tensor((B, S, H, D), "float32"), O: T.Tensor((B, S, H, D), "float32")):
    with T.Kernel(T.ceildiv(S, 16), H, B) as (bx, by, bz):
        q = T.alloc_shared((16, D), "float32")
        T.copy(Q[bz, bx * 16 : (bx + 1) * 16, by, :], q)
        for i, d in T.Parallel(16, D):
            O[bz, bx * 16 + i, by, d] = q[i, d]
# SPDX-License-Identifier: Apache-2.0
