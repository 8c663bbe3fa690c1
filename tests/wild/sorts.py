"""Sorts written out, as hypercubes: axes of 2 by the dozen."""
import triton
import triton.language as tl


@triton.jit
def side(n: tl.constexpr, j: tl.constexpr):
    return tl.reshape(tl.arange(0, 2), [1] * (n - j - 1) + [2] + [1] * j)


@triton.jit
def partner(x, n: tl.constexpr, j: tl.constexpr):
    bits = x.to(tl.int32, bitcast=True)
    return (bits ^ tl.xor_sum(bits, n - 1 - j, True)).to(x.dtype, bitcast=True)


@triton.jit
def merge(x, at, n: tl.constexpr, stage: tl.constexpr, order: tl.constexpr):
    flip = side(n, stage) if order == 2 else order
    for i in tl.static_range(stage):
        y, other = partner(x, n, stage - 1 - i), partner(at, n, stage - 1 - i)
        swap = (x > y) != (flip ^ side(n, stage - 1 - i))
        x, at = tl.where(swap, y, x), tl.where(swap, other, at)
    return x, at


@triton.jit
def sort_some(x, at, n: tl.constexpr, stages: tl.constexpr):
    shape: tl.constexpr = x.shape
    x, at = tl.reshape(x, [2] * n), tl.reshape(at, [2] * n)
    for stage in tl.static_range(1, stages + 1):
        x, at = merge(x, at, n, stage, 2 if stage < stages else 1)
    return tl.reshape(x, shape), tl.reshape(at, shape)


# A bitonic sort written out, of keys and their places, and as many stages of it as the length needs.
# check: x=randn:f32[3,32] v=zeros:f32[3,32] i=zeros:i32[3,32] LENGTH=40 N=5 --grid 3
# check: x=randn:f32[3,32] v=zeros:f32[3,32] i=zeros:i32[3,32] LENGTH=7 N=5 --grid 3
@triton.jit
def bitonic(x, v, i, LENGTH, N: tl.constexpr):
    K: tl.constexpr = 2 ** N
    row = tl.program_id(0) * K
    at = tl.arange(0, K)
    keys = tl.load(x + row + at, mask=at < LENGTH, other=-1e6)
    if LENGTH <= 2:
        keys, at = sort_some(keys, at, N, 1)
    elif LENGTH <= 8:
        keys, at = sort_some(keys, at, N, 3)
    elif LENGTH <= 32:
        keys, at = sort_some(keys, at, N, 5)
    else:
        keys, at = sort_some(keys, at, N, N)
    tl.store(v + row + tl.arange(0, K), keys)
    tl.store(i + row + tl.arange(0, K), at)
# SPDX-License-Identifier: Apache-2.0
