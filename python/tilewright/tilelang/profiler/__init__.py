# SPDX-License-Identifier: Apache-2.0
"""tilelang.profiler: timing kernels and comparing them with a reference.

On the CPU times are of the host's clock, on CUDA of the device's events; TILEWRIGHT_BENCH=N makes N calls.
"""
from ..language.functions import KernelParam
from ..language.symbols import extent
from ..utils.tensor import TensorSupplyType, get_tensor_supply, torch_assert_close
from .bench import do_bench

__all__ = ["Profiler", "do_bench"]


def _outputs(made):
    return [] if made is None else list(made) if isinstance(made, (tuple, list)) else [made]


class Profiler:
    """A kernel with arguments to try it with."""

    def __init__(self, params, result_idx, supply_type=TensorSupplyType.Auto, adapter=None):
        self.params, self.supply_type, self.adapter = params, supply_type, adapter
        self.result_idx = [] if result_idx is None else [result_idx % len(params)] if isinstance(result_idx, int) else list(result_idx)
        self.supply = get_tensor_supply(supply_type)

    def with_default_adapter(self, adapter):
        self.adapter = adapter
        return self

    @property
    def func(self):
        return self.adapter

    def _get_params(self, with_output=False):
        return [param for place, param in enumerate(self.params) if with_output or place not in self.result_idx]

    def _get_inputs(self, with_output=False, dynamic_symbolic_constraints=None):
        made = []
        for param in self._get_params(with_output):
            if dynamic_symbolic_constraints:
                param = KernelParam(param.dtype, [extent(each, dynamic_symbolic_constraints) for each in param.shape], param.name)
            made.append(self.supply(param) if param.shape or not param.is_scalar() else (1.0 if "float" in param.dtype else 1))
        return made

    def run_once(self, func=None):
        return (func or self.adapter)(*self._get_inputs())

    def assert_allclose(self, reference_program, input_tensors=None, atol=1e-2, rtol=1e-2, max_mismatched_ratio=0.01):
        """Raises AssertionError where the kernel's outputs are not those of the reference."""
        import torch
        inputs = self._get_inputs() if input_tensors is None else input_tensors
        wanted = _outputs(reference_program(*inputs))
        got = _outputs(self.adapter(*inputs))
        if len(got) != len(wanted):
            raise AssertionError(f"the kernel gives {len(got)} outputs, the reference {len(wanted)}")
        for mine, theirs in zip(got, wanted):
            if mine is None or theirs is None:
                continue
            mine, theirs = (each.to(torch.float32) if "float8" in str(each.dtype) else each for each in (mine, theirs))
            torch_assert_close(mine, theirs, rtol=rtol, atol=atol, max_mismatched_ratio=max_mismatched_ratio, base_name="tilelang", ref_name="ref")

    def manual_assert_close(self, reference_program, input_tensors=None, manual_check_prog=None):
        inputs = self._get_inputs() if input_tensors is None else input_tensors
        wanted = _outputs(reference_program(*inputs))
        manual_check_prog(_outputs(self.adapter(*inputs)), wanted)

    def assert_consistent(self, repeat=10):
        """Raises AssertionError where two calls give different bits."""
        import torch
        inputs = self._get_inputs()
        first = [each.clone() for each in _outputs(self.adapter(*inputs))]
        for _ in range(repeat):
            for mine, theirs in zip(_outputs(self.adapter(*inputs)), first):
                if not torch.equal(mine, theirs):
                    raise AssertionError("two calls of the kernel gave different results")

    def do_bench(self, func=None, warmup=25, rep=100, n_warmup=0, n_repeat=0, input_tensors=None, backend="event", quantiles=None, return_mode="mean",
                 dynamic_symbolic_constraints=None, device=None, early_stop_baseline=None):
        """Milliseconds of a call."""
        inputs = input_tensors if input_tensors is not None else self._get_inputs(dynamic_symbolic_constraints=dynamic_symbolic_constraints)
        call = func or self.adapter
        return do_bench(lambda: call(*inputs), warmup, rep, n_warmup, n_repeat, quantiles, backend=backend, return_mode=return_mode, device=device)

    def __call__(self, *args, **kwargs):
        return self.adapter(*args, **kwargs)


