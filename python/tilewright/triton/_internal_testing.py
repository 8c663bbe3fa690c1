# SPDX-License-Identifier: Apache-2.0
"""triton._internal_testing: helpers of Triton's own tests: dtypes by name, random arrays, questions about the target."""
import os
import re

import numpy as np
import pytest
import torch

from . import knobs, language as tl
from .runtime.driver import driver
from .runtime.jit import TensorWrapper, reinterpret, type_canonicalisation_dict

int_dtypes = ["int8", "int16", "int32", "int64"]
uint_dtypes = ["u" + name for name in int_dtypes]
integral_dtypes = int_dtypes + uint_dtypes
float_dtypes = ["float16", "float32", "float64"]
float_dtypes_with_bfloat16 = [*float_dtypes, "bfloat16"]
dtypes = integral_dtypes + float_dtypes
dtypes_with_bfloat16 = [*dtypes, "bfloat16"]
torch_float8_dtypes = ["float8_e4m3fn", "float8_e5m2"]
torch_dtypes = ["bool", *int_dtypes, "uint8", *float_dtypes, "bfloat16"]
tma_dtypes = sorted(set(dtypes_with_bfloat16) - {"int64", "uint64", "float64"})


def is_interpreter():
    return os.environ.get("TRITON_INTERPRET", "0") == "1"


def get_current_target():
    return None if is_interpreter() else driver.active.get_current_target()


def _backend_is(name):
    target = get_current_target()
    return target is not None and target.backend == name


def is_cuda():
    return _backend_is("cuda")


def is_hip():
    return _backend_is("hip")


def is_xpu():
    return _backend_is("xpu")


def _never():
    """A question about GPUs that there are none of here."""
    return False


def _level():
    """The first digits of the GPU's compute capability; 0: kernels run on the CPU."""
    return get_current_target().arch // 10 if is_cuda() else 0


def is_ampere_or_newer():
    return _level() >= 8


def is_hopper():
    return _level() == 9


def is_hopper_or_newer():
    return _level() >= 9


def is_blackwell():
    return _level() == 10


def is_sm12x():
    return _level() == 12


is_hip_cdna2 = is_hip_cdna3 = is_hip_cdna4 = is_hip_gfx11 = is_hip_gfx12 = is_hip_gfx1250 = is_hip_cdna = _never
supports_ws = _never


def get_hip_lds_size():
    return 65536


def get_arch():
    target = get_current_target()
    return "" if target is None else str(target.arch)


def numpy_random(shape, dtype_str, rs=None, low=None, high=None):
    """Random numbers of a dtype: over the whole range of integers, without 0; normal for floats."""
    shape = (shape, ) if isinstance(shape, int) else shape
    rs = np.random.RandomState(seed=17) if rs is None else rs
    if dtype_str in integral_dtypes:
        info = np.iinfo(dtype_str)
        low = info.min if low is None else max(low, info.min)
        high = info.max if high is None else min(high, info.max)
        array = rs.randint(low, high, shape, dtype=dtype_str)
        array[array == 0] = 1
        return array
    if dtype_str and "float8" in dtype_str:
        return rs.randint(20, 40, shape, dtype=np.int8)
    normal = rs.normal(0, 1, shape)
    if dtype_str in float_dtypes:
        return normal.astype(dtype_str)
    if dtype_str == "bfloat16":
        return (normal.astype("float32").view("uint32") & np.uint32(0xffff0000)).view("float32")
    if dtype_str in ("bool", "int1", "bool_"):
        return normal > 0.0
    raise RuntimeError(f"no random numbers of dtype {dtype_str}")


def to_triton(x, device, dst_type=None):
    """A numpy array as a tensor that kernels take: of its own dtype, or of dst_type."""
    name = x.dtype.name
    if name in uint_dtypes:
        return reinterpret(torch.tensor(x.astype(name[1:]), device=device), getattr(tl, name))
    tensor = torch.tensor(x, device=device)
    if dst_type and "float8" in dst_type:
        return reinterpret(tensor, getattr(tl, dst_type))
    return tensor.bfloat16() if name == "float32" and dst_type == "bfloat16" else tensor


def str_to_triton_dtype(name):
    return tl.str_to_ty(type_canonicalisation_dict[name], None)


def torch_dtype_name(dtype):
    if isinstance(dtype, tl.dtype):
        return dtype.name
    if isinstance(dtype, torch.dtype):
        return re.fullmatch(r"torch\.(\w+)", str(dtype))[1]
    raise TypeError(f"neither a dtype of triton nor of torch: {type(dtype)}")


def to_numpy(x):
    if isinstance(x, TensorWrapper):
        return x.base.cpu().numpy().astype(torch_dtype_name(x.dtype))
    if isinstance(x, torch.Tensor):
        return (x.cpu().float() if x.dtype is torch.bfloat16 else x.cpu()).numpy()
    raise ValueError(f"no tensor: {x}")


def supports_tma(byval_only=False):
    return is_interpreter() or is_hopper_or_newer()


def tma_skip_msg(byval_only=False):
    return "needs a GPU with TMA"


requires_tma = pytest.mark.skipif(not supports_tma(), reason=tma_skip_msg())


def default_alloc_fn(size, align, _):
    return torch.empty(size, dtype=torch.int8)


def unwrap_tensor(t):
    return t.base if isinstance(t, TensorWrapper) else t


def _fresh_knobs_impl(skipped_attr=None):
    """(begin, end): begin resets all knobs and the environment they are read from, end restores both."""
    patch = pytest.MonkeyPatch()
    groups = {name: group for name, group in vars(knobs).items() if isinstance(group, knobs.base_knobs) and name not in (skipped_attr or ())}
    unset = []
    before = knobs.propagate_env

    def begin():
        for name, group in groups.items():
            setattr(knobs, name, group.copy().reset())
            for knob in group.knob_descriptors.values():
                if knob.key and knob.key in os.environ:
                    patch.delenv(knob.key, raising=False)
                elif knob.key:
                    unset.append(knob.key)
        knobs.propagate_env = True
        return knobs

    def end():
        for name, group in groups.items():
            setattr(knobs, name, group)
        patch.undo()
        for key in unset:
            os.environ.pop(key, None)
        knobs.propagate_env = before

    return begin, end
