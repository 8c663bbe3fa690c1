# SPDX-License-Identifier: Apache-2.0
"""tilelang.utils.tensor: arguments to try a kernel with, and comparing what it gives."""
import enum

from ..language.symbols import Expr


class TensorSupplyType(enum.Enum):
    """What tensors are filled with: small integers, uniform numbers of [-1, 1), normal ones, zeros, ones; Auto: by the dtype."""
    Integer = 1
    Uniform = 2
    Normal = 3
    Randn = 4
    Zero = 5
    One = 6
    Auto = 7


def map_torch_type(dtype):
    """torch's dtype of a name, or of a dtype of TileLang."""
    from ..language.dtypes import dtype as of
    return of(dtype).as_torch()


def is_float8_dtype(dtype):
    return "float8" in str(dtype)


def get_tensor_supply(supply_type=TensorSupplyType.Integer):
    """f(KernelParam) -> a tensor of it, on the current device."""
    import torch
    from .device import get_current_device
    kinds = TensorSupplyType

    def integers(low, high, param):
        return torch.randint(low, high, param.shape, device=get_current_device())

    def supply(param):
        if any(isinstance(extent, Expr) for extent in param.shape):
            raise ValueError(f"{param!r} has sizes that a call gives; pass tensors, or dynamic_symbolic_constraints={{\"m\": 1024}}")
        dtype, device = param.torch_dtype(), get_current_device()
        floats = "float" in param.dtype and not param.is_float8() and not param.is_float4()
        kind = supply_type
        if kind is kinds.Auto:
            kind = kinds.Uniform if floats else kinds.Integer
        if kind is kinds.Zero or kind is kinds.One:
            return torch.full(param.shape, int(kind is kinds.One), device=device).to(dtype)
        if kind is kinds.Integer or not (floats or param.is_float8()):
            low, high = (0, 2) if param.is_boolean() else (0, 3) if param.is_unsigned() else (-2, 3)
            return integers(low, high, param).to(dtype)
        numbers = torch.empty(param.shape, device=device, dtype=torch.float32)
        numbers = numbers.uniform_(-1.0, 1.0) if kind is kinds.Uniform else numbers.normal_(-1.0, 1.0) if kind is kinds.Normal else numbers.normal_()
        return numbers.to(dtype)

    return supply


def torch_assert_close(tensor_a, tensor_b, rtol=1e-2, atol=1e-3, max_mismatched_ratio=0.001, verbose=False, equal_nan=True, check_device=True, check_dtype=True,
                       check_layout=True, check_stride=False, base_name="LHS", ref_name="RHS"):
    """Raises AssertionError where more than a share of the elements differ by more than atol + rtol * |b|."""
    import torch
    if tensor_a.shape != tensor_b.shape:
        raise AssertionError(f"{base_name} has the shape {tuple(tensor_a.shape)}, {ref_name} {tuple(tensor_b.shape)}")
    if check_dtype and tensor_a.dtype != tensor_b.dtype:
        raise AssertionError(f"{base_name} has the dtype {tensor_a.dtype}, {ref_name} {tensor_b.dtype}")
    if check_device and tensor_a.device != tensor_b.device:
        raise AssertionError(f"{base_name} lies on {tensor_a.device}, {ref_name} on {tensor_b.device}")
    a, b = tensor_a.to(torch.float64), tensor_b.to(torch.float64)
    close = torch.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
    wrong = int((~close).sum())
    if verbose:
        print(f"{wrong} of {a.numel()} elements differ")
    if wrong <= max_mismatched_ratio * a.numel():
        return True
    flat = int((~close).reshape(-1).nonzero()[0])
    raise AssertionError(f"{wrong} of {a.numel()} elements of {base_name} and {ref_name} differ by more than {atol} + {rtol} * |{ref_name}|; "
                         f"the first is element {flat}: {a.reshape(-1)[flat].item()} and {b.reshape(-1)[flat].item()}; "
                         f"the largest difference is {(a - b).abs().max().item()}")
