# SPDX-License-Identifier: Apache-2.0
"""tilelang.utils: helpers around kernels."""
from ..math import cdiv, next_power_of_2
from . import device, target, tensor
from .target import determine_target
from .tensor import TensorSupplyType, get_tensor_supply, map_torch_type, torch_assert_close


def deprecated(*args, **kwargs):
    """A decorator that changes nothing."""
    return lambda fn: fn


def build_date():
    return ""


__all__ = ["TensorSupplyType", "build_date", "cdiv", "deprecated", "determine_target", "device", "get_tensor_supply", "map_torch_type", "next_power_of_2",
           "target", "tensor", "torch_assert_close"]
