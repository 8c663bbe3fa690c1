# SPDX-License-Identifier: Apache-2.0
"""triton.tools.tensor_descriptor: a tensor with the block that kernels move at once."""
import dataclasses
from typing import Any, List


@dataclasses.dataclass
class TensorDescriptor:
    base: Any
    shape: List[int]
    strides: List[int]
    block_shape: List[int]
    padding: str = "zero"

    def __post_init__(self):
        rank = len(self.shape)
        if len(self.strides) != rank or len(self.block_shape) != rank or not rank:
            raise ValueError(f"shape, strides and block_shape have one rank, not {rank}, {len(self.strides)} and {len(self.block_shape)}")
        if self.strides[-1] != 1:
            raise ValueError("the last stride of a descriptor is 1")

    @staticmethod
    def from_tensor(tensor, block_shape, padding="zero"):
        return TensorDescriptor(tensor, list(tensor.shape), list(tensor.stride()), block_shape, padding)
