# SPDX-License-Identifier: Apache-2.0
"""triton.tools.ragged_tma: subarrays of unequal size along one axis of a tensor, read and written as if each were a tensor of its own.

    X = create_ragged_descriptor(x, [BLOCK_M, BLOCK_N])              # on the host, once
    tile = load_ragged(X, offset, size, [row, column])               # in a kernel: of x[offset : offset + size]

What lies outside of the subarray reads as zeros and is not written. The descriptor has two axes of extent 1 before those of the
tensor, as Triton's has; a kernel cuts the subarray out of it."""
import tilewright.triton as triton
import tilewright.triton.language as tl
from tilewright.triton.tools.tensor_descriptor import TensorDescriptor


def create_ragged_descriptor(T, block_shape, ragged_dim=0):
    rank = len(T.shape)
    axis = ragged_dim + rank if ragged_dim < 0 else ragged_dim
    assert 0 <= axis < rank - 1, "last dimension cannot be ragged"
    assert rank <= 3, "read-write ragged descriptors must have at most 3 dimensions"
    assert len(block_shape) == rank, "block shape must have same length as tensor shape"
    assert T.shape[axis] <= 2**30, "number of rows may not exceed 2**30"
    whole = [T.stride(0) * T.shape[0]] * 2
    return TensorDescriptor(T, [1, 1, *T.shape], whole + [T.stride(i) for i in range(rank)], [1, 1, *block_shape])


@triton.jit
def _subarray(TMA, offset, size, ragged_dim: tl.constexpr):
    axis: tl.constexpr = ragged_dim % (len(TMA.shape) - 2) + 2
    base = TMA.base + tl.to_tensor(offset).to(tl.int64) * TMA.strides[axis]
    shape = TMA.shape[2:axis] + (size, ) + TMA.shape[axis + 1:]
    return tl.make_tensor_descriptor(base, shape, TMA.strides[2:-1] + (1, ), TMA.block_shape[2:])


@triton.jit
def load_ragged(TMA, batch_offset, batch_size, coords, ragged_dim: tl.constexpr = 0):
    """The box at coords of the rows batch_offset .. batch_offset + batch_size - 1."""
    tl.static_assert(len(TMA.shape) == len(coords) + 2, "TMA must be a read-write ragged descriptor")
    return _subarray(TMA, batch_offset, batch_size, ragged_dim).load(coords)


@triton.jit
def store_ragged(TMA, batch_offset, batch_size, coords, data, ragged_dim: tl.constexpr = 0):
    """Writes it."""
    _subarray(TMA, batch_offset, batch_size, ragged_dim).store(coords, data)


@triton.jit
def atomic_add_ragged(TMA, batch_offset, batch_size, coords, data, ragged_dim: tl.constexpr = 0):
    """Adds to it."""
    _subarray(TMA, batch_offset, batch_size, ragged_dim).atomic_add(coords, data)
