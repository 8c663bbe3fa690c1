# SPDX-License-Identifier: Apache-2.0
"""tilelang.tt: kernels for Tenstorrent.

    @annotate_tt_schedule(policy="contiguous", order="row_major")
    @T.prim_func
    def matmul(..): ..
    artifacts = tt.emit_tt_artifacts(tt.apply_tt_defaults(matmul))     # {"reader.cpp": .., "compute.cpp": .., "writer.cpp": .., ..}

What an annotation states becomes a part of the kernel, and is checked where the kernel is compiled; what the target does not act on is refused
by name there.
"""
from .jit import JITKernel
from .tvm import IRModule, function_of


def _annotated(func, **attrs):
    made = function_of(func).with_attr({name: value for name, value in attrs.items() if value})
    return IRModule.from_expr(made) if isinstance(func, IRModule) else made


def annotate_tt_schedule(func=None, policy=None, order=None, chunk_k_tiles=None, **more):
    """How tasks go to cores: policy and order; chunk_k_tiles tiles of K are in flight at a time; block, rect, stride and core_grid say more; cb_depths={"in": 3} slots
    of circular buffers; multicast=True or False whether cores share what they load."""
    if isinstance(func, str):
        policy, func = func, None
    elif isinstance(policy, dict):  # annotate_tt_schedule(func, {..})
        more, policy = policy, None
    row = {"policy": policy, "order": order, "chunk_k_tiles": chunk_k_tiles, **more}

    def decorate(kernel):
        return _annotated(kernel, **{"tt.schedule": {name: value for name, value in row.items() if value is not None}})

    return decorate if func is None else decorate(func)


def annotate_tt_sharding(func=None, sharding=None):
    """Where tensors lie, by parameter: {"A": {"layout": "row_major"}}."""
    if isinstance(func, dict):
        func, sharding = None, func
    if not isinstance(sharding, dict):
        raise TypeError("tilelang.tt.annotate_tt_sharding takes a dict: {\"A\": {\"layout\": \"row_major\"}}")

    def decorate(kernel):
        return _annotated(kernel, **{"tt.sharding": dict(sharding)})

    return decorate if func is None else decorate(func)


annotate_tt_layout = annotate_tt_sharding


def apply_tt_defaults(mod):
    """Contiguous, row-major: where nothing was said."""
    schedule = {"policy": "contiguous", "order": "row_major", **function_of(mod).attrs.get("tt.schedule", {})}
    return _annotated(mod, **{"tt.schedule": schedule})


def apply_tt_metadata_passes(mod):
    """The compiler's own passes run when artifacts are emitted."""
    function_of(mod)
    return mod


def emit_tt_artifacts(mod, target="tenstorrent"):
    """The texts for Tenstorrent by name: reader, compute, writer, host program and plan."""
    func = function_of(mod)
    kernel = JITKernel(func, target=target, compile=False)
    samples = kernel._samples()
    if samples is None:
        raise ValueError(f"`{func.__name__}` has sizes that a call gives; Tenstorrent's kernels are emitted for sizes that are known")
    return kernel._function.emit(samples, {}, "tenstorrent").artifacts()
