"""Running sums of a whole array: each program says what its part has, and looks back at those before it until one knows all. What it
looks at changes meanwhile: it is read from memory each time, and all threads of a program see the same."""
import triton
import triton.language as tl


# check: x=randint(9):i32[1000] out=zeros:i32[1000] state=zeros:i32[8] n=1000 BLOCK=128 --grid 8
# check: x=randint(9):i32[5000] out=zeros:i32[5000] state=zeros:i32[5] n=5000 BLOCK=1024 --grid 5 --set num_warps=8
@triton.jit
def running_sum(x, out, state, n, BLOCK: tl.constexpr):
    known: tl.constexpr = 1 << 30
    part: tl.constexpr = 1 << 29
    pid = tl.program_id(0)
    at = pid * BLOCK + tl.arange(0, BLOCK)
    mine = tl.load(x + at, mask=at < n, other=0)
    total = tl.sum(mine, axis=0)
    tl.store(state + pid, total | part)
    before = 0
    look = pid - 1
    while look >= 0:
        word = tl.load(state + look, volatile=True)
        while word == 0:
            word = tl.load(state + look, volatile=True)
        before += word & (part - 1)
        look = tl.where(word >= known, -1, look - 1)
    tl.store(state + pid, (before + total) | known)
    tl.store(out + at, before + tl.cumsum(mine, axis=0), mask=at < n)


# check: x=arange:i32[64] out=zeros:i32[64,32] --grid 1
# check: x=arange:i32[64] out=zeros:i32[64,32] --grid 1 --set num_warps=8
@triton.jit
def volatile_rows(x, out):
    row = tl.arange(0, 64)
    seen = tl.load(x + row, mask=row < 50, other=7, volatile=True)
    tl.store(out + row[:, None] * 32 + tl.arange(0, 32)[None, :], seen[:, None] + tl.load(x + 3, volatile=True))
# SPDX-License-Identifier: Apache-2.0
