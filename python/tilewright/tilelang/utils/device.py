# SPDX-License-Identifier: Apache-2.0
"""tilelang.utils.device: the device that tensors are made on."""
import os


def get_current_device():
    """torch's current CUDA device, or the CPU."""
    import torch
    return torch.device("cuda", torch.cuda.current_device()) if torch.cuda.is_available() else torch.device("cpu")


def get_available_cpu_count():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
