# Numbers of a tile of three axes, which a reader would have to make: their places were read beyond two.
import triton
import triton.language as tl


@triton.jit
def kernel(x, y):
    i = tl.arange(0, 4)
    at = i[:, None, None] * 16 + i[None, :, None] * 4 + i[None, None, :]
    v = tl.load(x + at)
    tl.store(y + at, tl.where(at < 40, v, 0.0))
