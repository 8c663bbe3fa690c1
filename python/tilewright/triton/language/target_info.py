# SPDX-License-Identifier: Apache-2.0
"""triton.language.target_info: questions that a kernel may ask of its target, at compile time."""
from ..runtime.jit import constexpr_function


def current_target():
    from ..runtime.driver import driver
    return driver.active.get_current_target()


@constexpr_function
def is_cuda():
    return current_target().backend == "cuda"


@constexpr_function
def is_hip():
    return current_target().backend == "hip"


@constexpr_function
def is_hip_cdna3():
    return False


@constexpr_function
def is_hip_cdna4():
    return False


@constexpr_function
def cuda_capability_geq(major, minor=0):
    target = current_target()
    return target.backend == "cuda" and target.arch >= major * 10 + minor
