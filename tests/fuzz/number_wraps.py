import triton
import triton.language as tl
@triton.jit
def kernel(s1, y2):
    t = tl.load(s1 + (-2147483648 - tl.arange(0, 4)))
    tl.store(y2 + tl.arange(0, 4), t)
