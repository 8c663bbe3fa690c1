# SPDX-License-Identifier: Apache-2.0
"""tilelang.cuda.intrinsics.macro.mma_macro_generator: emitters of matrix instructions, as objects of the host: their sizes.

Inside a kernel the compiler says what their methods do: copies and products of the tiles that the threads' registers hold together.
"""
from ..... import _native
from ....language.dtypes import dtype
from ...._absent import absent_attribute

_METHODS = ("ldmatrix_a", "ldmatrix_b", "mma", "stmatrix")


class TensorCoreIntrinEmitter:
    """The product of a block, instruction by instruction."""

    def __init__(self, a_dtype="float16", b_dtype="float16", accum_dtype="float16", a_transposed=False, b_transposed=False, block_row_warps=2, block_col_warps=2,
                 warp_row_tiles=8, warp_col_tiles=8, chunk=16, reduce_k=1, num_elems_per_byte=1, is_m_first=False, thread_var=None, transform_kind_a=0,
                 transform_kind_b=0):
        self.__tilelang__ = ("Emitter", (dtype(a_dtype), dtype(b_dtype), dtype(accum_dtype), a_transposed, b_transposed, block_row_warps, block_col_warps,
                                         warp_row_tiles, warp_col_tiles, chunk, reduce_k, num_elems_per_byte, bool(is_m_first), None, int(transform_kind_a),
                                         int(transform_kind_b)))
        bits = dtype(a_dtype).bits
        self.block_row_warps, self.block_col_warps, self.warp_row_tiles, self.warp_col_tiles = block_row_warps, block_col_warps, warp_row_tiles, warp_col_tiles
        self.chunk, self.threads = chunk, 32 * block_row_warps * block_col_warps
        self.micro_size_x, self.micro_size_k = 8 if bits == 64 else 16, min(256 // bits, chunk)
        self.micro_size_y = 8 if bits == 64 or warp_col_tiles % 16 else 16
        self.warp_rows, self.warp_cols = warp_row_tiles // self.micro_size_x, warp_col_tiles // self.micro_size_y
        self.local_size_a, self.local_size_b = self.micro_size_x * self.micro_size_k // 32, self.micro_size_y * self.micro_size_k // 32
        self.local_size_out = self.micro_size_x * self.micro_size_y // 32

    def __getattr__(self, name):
        if name in _METHODS:
            raise TypeError(f"`{name}` of an emitter is for kernels: it is called inside of a function decorated with T.prim_func, T.macro or tilelang.jit")
        raise AttributeError(f"an emitter has no {name!r} here")


class INT4TensorCoreIntrinEmitter(TensorCoreIntrinEmitter):
    """The same for numbers of few bits that lie in int8."""


class TensorCoreIntrinEmitterWithLadderTransform(TensorCoreIntrinEmitter):
    """The same for operands that lie as they are multiplied; only those that do not are there."""


for _class in (TensorCoreIntrinEmitter, INT4TensorCoreIntrinEmitter, TensorCoreIntrinEmitterWithLadderTransform):
    _native.register(_class, f"tilelang.cuda.intrinsics.macro.mma_macro_generator.{_class.__name__}")


def __getattr__(name):
    return absent_attribute("tilelang.cuda.intrinsics.macro.mma_macro_generator", name)
