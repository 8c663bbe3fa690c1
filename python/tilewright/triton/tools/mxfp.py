"""triton.tools.mxfp: block-scaled formats of 4 and 8 bits. Kernels here have no tl.dot_scaled, so that nothing can be made of them."""


class _BlockScaled:

    def __init__(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__}: block-scaled formats are not there; scale with tensor operations and use tl.dot")


class MXFP4Tensor(_BlockScaled):
    """Numbers of four bits, two in a byte."""


class MXScaleTensor(_BlockScaled):
    """Scales that are powers of two, one byte each."""
