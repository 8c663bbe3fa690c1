# Pairs of f16 that a loop fetches a trip ahead: a loop carries elements, so their sum is none of pairs.
import triton
import triton.language as tl

@triton.jit
def kernel(x, y, z, e, out, n, m):
    r = tl.arange(0, 32)
    k = tl.arange(0, 16)
    tl.atomic_xor(e + r % 5, r)
    for q in range(tl.program_id(0), m, tl.num_programs(0)):
        acc = tl.zeros((32, 32), tl.float32)
        for i in range(0, n):
            a = tl.load(x + r[:, None] * 128 + (i * 16 + k)[None, :])
            c = tl.load(y + r[:, None] * 128 + (i * 16 + k)[None, :])
            b = tl.load(z + r[None, :] * 128 + (i * 16 + k)[:, None])
            s = a + c
            acc = tl.dot(tl.where(k[None, :] % 3 == 1, s, 1.0).to(tl.float16), b, acc)
        tl.store(out + q * 1024 + r[:, None] * 32 + r[None, :], acc)

# arguments: x=f16[4096] whole 2 0 y=f16[4096] whole 2 0 z=f16[4096] whole 2 0 e=i32[64] whole 1 0 out=f32[2048] plain 1 0 n=3 m=2 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
