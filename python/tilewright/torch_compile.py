# SPDX-License-Identifier: Apache-2.0
"""torch.compile under `python -m tilewright`.

Dynamo traces launches of our kernels as it does Triton's (fullgraph, torch.library.triton_op, wrap_triton). Inductor, its default
backend, would then take Triton's compiler apart: it calls stages and launchers that are not here. So a graph that holds a Triton kernel,
or that lies on a GPU (or on the CPU with Inductor's cpu_backend="triton"), for which Inductor writes Triton kernels itself, is run
operation by operation instead (the backend `aot_eager`, autograd included); other graphs go to Inductor as ever.

Which tensors a launch changes torch reads from Triton's IR; here the compiled kernel says it. What is not known to be unchanged is
copied before each launch.
"""
import importlib.abc
import importlib.util
import sys
import warnings

_told = False


def _on_gpu(value):
    return getattr(getattr(value, "device", None), "type", "cpu") == "cuda"


def _has_kernel(node):
    """Is it a launch, or an op that was made of launches?"""
    name = getattr(node.target, "_name", None) or getattr(node.target, "__name__", "")
    if str(name).startswith("triton_kernel_wrapper"):
        return True
    known = getattr(sys.modules.get("torch._library.triton"), "triton_ops_to_kernels", {})
    return str(name).rsplit(".", 1)[0] in known or str(name) in known


def needs_no_inductor(model, inputs):
    """A graph that Inductor would make Triton kernels of, or that holds some."""
    import torch
    from torch._inductor import config
    if getattr(config, "cpu_backend", "cpp") == "triton":
        return True
    graphs = [module for module in model.modules() if isinstance(module, torch.fx.GraphModule)]
    nodes = [node for graph in graphs for node in graph.graph.nodes]
    values = [*inputs, *model.parameters(), *model.buffers(), *(node.meta.get("example_value") for node in nodes)]
    return any(map(_on_gpu, values)) or any(node.op == "call_function" and _has_kernel(node) for node in nodes)


def _wrap_inductor(module):
    original = module.compile_fx

    def compile_fx(model_, example_inputs_, *args, **kwargs):
        global _told
        if not needs_no_inductor(model_, example_inputs_):
            return original(model_, example_inputs_, *args, **kwargs)
        if not _told:
            warnings.warn("torch.compile: a graph with Triton kernels, or on a GPU, runs operation by operation: Inductor does not "
                          "know Tilewright", stacklevel=2)
            _told = True
        from torch._dynamo import lookup_backend
        return lookup_backend("aot_eager")(model_, list(example_inputs_))

    module.compile_fx = compile_fx


def written(kernel, values):
    """The names of the arguments of a launch that the kernel writes through; `values` holds tensors, numbers and constants by name."""
    from .triton.runtime.tensors import MockTensor
    import torch
    while hasattr(kernel, "configs"):  # what is written does not depend on the configuration
        values, kernel = {**values, **kernel.configs[0].all_kwargs()}, kernel.fn
    unknown = (torch.SymInt, torch.SymFloat, torch.SymBool)
    stand_ins = {name: MockTensor(value.dtype) if isinstance(value, torch.Tensor) else 2 if isinstance(value, unknown) else value
                 for name, value in values.items()}
    return kernel.warmup(grid=(1, ), **stand_ins).written()


def _wrap_mutations(module):
    """torch._higher_order_ops.triton_kernel_wrap: get_mutated_tensors(kernel_idx, constant_args_idx, kwargs, [descriptors])."""

    def get_mutated_tensors(kernel_idx, constant_args_idx, kwargs, descriptors=None):
        import torch
        tensors = [name for name, value in kwargs.items() if isinstance(value, torch.Tensor)]
        table = module.kernel_side_table
        try:
            changed = set(tensors) if descriptors else written(
                table.get_kernel(kernel_idx), {**kwargs, **table.get_constant_args(constant_args_idx)})
        except Exception:  # the launch itself will say it
            changed = set(tensors)
        return [name for name in tensors if name in changed]

    if hasattr(module, "get_mutated_tensors"):
        module.get_mutated_tensors = get_mutated_tensors


_WRAPPERS = {"torch._inductor.compile_fx": _wrap_inductor, "torch._higher_order_ops.triton_kernel_wrap": _wrap_mutations}


class _Loader(importlib.abc.Loader):
    """The module's own loader, and then its wrapper."""

    def __init__(self, loader):
        self._loader = loader

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        _WRAPPERS[module.__name__](module)


class _Finder(importlib.abc.MetaPathFinder):
    _asking = False

    def find_spec(self, name, path=None, target=None):
        if name not in _WRAPPERS or self._asking:
            return None
        self._asking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._asking = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


def install():
    """For this process; torch need not be there, nor ever be imported."""
    for name, wrap in _WRAPPERS.items():
        if name in sys.modules:
            wrap(sys.modules[name])
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
