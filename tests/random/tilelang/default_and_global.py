# A function's own default wins over the file's constant of that name.
# defines: N=64
import tilelang
import tilelang.language as T

scale = 3.0

@tilelang.jit
def f(N, scale=1.0):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, 32)) as bx:
            for i in T.Parallel(32):
                B[bx * 32 + i] = A[bx * 32 + i] * scale
    return main
# SPDX-License-Identifier: Apache-2.0
