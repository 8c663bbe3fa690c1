# SPDX-License-Identifier: Apache-2.0
"""tilelang.layout: layouts for T.annotate_layout: hints. The compiler chooses where elements lie."""
from ... import _native


class Layout:
    """Where the elements of a tile are to lie."""

    def __init__(self, shape, forward_fn=None):
        self.shape = tuple(shape) if hasattr(shape, "__iter__") else (shape, )
        self.forward_fn = forward_fn
        self.__tilelang__ = ("Layout", )

    def get_input_shape(self):
        return list(self.shape)

    input_size = input_shape = property(get_input_shape)

    def map_forward_index(self, indices):
        """Where the element of these indices goes."""
        if self.forward_fn is None:
            raise ValueError("this layout states no function")
        made = self.forward_fn(*indices)
        return list(made) if isinstance(made, (tuple, list)) else [made]

    def repeat(self, *args, **kwargs):
        return self

    def replicate(self, *args, **kwargs):
        return self

    def is_equal(self, other):
        return self is other

    def __repr__(self):
        return f"{type(self).__name__}({self.shape})"


class Fragment(Layout):
    """Which thread holds an element."""

    def __init__(self, shape, forward_fn=None, forward_thread_fn=None, replicate=1, forward_index_fn=None):
        super().__init__(shape, forward_fn or forward_index_fn)
        self.forward_thread_fn = forward_thread_fn


def _maker(name):

    def make(buffer=None, *args, **kwargs):
        return Layout(getattr(buffer, "shape", ()))

    make.__name__ = make.__qualname__ = name
    make.__doc__ = "A layout for T.annotate_layout: a hint."
    _native.register(make, f"tilelang.layout.{name}")
    return make


for _name in ("make_swizzled_layout", "make_volta_swizzled_layout", "make_wgmma_swizzled_layout", "make_tcgen05mma_swizzled_layout", "make_linear_layout",
              "make_full_bank_swizzled_layout", "make_half_bank_swizzled_layout", "make_quarter_bank_swizzled_layout", "make_gemm_fragment_8x8",
              "make_gemm_fragment_8x8_transposed", "make_fully_replicated_layout_fragment", "make_cutlass_metadata_layout"):
    globals()[_name] = _maker(_name)
