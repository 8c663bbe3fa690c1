# SPDX-License-Identifier: Apache-2.0
"""tilelang.carver.arch.driver: what a program asks of its device."""
import os

from .... import _native
from ...jit.target import cuda_device


def get_num_sms(device_id=0):
    """Multiprocessors of the CUDA device; without one, processors of the host."""
    if cuda_device() is None:
        return os.cpu_count() or 1
    import torch
    return torch.cuda.get_device_properties(device_id).multi_processor_count


def get_cuda_device_properties(device_id=0):
    if cuda_device() is None:
        raise RuntimeError("there is no CUDA device")
    import torch
    return torch.cuda.get_device_properties(device_id)


def get_device_name(device_id=0):
    return get_cuda_device_properties(device_id).name


def get_shared_memory_per_block(device_id=0, format="bytes"):
    found = getattr(get_cuda_device_properties(device_id), "shared_memory_per_block", 49152)
    return found if format == "bytes" else found // 1024 if format == "kb" else found // 1048576


def get_max_dynamic_shared_size_bytes(device_id=0, format="bytes"):
    found = getattr(get_cuda_device_properties(device_id), "shared_memory_per_block_optin", 232448)
    return found if format == "bytes" else found // 1024 if format == "kb" else found // 1048576


_native.register(get_num_sms, "tilelang.carver.arch.driver.get_num_sms")
