# SPDX-License-Identifier: Apache-2.0
"""tilelang.testing: what tests of kernels use."""
import inspect
import random
import sys

from ..jit.target import cuda_device
from ..utils.tensor import torch_assert_close


def set_random_seed(seed=42):
    """For Python's, numpy's and torch's random numbers, as far as these are imported."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


def main():
    """Runs the tests of the file that calls it."""
    import pytest
    file = inspect.getsourcefile(sys._getframe(1))
    sys.exit(pytest.main([file, *sys.argv[1:]]))


def _skip_unless(condition, reason):

    def decorate(func):
        import pytest
        return pytest.mark.skipif(not condition, reason=reason)(func)

    return decorate


def _requires(check, reason):
    """A decorator for tests; it is called with the test, or with nothing first."""

    def decorate(func=None, *rest, **options):
        skip = _skip_unless(check(), reason)
        return skip(func) if callable(func) else skip

    return decorate


_pretended = None  # the capability of a device that tests are told of, though kernels run on the CPU


def pretend_device(capability):
    """Tests that ask for a CUDA device run, on tensors of the CPU."""
    global _pretended
    _pretended = tuple(capability)


requires_cuda = _requires(lambda: _version() != (0, 0), "there is no CUDA device")
requires_llvm = _requires(lambda: True, "")
requires_rocm = _requires(lambda: False, "Tilewright has no target for AMD's GPUs")
requires_cdna = requires_gfx950 = requires_rocm
requires_cuda_or_cdna = requires_cuda
requires_metal = _requires(lambda: False, "Tilewright has no target for Apple's GPUs")


def requires_package(*packages):
    """Skips a test where a package is not installed."""
    import importlib.util
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    return _skip_unless(not missing, f"{', '.join(missing)} is not installed")


def _version():
    if _pretended or cuda_device() is None:
        return _pretended or (0, 0)
    import torch
    return torch.cuda.get_device_capability()


def requires_cuda_compute_version(major_version, minor_version=0, mode="ge"):
    """Skips a test on GPUs of another architecture."""
    wanted, found = (major_version, minor_version), _version()
    rules = {"ge": found >= wanted, "gt": found > wanted, "le": found <= wanted, "lt": found < wanted, "eq": found == wanted}
    if mode not in rules:
        raise ValueError(f"mode is one of {', '.join(rules)}, not {mode!r}")
    return _skip_unless(found != (0, 0) and rules[mode], f"wants CUDA compute {mode} {wanted[0]}.{wanted[1]}; this is {found[0]}.{found[1]}")


def _version_test(mode):
    return lambda major_version, minor_version=0: requires_cuda_compute_version(major_version, minor_version, mode)


for _mode in ("ge", "gt", "le", "lt", "eq"):
    globals()[f"requires_cuda_compute_version_{_mode}"] = _version_test(_mode)


def assert_allclose(actual, expected, rtol=1e-7, atol=1e-7):
    """numpy's, for arrays."""
    import numpy
    numpy.testing.assert_allclose(numpy.asarray(actual), numpy.asarray(expected), rtol=rtol, atol=atol)


def process_func(func, name=None, *, case=None, **kwargs):
    """Times func(**kwargs), which returns milliseconds, and prints them."""
    print(f"{case or name or func.__name__}: {func(**kwargs)}")


def regression(prefixes=None, **options):
    """Runs the functions of the file that calls it whose names begin with `regression_`."""
    space = sys._getframe(1).f_globals
    for name, function in list(space.items()):
        if name.startswith(tuple(prefixes or ("regression_", ))) and callable(function):
            function()


__all__ = ["assert_allclose", "main", "process_func", "regression", "requires_cdna", "requires_cuda", "requires_cuda_compute_version", "requires_cuda_or_cdna",
           "requires_gfx950", "requires_llvm", "requires_metal", "requires_package", "requires_rocm", "set_random_seed", "torch_assert_close",
           *(f"requires_cuda_compute_version_{mode}" for mode in ("ge", "gt", "le", "lt", "eq"))]
