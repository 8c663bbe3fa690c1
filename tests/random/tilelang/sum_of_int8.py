# reduce_sum works in the output's type.
import tilelang.language as T

@T.prim_func
def k(A: T.Tensor((1, 4), "int8"), S: T.Tensor((1,), "int32")):
    with T.Kernel(1) as bx:
        a = T.alloc_fragment((1, 4), "int8")
        s = T.alloc_fragment((1,), "int32")
        T.copy(A, a)
        T.reduce_sum(a, s, dim=1)
        T.copy(s, S)
# SPDX-License-Identifier: Apache-2.0
