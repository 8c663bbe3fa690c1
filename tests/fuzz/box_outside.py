import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 16), "float16"), B: T.Tensor((16, 64), "float16")):
    with T.Kernel(1) as bx:
        wide = T.alloc_shared((16, 64), "float16")
        tall = T.alloc_shared((64, 16), "float16")
        T.copy(A, tall)
        T.copy(tall[0, 0], wide)
        T.copy(wide[8, 0], tall)
        T.copy(tall[60, 0], wide[0, 0])
        T.copy(wide, B)
