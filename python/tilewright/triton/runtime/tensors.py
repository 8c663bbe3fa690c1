# SPDX-License-Identifier: Apache-2.0
"""triton.runtime.tensors: what stands for a tensor: MockTensor, where only the type matters, and TensorWrapper, whose elements a
kernel takes for another dtype.
"""


class MockTensor:
    """Stands for a tensor of a dtype where only the type matters: kernel.warmup(torch.float32, ..)."""

    @staticmethod
    def wrap_dtype(arg):
        kind = type(arg)
        return MockTensor(arg) if kind.__name__ == "dtype" and kind.__module__ == "torch" else arg

    @staticmethod
    def of_type(kind):
        """What stands for an argument of a type of a signature: "*fp32", "i32"."""
        samples = {"fp": 0.5, "bf": 0.5, "i1": True, "i64": 1 << 40, "u64": 1 << 63}
        return MockTensor(kind[1:].removeprefix("k")) if kind.startswith("*") else samples.get(kind, samples.get(kind[:2], 2))

    def __init__(self, dtype, shape=None):
        self.dtype = dtype
        self.shape = [1] if shape is None else shape

    def stride(self):
        strides = [1]
        for extent in reversed(self.shape[1:]):
            strides.append(strides[-1] * extent)
        return tuple(reversed(strides))

    @staticmethod
    def data_ptr():
        return 0

    @staticmethod
    def ptr_range():
        return 0


class TensorWrapper:
    """A tensor whose elements a kernel takes for another dtype."""

    def __init__(self, base, dtype):
        self.dtype = dtype
        self.base = base
        self.data = base.data
        self.device = base.device
        self.shape = base.shape

    @property
    def is_cpu(self):
        return self.base.is_cpu

    @property
    def is_cuda(self):
        return self.base.is_cuda

    def data_ptr(self):
        return self.base.data_ptr()

    def untyped_storage(self):
        return self.base.untyped_storage()

    def stride(self, *args):
        return self.base.stride(*args)

    def storage_offset(self):
        return self.base.storage_offset()

    def element_size(self):
        return self.base.element_size()

    def numel(self):
        return self.base.numel()

    def cpu(self):
        return TensorWrapper(self.base.cpu(), self.dtype)

    def copy_(self, other):
        self.base.copy_(other.base)

    def clone(self):
        return TensorWrapper(self.base.clone(), self.dtype)

    def to(self, device):
        return TensorWrapper(self.base.to(device), self.dtype)

    def new_empty(self, sizes):
        return TensorWrapper(self.base.new_empty(sizes), self.dtype)

    def __str__(self):
        return f"TensorWrapper[{self.dtype}]({self.base})"


def reinterpret(tensor, dtype):
    """The tensor with its elements taken for another dtype; no copy."""
    if isinstance(tensor, TensorWrapper):
        return tensor.base if dtype == tensor.base.dtype else TensorWrapper(tensor.base, dtype)
    if hasattr(tensor, "data_ptr"):
        return TensorWrapper(tensor, dtype)
    raise TypeError(f"Cannot reinterpret a {type(tensor)}.")
