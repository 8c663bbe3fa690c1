"""Loops that only read and combine: nothing multiplies, so loads run ahead where the source asks that of the loop."""
import triton
import triton.language as tl


# check: x=randn:f16[200,96] out=zeros:f32[96] rows=200 cols=96 BM=32 BN=64 STAGES=3 --grid 2
# check: x=randn:f16[200,96] out=zeros:f32[96] rows=200 cols=96 BM=16 BN=64 STAGES=4 --grid 2 --set num_warps=2
# check: x=randn:f16[7,96] out=zeros:f32[96] rows=7 cols=96 BM=32 BN=64 STAGES=2 --grid 2
# check: x=randn:f16[1,96] out=zeros:f32[96] rows=0 cols=96 BM=32 BN=64 STAGES=3 --grid 2
# explain: execution: skew: no dots, but a loop whose loads were asked to run ahead
# explain: by cp.async, ahead
@triton.jit
def column_sums(x, out, rows, cols, BM: tl.constexpr, BN: tl.constexpr, STAGES: tl.constexpr):
    rn = tl.program_id(0) * BN + tl.arange(0, BN)
    rm = tl.arange(0, BM)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for first in tl.range(0, rows, BM, num_stages=STAGES):
        total += tl.load(x + (first + rm[:, None]) * cols + rn[None, :], mask=(first + rm[:, None] < rows) & (rn[None, :] < cols), other=0.0)
    tl.store(out + rn, tl.sum(total, axis=0), mask=rn < cols)


# Nobody asks for it, but a loop that only adds rows up has more of them on their way.
# check: x=randn:f16[200,96] out=zeros:f32[96] rows=200 cols=96 BM=16 BN=64 --grid 2
# check: x=randn:f32[333,104] out=zeros:f32[104] rows=333 cols=104 BM=32 BN=32 --grid 4 --set num_warps=8
# check: x=randn:f32[33,77] out=zeros:f32[77] rows=33 cols=77 BM=32 BN=32 --grid 3
# check: x=randn:f32[1,64] out=zeros:f32[64] rows=1 cols=64 BM=32 BN=32 --grid 2 --set num_warps=16
# check: x=randn:f32[1,64] out=ones:f32[64] rows=0 cols=64 BM=32 BN=32 --grid 2
# explain: execution: skew: no dots, but a loop that adds rows up
@triton.jit
def added_rows(x, out, rows, cols, BM: tl.constexpr, BN: tl.constexpr):
    rn = tl.program_id(0) * BN + tl.arange(0, BN)
    rm = tl.arange(0, BM)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for first in range(0, rows, BM):
        total += tl.load(x + (first + rm[:, None]) * cols + rn[None, :], mask=(first + rm[:, None] < rows) & (rn[None, :] < cols), other=0.0)
    tl.store(out + rn, tl.sum(total, axis=0), mask=rn < cols)


# The same along the rows, of which there are many: their programs wait beside each other.
# check: x=randn:f32[5,1000] out=zeros:f32[5] cols=1000 BLOCK=256 --grid 5
# explain: execution: flat
@triton.jit
def added_columns(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for first in range(0, cols, BLOCK):
        total += tl.load(x + row * cols + first + at, mask=first + at < cols, other=0.0)
    tl.store(out + row, tl.sum(total, axis=0))


# Programs of one row follow each other: neighbours in time are neighbours in memory.
# check: x=randn:f32[9,600] out=zeros:f32[9,600] cols=600 BLOCK=128 --grid 9,5
# check: x=randn:f16[3,77] out=zeros:f16[3,77] cols=77 BLOCK=32 --grid 3,3
# check: x=randn:f32[1,600] out=zeros:f32[1,600] cols=600 BLOCK=128 --grid 1,5
# explain: launch: blocks follow each other along axis 1 of the grid
@triton.jit
def parts_of_rows(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    last = tl.num_programs(1) * BLOCK - tl.num_programs(0)
    value = tl.load(x + row * cols + at, mask=at < cols)
    tl.store(out + row * cols + at, value * 2 + last, mask=at < cols)


# The grid already goes along the rows; or a loop does, and what its programs share is its author's order.
# check: x=randn:f32[9,600] out=zeros:f32[9,600] cols=600 BLOCK=128 --grid 5,9
# explain: no blocks follow each other
@triton.jit
def rows_of_parts(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(1).to(tl.int64)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + row * cols + at, tl.load(x + row * cols + at, mask=at < cols), mask=at < cols)


# What would not be copied asynchronously stays in registers: rows of one dimension, and what lies outside is not zero.
# check: x=randn:f32[3,1000] out=zeros:f32[3] cols=1000 BLOCK=256 --grid 3
# explain: execution: flat
@triton.jit
def row_peaks(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    peak = tl.full((BLOCK,), float("-inf"), tl.float32)
    for first in tl.range(0, cols, BLOCK, num_stages=3):
        peak = tl.maximum(peak, tl.load(x + row * cols + first + at, mask=first + at < cols, other=float("-inf")))
    tl.store(out + row, tl.max(peak, axis=0))


# Blocks of rows whose product with a vector is taken by hand, beside a store in each trip.
# check: a=randn:f32[64,128] v=randn:f32[128] out=zeros:f32[64] trail=zeros:f32[4,64] rows=64 cols=128 BM=32 BN=32 --grid 2
# explain: by cp.async, ahead
@triton.jit
def matrix_vector(a, v, out, trail, rows, cols, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    total = tl.zeros((BM,), dtype=tl.float32)
    for first in tl.range(0, cols, BN, num_stages=3):
        tile = tl.load(a + rm[:, None] * cols + first + rn[None, :], mask=(rm[:, None] < rows) & (first + rn[None, :] < cols), other=0.0)
        total += tl.sum(tile * tl.load(v + first + rn, mask=first + rn < cols, other=0.0)[None, :], axis=1)
        tl.store(trail + first // BN * rows + rm, total, mask=rm < rows)
    tl.store(out + rm, total, mask=rm < rows)
# SPDX-License-Identifier: Apache-2.0
