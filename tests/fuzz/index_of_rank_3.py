# Numbers of a tile of three axes that a reader would have to make: their places were read beyond two.
import triton
import triton.language as tl

@triton.jit
def kernel(x0, y1, y2):
    pid = tl.program_id(0) + tl.num_programs(0) * tl.program_id(1)
    o0 = pid * 0 + tl.arange(0, 4) * 1 + 0
    v1 = tl.load(x0 + o0)
    o2 = pid * 0 + tl.arange(0, 4)[:, None, None] * 16 + tl.arange(0, 4)[None, :, None] * 4 + tl.arange(0, 4)[None, None, :]
    v3 = tl.load(x0 + o2)
    v4 = (v3 + v3).to(tl.int32)
    v5 = v3 < v4
    o6 = pid * 0 + tl.arange(0, 4)[:, None, None] * 16 + tl.arange(0, 4)[None, :, None] * 4 + tl.arange(0, 4)[None, None, :]
    v7 = tl.load(x0 + o6, mask=v5)
    v8 = tl.where(v5, v4, v7)
    tl.store(y1 + pid * 64 + tl.arange(0, 4)[:, None, None] * 16 + tl.arange(0, 4)[None, :, None] * 4 + tl.arange(0, 4)[None, None, :], v8)
    tl.store(y2 + pid * 64 + tl.arange(0, 4)[:, None, None] * 16 + tl.arange(0, 4)[None, :, None] * 4 + tl.arange(0, 4)[None, None, :], o6)
    tl.store(y2 + pid * 64 + tl.arange(0, 4)[:, None, None] * 16 + tl.arange(0, 4)[None, :, None] * 4 + tl.arange(0, 4)[None, None, :], v7)

