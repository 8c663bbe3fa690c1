import tilelang.language as T


@T.prim_func
def kernel(A2: T.Tensor((48, 16), "uint8"), W3: T.Tensor((3, 2), "int32"), A6: T.Tensor((3, 16, 16), "uint8"), A8: T.Tensor((48, 16), "int8"), Ot1: T.Tensor((3, 16, 16), "uint8"), Ot7: T.Tensor((3, 16, 16), "int8"), Ot9: T.Tensor((3, 16, 16), "int8"), Ot12: T.Tensor((3, 16, 16), "int32")):
    with T.Kernel(3) as bx:
        t1 = T.alloc_shared((16, 16), "uint8")
        T.copy(A2[bx * 16, 0], t1)
        for i4, i5 in T.Parallel(2, 8):
            W3[bx, i4] = T.max(W3[bx, i4], (((t1[i4, i4] + i4) // 1) - W3[bx, 1 - i4]))
        T.copy(A6[bx, 0, 0], t1)
        t7 = T.alloc_shared((16, 16), "int8")
        T.copy(A8[bx * 16, 0], t7)
        t9 = T.alloc_shared((16, 16), "int8")
        for i10, i11 in T.Parallel(16, 16):
            t9[i10, i11] = t7[i11, i10]
        t12 = T.alloc_fragment((16, 16), "int32")
        T.clear(t12)
        T.gemm(t9, t7, t12)
        for i13, i14 in T.Parallel(1, 8):
            t12[i14, i13] = T.if_then_else(t1[i13, i13] > t1[i13, i13], (t1[i14, i14 + 1] + t1[i13, i13]), t1[i13, i13])
            t12[i14 + 0, i14] = ((T.if_then_else(1 == 3, 0, t1[i14, i13 + 0]) * t1[i13, i13]) - t1[i13, i13])
        for i15, i16 in T.Parallel(16, 16):
            t1[i15, i16] = t1[i15, i15]
        for i17, i18 in T.Parallel(16, 16):
            t1[i17, i18] = t1[i17, i17]
        T.copy(t1, Ot1[bx, 0, 0])
        T.copy(t7, Ot7[bx, 0, 0])
        T.copy(t9, Ot9[bx, 0, 0])
        T.copy(t12, Ot12[bx, 0, 0])

# SPDX-License-Identifier: Apache-2.0
