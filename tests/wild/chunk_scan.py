"""The chunk scan of a state-space model: the state before a chunk, then a causal product inside of it with decaying weights."""
import triton
import triton.language as tl


# check: cb=randn:f16[2,1,1,256,256] x=randn:f16[1,512,2,64] z=randn:f16[1,512,2,64] out=zeros:f16[1,512,2,64] dt=rand:f16[1,2,2,256] dA=full(-1.5):f32[1,2,2,256] C=randn:f16[1,512,1,128] states=randn:f16[1,2,2,64,128] D=randn:f32[2] chunk_size=256 hdim=64 dstate=128 batch=1 seqlen=512 ratio=2 s_cb_chunk=65536 s_cb_m=256 s_x_seq=128 s_x_head=64 s_dt_chunk=256 s_dt_head=512 s_C_seq=128 s_st_chunk=16384 s_st_head=8192 s_st_hdim=128 HAS_D=True HAS_Z=True BM=128 BN=64 BK=64 BD=128 --grid 2,2,2 --set num_warps=4 --set num_stages=4
# check: cb=randn:f16[2,1,1,256,256] x=randn:f16[1,512,2,64] z=randn:f16[1,512,2,64] out=zeros:f16[1,512,2,64] dt=rand:f16[1,2,2,256] dA=full(-1.5):f32[1,2,2,256] C=randn:f16[1,512,1,128] states=randn:f16[1,2,2,64,128] D=randn:f32[2] chunk_size=256 hdim=64 dstate=128 batch=1 seqlen=512 ratio=2 s_cb_chunk=65536 s_cb_m=256 s_x_seq=128 s_x_head=64 s_dt_chunk=256 s_dt_head=512 s_C_seq=128 s_st_chunk=16384 s_st_head=8192 s_st_hdim=128 HAS_D=True HAS_Z=False BM=128 BN=64 BK=64 BD=128 --grid 2,2,2 --set num_warps=8 --set num_stages=3
# check: cb=randn:f16[2,1,1,64,64] x=randn:f16[1,100,2,64] z=randn:f16[1,100,2,64] out=zeros:f16[1,100,2,64] dt=rand:f16[1,2,2,64] dA=full(-1.5):f32[1,2,2,64] C=randn:f16[1,100,1,64] states=randn:f16[1,2,2,64,64] D=randn:f32[2] chunk_size=64 hdim=64 dstate=64 batch=1 seqlen=100 ratio=2 s_cb_chunk=4096 s_cb_m=64 s_x_seq=128 s_x_head=64 s_dt_chunk=64 s_dt_head=128 s_C_seq=64 s_st_chunk=8192 s_st_head=4096 s_st_hdim=64 HAS_D=False HAS_Z=False BM=32 BN=64 BK=32 BD=64 --grid 2,2,2 --set num_stages=5
# check: cb=randn:f16[1,1,1,256,256] x=randn:f16[1,256,2,64] z=randn:f16[1,256,2,64] out=zeros:f16[1,256,2,64] dt=rand:f16[1,2,1,256] dA=full(-1.5):f32[1,2,1,256] C=randn:f16[1,256,1,256] states=randn:f16[1,1,2,64,256] D=randn:f32[2] chunk_size=256 hdim=64 dstate=256 batch=1 seqlen=256 ratio=2 s_cb_chunk=65536 s_cb_m=256 s_x_seq=128 s_x_head=64 s_dt_chunk=256 s_dt_head=256 s_C_seq=256 s_st_chunk=32768 s_st_head=16384 s_st_hdim=256 HAS_D=True HAS_Z=True BM=128 BN=64 BK=64 BD=256 --grid 2,1,1 --set num_warps=8 --set num_stages=5
# explain: no execution: flat
# explain: no 46:9: convert: through
@triton.jit
def chunk_scan(cb, x, z, out, dt, dA, C, states, D, chunk_size, hdim, dstate, batch, seqlen, ratio, s_cb_chunk, s_cb_m, s_x_seq, s_x_head, s_dt_chunk,
               s_dt_head, s_C_seq, s_st_chunk, s_st_head, s_st_hdim, HAS_D: tl.constexpr, HAS_Z: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
               BK: tl.constexpr, BD: tl.constexpr):
    bc = tl.program_id(axis=1)
    chunk = bc // batch
    head = tl.program_id(axis=2)
    across = tl.cdiv(hdim, BN)
    pm = tl.program_id(axis=0) // across
    pn = tl.program_id(axis=0) % across
    cb += chunk * s_cb_chunk
    x += chunk * chunk_size * s_x_seq + head * s_x_head
    dt += chunk * s_dt_chunk + head * s_dt_head
    dA += chunk * s_dt_chunk + head * s_dt_head
    C += chunk * chunk_size * s_C_seq + head // ratio * dstate
    states += chunk * s_st_chunk + head * s_st_head
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    dA_m = tl.load(dA + rm, mask=rm < chunk_size, other=0.0).to(tl.float32)
    limit = min(chunk_size, seqlen - chunk * chunk_size)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    rd = tl.arange(0, BD)
    c_tile = tl.load(C + rm[:, None] * s_C_seq + rd[None, :], mask=(rm[:, None] < limit) & (rd[None, :] < dstate), other=0.0)
    before = tl.load(states + rn[None, :] * s_st_hdim + rd[:, None], mask=(rd[:, None] < dstate) & (rn[None, :] < hdim), other=0.0)
    acc = tl.dot(c_tile, before.to(C.dtype.element_ty)) * tl.exp(dA_m)[:, None]
    rk = tl.arange(0, BK)
    cb_at = cb + rm[:, None] * s_cb_m + rk[None, :]
    x_at = x + rk[:, None] * s_x_seq + rn[None, :]
    dt_at = dt + rk
    dA_at = dA + rk
    last = min((pm + 1) * BM, limit)
    for k in range(0, last, BK):
        w = tl.load(cb_at, mask=(rm[:, None] < chunk_size) & (rk[None, :] < chunk_size - k), other=0.0).to(tl.float32)
        dA_k = tl.load(dA_at, mask=rk < chunk_size - k, other=0.0).to(tl.float32)
        w *= tl.exp(dA_m[:, None] - dA_k[None, :])
        dt_k = tl.load(dt_at, mask=rk < chunk_size - k, other=0.0).to(tl.float32)
        w *= dt_k
        w = tl.where(rm[:, None] >= k + rk[None, :], w, 0.0)
        y = tl.load(x_at, mask=(rk[:, None] < limit - k) & (rn[None, :] < hdim), other=0.0)
        acc += tl.dot(w.to(x.dtype.element_ty), y)
        cb_at += BK
        x_at += BK * s_x_seq
        dt_at += BK
        dA_at += BK
    if HAS_D:
        own = tl.load(x + rm[:, None] * s_x_seq + rn[None, :], mask=(rm[:, None] < limit) & (rn[None, :] < hdim), other=0.0).to(tl.float32)
        acc += own * tl.load(D + head).to(tl.float32)
    if HAS_Z:
        z += chunk * chunk_size * s_x_seq + head * s_x_head
        gate = tl.load(z + rm[:, None] * s_x_seq + rn[None, :], mask=(rm[:, None] < limit) & (rn[None, :] < hdim), other=0.0).to(tl.float32)
        acc *= gate * tl.sigmoid(gate)
    out += chunk * chunk_size * s_x_seq + head * s_x_head
    tl.store(out + s_x_seq * rm[:, None] + rn[None, :], acc.to(out.dtype.element_ty), mask=(rm[:, None] < limit) & (rn[None, :] < hdim))
# SPDX-License-Identifier: Apache-2.0
