# A product for each group of rows: the store of one group and the size of the next, which both roles load, stand
# between barriers of compute alone; the loops of the roles are the same nevertheless.
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, sizes, w, tiles, step):
    rm = tl.arange(0, 32)
    rn = tl.arange(0, 32)
    for tile in range(tl.program_id(0), tiles, step):
        rk = tile * 32 + tl.arange(0, 32)
        end = 0
        for group in range(4):
            acc = tl.zeros((32, 32), tl.float32)
            start = end
            size = tl.load(sizes + group)
            if size > 0:
                end = start + size
                for m in range(0, size, 32):
                    left = tl.minimum(size - m, 32)
                    if left > 0:
                        rows = start + m + rm
                        a = tl.load(x + rows[:, None] * 64 + rk[None, :], mask=(rm < left)[:, None])
                        b = tl.load(y + rows[:, None] * 32 + rn[None, :], mask=(rm < left)[:, None])
                        acc += tl.dot(b.T, a)
                tl.store(w + (group * 32 + rn)[:, None] * 64 + rk[None, :], acc.to(tl.bfloat16))

# arguments: x=bf16[10240] whole 3 0 y=bf16[5120] whole 3 0 sizes=i32[4] whole 40 0 w=bf16[8192] plain 1 0 tiles=2 step=1 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
