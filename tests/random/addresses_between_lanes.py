# A tile of addresses that a loop's end leaves in another layout goes from lane to lane.
import triton
import triton.language as tl


@triton.jit
def kernel(x, a, b, flag, y, n, m):
    at = tl.arange(0, 16)[:, None] * 2 + tl.arange(0, 2)[None, :]
    v = tl.load(x + tl.arange(0, 16)[:, None] + tl.arange(0, 2)[None, :] * 16 + 15)
    rm = tl.arange(0, 32)
    rn = tl.arange(0, 17)
    rk = tl.arange(0, 16)
    acc = tl.zeros((32, 17), tl.float32)
    for k in range(0, n, 16):
        la = tl.load(a + rm[:, None] * n + rk[None, :] + k, mask=rk[None, :] + k < n, other=0.0)
        lb = tl.load(b + (rk[:, None] + k) * 17 + rn[None, :], mask=rk[:, None] + k < n, other=0.0)
        acc = tl.dot(la, lb, acc)
    w = v
    for i in range(3, 5, 2):
        if tl.load(flag) > 2:
            break
        w = v
    o = w.to(tl.int32) & 127
    tl.store(y + at, tl.load(x + o, mask=o < m))

# arguments: x=u8[16384] wild 3 0 a=f16[993] whole 3 0 b=f16[528] whole 3 0 flag=i32[16] plain 2 0 y=u8[80] plain 3 0 n=31 m=90 grid=1,1,1 --set fuse=off
# SPDX-License-Identifier: Apache-2.0
