"""C = A @ B by as many programs as the chip runs at once: each walks over tiles of C, through tensor descriptors."""
import triton
import triton.language as tl

from matmul import tile_of


@triton.jit
def matmul_persistent_kernel(
    a_ptr, b_ptr, c_ptr,
    M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    GROUP: tl.constexpr = 8,
):
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[K, N], strides=[N, 1], block_shape=[BK, BN])
    c_desc = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * tl.cdiv(N, BN), tl.num_programs(0), flatten=True):
        tile_m, tile_n = tile_of(tile, M, N, BM, BN, GROUP)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            a = a_desc.load([tile_m * BM, k * BK])
            b = b_desc.load([k * BK, tile_n * BN])
            acc = tl.dot(a, b, acc)
        c_desc.store([tile_m * BM, tile_n * BN], acc.to(c_ptr.dtype.element_ty))
# SPDX-License-Identifier: Apache-2.0
