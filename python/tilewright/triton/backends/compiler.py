# SPDX-License-Identifier: Apache-2.0
"""triton.backends.compiler: what a target is called."""
import dataclasses
from typing import Union


@dataclasses.dataclass(frozen=True)
class GPUTarget:
    backend: str
    arch: Union[int, str]
    warp_size: int


class BaseBackend:
    """What a backend of Triton is; here it only names its target."""

    def __init__(self, target):
        self.target = target

    @staticmethod
    def supports_target(target):
        return False

    def hash(self):
        return str(self.target)


class CPUBackend(BaseBackend):

    @staticmethod
    def supports_target(target):
        return target.backend == "cpu"

    def parse_options(self, options):
        return options


class CUDABackend(CPUBackend):

    @staticmethod
    def supports_target(target):
        return target.backend == "cuda"
