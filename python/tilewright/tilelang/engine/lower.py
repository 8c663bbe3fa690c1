# SPDX-License-Identifier: Apache-2.0
"""tilelang.engine.lower: a kernel's text without anything that runs."""


class CompiledArtifact:
    """What tilelang.lower gives: kernel_source, params, and the function itself."""

    def __init__(self, kernel):
        self._kernel = kernel
        self.params = kernel.params
        self.device_mod = self.host_mod = kernel.prim_func
        self.rt_mod = None

    @property
    def kernel_source(self):
        return self._kernel.get_kernel_source()


def lower(func_or_mod, target="auto", target_host=None, max_gpu_shared_mem=None, runtime_only=False, enable_host_codegen=False, enable_device_compile=False,
          **options):
    """The text for a target, as `kernel_source` of what is returned; an error where it cannot be compiled."""
    from ..jit import JITKernel
    from ..jit.target import determine_target
    from ..tvm import function_of
    made = JITKernel(function_of(func_or_mod), target=determine_target(target), compile=False)
    samples = made._samples()
    if samples is not None:
        made._function.emit(samples, {}, made.target.library)
    return CompiledArtifact(made)
