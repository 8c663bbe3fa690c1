"""Tiles that a loop carries, reduces, and changes where they are equal to what came out: the reduction lies as the loop's tile does, which
is known only when the loop has been asked."""
import triton
import triton.language as tl


# check: x_ptr=randn:f32[32,64] g_ptr=empty:f32[32,3] i_ptr=empty:i32[32,3] n=3 M=32 N=64 --grid 1
# check: x_ptr=randn:f32[64,16] g_ptr=empty:f32[64,2] i_ptr=empty:i32[64,2] n=2 M=64 N=16 --grid 1
# check: x_ptr=randn:f16[16,128] g_ptr=empty:f16[16,1] i_ptr=empty:i32[16,1] n=1 M=16 N=128 --grid 1
# check: x_ptr=randn:f32[8,32] g_ptr=empty:f32[8,4] i_ptr=empty:i32[8,4] n=0 M=8 N=32 --grid 1
@triton.jit
def largest_of_rows(x_ptr, g_ptr, i_ptr, n, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)
    cols = tl.arange(0, N)
    x = tl.load(x_ptr + rows[:, None] * N + cols[None, :])
    for k in range(n):
        m = tl.max(x, 1)
        hit = x == m[:, None]
        at = tl.max(tl.where(hit, cols[None, :], -1), 1)
        x = tl.where(hit, -1e4, x).to(x.dtype)
        tl.store(g_ptr + rows * n + k, m)
        tl.store(i_ptr + rows * n + k, at)


# check: x_ptr=randn:f32[32,64] o_ptr=empty:f32[64,32] n=3 M=32 N=64 --grid 1
# check: x_ptr=randn:f32[128,16] o_ptr=empty:f32[16,128] n=2 M=128 N=16 --grid 1
@triton.jit
def smallest_of_columns(x_ptr, o_ptr, n, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)
    cols = tl.arange(0, N)
    x = tl.load(x_ptr + rows[:, None] * N + cols[None, :])
    for k in range(n):
        low = tl.min(x, 0)
        x = tl.where(x == tl.reshape(low, [1, N]), x + 100.0, x)
    tl.store(o_ptr + cols[:, None] * M + rows[None, :], tl.trans(x))


# check: x_ptr=randn:f32[32,64] o_ptr=empty:f32[32,64] n=2 M=32 N=64 --grid 1
# check: x_ptr=randn:f32[64,64] o_ptr=empty:f32[64,64] n=3 M=64 N=64 --grid 1
@triton.jit
def both_ways(x_ptr, o_ptr, n, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)
    cols = tl.arange(0, N)
    at = rows[:, None] * N + cols[None, :]
    x = tl.load(x_ptr + at)
    y = tl.trans(x)
    for k in range(n):
        high = tl.max(x, 1)
        y = tl.where(y == high[None, :], -1.0, y)
        for j in range(2):
            low = tl.min(y, 0)
            x = tl.where(x == low[:, None], 1.0, x)
    tl.store(o_ptr + at, x + tl.trans(y))
# SPDX-License-Identifier: Apache-2.0
