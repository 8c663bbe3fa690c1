"""torch.compile under `python -m tilewright`.

Dynamo traces launches of our kernels as it does Triton's (fullgraph, torch.library.triton_op, wrap_triton). Inductor, its default
backend, would then take Triton's compiler apart: it calls stages and launchers that are not here. So a graph that holds a Triton kernel,
or that lies on a GPU, for which Inductor writes Triton kernels itself, is run operation by operation instead (the backend `aot_eager`,
autograd included); other graphs go to Inductor as ever.
"""
import importlib.abc
import importlib.util
import sys
import warnings

_MODULE = "torch._inductor.compile_fx"
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
    graphs = [module for module in model.modules() if isinstance(module, torch.fx.GraphModule)]
    nodes = [node for graph in graphs for node in graph.graph.nodes]
    values = [*inputs, *model.parameters(), *model.buffers(), *(node.meta.get("example_value") for node in nodes)]
    return any(map(_on_gpu, values)) or any(node.op == "call_function" and _has_kernel(node) for node in nodes)


def _wrap(module):
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


class _Loader(importlib.abc.Loader):
    """The module's own loader, and then _wrap."""

    def __init__(self, loader):
        self._loader = loader

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        _wrap(module)


class _Finder(importlib.abc.MetaPathFinder):
    _asking = False

    def find_spec(self, name, path=None, target=None):
        if name != _MODULE or self._asking:
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
    if _MODULE in sys.modules:
        _wrap(sys.modules[_MODULE])
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
