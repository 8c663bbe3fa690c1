# SPDX-License-Identifier: Apache-2.0
"""triton.runtime.interpreter: what TRITON_INTERPRET=1 means here.

Kernels then run on the compiler's own interpreter with its sanitizer: out-of-bounds accesses, reads of what nothing wrote, races,
overflowing offsets and divisions by zero end the launch with a SanitizerError (docs/sanitize.md). Tensors of a GPU are copied to the
host and back, as Triton's interpreter does it.
"""


class InterpretedFunction:
    """No function is one; for `isinstance`."""


def _on_host(value, storages):
    """The tensor of a GPU as one of the host; tensors that share memory do so there too."""
    import torch
    storage = value.untyped_storage()
    if storage.data_ptr() not in storages:
        storages[storage.data_ptr()] = (storage, storage.cpu())
    return torch.empty(0, dtype=value.dtype).set_(storages[storage.data_ptr()][1], value.storage_offset(), value.shape, value.stride())


def run(launch, grid, args, kwargs):
    """launch(grid, args, kwargs) with all tensors on the host."""
    storages = {}

    def move(value):
        if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
            return type(value)(map(move, value))
        return _on_host(value, storages) if getattr(value, "is_cuda", False) and hasattr(value, "untyped_storage") else value

    result = launch(grid, tuple(map(move, args)), {name: move(value) for name, value in kwargs.items()})
    for there, here in storages.values():
        there.copy_(here)
    return result
