# Tiles times numbers that were rounded to 16 bits, clipped, or computed with one rounding, by the small processors.
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, C, a):
    B: tl.constexpr = 32
    p = tl.program_id(0)
    r = tl.arange(0, B)
    inside = r[None, :] < C
    at = (p * B + r)[:, None] * C + r[None, :]
    t = tl.load(x + at, mask=inside, other=0.0)
    f = (p + 1).to(tl.float32) * a
    t = t * f.to(tl.bfloat16).to(tl.float32) + f.to(tl.float16).to(tl.float32)
    t = t * tl.maximum((f - f) / (f - f), tl.fma(f, f, a))
    t = t + tl.floor(f * 7).to(tl.int8).to(tl.float32) * tl.minimum(f, 0.5)
    t = t + tl.umulhi((p + 77777).to(tl.uint32), 0x87654321).to(tl.bfloat16).to(tl.float32)
    tl.store(y + at, t, mask=inside)

# arguments: x=f32[3200] whole 3 0 y=f32[3200] whole 3 0 C=32 a=0.3 grid=2,1,1
# SPDX-License-Identifier: Apache-2.0
