"""Causal attention as Triton's tutorial writes it: descriptors, one inner function run twice, K and V in step; the first block has no trip of the first loop."""
import triton
import triton.language as tl


@triton.jit
def _make_descriptor(at, shape, strides, block_shape):
    if isinstance(at, tl.tensor_descriptor):
        return at
    return tl.make_tensor_descriptor(at, shape, strides, block_shape)


@triton.jit
def _attention_inner(acc, l_i, m_i, q, desc_k, desc_v, offset_y, dtype: tl.constexpr, start_m, qk_scale, BLOCK_M: tl.constexpr,
                     HEAD_DIM: tl.constexpr, BLOCK_N: tl.constexpr, STAGE: tl.constexpr, offs_m: tl.constexpr, offs_n: tl.constexpr,
                     N_CTX: tl.constexpr, warp_specialize: tl.constexpr):
    if STAGE == 1:
        lo, hi = 0, start_m * BLOCK_M
    elif STAGE == 2:
        lo, hi = start_m * BLOCK_M, (start_m + 1) * BLOCK_M
        lo = tl.multiple_of(lo, BLOCK_M)
    else:
        lo, hi = 0, N_CTX
    offsetk_y = offset_y + lo
    offsetv_y = offset_y + lo
    for start_n in tl.range(lo, hi, BLOCK_N, warp_specialize=warp_specialize):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        k = desc_k.load([offsetk_y, 0]).T
        qk = tl.dot(q, k)
        if STAGE == 2:
            mask = offs_m[:, None] >= (start_n + offs_n[None, :])
            qk = qk * qk_scale + tl.where(mask, 0, -1.0e6)
            m_ij = tl.maximum(m_i, tl.max(qk, 1))
            qk -= m_ij[:, None]
        else:
            m_ij = tl.maximum(m_i, tl.max(qk, 1) * qk_scale)
            qk = qk * qk_scale - m_ij[:, None]
        p = tl.math.exp2(qk)
        alpha = tl.math.exp2(m_i - m_ij)
        l_ij = tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = desc_v.load([offsetv_y, 0])
        p = p.to(dtype)
        acc = tl.dot(p, v, acc)
        l_i = l_i * alpha + l_ij
        m_i = m_ij
        offsetk_y += BLOCK_N
        offsetv_y += BLOCK_N
    return acc, l_i, m_i


# check: M=zeros:f32[4,256] desc_q=randn:f16[4,256,64] desc_k=randn:f16[4,256,64] desc_v=randn:f16[4,256,64] desc_o=zeros:f16[4,256,64] sm_scale=0.125 Z=2 H=2 N_CTX=256 HEAD_DIM=64 BLOCK_M=128 BLOCK_N=64 STAGE=3 warp_specialize=False --grid 2,4 --set num_warps=8 --set num_stages=2
# check: M=zeros:f32[2,256] desc_q=randn:f16[2,256,64] desc_k=randn:f16[2,256,64] desc_v=randn:f16[2,256,64] desc_o=zeros:f16[2,256,64] sm_scale=0.125 Z=1 H=2 N_CTX=256 HEAD_DIM=64 BLOCK_M=64 BLOCK_N=32 STAGE=3 warp_specialize=True --grid 4,2 --set num_stages=3
# check: M=zeros:f32[2,256] desc_q=randn:f16[2,256,128] desc_k=randn:f16[2,256,128] desc_v=randn:f16[2,256,128] desc_o=zeros:f16[2,256,128] sm_scale=0.09 Z=1 H=2 N_CTX=256 HEAD_DIM=128 BLOCK_M=128 BLOCK_N=128 STAGE=3 warp_specialize=False --grid 2,2 --set num_warps=8 --set num_stages=4
# check: M=zeros:f32[2,256] desc_q=randn:bf16[2,256,64] desc_k=randn:bf16[2,256,64] desc_v=randn:bf16[2,256,64] desc_o=zeros:bf16[2,256,64] sm_scale=0.125 Z=1 H=2 N_CTX=256 HEAD_DIM=64 BLOCK_M=128 BLOCK_N=64 STAGE=1 warp_specialize=False --grid 2,2
@triton.jit
def attention_forward(sm_scale, M, Z, H, desc_q, desc_k, desc_v, desc_o, N_CTX, HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                      STAGE: tl.constexpr, warp_specialize: tl.constexpr):
    dtype = desc_q.dtype.element_ty
    tl.static_assert(BLOCK_N <= HEAD_DIM)
    start_m = tl.program_id(0)
    off_hz = tl.program_id(1)
    off_z = off_hz // H
    off_h = off_hz % H
    y_dim = Z * H * N_CTX
    desc_q = _make_descriptor(desc_q, shape=[y_dim, HEAD_DIM], strides=[HEAD_DIM, 1], block_shape=[BLOCK_M, HEAD_DIM])
    desc_v = _make_descriptor(desc_v, shape=[y_dim, HEAD_DIM], strides=[HEAD_DIM, 1], block_shape=[BLOCK_N, HEAD_DIM])
    desc_k = _make_descriptor(desc_k, shape=[y_dim, HEAD_DIM], strides=[HEAD_DIM, 1], block_shape=[BLOCK_N, HEAD_DIM])
    desc_o = _make_descriptor(desc_o, shape=[y_dim, HEAD_DIM], strides=[HEAD_DIM, 1], block_shape=[BLOCK_M, HEAD_DIM])
    offset_y = off_z * (N_CTX * H) + off_h * N_CTX
    qo_offset_y = offset_y + start_m * BLOCK_M
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32) + 1.0
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    qk_scale = sm_scale
    qk_scale *= 1.44269504
    q = desc_q.load([qo_offset_y, 0])
    if STAGE & 1:
        acc, l_i, m_i = _attention_inner(acc, l_i, m_i, q, desc_k, desc_v, offset_y, dtype, start_m, qk_scale, BLOCK_M, HEAD_DIM, BLOCK_N,
                                         4 - STAGE, offs_m, offs_n, N_CTX, warp_specialize)
    if STAGE & 2:
        acc, l_i, m_i = _attention_inner(acc, l_i, m_i, q, desc_k, desc_v, offset_y, dtype, start_m, qk_scale, BLOCK_M, HEAD_DIM, BLOCK_N,
                                         2, offs_m, offs_n, N_CTX, warp_specialize)
    m_i += tl.math.log2(l_i)
    acc = acc / l_i[:, None]
    m_ptrs = M + off_hz * N_CTX + offs_m
    tl.store(m_ptrs, m_i)
    desc_o.store([qo_offset_y, 0], acc.to(dtype))
# SPDX-License-Identifier: Apache-2.0
