# SPDX-License-Identifier: Apache-2.0
"""tilelang.utils.target: which target is meant."""
from ..jit.target import Target, determine_target

AVALIABLE_TARGETS = {"auto": "where the tensors lie", "cuda": "NVIDIA GPUs", "c": "the CPU", "llvm": "the CPU"}


def check_cuda_availability():
    from ..jit.target import cuda_device
    return cuda_device() is not None


def check_hip_availability():
    return False


def target_is_cuda(target):
    return Target(target).name == "cuda"


def target_is_hip(target):
    return False


def target_is_hopper(target):
    return Target(target).name == "cuda" and Target(target).attrs["arch"].startswith("sm_90")


__all__ = ["AVALIABLE_TARGETS", "Target", "check_cuda_availability", "check_hip_availability", "determine_target", "target_is_cuda", "target_is_hip",
           "target_is_hopper"]
