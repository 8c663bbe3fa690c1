# SPDX-License-Identifier: Apache-2.0
"""tilelang.jit.target: what a kernel is compiled for: "auto" (where its tensors lie), "cuda", "cpu" and their other names."""
import os
import sys

_KINDS = {"auto": None, "cuda": "cuda", "cutedsl": "cuda", "c": "cpu", "llvm": "cpu", "cpu": "cpu", "tenstorrent": "tenstorrent", "interp": "interp"}
_OTHER_CHIPS = {"hip": "AMD's GPUs", "rocm": "AMD's GPUs", "metal": "Apple's GPUs", "webgpu": "browsers", "ascend": "Ascend", "trainium": "Trainium"}


class Target:
    """A target by its name, text or dict: Target("cuda -arch=sm_90"), Target({"kind": "cuda", "arch": "sm_90"})."""

    def __init__(self, of="auto", host=None):
        if isinstance(of, Target):
            of = of.text
        if isinstance(of, dict):
            of = " ".join([str(of.get("kind", "")), *(f"-{name}={value}" for name, value in of.items() if name != "kind")])
        if not isinstance(of, str) or not of.split():
            raise TypeError(f"a target is a name such as \"cuda\", or a dict with its kind; this is {of!r}")
        words = of.split()
        self.text, self.host = of, host
        name, _, behind = words[0].partition(":")
        if name in _OTHER_CHIPS:
            raise ValueError(f"target \"{name}\" is for another chip, {_OTHER_CHIPS[name]}; kernels of Python run on CUDA devices and the CPU, and `tilewright "
                             f"targets` lists what else text is made for")
        if name not in _KINDS:
            raise ValueError(f"target \"{name}\" is not here; there are {', '.join(_KINDS)}")
        self.name, self._kind = name, _KINDS[name]
        options = dict(word.lstrip("-").partition("=")[::2] for word in words[1:] if word.startswith("-"))
        self.arch = options.get("arch") or (behind if behind.startswith("sm_") else None)
        self.attrs = {**options, "arch": self.arch or default_arch()} if self._kind == "cuda" else options

    @property
    def kind(self):
        return _Kind(self.name)

    @property
    def library(self):
        """What the library calls it; None: where the tensors lie."""
        if self._kind != "cuda" or not self.arch:
            return self._kind
        return f"cuda:{'sm_90a' if self.arch == 'sm_90' else self.arch}"

    @staticmethod
    def current(allow_none=True):
        return None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"Target({self.text!r})"

    def __eq__(self, other):
        return isinstance(other, Target) and other.text == self.text

    def __hash__(self):
        return hash(self.text)


class _Kind(str):
    name = property(str.__str__)


def cuda_device():
    """torch's current CUDA device, or None; TILEWRIGHT_DEVICE=cpu says that there is none."""
    torch = sys.modules.get("torch")
    if torch is None or os.environ.get("TILEWRIGHT_DEVICE") == "cpu" or not hasattr(torch, "cuda") or not torch.cuda.is_available():
        return None
    return torch.cuda.current_device()


def default_arch():
    """The architecture of the current CUDA device, or what is compiled for without one."""
    device = cuda_device()
    if device is None:
        return "sm_90a"
    import torch
    major, minor = torch.cuda.get_device_capability(device)
    return f"sm_{major}{minor}{'a' if major >= 9 else ''}"


def determine_target(target="auto", return_object=False):
    """The target that "auto" means here; others as they are."""
    found = Target(target)
    if found.name == "auto":
        found = Target("cuda" if cuda_device() is not None else "c")
    return found if return_object or not isinstance(target, str) else found.text
