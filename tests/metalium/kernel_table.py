# SPDX-License-Identifier: Apache-2.0
"""kernel_table.py: the kernels of kernels/ and the shapes at which kernels.py runs them on Tenstorrent.

(KERNEL, ARGUMENTS, {SHAPE: NUMBERS}): {..} in the arguments is an expression over the shape's numbers; p2(n) is the power of two that
holds n, at least 32, up(n, by) how many `by` cover n. Left out are the gradient of attention and the grouped matmul."""

VECTOR = {"square": "n=8192 B=1024", "ragged": "n=1500 B=1024", "single": "n=1 B=32"}
ROWS = {"square": "M=64 N=64", "ragged": "M=50 N=77", "single": "M=1 N=1"}
GATED = {"square": "M=64 N=64 B=64", "ragged": "M=50 N=77 B=32", "single": "M=1 N=1 B=32"}
BLOCKS = {"square": "M=128 N=128 K=128 BM=64 BN=32 BK=64", "ragged": "M=100 N=72 K=150 BM=32 BN=64 BK=32",
          "single": "M=1 N=1 K=1 BM=32 BN=32 BK=32", "equal blocks": "M=64 N=96 K=64 BM=32 BN=32 BK=32"}
HEADS = {"square": "Z=2 N=128 D=64 BM=64 BN=32", "ragged": "Z=2 N=100 D=64 BM=64 BN=32", "single": "Z=1 N=1 D=32 BM=32 BN=32",
         "equal blocks": "Z=1 N=128 D=64 BM=32 BN=32"}
CHUNKS = {"square": "L=128 P=64 N=64 S=64", "ragged": "L=100 P=64 N=64 S=64", "single": "L=1 P=32 N=32 S=32"}
WHOLE_CHUNKS = {"square": CHUNKS["square"], "ragged": "L=192 P=40 N=72", "single": "L=64 P=1 N=1"} # of 64 places, each of them whole
DELTA = {"square": "L=128 V=64 BV=32", "ragged": "L=100 V=64 BV=32", "single": "L=1 V=32 BV=32"}
PAGED = {"square": "Q=64 L=128", "ragged": "Q=50 L=100", "single": "Q=1 L=1"}
IMAGE = {"square": "H=8 W=8 C=32 F=64", "ragged": "H=7 W=9 C=24 F=40", "single": "H=1 W=1 C=1 F=1"}
PRODUCT = "a_ptr=randn:{t}[{M},{K}] b_ptr=randn:{t}[{K},{N}] c_ptr=zeros:{t}[{M},{N}] M={M} N={N} K={K} BM={BM} BN={BN} BK={BK}".replace("{t}", "bf16")
MATRICES = "A=randn:bf16[{M},{K}] B=randn:bf16[{K},{N}] C=zeros:bf16[{M},{N}] M={M} N={N} K={K}"
TILED = {"square": "M=128 N=128 K=128 BM=64 BN=64", "ragged": "M=100 N=72 K=150 BM=64 BN=32", "single": "M=1 N=1 K=1 BM=32 BN=32", "equal blocks": "M=64 N=96 K=64 BM=32 BN=32"}
TILED_BLOCKS = " dtype=bfloat16 block_M={BM} block_N={BN} block_K=32"
FLASH = " scale=0.125 N={N} stride_h={N*D} stride_n={D} D={D} BM={BM} BN={BN} --grid {up(N,BM)},{Z}"
QKVO = "q_ptr=randn:bf16[{Z},{N},{D}] k_ptr=randn:bf16[{Z},{N},{D}] v_ptr=randn:bf16[{Z},{N},{D}] o_ptr=zeros:bf16[{Z},{N},{D}]"
TILE_HEADS = {"square": "Z=1 H=2 N=128", "ragged": "Z=1 H=2 N=100", "single": "Z=1 H=1 N=1"}
TILE_QKVO = "D=64 CAUSAL={c} g.q=randn:bf16[{Z},{H},{N},64] g.k=randn:bf16[{Z},{H},{N},64] g.v=randn:bf16[{Z},{H},{N},64] g.o=zeros:bf16[{Z},{H},{N},64]"
FFT = ("N=1024 g.x=randn:bf16[{B},1,{32*H},32] g.kf.real=randn:bf16[{32*H},32] g.kf.imag=randn:bf16[{32*H},32] g.f.real=randn:bf16[64,64] g.f.imag=randn:bf16[64,64] "
       "g.tw.real=randn:bf16[64,32] g.tw.imag=randn:bf16[64,32] g.o=zeros:bf16[{B},1,{32*H},32]")


def filled(template, **values):
    """With {name} replaced here already."""
    for name, value in values.items():
        template = template.replace("{" + name + "}", value)
    return template


def norms(extra):
    return f"x_ptr=randn:f32[{{M}},{{N}}] y_ptr=zeros:f32[{{M}},{{N}}] {extra}stride={{N}} n_cols={{N}} eps=0.00001 BLOCK={{p2(N)}} --grid {{M}}"


CASES = [
    ("triton/add.py", "x_ptr=randn:f32[{n}] y_ptr=randn:f32[{n}] output_ptr=zeros:f32[{n}] n_elements={n} BLOCK_SIZE={B} --grid {up(n,B)}", VECTOR),
    ("triton/mul.py", "x_ptr=randn:bf16[{n}] y_ptr=randn:bf16[{n}] out_ptr=zeros:bf16[{n}] n={n} BLOCK={B} --grid {up(n,B)}", VECTOR),
    ("triton/fma.py", "x_ptr=randn:f32[{n}] y_ptr=randn:f32[{n}] z_ptr=randn:f32[{n}] out_ptr=zeros:f32[{n}] n={n} BLOCK={B} --grid {up(n,B)}", VECTOR),
    ("triton/softmax.py", "in_ptr=randn:f32[{M},{N}] out_ptr=zeros:f32[{M},{N}] in_stride={N} out_stride={N} n_cols={N} BLOCK={p2(N)} --grid {M}", ROWS),
    ("triton/layernorm.py", norms("w_ptr=randn:f32[{N}] b_ptr=randn:f32[{N}] "), ROWS),
    ("triton/rmsnorm.py", norms("w_ptr=randn:f32[{N}] "), ROWS),
    ("triton/rmsnorm_backward.py:rmsnorm_backward_kernel", "dy_ptr=randn:f32[{M},{N}] x_ptr=randn:f32[{M},{N}] w_ptr=randn:f32[{N}] rstd_ptr=rand:f32[{M}] dx_ptr=zeros:f32[{M},{N}] dw_ptr=zeros:f32[{up(M,7)},{N}] stride={N} n_rows={M} n_cols={N} rows_each=7 BLOCK={p2(N)} --grid {up(M,7)}", ROWS),
    ("triton/rmsnorm_backward.py:add_parts_kernel", "parts_ptr=randn:f32[{M},{N}] out_ptr=zeros:f32[{N}] n_parts={M} n_cols={N} BM=32 BN=32 --grid {up(N,32)}", ROWS),
    ("triton/row_sum.py", "x_ptr=randn:f32[{M},{N}] out_ptr=zeros:f32[{M}] stride={N} n_cols={N} BLOCK=64 --grid {M}", ROWS),
    ("triton/swiglu.py:swiglu_kernel", "gate_ptr=randn:bf16[{M},{N}] up_ptr=randn:bf16[{M},{N}] out_ptr=zeros:bf16[{M},{N}] stride_in={N} stride_out={N} n_cols={N} BLOCK={B} --grid {M},{up(N,B)}", GATED),
    ("triton/swiglu.py:swiglu_backward_kernel", "dout_ptr=randn:bf16[{M},{N}] gate_ptr=randn:bf16[{M},{N}] up_ptr=randn:bf16[{M},{N}] dgate_ptr=zeros:bf16[{M},{N}] dup_ptr=zeros:bf16[{M},{N}] stride_in={N} stride_out={N} n_cols={N} BLOCK={B} --grid {M},{up(N,B)}", GATED),
    ("triton/geglu.py:geglu_kernel", "gate_ptr=randn:bf16[{M},{N}] up_ptr=randn:bf16[{M},{N}] out_ptr=zeros:bf16[{M},{N}] stride_in={N} stride_out={N} n_cols={N} BLOCK={B} --grid {M},{up(N,B)}", GATED),
    ("triton/geglu.py:geglu_backward_kernel", "dout_ptr=randn:bf16[{M},{N}] gate_ptr=randn:bf16[{M},{N}] up_ptr=randn:bf16[{M},{N}] dgate_ptr=zeros:bf16[{M},{N}] dup_ptr=zeros:bf16[{M},{N}] stride_in={N} stride_out={N} n_cols={N} BLOCK={B} --grid {M},{up(N,B)}", GATED),
    ("triton/cross_entropy.py:cross_entropy_kernel", "logits_ptr=randn:f32[{M},{N}] target_ptr=randint({N}):i64[{M}] loss_ptr=zeros:f32[{M}] lse_ptr=zeros:f32[{M}] stride={N} n_cols={N} ignored=-100 BLOCK=64 --grid {M}", ROWS),
    ("triton/cross_entropy.py:cross_entropy_backward_kernel", "logits_ptr=randn:f32[{M},{N}] target_ptr=randint({N}):i64[{M}] lse_ptr=full(5):f32[{M}] dloss_ptr=rand:f32[{M}] dlogits_ptr=zeros:f32[{M},{N}] stride={N} n_cols={N} ignored=-100 BLOCK=64 --grid {M},{up(N,64)}", ROWS),
    ("triton/transpose.py", "x_ptr=randn:f32[{M},{N}] y_ptr=zeros:f32[{N},{M}] rows={M} cols={N} stride_x={N} stride_y={M} BM={BM} BN={BN} --grid {up(M,BM)},{up(N,BN)}", BLOCKS),
    ("triton/matmul.py", PRODUCT + " stride_am={K} stride_ak=1 stride_bk={N} stride_bn=1 stride_cm={N} stride_cn=1 --grid {up(M,BM)*up(N,BN)}", BLOCKS),
    ("triton/matmul_nt.py", PRODUCT.replace("[{K},{N}]", "[{N},{K}]") + " stride_am={K} stride_bn={K} stride_cm={N} --grid {up(M,BM)},{up(N,BN)}", BLOCKS),
    ("triton/matmul_persistent.py", PRODUCT + " --grid 3", BLOCKS),
    ("triton/matmul_split.py", PRODUCT.replace("c_ptr=zeros:bf16", "c_ptr=zeros:f32") + " stride_am={K} stride_bk={N} stride_cm={N} SPLIT=2 --grid {up(M,BM)},{up(N,BN)},2", BLOCKS),
    ("triton/batched_matmul.py:batched_matmul_kernel", "a_ptr=randn:bf16[3,{M},{K}] b_ptr=randn:bf16[3,{K},{N}] c_ptr=zeros:bf16[3,{M},{N}] M={M} N={N} K={K} stride_ab={M*K} stride_am={K} stride_bb={K*N} stride_bk={N} stride_cb={M*N} stride_cm={N} BM={BM} BN={BN} BK={BK} --grid {up(M,BM)},{up(N,BN)},3", BLOCKS),
    ("triton/batched_matmul.py:batched_dots_kernel", "a_ptr=randn:bf16[3,{M},{K}] b_ptr=randn:bf16[3,{K},{N}] c_ptr=zeros:bf16[3,{M},{N}] count=3 M={M} N={N} K={K} stride_ab={M*K} stride_am={K} stride_bb={K*N} stride_bk={N} stride_cb={M*N} stride_cm={N} BB=2 BM={BM} BN={BN} BK={BK} --grid {up(M,BM)},{up(N,BN)},2", BLOCKS),
    ("triton/moe_matmul.py", "a_ptr=randn:bf16[{M},{K}] b_ptr=randn:bf16[3,{N},{K}] c_ptr=zeros:bf16[{2*M},{N}] factor_ptr=rand:f32[{2*M}] order_ptr=arange:i32[{up(2*M,BM)*BM}] expert_ptr=randint(3):i32[{up(2*M,BM)}] count_ptr=full({up(2*M,BM)*BM}):i32[1] N={N} K={K} pairs={2*M} stride_a={K} stride_e={N*K} stride_b={K} stride_c={N} TOP=2 SCALE=True BM={BM} BN={BN} BK={BK} --grid {up(2*M,BM)*up(N,BN)}", BLOCKS),
    ("triton/int4_matmul.py", "a_ptr=randn:bf16[{M},{K}] packed_ptr=randint(2147483647):i32[{up(K,8)},{N}] scale_ptr=rand:bf16[{up(K,32)},{N}] c_ptr=zeros:bf16[{M},{N}] M={M} N={N} K={K} stride_a={K} stride_c={N} GROUP=32 BM={BM} BN={BN} BK=32 --grid {up(M,BM)*up(N,BN)}",
     {**BLOCKS, "ragged": "M=100 N=72 K=160 BM=32 BN=64", "single": "M=1 N=1 K=32 BM=32 BN=32"}),
    ("triton/table_matmul.py:table_matmul_kernel", "memory=zeros:f16[64] addresses=zeros:i64[6] sizes=zeros:i32[6] strides=zeros:i32[6] problems=2 BM=64 BN=64 BK=32 --grid 2", {"square": "M=1"}),
    ("triton/table_matmul.py:table_matmul_box_kernel", "memory=zeros:f16[64] addresses=zeros:i64[6] sizes=zeros:i32[6] strides=zeros:i32[6] problems=2 BM=64 BN=64 BK=32 --grid 2", {"square": "M=1"}),
    ("triton/conv2d.py", "x_ptr=randn:bf16[2,{C},{H},{W}] w_ptr=randn:bf16[{F},{C},3,3] y_ptr=zeros:bf16[2,{F},{H},{W}] places={2*H*W} C={C} H={H} W={W} K={F} P={H} Q={W} sxn={C*H*W} sxc={H*W} sxh={W} sxw=1 sw=1 swk={9*C} syn={F*H*W} syk={H*W} syp={W} syq=1 step=1 pad=1 R=3 S=3 BM=64 BN=32 BC=32 --grid {up(2*H*W,64)},{up(F,32)}", IMAGE),
    ("triton/convolution.py:convolution_kernel", "x_ptr=randn:bf16[2,{H},{W},{C}] w_ptr=randn:bf16[3,3,{C},{F}] y_ptr=zeros:bf16[2,{H},{W},{F}] images=2 H={H} W={W} P={H} Q={W} F={F} C={C} R=3 S=3 STRIDE=1 PAD=1 BM=64 BN=32 BK=32 --grid {up(2*H*W,64)},{up(F,32)}", IMAGE),
    ("triton/convolution.py:convolution_by_taps_kernel", "x_ptr=randn:bf16[2,{H},{W},32] w_ptr=randn:bf16[3,3,32,{F}] y_ptr=zeros:bf16[2,{H},{W},{F}] images=2 H={H} W={W} P={H} Q={W} F={F} C=32 R=3 S=3 STRIDE=1 PAD=1 BM=64 BN=32 BK=32 --grid {up(2*H*W,64)},{up(F,32)}", IMAGE),
    ("triton/rows.py:embedding_kernel", "table_ptr=randn:f32[40,{N}] index_ptr=randint(40):i64[{M}] out_ptr=zeros:f32[{M},{N}] n={M} width={N} stride_t={N} stride_o={N} BM=32 BC=64 --grid {up(M,32)},{up(N,64)}", ROWS),
    ("triton/rows.py:zero_kernel", "out_ptr=ones:f32[{n}] count={n} BLOCK={B} --grid {up(n,B)}", VECTOR),
    ("triton/rows.py:scatter_add_kernel", "x_ptr=randn:f32[{M},{N}] index_ptr=randint(9):i32[{M}] out_ptr=zeros:f32[9,{N}] n={M} width={N} stride_x={N} stride_o={N} BM=32 BC=64 --grid {up(M,32)},{up(N,64)}", ROWS),
    ("triton/attention.py", QKVO + " CAUSAL=false" + FLASH, HEADS),
    ("triton/attention.py:attention_kernel", QKVO + " CAUSAL=true" + FLASH, HEADS),
    ("triton/attention_narrow.py:attention_f8_kernel", "q_ptr=randn:f8e5m2[{Z},{N},{D}] k_ptr=randn:f8e5m2[{Z},{N},{D}] v_ptr=randn:f8e5m2[{Z},{D},{N}] o_ptr=zeros:bf16[{Z},{N},{D}] stride_vh={D*N} stride_vd={N} stride_oh={N*D} stride_on={D} CAUSAL=false" + FLASH, HEADS),
    ("triton/attention_narrow.py:attention_i8_kernel", "q_ptr=randint(40):i8[{Z},{N},{D}] k_ptr=randint(40):i8[{Z},{N},{D}] v_ptr=randn:f16[{Z},{N},{D}] o_ptr=zeros:f16[{Z},{N},{D}] q_scale_ptr=full(0.01):f32[{Z},{up(N,BM)}] k_scale_ptr=rand:f32[{Z},{up(N,BN)}] CAUSAL=true" + FLASH.replace("scale=0.125 ", ""), HEADS),
    ("triton/paged_attention.py", "q_ptr=randn:bf16[2,{Q},4,64] k_ptr=randn:bf16[20,16,2,64] v_ptr=randn:bf16[20,16,2,64] o_ptr=zeros:bf16[2,{Q},4,64] pages_ptr=randint(20):i32[2,16] lengths_ptr=full({L}):i32[2] scale=0.088 Q={Q} most=16 stride_qs={Q*256} stride_qn=256 stride_qh=64 stride_kp=2048 stride_kn=128 stride_kh=64 SHARE=2 PAGE=16 BM=64 BN=32 D=64 --grid {up(Q,64)},4,2", PAGED),
    ("triton/paged_decode.py:paged_decode_kernel", "q_ptr=randn:bf16[3,8,64] k_ptr=randn:bf16[40,16,2,64] v_ptr=randn:bf16[40,16,2,64] part_ptr=zeros:f32[3,8,4,64] lse_ptr=zeros:f32[3,8,4] pages_ptr=randint(40):i32[3,16] lengths_ptr=full({L}):i32[3] scale=0.088 most=16 stride_kp=2048 stride_kn=128 stride_kh=64 H=8 SHARE=4 ROWS=16 PAGE=16 PARTS=4 BN=32 D=64 --grid 3,2,4", PAGED),
    ("triton/paged_decode.py:paged_combine_kernel", "part_ptr=randn:f32[{M},4,64] lse_ptr=randn:f32[{M},4] o_ptr=zeros:bf16[{M},64] PARTS=4 D=64 --grid {M}", ROWS),
    ("triton/chunk_state.py", "x_ptr=randn:bf16[1,{L},4,{P}] b_ptr=randn:bf16[1,{L},2,{N}] dt_ptr=rand:f32[1,4,{up(L,S)},{S}] a_ptr=full(-1.5):f32[1,4,{up(L,S)},{S}] states_ptr=zeros:bf16[1,{up(L,S)},4,{P},{N}] length={L} size={S} heads=4 groups=2 P={P} N={N} BM=32 BN=32 BK=32 --grid {up(P,32)*up(N,32)},{up(L,S)},4", CHUNKS),
    ("triton/chunk_scan.py", "cb_ptr=randn:bf16[1,{up(L,S)},2,{S},{S}] x_ptr=randn:bf16[1,{L},4,{P}] dt_ptr=rand:f32[1,4,{up(L,S)},{S}] a_ptr=full(-1.5):f32[1,4,{up(L,S)},{S}] c_ptr=randn:bf16[1,{L},2,{N}] before_ptr=randn:bf16[1,{up(L,S)},4,{P},{N}] d_ptr=randn:f32[4] y_ptr=zeros:bf16[1,{L},4,{P}] length={L} size={S} heads=4 groups=2 P={P} N={N} BM=32 BN=32 BK=32 BD={N} --grid {up(S,32)*up(P,32)},{up(L,S)},4", CHUNKS),
    ("triton/chunk_backward.py:chunk_dstates_kernel", "dy_ptr=randn:bf16[1,{L},4,{P}] c_ptr=randn:bf16[1,{L},2,{N}] a_ptr=full(-1.5):f32[1,4,{up(L,S)},{S}] dstates_ptr=zeros:bf16[1,{up(L,S)},4,{P},{N}] length={L} size={S} heads=4 groups=2 P={P} N={N} BM=32 BN=32 BK=32 --grid {up(P,32)*up(N,32)},{up(L,S)},4", CHUNKS),
    ("triton/chunk_backward.py:chunk_dcb_kernel", "dy_ptr=randn:bf16[1,{L},4,{P}] x_ptr=randn:bf16[1,{L},4,{P}] dt_ptr=rand:f32[1,4,{up(L,S)},{S}] a_ptr=full(-1.5):f32[1,4,{up(L,S)},{S}] dcb_ptr=zeros:bf16[1,{up(L,S)},2,{S},{S}] length={L} size={S} heads=4 groups=2 P={P} BM=32 BN=32 BK=32 --grid {up(S,32)*up(S,32)},{up(L,S)},2", CHUNKS),
    ("triton/chunk_backward.py:chunk_dx_kernel", "cb_ptr=randn:bf16[1,{up(L,S)},2,{S},{S}] x_ptr=randn:bf16[1,{L},4,{P}] dt_ptr=rand:f32[1,4,{up(L,S)},{S}] a_ptr=full(-1.5):f32[1,4,{up(L,S)},{S}] b_ptr=randn:bf16[1,{L},2,{N}] dy_ptr=randn:bf16[1,{L},4,{P}] dstates_ptr=randn:bf16[1,{up(L,S)},4,{P},{N}] d_ptr=randn:f32[4] dx_ptr=zeros:bf16[1,{L},4,{P}] ddt_ptr=zeros:f32[1,4,{up(L,S)},{S}] length={L} size={S} heads=4 groups=2 P={P} N={N} BM=32 BN={p2(P)} BK=32 BD={N} --grid {up(S,32)},{up(L,S)},4", CHUNKS),
    ("triton/gated_delta.py:delta_state_kernel", "k_ptr=randn:bf16[1,{L},2,64] w_ptr=full(0.01):bf16[1,{L},2,64] u_ptr=randn:bf16[1,{L},2,{V}] g_ptr=full(-0.5):f32[1,{L},2] h_ptr=zeros:bf16[1,{up(L,64)},2,64,{V}] new_ptr=zeros:bf16[1,{L},2,{V}] length={L} heads=2 V={V} K=64 BT=64 BV={BV} --grid {up(V,BV)},2", DELTA),
    ("triton/gated_delta.py:delta_output_kernel", "q_ptr=randn:bf16[1,{L},2,64] k_ptr=randn:bf16[1,{L},2,64] new_ptr=randn:bf16[1,{L},2,{V}] h_ptr=randn:bf16[1,{up(L,64)},2,64,{V}] g_ptr=full(-0.5):f32[1,{L},2] o_ptr=zeros:bf16[1,{L},2,{V}] scale=0.088 length={L} heads=2 V={V} K=64 BT=64 BV={BV} --grid {up(V,BV)},{up(L,64)},2", DELTA),
    ("triton/gated_delta.py:delta_back_kernel", "q_ptr=randn:bf16[1,{L},2,64] k_ptr=full(0.02):bf16[1,{L},2,64] w_ptr=full(0.01):bf16[1,{L},2,64] g_ptr=full(-0.5):f32[1,{L},2] do_ptr=randn:bf16[1,{L},2,{V}] inner_ptr=randn:bf16[1,{L},2,{V}] dh_ptr=zeros:bf16[1,{up(L,64)},2,64,{V}] dnew_ptr=zeros:bf16[1,{L},2,{V}] scale=0.088 length={L} heads=2 V={V} K=64 BT=64 BV={BV} --grid {up(V,BV)},2", DELTA),
    ("tilelang/add.py", "A=randn:bf16[{M},{N}] B=randn:bf16[{M},{N}] C=zeros:bf16[{M},{N}] M={M} N={N} dtype=bfloat16", ROWS),
    ("tilelang/seed_add.py", "A=randn:f16[{M},{M}] B=randn:f16[{M},{M}] C=zeros:f16[{M},{M}] M={M} N={M}", ROWS),
    ("tilelang/seed_gemm.py", "A=randn:f16[{M},{K}] B=randn:f16[{K},{M}] C=zeros:f16[{M},{M}] M={M} N={M} K={K}", TILED),
    ("tilelang/seed_row_sum.py", "A=randn:f16[{M},{N}] B=zeros:f16[{M}] M={M} N={N}", ROWS),
    ("tilelang/gemm.py", MATRICES + TILED_BLOCKS, TILED),
    ("tilelang/gemm_elements.py", MATRICES + " dtype=bfloat16", TILED),
    ("tilelang/gemm_persistent.py", MATRICES + TILED_BLOCKS + " blocks=3", TILED),
    ("tilelang/gemm_splitk.py", MATRICES.replace("C=zeros:bf16", "C=zeros:f32") + TILED_BLOCKS + " parts=2", TILED),
    ("tilelang/gemm_dequant.py", "A=randn:bf16[{M},{K}] W=randint(256):u8[{N},{up(K,2)}] S=rand:bf16[{N},{up(K,32)}] Z=randint(16):u8[{N},{up(K,32)}] C=zeros:bf16[{M},{N}] M={M} N={N} K={K}" + TILED_BLOCKS, TILED),
    ("tilelang/gemm_scaled.py", "A=randint(9):i8[{M},{K}] B=randint(9):i8[{N},{K}] SA=rand:f32[{M}] SB=rand:f32[{N}] C=zeros:f32[{M},{N}] M={M} N={N} K={K} block_M={BM} block_N={BN} block_K=32", TILED),
    ("tilelang/softmax.py", "X=randn:bf16[{M},{N}] Y=zeros:bf16[{M},{N}] M={M} N={N} dtype=bfloat16", ROWS),
    ("tilelang/layernorm.py", "X=randn:bf16[{M},{N}] W=randn:bf16[{N}] B=randn:bf16[{N}] Y=zeros:bf16[{M},{N}] M={M} N={N} dtype=bfloat16", ROWS),
    ("tilelang/rmsnorm.py", "X=randn:bf16[{M},{N}] W=randn:bf16[{N}] Y=zeros:bf16[{M},{N}] M={M} N={N} dtype=bfloat16", ROWS),
    ("tilelang/topk.py", "X=randn:f32[{M},{N}] V=zeros:f32[{M},1] I=zeros:i32[{M},1] M={M} N={N} k=1", ROWS),
    ("tilelang/conv2d.py", "X=randn:bf16[2,{H},{W},{C}] F=randn:bf16[3,3,{C},{F}] Y=zeros:bf16[2,{H},{W},{F}] N=2 H={H} W={W} C={C} O={F} dtype=bfloat16", IMAGE),
    ("tilelang/attention.py", "Q=randn:bf16[1,{Z},{N},{D}] K=randn:bf16[1,{Z},{N},{D}] V=randn:bf16[1,{Z},{N},{D}] O=zeros:bf16[1,{Z},{N},{D}] Z=1 H={Z} G=1 M={N} N={N} D={D} causal=True dtype=bfloat16 block_M={BM} block_N={BN}", HEADS),
    ("tilelang/attention.py:attention", "Q=randn:bf16[1,{Z},{N},{D}] K=randn:bf16[1,{Z},{N},{D}] V=randn:bf16[1,{Z},{N},{D}] O=zeros:bf16[1,{Z},{N},{D}] Z=1 H={Z} G=1 M={N} N={N} D={D} causal=False dtype=bfloat16 block_M={BM} block_N={BN}", HEADS),
    ("tilelang/flash_decoding.py", "Q=randn:bf16[1,4,{D}] K=randn:bf16[1,2,{N},{D}] V=randn:bf16[1,2,{N},{D}] O=zeros:bf16[1,4,{D}] Z=1 H=4 G=2 N={N} D={D} dtype=bfloat16", HEADS),
    ("tilelang/chunk_state.py", "B=randn:bf16[1,{L},2,{N}] X=randn:bf16[1,{L},4,{P}] DT=rand:bf16[1,4,{up(L,64)},64] A=full(-1.5):f32[1,4,{up(L,64)},64] S=zeros:bf16[1,{up(L,64)},4,{P},{N}] Z=1 L={L} H=4 G=2 P={P} N={N} dtype=bfloat16", WHOLE_CHUNKS),
    ("tilelang/chunk_scan.py", "CB=randn:bf16[1,{up(L,64)},2,64,64] X=randn:bf16[1,{L},4,{P}] DT=rand:bf16[1,4,{up(L,64)},64] A=full(-1.5):f32[1,4,{up(L,64)},64] C=randn:bf16[1,{L},2,{N}] S=randn:bf16[1,{up(L,64)},4,{P},{N}] D=randn:bf16[4] O=zeros:bf16[1,{L},4,{P}] Z=1 L={L} H=4 G=2 P={P} N={N} dtype=bfloat16", WHOLE_CHUNKS),
    ("tilec/micro_add.tile.c:micro_tk", "g.x=randn:f32[{M},{N}] g.o=zeros:f32[{M},{N}]", {"square": "M=16 N=32", "ragged": "M=9 N=20", "single": "M=1 N=1"}),
    ("tilec/micro_add_grid.tile.c", "g.x=randn:f32[3,2,{M},{N}] g.o=zeros:f32[3,2,{M},{N}]", {"square": "M=16 N=32", "ragged": "M=9 N=20", "single": "M=1 N=1"}),
    ("tilec/matmul.tile.c", "g.A=randn:bf16[{M},{K}] g.B=randn:bf16[{K},{N}] g.C=zeros:bf16[{M},{N}]", TILED),
    ("tilec/layernorm.tile.c", "WIDTH=64 g.x=randn:bf16[{M},64] g.residual=randn:bf16[{M},64] g.weight=randn:f32[64] g.bias=randn:f32[64] g.sum=zeros:bf16[{M},64] g.o=zeros:bf16[{M},64] g.eps=0.00001", ROWS),
    ("tilec/rotary.tile.c", "g.x=randn:bf16[2,2,{M},128] g.cos=randn:f32[{M},64] g.sin=randn:f32[{M},64] g.o=zeros:bf16[2,2,{M},128]", ROWS),
    ("tilec/rotary_lcsf.tile.c", "g.x=randn:bf16[2,2,{M},128] g.cos=randn:f32[{M},64] g.sin=randn:f32[{M},64] g.o=zeros:bf16[2,2,{M},128]", ROWS),
    ("tilec/attention.tile.c", filled(TILE_QKVO, c="1") + " g.l=zeros:f32[{Z},{H},1,{N}]", TILE_HEADS),
    ("tilec/attention_warp.tile.c", filled(TILE_QKVO, c="0"), TILE_HEADS),
    ("tilec/attention_roles.tile.c", filled(TILE_QKVO, c="0"), TILE_HEADS),
    ("tilec/attention_lcf.tile.c", filled(TILE_QKVO, c="0"), TILE_HEADS),
    ("tilec/linear_attention.tile.c", "D=64 g.q=randn:bf16[{Z},{H},{N},64] g.k=randn:bf16[{Z},{H},{N},64] g.v=randn:bf16[{Z},{H},{N},64] g.slope=rand:f32[{H}] g.o=zeros:bf16[{Z},{H},{N},64]", TILE_HEADS),
    ("tilec/mamba2.tile.c:mamba2", "g.q=randn:bf16[1,1,{N},64] g.k=randn:bf16[1,1,{N},64] g.v=randn:bf16[1,{H},{N},64] g.c=rand:f32[1,{H},1,{N}] g.o=zeros:bf16[1,{H},{N},64]", TILE_HEADS),
    ("tilec/fftconv.tile.c", FFT, {"square": "B=4 H=2", "ragged": "B=7 H=3", "single": "B=1 H=1"}),
    ("tilec/fftconv_lcsf.tile.c", FFT, {"square": "B=4 H=2", "ragged": "B=11 H=3", "single": "B=1 H=1"}),
]
