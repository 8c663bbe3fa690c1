# SPDX-License-Identifier: Apache-2.0
"""tilelang.engine.callback: hooks that change emitted texts, which nothing here does."""


def _refuse(name):

    def register(*args, **kwargs):
        raise NotImplementedError(f"tilelang.engine.callback.{name}: what is emitted cannot be changed behind the compiler's back")

    register.__name__ = name
    return register


register_cuda_postproc = _refuse("register_cuda_postproc")
register_hip_postproc = _refuse("register_hip_postproc")
register_c_postproc = _refuse("register_c_postproc")
register_cuda_postproc_callback = _refuse("register_cuda_postproc_callback")
register_hip_postproc_callback = _refuse("register_hip_postproc_callback")
