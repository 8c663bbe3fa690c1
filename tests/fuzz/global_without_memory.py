import tilelang.language as T

@T.prim_func
def k(A: T.Tensor((64,), "float32")):
    s = T.alloc_global((3, 65536, 2147483647), "float32")
    with T.Kernel(1) as bx:
        A[0] = s[0, 0, 0]
    with T.Kernel(1) as bx:
        s[0, 0, 0] = A[0]
