# SPDX-License-Identifier: Apache-2.0
"""tilelang.contrib.nvcc: the GPU that kernels are compiled for."""
from ..jit.target import cuda_device


def get_target_compute_version(target=None):
    """"9.0": of the current CUDA device; ValueError where there is none."""
    device = cuda_device()
    if device is None:
        raise ValueError("there is no CUDA device")
    import torch
    return ".".join(map(str, torch.cuda.get_device_capability(device)))


def parse_compute_version(compute_version):
    major, _, minor = str(compute_version).partition(".")
    return int(major), int(minor or 0)


def get_target_arch(compute_version):
    major, minor = parse_compute_version(compute_version)
    return f"{major}{minor}"


def have_fp16(compute_version):
    return parse_compute_version(compute_version) >= (5, 3)


def have_bf16(compute_version):
    return parse_compute_version(compute_version) >= (8, 0)


def have_fp8(compute_version):
    return parse_compute_version(compute_version) >= (8, 9)


def have_tma(target=None):
    try:
        return parse_compute_version(get_target_compute_version(target)) >= (9, 0)
    except ValueError:
        return False
