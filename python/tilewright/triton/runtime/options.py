# SPDX-License-Identifier: Apache-2.0
"""triton.runtime.options: what keywords of a launch mean that are no parameters of the kernel.

Each is done, or refused with its name: none is taken without effect. A value that asks for nothing (None, or the default of Triton's)
is taken everywhere, also of options that only GPUs of another maker have. Off the GPU the hints for AMD's say, once each, that they
have no effect there: programs that know two makers of GPUs take every other machine for the second.
"""
import operator
import warnings

from ... import _native
from .. import knobs


def _refuse(name, value, why):
    raise ValueError(f"the option {name}={value!r} is refused: {why}")


def _number(value):
    """As the library reads it; what is no integer it refuses itself."""
    try:
        return str(operator.index(value))
    except TypeError:
        return str(value)


def _switch(name, value):
    if not isinstance(value, (bool, int)):
        _refuse(name, value, "it is True or False")
    return "on" if value else "off"


def _plain(name):
    return lambda value: {name: _number(value)}


def _on_or_off(name, option):
    return lambda value: {option: _switch(name, value)}


def _registers(value):
    """0 stands for no bound in the library, and for nothing that can be asked for."""
    if _number(value) == "0":
        _refuse("maxnreg", value, "it is how many registers a thread has at most")
    return {"maxnreg": _number(value)}


def _blocks(value):
    """A hint that changes no bit: pairs of blocks share what they load, where that can be."""
    if not isinstance(value, int) or value not in (1, 2, 4, 8, 16):
        _refuse("num_ctas", value, "it is a power of 2 up to 16")
    return {"cluster": "2"} if value > 1 else {}


def _cooperative(value):
    return {"cooperative": "on"} if _switch("launch_cooperative_grid", value) == "on" else {}


def _chip(value, target):
    """The target for an `arch` like sm90; which of them there are the library says."""
    level = str(value).replace("sm", "", 1).strip("_a")
    if not level.isdigit():
        _refuse("arch", value, "it is that of an NVIDIA GPU, like sm90")
    if not target.startswith("cuda"):
        _refuse("arch", value, f"the kernel runs on target {target}; kernel.emit(\"cuda:sm_90\", ..) gives the texts for another")
    return f"cuda:sm_{level}" + "a" * (level == "90")


def _overflow(value, debug):
    """Sums, differences and products of integers below 64 bits that do not fit are assertions that fail: in debug, unless told not to."""
    asked = value is not None and _switch("sanitize_overflow", value) == "on"
    if asked and not debug:
        _refuse("sanitize_overflow", value, "assertions are compiled in with debug=True")
    return {"overflow": "on"} if asked or (debug and value is None and knobs.runtime.sanitize_overflow) else {}


def _libraries(value):
    names = [row[0] for row in value] if isinstance(value, (tuple, list)) else list(value)
    others = [name for name in names if name != "libdevice"]
    if others:
        _refuse("extern_libs", value, f"of libraries, libdevice's functions are there, but not those of {others[0]}")
    return {}


def _neutral(name, why, *defaults):
    """Nothing but these can be asked for here."""

    def check(value):
        if not any(type(value) is type(default) and value == default for default in defaults):
            _refuse(name, value, why)
        return {}

    return check


_AMD = "it is one of AMD's GPUs"
_AMD_HINTS = {"waves_per_eu": 0, "matrix_instr_nonkdim": 0, "kpack": 1, "schedule_hint": "none"}  # what asks for nothing
_IN_DOT = "say it at tl.dot"
_warned = set()


def _of_another_machine(name, value, target):
    """Is that a hint for AMD's GPUs, of a well-formed value, and no GPU there? No bit of a result hangs on it."""
    default = _AMD_HINTS.get(name)
    if default is None or target.startswith("cuda") or type(value) is not type(default):
        return False
    if value != default and name not in _warned:
        _warned.add(name)
        warnings.warn(f"the option {name}={value!r} has no effect on target {target}: {_AMD}", RuntimeWarning, stacklevel=5)
    return True


_MEANINGS = {
    "num_warps": _plain("num_warps"),
    "num_stages": _plain("num_stages"),
    "maxnreg": _registers,
    "num_ctas": _blocks,
    "enable_fp_fusion": _on_or_off("enable_fp_fusion", "fuse"),
    "launch_pdl": _on_or_off("launch_pdl", "launch_pdl"),
    "launch_cooperative_grid": _cooperative,
    "arch": lambda value: {},  # below
    "debug": lambda value: {},  # asserts: the launch itself has looked at it
    "sanitize_overflow": lambda value: {},  # below
    "extern_libs": _libraries,
    "ptx_options": _neutral("ptx_options", "kernels are not made by ptxas alone; maxnreg sets its registers", "", None),
    "ir_override": _neutral("ir_override", "kernels cannot be replaced by texts of Triton's", None),
    "clc": _neutral("clc", "it is one of later GPUs", False),
    "enable_reflect_ftz": _neutral("enable_reflect_ftz", "fast functions take subnormals as 0; tl.exp2 of float64 keeps them", True),
    "allow_fp8e4nv": _neutral("allow_fp8e4nv", "the type is there on each target", True),
    "max_num_imprecise_acc_default": _neutral("max_num_imprecise_acc_default", _IN_DOT + "(max_num_imprecise_acc=..)", 2**30, 0),
    "default_dot_input_precision": _neutral("default_dot_input_precision", _IN_DOT + "(input_precision=..)", "tf32"),
    "instrumentation_mode": _neutral("instrumentation_mode", "kernels are not instrumented", ""),
    **{name: _neutral(name, _AMD, default) for name, default in _AMD_HINTS.items()},
    "cluster_dims": _neutral("cluster_dims", "say num_ctas", (1, 1, 1), [1, 1, 1]),
    "warp_size": _neutral("warp_size", "warps have 32 threads", 32),
}


def library_options(given, target, debug=False):
    """(target, {name: text}): what is compiled for, and the library's options, by the keywords of a launch whose arrays lie there."""
    found = {} if knobs.language.default_fp_fusion else {"fuse": "off"}
    found.update(_overflow(given.get("sanitize_overflow"), debug))
    arch = given.get("arch") or (knobs.runtime.override_arch if target.startswith("cuda") else None)
    for name, value in given.items():
        if value is not None and not _of_another_machine(name, value, target):
            found.update(_MEANINGS[name](value))
    target = _chip(arch, target) if arch else target
    if "cluster" in found and target.startswith("cuda:sm_") and int(target[8:].rstrip("a")) < 90:
        _refuse("num_ctas", given["num_ctas"], f"num_ctas > 1 requires NVIDIA SM90+ (Hopper), and the target is {target}")
    return target, found


_native.configure(library_options=library_options)
