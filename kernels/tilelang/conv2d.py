"""Y = X convolved with F: images [N, H, W, C], filters [K, K, C, O], as a product of columns of the image with filters."""
import tilelang
import tilelang.language as T


@tilelang.jit
def conv2d(N, H, W, C, O, K=3, stride=1, dilation=1, pad=1, block_M=64, block_N=32, block_K=32, num_stages=2, dtype="float16"):
    rows = (H + 2 * pad - dilation * (K - 1) - 1) // stride + 1
    columns = (W + 2 * pad - dilation * (K - 1) - 1) // stride + 1

    @T.prim_func
    def main(X: T.Tensor((N, H, W, C), dtype), F: T.Tensor((K, K, C, O), dtype), Y: T.Tensor((N, rows, columns, O), dtype)):
        with T.Kernel(T.ceildiv(O, block_N), T.ceildiv(N * rows * columns, block_M), threads=128) as (bx, by):
            x = T.alloc_shared((block_M, block_K), dtype)
            f = T.alloc_shared((block_K, block_N), dtype)
            y = T.alloc_fragment((block_M, block_N), "float32")
            filters = T.Tensor((K * K * C, O), dtype, F.data)
            places = T.Tensor((N * rows * columns, O), dtype, Y.data)

            T.clear(y)
            for k in T.Pipelined(T.ceildiv(K * K * C, block_K), num_stages=num_stages):
                T.im2col(X, x, by, k, K, stride, dilation, pad)
                T.copy(filters[k * block_K, bx * block_N], f)
                T.gemm(x, f, y)
            T.copy(y, places[by * block_M, bx * block_N])

    return main
# SPDX-License-Identifier: Apache-2.0
