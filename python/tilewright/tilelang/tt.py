"""tilelang.tt: kernels for Tenstorrent.

    @annotate_tt_schedule(policy="contiguous", order="row_major")
    @T.prim_func
    def matmul(..): ..
    artifacts = tt.emit_tt_artifacts(tt.apply_tt_defaults(matmul))     # {"reader.cpp": .., "compute.cpp": .., "writer.cpp": .., ..}

What an annotation states is checked; policies and layouts that the target does not act on are refused by name.
"""
from .jit import JITKernel
from .tvm import IRModule, function_of

_POLICIES = ("contiguous", )
_ORDERS = ("row_major", )
_LAYOUTS = ("row_major", "interleaved")


def _check(what, value, known):
    if value is not None and value not in known:
        raise NotImplementedError(f"tilelang.tt: {what}={value!r} is not here; there is {' and '.join(map(repr, known))}")


def _annotated(func, **attrs):
    made = function_of(func).with_attr({name: value for name, value in attrs.items() if value})
    return IRModule.from_expr(made) if isinstance(func, IRModule) else made


def annotate_tt_schedule(func=None, policy=None, order=None, chunk_k_tiles=None, **more):
    """How tiles go to cores: policy "contiguous", order "row_major"; chunk_k_tiles tiles of K are in flight at a time."""
    for name in more:
        raise TypeError(f"tilelang.tt.annotate_tt_schedule has no argument `{name}`")
    if isinstance(func, str):
        policy, func = func, None
    _check("policy", policy, _POLICIES)
    _check("order", order, _ORDERS)
    if chunk_k_tiles is not None and (isinstance(chunk_k_tiles, bool) or not isinstance(chunk_k_tiles, int) or not 1 <= chunk_k_tiles <= 16):
        raise ValueError(f"chunk_k_tiles is a number of tiles from 1 to 16, not {chunk_k_tiles!r}")
    row = {"policy": policy, "order": order, "chunk_k_tiles": chunk_k_tiles}

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
        names = list(function_of(kernel).signature.parameters)
        for name, row in sharding.items():
            if name not in names:
                raise ValueError(f"tilelang.tt: `{name}` is no parameter of `{function_of(kernel).__name__}`; it has {', '.join(names)}")
            for key, value in (row if isinstance(row, dict) else {"layout": row}).items():
                if key != "layout":
                    raise NotImplementedError(f"tilelang.tt: sharding by `{key}` is not here; there is `layout`")
                _check("layout", value, _LAYOUTS)
        return _annotated(kernel, **{"tt.sharding": dict(sharding)})

    return decorate if func is None else decorate(func)


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
    chunk = func.attrs.get("tt.schedule", {}).get("chunk_k_tiles")
    if chunk:
        kernel._options["slots"] = str(chunk)
    return kernel._function.emit(samples, {}, "tenstorrent").artifacts()
