// attention_kernel of kernels/triton/attention.py: roles, 384 threads, 196736 bytes of shared memory
#include "tilewright.cuh"

TW_WGMMA_SS(64, bf16, 0, 0)
TW_WGMMA_RS(128, bf16, 1)

extern "C" __global__ void __launch_bounds__(384, 1) attention_kernel(bf16 *q_ptr, bf16 *k_ptr, bf16 *v_ptr,
        bf16 *o_ptr, f32 scale, i32 N, i32 stride_h, i32 stride_n,
        const __grid_constant__ TensorMap map_o_ptr, const __grid_constant__ TensorMap map_q_ptr,
        const __grid_constant__ TensorMap map_k_ptr, const __grid_constant__ TensorMap map_v_ptr, i32 grid0,
        i32 grid1, i32 grid2) {
    // 23: qk_scale = scale * 1.44269504  # exp2 instead of exp
    const f32 qk_scale = scale * 1.442695f;
    // 34: s = tl.where(seen, s, -float("inf"))
    // whether s is masked nowhere: then no mask is computed
    const i64 s_cast = (i64)N;
    // 8: def attention_kernel(
    const i32 np1 = grid1;
    const i32 np = grid0;
    // where tiles and barriers (a slot is full, is empty) of the rings lie in shared memory; bytes of a slot
    const u32 ring_q_at = 0, ring_q_bytes = 32768, ring_q_full = 196608, ring_q_empty = 196624; // ring_q, 2 slots
    const u32 ring_k_at = 65536, ring_k_bytes = 16384, ring_k_full = 196640, ring_k_empty = 196664; // ring_k, 3 slots
    const u32 ring_v_at = 114688, ring_v_bytes = 16384, ring_v_full = 196688, ring_v_empty = 196712; // ring_v, 3 slots
    const u32 out_o = 163840; // ring out, 1 slot
    // how many arrivals complete each barrier
    if (tw_thread() == 0) {
        for (int i = 0; i < 2; i++) {
            tw_mbar_init(ring_q_full + i * 8, 1);
            tw_mbar_init(ring_q_empty + i * 8, 8);
        }
        for (int i = 0; i < 3; i++) {
            tw_mbar_init(ring_k_full + i * 8, 1);
            tw_mbar_init(ring_k_empty + i * 8, 8);
        }
        for (int i = 0; i < 3; i++) {
            tw_mbar_init(ring_v_full + i * 8, 1);
            tw_mbar_init(ring_v_empty + i * 8, 8);
        }
        tw_fence_mbar_init();
    }
    tw_sync();
    const i32 tasks = np1 * np;
    // programs differ in length: with enough of them a block takes a long one and a short one in turn
    const i32 half = (np + 1) / 2;
    const bool paired = tasks >= 2 * tw_blocks_x();
    const i32 turns = paired ? tasks / np * half * 2 : tasks;
    const i32 beyond = paired ? 2 * tw_blocks_x() - 1 : tw_blocks_x();
    if (tw_warp() < 8) {
        // role compute
        tw_setmaxnreg_inc(240);
        const i32 lane = tw_lane(), warp = tw_warp();
        // along each axis of a tile: the first place that this thread holds
        const i32 at0 = (lane >> 2) + warp * 16;
        const i32 at0_1 = (lane & 3) * 2;
        // of each ring: the slot that comes next, and the phase of its barriers, which turns where slots begin anew
        u32 ring_q_next = 0, ring_q_phase = 0;
        u32 ring_k_next = 0, ring_k_phase = 0;
        u32 ring_v_next = 0, ring_v_phase = 0;
        if (warp >> 2) tw_bar_arrive(14, 256); // the first worker begins
        for (i32 turn = paired ? 2 * tw_block_x() : tw_block_x(); turn < turns; turn += paired && !(turn & 1) ? 1 : beyond) {
            // which program of the grid this turn is
            const i32 width = paired ? half : np, number = paired ? turn >> 1 : turn;
            const i32 at = number % width, mirror = np - 1 - at;
            if (paired && (turn & 1) && at == mirror) continue; // the middle one is alone
            const i32 pid = paired && (turn & 1) ? at : mirror;
            const i32 pid1 = (number / width) % np1;
            // 14: start_m = tl.program_id(0) * BM
            // first row of q in q_ptr; first row of o in o_ptr; trips of the loop over start_n; ..
            const i32 start_m = tw_mul(pid, 128);
            // 26: last = min(start_m + BM, N)
            // trips of the loop over start_n
            const i32 last = tw_min(tw_add(start_m, 128), N);
            // 27: for start_n in range(0, last, BN):
            const i32 cdiv = tw_cdiv(last, 64);
            // 34: s = tl.where(seen, s, -float("inf"))
            // whether s is masked nowhere: then no mask is computed
            const i64 s_cast_1 = (i64)pid;
            const i64 s_mul = tw_mul(s_cast_1, 128LL);
            const bool s_cmp = tw_add(tw_mul(s_cast_1, -128LL), 2147483520LL) >= 0LL;
            // 16: rm = start_m + tl.arange(0, BM)
            // which elements of s are kept
            i32 rm[2];
#pragma unroll
            for (int r = 0; r < 2; r++) {
                const i32 rd = at0 + r * 8;
                rm[r] = tw_add(start_m, rd);
            }
            // 17: rn = tl.arange(0, BN)
            i32 rn[16];
#pragma unroll
            for (int r = 0; r < 16; r++) rn[r] = at0_1 + ((r & 1) + (r >> 1) * 8);
            // 20: m = tl.full((BM,), -float("inf"), dtype=tl.float32)
            // 22: acc = tl.zeros((BM, D), dtype=tl.float32)
            // 27: for start_n in range(0, last, BN):
            // 19: q = tl.load(q_ptr + head + rm[:, None] * stride_n + rd[None, :], mask=rm[:, None] < N, oth ..
            // the next slot of ring_q, when it is full
            const u32 ring_q_slot = ring_q_next;
            tw_mbar_wait(ring_q_full + ring_q_slot * 8, ring_q_phase);
            if (++ring_q_next == 2) {
                ring_q_next = 0;
                ring_q_phase ^= 1;
            }
            // 27: for start_n in range(0, last, BN):
            f32 norm[2] = {};
            f32 acc[64] = {};
            f32 m[2];
#pragma unroll
            for (int r = 0; r < 2; r++) m[r] = -TW_INF;
            if (0 < cdiv) {
                u32 left[16];
                // the first trip, before the loop
                {
                    const i32 start_n = 0;
                    // 28: cols = start_n + rn
                    // which elements of s are kept
                    const i32 cols_mul = tw_mul(start_n, 64);
                    // 29: k = tl.load(k_ptr + head + cols[:, None] * stride_n + rd[None, :], mask=cols[:, None] < N, ..
                    // the next slot of ring_k, when it is full
                    const u32 ring_k_slot = ring_k_next;
                    tw_mbar_wait(ring_k_full + ring_k_slot * 8, ring_k_phase);
                    if (++ring_k_next == 3) {
                        ring_k_next = 0;
                        ring_k_phase ^= 1;
                    }
                    // 30: s = tl.dot(q, tl.trans(k))
                    f32 s[32];
                    // q times k, each warpgroup its own rows, 16 along K a step: where step kk of both begins in shared memory
                    tw_wgmma_fence();
#pragma unroll
                    for (int kk = 0; kk < 8; kk++) {
                        tw_wgmma_ss_64_bf16_00(s,
                                tw_desc_step(tw_desc_k((ring_q_at + ring_q_slot * ring_q_bytes) + (warp >> 2 & 1) * 64 * 128,
                                        128), kk / 4 * 16384 + kk % 4 * 32),
                                tw_desc_step(tw_desc_k(ring_k_at + ring_k_slot * ring_k_bytes, 128),
                                    kk / 4 * 8192 + kk % 4 * 32), kk > 0);
                    }
                    tw_wgmma_commit();
                    tw_wgmma_wait(0);
                    tw_wgmma_settle(s);
                    // 29: k = tl.load(k_ptr + head + cols[:, None] * stride_n + rd[None, :], mask=cols[:, None] < N, ..
                    if (lane == 0) tw_mbar_arrive(ring_k_empty + ring_k_slot * 8);
                    // 34: s = tl.where(seen, s, -float("inf"))
                    // whether s is masked nowhere: then no mask is computed
                    const i64 s_mul_1 = tw_mul((i64)start_n, -64LL);
                    const bool s_and = (tw_add(tw_add(s_mul_1, s_cast), -64LL) >= 0LL)
                        & (tw_add(s_mul_1, 2147483584LL) >= 0LL);
                    const bool unmasked = (s_and & (tw_add(tw_add(s_mul_1, s_mul), -63LL) >= 0LL)) & s_cmp;
                    f32 s_if[32];
                    if (unmasked) {
#pragma unroll
                        for (int r = 0; r < 32; r++) s_if[r] = s[r];
                    } else {
                        // 28: cols = start_n + rn
                        // which elements of s are kept
                        i32 cols[16];
#pragma unroll
                        for (int r = 0; r < 16; r++) cols[r] = tw_add(cols_mul, rn[r]);
                        // 31: seen = cols[None, :] < N
                        bool seen[16];
#pragma unroll
                        for (int r = 0; r < 16; r++) seen[r] = cols[r] < N;
                        // 33: seen = seen & (cols[None, :] <= rm[:, None])
                        f32 s_1[32];
#pragma unroll
                        for (int r = 0; r < 32; r++) {
                            const bool seen_1 = seen[(r & 1) + (r >> 2) * 2]
                                & (cols[(r & 1) + (r >> 2) * 2] <= rm[(r >> 1) & 1]);
                            // 34: s = tl.where(seen, s, -float("inf"))
                            s_1[r] = seen_1 ? s[r] : (-TW_INF);
                        }
#pragma unroll
                        for (int r = 0; r < 32; r++) s_if[r] = s_1[r];
                    }
                    // 35: m_new = tl.maximum(m, tl.max(s, axis=1) * qk_scale)
                    f32 m_new_best[2];
                    {
                        f32 part_1[32];
#pragma unroll
                        for (int r = 0; r < 32; r++) part_1[r] = s_if[r];
                        // this thread's values, two by two; those that are combined already are passed over
#pragma unroll
                        for (int r = 0; r < 32; r += 2) part_1[r] = tw_max(part_1[r], part_1[r + 1]);
#pragma unroll
                        for (int r = 0; r < 32; r++) {
                            if (r & 5) continue;
                            part_1[r] = tw_max(part_1[r], part_1[r + 4]);
                        }
#pragma unroll
                        for (int r = 0; r < 32; r++) {
                            if (r & 13) continue;
                            part_1[r] = tw_max(part_1[r], part_1[r + 8]);
                        }
#pragma unroll
                        for (int r = 0; r < 32; r++) {
                            if (r & 29) continue;
                            part_1[r] = tw_max(part_1[r], part_1[r + 16]);
                        }
                        // those of lanes, two by two
#pragma unroll
                        for (int r = 0; r < 32; r++) {
                            if (r & 29) continue;
                            part_1[r] = tw_max(part_1[r], tw_shfl_xor(part_1[r], 1));
                        }
#pragma unroll
                        for (int r = 0; r < 32; r++) {
                            if (r & 29) continue;
                            part_1[r] = tw_max(part_1[r], tw_shfl_xor(part_1[r], 2));
                        }
#pragma unroll
                        for (int r = 0; r < 2; r++) m_new_best[r] = part_1[r * 2];
                    }
                    f32 m_new[2];
#pragma unroll
                    for (int r = 0; r < 2; r++) m_new[r] = tw_max(m[r], m_new_best[r] * qk_scale);
                    // 36: p = tl.exp2(s * qk_scale - m_new[:, None])
                    f32 p_neg[2];
#pragma unroll
                    for (int r = 0; r < 2; r++) p_neg[r] = -m_new[r];
                    f32 p[32];
#pragma unroll
                    for (int r = 0; r < 32; r++) {
                        p[r] = tw_exp2_fast(tw_fma(s_if[r], qk_scale, p_neg[(r >> 1) & 1]));
                    }
                    // 37: alpha = tl.exp2(m - m_new)
                    f32 alpha[2];
#pragma unroll
                    for (int r = 0; r < 2; r++) alpha[r] = tw_exp2_fast(m[r] - m_new[r]);
                    // 38: norm = norm * alpha + tl.sum(p, axis=1)
                    f32 norm_sum[16];
                    {
                        f32 part_2[32];
#pragma unroll
                        for (int r = 0; r < 32; r++) part_2[r] = p[r];
                        // this thread's values, two by two; those that are combined already are passed over
#pragma unroll
                        for (int r = 0; r < 32; r += 2) part_2[r] = part_2[r] + part_2[r + 1];
#pragma unroll
                        for (int r = 0; r < 16; r++) norm_sum[r] = part_2[r * 2];
                    }
                    f32 norm_sum_1[2];
                    {
                        f32 part_3[16];
#pragma unroll
                        for (int r = 0; r < 16; r++) part_3[r] = norm_sum[r];
                        // this thread's values, two by two; those that are combined already are passed over
#pragma unroll
                        for (int r = 0; r < 16; r++) {
                            if (r & 8) continue;
                            part_3[r] = part_3[r] + part_3[r + 8];
                        }
#pragma unroll
                        for (int r = 0; r < 16; r++) {
                            if (r & 12) continue;
                            part_3[r] = part_3[r] + part_3[r + 4];
                        }
#pragma unroll
                        for (int r = 0; r < 16; r++) {
                            if (r & 14) continue;
                            part_3[r] = part_3[r] + part_3[r + 2];
                        }
#pragma unroll
                        for (int r = 0; r < 2; r++) norm_sum_1[r] = part_3[r];
                    }
                    f32 norm_1[2];
#pragma unroll
                    for (int r = 0; r < 2; r++) norm_1[r] = tw_fma(norm[r], alpha[r], norm_sum_1[r]);
                    // 40: acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
                    f32 acc_mul[64];
#pragma unroll
                    for (int r = 0; r < 64; r++) acc_mul[r] = acc[r] * alpha[(r >> 1) & 1];
#pragma unroll
                    for (int r = 0; r < 16; r++) left[r] = tw_pack_bf16(p[2 * r], p[2 * r + 1]);
#pragma unroll
                    for (int r = 0; r < 2; r++) norm[r] = norm_1[r];
#pragma unroll
                    for (int r = 0; r < 64; r++) acc[r] = acc_mul[r];
#pragma unroll
                    for (int r = 0; r < 2; r++) m[r] = m_new[r];
                }
#pragma unroll 1
                for (i32 start_n = 1; start_n < cdiv; start_n++) {
                    // 28: cols = start_n + rn
                    // which elements of s are kept
                    const i32 cols_mul = tw_mul(start_n, 64);
                    // 29: k = tl.load(k_ptr + head + cols[:, None] * stride_n + rd[None, :], mask=cols[:, None] < N, ..
                    // the next slot of ring_k, when it is full
                    const u32 ring_k_slot_1 = ring_k_next;
                    tw_mbar_wait(ring_k_full + ring_k_slot_1 * 8, ring_k_phase);
                    if (++ring_k_next == 3) {
                        ring_k_next = 0;
                        ring_k_phase ^= 1;
                    }
                    // 30: s = tl.dot(q, tl.trans(k))
                    tw_bar_sync(14 + (warp >> 2), 256);
                    f32 s[32];
                    // q times k, each warpgroup its own rows, 16 along K a step: where step kk of both begins in shared memory
                    tw_wgmma_fence();
#pragma unroll
                    for (int kk = 0; kk < 8; kk++) {
                        tw_wgmma_ss_64_bf16_00(s,
                                tw_desc_step(tw_desc_k((ring_q_at + ring_q_slot * ring_q_bytes) + (warp >> 2 & 1) * 64 * 128,
                                        128), kk / 4 * 16384 + kk % 4 * 32),
                                tw_desc_step(tw_desc_k(ring_k_at + ring_k_slot_1 * ring_k_bytes, 128),
                                    kk / 4 * 8192 + kk % 4 * 32), kk > 0);
                    }
                    tw_wgmma_commit();
                    // 39: v = tl.load(v_ptr + head + cols[:, None] * stride_n + rd[None, :], mask=cols[:, None] < N, ..
                    // the next slot of ring_v, when it is full
                    const u32 ring_v_slot = ring_v_next;
                    tw_mbar_wait(ring_v_full + ring_v_slot * 8, ring_v_phase);
                    if (++ring_v_next == 3) {
                        ring_v_next = 0;
                        ring_v_phase ^= 1;
                    }
                    // p times v, each warpgroup its own rows, 16 along K a step: p lies in registers, where step kk of v begins in shared memory
                    tw_wgmma_fence();
#pragma unroll
                    for (int kk = 0; kk < 4; kk++) {
                        tw_wgmma_rs_128_bf16_1(acc, left + kk * 4,
                                tw_desc_step(tw_desc_mn(ring_v_at + ring_v_slot * ring_v_bytes, 128, 8192),
                                    kk * 2048), true);
                    }
                    tw_wgmma_commit();
                    tw_bar_arrive(15 - (warp >> 2), 256);
                    tw_wgmma_wait(1);
                    tw_wgmma_settle(s);
                    // 29: k = tl.load(k_ptr + head + cols[:, None] * stride_n + rd[None, :], mask=cols[:, None] < N, ..
                    if (lane == 0) tw_mbar_arrive(ring_k_empty + ring_k_slot_1 * 8);
                    // 34: s = tl.where(seen, s, -float("inf"))
                    // whether s is masked nowhere: then no mask is computed
                    const i64 s_mul_1 = tw_mul((i64)start_n, -64LL);
                    const bool s_and = (tw_add(tw_add(s_mul_1, s_cast), -64LL) >= 0LL)
                        & (tw_add(s_mul_1, 2147483584LL) >= 0LL);
                    const bool unmasked = (s_and & (tw_add(tw_add(s_mul_1, s_mul), -63LL) >= 0LL)) & s_cmp;
                    f32 s_if[32];
                    if (unmasked) {
#pragma unroll
                        for (int r = 0; r < 32; r++) s_if[r] = s[r];
                    } else {
                        // 28: cols = start_n + rn
                        // which elements of s are kept
                        i32 cols[16];
#pragma unroll
                        for (int r = 0; r < 16; r++) cols[r] = tw_add(cols_mul, rn[r]);
                        // 31: seen = cols[None, :] < N
                        bool seen[16];
#pragma unroll
                        for (int r = 0; r < 16; r++) seen[r] = cols[r] < N;
                        // 33: seen = seen & (cols[None, :] <= rm[:, None])
                        f32 s_1[32];
#pragma unroll
                        for (int r = 0; r < 32; r++) {
                            const bool seen_1 = seen[(r & 1) + (r >> 2) * 2]
                                & (cols[(r & 1) + (r >> 2) * 2] <= rm[(r >> 1) & 1]);
                            // 34: s = tl.where(seen, s, -float("inf"))
                            s_1[r] = seen_1 ? s[r] : (-TW_INF);
                        }
#pragma unroll
                        for (int r = 0; r < 32; r++) s_if[r] = s_1[r];
                    }
                    // 35: m_new = tl.maximum(m, tl.max(s, axis=1) * qk_scale)
                    f32 m_new_best[2];
                    {
                        f32 part_4[32];
#pragma unroll
                        for (int r = 0; r < 32; r++) part_4[r] = s_if[r];
                        // this thread's values, two by two; those that are combined already are passed over
#pragma unroll
                        for (int r = 0; r < 32; r += 2) part_4[r] = tw_max(part_4[r], part_4[r + 1]);
#pragma unroll
                        for (int r = 0; r < 32; r++) {
                            if (r & 5) continue;
                            part_4[r] = tw_max(part_4[r], part_4[r + 4]);
                        }
#pragma unroll
                        for (int r = 0; r < 32; r++) {
                            if (r & 13) continue;
                            part_4[r] = tw_max(part_4[r], part_4[r + 8]);
                        }
#pragma unroll
                        for (int r = 0; r < 32; r++) {
                            if (r & 29) continue;
                            part_4[r] = tw_max(part_4[r], part_4[r + 16]);
                        }
                        // those of lanes, two by two
#pragma unroll
                        for (int r = 0; r < 32; r++) {
                            if (r & 29) continue;
                            part_4[r] = tw_max(part_4[r], tw_shfl_xor(part_4[r], 1));
                        }
#pragma unroll
                        for (int r = 0; r < 32; r++) {
                            if (r & 29) continue;
                            part_4[r] = tw_max(part_4[r], tw_shfl_xor(part_4[r], 2));
                        }
#pragma unroll
                        for (int r = 0; r < 2; r++) m_new_best[r] = part_4[r * 2];
                    }
                    f32 m_new[2];
#pragma unroll
                    for (int r = 0; r < 2; r++) m_new[r] = tw_max(m[r], m_new_best[r] * qk_scale);
                    // 36: p = tl.exp2(s * qk_scale - m_new[:, None])
                    f32 p_neg[2];
#pragma unroll
                    for (int r = 0; r < 2; r++) p_neg[r] = -m_new[r];
                    f32 p[32];
#pragma unroll
                    for (int r = 0; r < 32; r++) {
                        p[r] = tw_exp2_fast(tw_fma(s_if[r], qk_scale, p_neg[(r >> 1) & 1]));
                    }
                    // 37: alpha = tl.exp2(m - m_new)
                    f32 alpha[2];
#pragma unroll
                    for (int r = 0; r < 2; r++) alpha[r] = tw_exp2_fast(m[r] - m_new[r]);
                    // 38: norm = norm * alpha + tl.sum(p, axis=1)
                    f32 norm_sum[16];
                    {
                        f32 part_5[32];
#pragma unroll
                        for (int r = 0; r < 32; r++) part_5[r] = p[r];
                        // this thread's values, two by two; those that are combined already are passed over
#pragma unroll
                        for (int r = 0; r < 32; r += 2) part_5[r] = part_5[r] + part_5[r + 1];
#pragma unroll
                        for (int r = 0; r < 16; r++) norm_sum[r] = part_5[r * 2];
                    }
                    f32 norm_sum_1[2];
                    {
                        f32 part_6[16];
#pragma unroll
                        for (int r = 0; r < 16; r++) part_6[r] = norm_sum[r];
                        // this thread's values, two by two; those that are combined already are passed over
#pragma unroll
                        for (int r = 0; r < 16; r++) {
                            if (r & 8) continue;
                            part_6[r] = part_6[r] + part_6[r + 8];
                        }
#pragma unroll
                        for (int r = 0; r < 16; r++) {
                            if (r & 12) continue;
                            part_6[r] = part_6[r] + part_6[r + 4];
                        }
#pragma unroll
                        for (int r = 0; r < 16; r++) {
                            if (r & 14) continue;
                            part_6[r] = part_6[r] + part_6[r + 2];
                        }
#pragma unroll
                        for (int r = 0; r < 2; r++) norm_sum_1[r] = part_6[r];
                    }
                    f32 norm_1[2];
#pragma unroll
                    for (int r = 0; r < 2; r++) norm_1[r] = tw_fma(norm[r], alpha[r], norm_sum_1[r]);
                    tw_wgmma_settle(p);
                    tw_wgmma_settle(norm_1);
                    tw_wgmma_settle(m_new);
                    tw_mbar_wait(ring_v_full + ring_v_slot * 8, ring_v_phase ^ (ring_v_next == 0));
                    tw_wgmma_wait(0);
                    tw_wgmma_settle(acc);
                    // 39: v = tl.load(v_ptr + head + cols[:, None] * stride_n + rd[None, :], mask=cols[:, None] < N, ..
                    if (lane == 0) tw_mbar_arrive(ring_v_empty + ring_v_slot * 8);
                    // 40: acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
                    f32 acc_mul[64];
#pragma unroll
                    for (int r = 0; r < 64; r++) acc_mul[r] = acc[r] * alpha[(r >> 1) & 1];
#pragma unroll
                    for (int r = 0; r < 16; r++) left[r] = tw_pack_bf16(p[2 * r], p[2 * r + 1]);
#pragma unroll
                    for (int r = 0; r < 2; r++) norm[r] = norm_1[r];
#pragma unroll
                    for (int r = 0; r < 64; r++) acc[r] = acc_mul[r];
#pragma unroll
                    for (int r = 0; r < 2; r++) m[r] = m_new[r];
                }
                // 39: v = tl.load(v_ptr + head + cols[:, None] * stride_n + rd[None, :], mask=cols[:, None] < N, ..
                // the next slot of ring_v, when it is full
                const u32 ring_v_slot_1 = ring_v_next;
                tw_mbar_wait(ring_v_full + ring_v_slot_1 * 8, ring_v_phase);
                if (++ring_v_next == 3) {
                    ring_v_next = 0;
                    ring_v_phase ^= 1;
                }
                // p times v, each warpgroup its own rows, 16 along K a step: p lies in registers, where step kk of v begins in shared memory
                tw_wgmma_fence();
#pragma unroll
                for (int kk = 0; kk < 4; kk++) {
                    tw_wgmma_rs_128_bf16_1(acc, left + kk * 4,
                            tw_desc_step(tw_desc_mn(ring_v_at + ring_v_slot_1 * ring_v_bytes, 128, 8192),
                                kk * 2048), true);
                }
                tw_wgmma_commit();
                tw_wgmma_wait(0);
                tw_wgmma_settle(acc);
                if (lane == 0) tw_mbar_arrive(ring_v_empty + ring_v_slot_1 * 8);
            }
            // 19: q = tl.load(q_ptr + head + rm[:, None] * stride_n + rd[None, :], mask=rm[:, None] < N, oth ..
            if (lane == 0) tw_mbar_arrive(ring_q_empty + ring_q_slot * 8);
            // 27: for start_n in range(0, last, BN):
            f32 norm_2[2];
            {
                f32 part_7[2];
#pragma unroll
                for (int r = 0; r < 2; r++) part_7[r] = norm[r];
                // those of lanes, two by two
#pragma unroll
                for (int r = 0; r < 2; r++) part_7[r] = part_7[r] + tw_shfl_xor(part_7[r], 2);
#pragma unroll
                for (int r = 0; r < 2; r++) part_7[r] = part_7[r] + tw_shfl_xor(part_7[r], 1);
#pragma unroll
                for (int r = 0; r < 2; r++) norm_2[r] = part_7[r];
            }
            // 42: o = acc / norm[:, None]
            bf16 cast[64];
#pragma unroll
            for (int r = 0; r < 64; r++) {
                const f32 o = tw_div_fast(acc[r], norm_2[(r >> 1) & 1]);
                // 43: tl.store(o_ptr + head + rm[:, None] * stride_n + rd[None, :], o.to(o_ptr.dtype.element_ty) ..
                cast[r] = tw_bf16(o);
            }
            if (warp == 0 && lane == 0) tw_bulk_wait_read(0);
            tw_bar_sync(1, 256);
            // o to shared memory, rows of 128 bytes: each thread's elements to their rows and columns
#pragma unroll
            for (int r = 0; r < 64; r += 2) {
                tw_sts(2, tw_tile_at(out_o, at0 + ((r >> 1) & 1) * 8, at0_1 + (r >> 2) * 8, 16384, 128, 2),
                        cast + r);
            }
            tw_fence_async();
            tw_bar_sync(1, 256);
            // o to o_ptr; where it begins: column, row, step of stride_h; 2 boxes of 64 columns, 16384 bytes apart in shared memory
            if (warp == 0 && lane == 0) {
                tw_tma_store_3d(&map_o_ptr, (i32)0, start_m, pid1, out_o);
                tw_tma_store_3d(&map_o_ptr, (i32)0 + 64, start_m, pid1, out_o + 16384);
                tw_bulk_commit();
            }
        }
        if (!(warp >> 2)) tw_bar_sync(14, 256);
        if (warp == 0 && lane == 0) tw_bulk_wait(0);
    } else if (tw_warp() < 12) {
        // role load
        tw_setmaxnreg_dec(24);
        const i32 lane = tw_lane(), warp = tw_warp() - 8;
        if (warp == 0 && tw_elect()) {
            // of each ring: the slot that comes next, and the phase of its barriers, which turns where slots begin anew
            u32 ring_q_next = 0, ring_q_phase = 0;
            u32 ring_k_next = 0, ring_k_phase = 0;
            u32 ring_v_next = 0, ring_v_phase = 0;
            for (i32 turn = paired ? 2 * tw_block_x() : tw_block_x(); turn < turns; turn += paired && !(turn & 1) ? 1 : beyond) {
                // which program of the grid this turn is
                const i32 width = paired ? half : np, number = paired ? turn >> 1 : turn;
                const i32 at = number % width, mirror = np - 1 - at;
                if (paired && (turn & 1) && at == mirror) continue; // the middle one is alone
                const i32 pid = paired && (turn & 1) ? at : mirror;
                const i32 pid1 = (number / width) % np1;
                // 14: start_m = tl.program_id(0) * BM
                // first row of q in q_ptr; first row of o in o_ptr; trips of the loop over start_n; ..
                const i32 start_m = tw_mul(pid, 128);
                // 26: last = min(start_m + BM, N)
                // trips of the loop over start_n
                const i32 last = tw_min(tw_add(start_m, 128), N);
                // 27: for start_n in range(0, last, BN):
                const i32 cdiv = tw_cdiv(last, 64);
                // 19: q = tl.load(q_ptr + head + rm[:, None] * stride_n + rd[None, :], mask=rm[:, None] < N, oth ..
                // the next slot of ring_q, when it is empty
                const u32 ring_q_slot_1 = ring_q_next;
                tw_mbar_wait(ring_q_empty + ring_q_slot_1 * 8, ring_q_phase ^ 1);
                tw_mbar_arrive_expect(ring_q_full + ring_q_slot_1 * 8, 32768);
                if (++ring_q_next == 2) {
                    ring_q_next = 0;
                    ring_q_phase ^= 1;
                }
                // q from q_ptr; where it begins: column, row, step of stride_h; 2 boxes of 64 columns, 16384 bytes apart in shared memory
                tw_tma_load_3d(ring_q_at + ring_q_slot_1 * ring_q_bytes, &map_q_ptr, (i32)0, start_m, pid1,
                        ring_q_full + ring_q_slot_1 * 8);
                tw_tma_load_3d(ring_q_at + ring_q_slot_1 * ring_q_bytes + 16384, &map_q_ptr, (i32)0 + 64,
                        start_m, pid1, ring_q_full + ring_q_slot_1 * 8);
                // 27: for start_n in range(0, last, BN):
                for (i32 start_n_1 = 0; start_n_1 < cdiv; start_n_1++) {
                    // 28: cols = start_n + rn
                    // first row of k in k_ptr; first row of v in v_ptr
                    const i32 cols_mul_1 = tw_mul(start_n_1, 64);
                    // 29: k = tl.load(k_ptr + head + cols[:, None] * stride_n + rd[None, :], mask=cols[:, None] < N, ..
                    // the next slot of ring_k, when it is empty
                    const u32 ring_k_slot_2 = ring_k_next;
                    tw_mbar_wait(ring_k_empty + ring_k_slot_2 * 8, ring_k_phase ^ 1);
                    tw_mbar_arrive_expect(ring_k_full + ring_k_slot_2 * 8, 16384);
                    if (++ring_k_next == 3) {
                        ring_k_next = 0;
                        ring_k_phase ^= 1;
                    }
                    // k from k_ptr; where it begins: column, row, step of stride_h; 2 boxes of 64 columns, 8192 bytes apart in shared memory
                    tw_tma_load_3d(ring_k_at + ring_k_slot_2 * ring_k_bytes, &map_k_ptr, (i32)0, cols_mul_1,
                            pid1, ring_k_full + ring_k_slot_2 * 8);
                    tw_tma_load_3d(ring_k_at + ring_k_slot_2 * ring_k_bytes + 8192, &map_k_ptr, (i32)0 + 64,
                            cols_mul_1, pid1, ring_k_full + ring_k_slot_2 * 8);
                    // 39: v = tl.load(v_ptr + head + cols[:, None] * stride_n + rd[None, :], mask=cols[:, None] < N, ..
                    // the next slot of ring_v, when it is empty
                    const u32 ring_v_slot_2 = ring_v_next;
                    tw_mbar_wait(ring_v_empty + ring_v_slot_2 * 8, ring_v_phase ^ 1);
                    tw_mbar_arrive_expect(ring_v_full + ring_v_slot_2 * 8, 16384);
                    if (++ring_v_next == 3) {
                        ring_v_next = 0;
                        ring_v_phase ^= 1;
                    }
                    // v from v_ptr; where it begins: column, row, step of stride_h; 2 boxes of 64 columns, 8192 bytes apart in shared memory
                    tw_tma_load_3d(ring_v_at + ring_v_slot_2 * ring_v_bytes, &map_v_ptr, (i32)0, cols_mul_1,
                            pid1, ring_v_full + ring_v_slot_2 * 8);
                    tw_tma_load_3d(ring_v_at + ring_v_slot_2 * ring_v_bytes + 8192, &map_v_ptr, (i32)0 + 64,
                            cols_mul_1, pid1, ring_v_full + ring_v_slot_2 * 8);
                }
            }
        }
    }
}
TW_KERNEL(attention_kernel)
