"""Boxes whose places are numbers of 64 bits: copied by an engine that takes 32 where the launch finds that these suffice, and right where they do not."""
import triton
import triton.language as tl


# explain: by TMA if it begins within 32 bits
# check: a_ptr=randn:f16[64,300] b_ptr=randn:f16[300,64] c_ptr=empty:f32[4,64,64] K=300 stride_am=300 stride_bk=64 trips=2 STEP=256 --grid 4
# check: a_ptr=randn:f16[64,304] b_ptr=randn:f16[304,64] c_ptr=empty:f32[4,64,64] K=304 stride_am=304 stride_bk=64 trips=2 STEP=256 --grid 4
# check: a_ptr=randn:f16[64,304] b_ptr=randn:f16[304,64] c_ptr=empty:f32[1,64,64] K=304 stride_am=304 stride_bk=64 trips=0 STEP=256 --grid 1
# 2^24 * 256 is 0 in 32 bits: what is outside would be the first box again
# check: a_ptr=randn:f16[64,304] b_ptr=randn:f16[304,64] c_ptr=empty:f32[2,64,64] K=304 stride_am=304 stride_bk=64 trips=258 STEP=16777216 --grid 2
@triton.jit
def far_product(a_ptr, b_ptr, c_ptr, K, stride_am, stride_bk, trips, STEP: tl.constexpr):
    rm, part = tl.arange(0, 64), tl.program_id(0)
    rk = part * 64 + rm
    a_ptrs = a_ptr + rm[:, None] * stride_am + rk[None, :]
    b_ptrs = b_ptr + rk[:, None] * stride_bk + rm[None, :]
    acc = tl.zeros((64, 64), dtype=tl.float32)
    for k in range(trips):
        left = K - k.to(tl.int64) * STEP
        a = tl.load(a_ptrs, mask=rk[None, :] < left, other=0.0)
        b = tl.load(b_ptrs, mask=rk[:, None] < left, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += STEP
        b_ptrs += STEP * stride_bk
    tl.store(c_ptr + part * 4096 + rm[:, None] * 64 + rm[None, :], acc)
# SPDX-License-Identifier: Apache-2.0
