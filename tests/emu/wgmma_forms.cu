/* wgmma_forms.cu: one wgmma of each form, registers in and registers out, to compare layouts bit by bit.
 *
 * `a` and `b` are images of shared memory (a at 0, b at 32768), copied there as they are; lead and stride are the byte
 * offsets of the descriptors; out[128][64] gets every accumulator. ra[128][4] are the registers of A in the RS forms. */
TW_WGMMA_SS(128, bf16, 0, 0)
TW_WGMMA_SS(128, f16, 1, 1)
TW_WGMMA_SS(128, tf32, 0, 0)
TW_WGMMA_SS(128, e4m3, 0, 0)
TW_WGMMA_SS(128, e5m2, 0, 0)
TW_WGMMA_SS(128, s8, 0, 0)
TW_WGMMA_SS(128, u8, 0, 0)
TW_WGMMA_RS(128, bf16, 0)
TW_WGMMA_RS(128, f16, 1)
TW_WGMMA_RS(128, e4m3, 0)

extern "C" __global__ void __launch_bounds__(128, 1)
wgmma_forms(const u32 *a, const u32 *b, const u32 *ra, f32 *out, i32 form, u32 a_lead, u32 a_stride, u32 b_lead, u32 b_stride,
            u32 swizzle, i32 mutant) {
    i32 t = tw_thread();
    for (i32 i = t; i < 2048; i += 128) {
        u32 v[4];
        tw_ldg(4, v, a + 4 * i);
        tw_sts(4, 16 * (u32)i, v);
        tw_ldg(4, v, b + 4 * i);
        tw_sts(4, 32768 + 16 * (u32)i, v);
    }
    u32 r[4];
    tw_ldg(4, r, ra + 4 * t);
    if (mutant != 1) tw_fence_async();
    tw_sync();
    f32 d[64];
    i32 whole[64]; /* sums of integers */
    for (int i = 0; i < 64; i++) d[i] = 1, whole[i] = 1;
    u64 da = tw_desc(0, a_lead, a_stride, swizzle), db = tw_desc(32768, b_lead, b_stride, swizzle);
    tw_wgmma_fence();
    switch (form) {
    case 0: tw_wgmma_ss_128_bf16_00(d, da, db, true); break;
    case 1: tw_wgmma_ss_128_f16_11(d, da, db, true); break;
    case 2: tw_wgmma_ss_128_tf32_00(d, da, db, true); break;
    case 3: tw_wgmma_ss_128_e4m3_00(d, da, db, true); break;
    case 4: tw_wgmma_ss_128_e5m2_00(d, da, db, true); break;
    case 5: tw_wgmma_rs_128_bf16_0(d, r, db, true); break;
    case 6: tw_wgmma_rs_128_f16_1(d, r, db, true); break;
    case 7: tw_wgmma_rs_128_e4m3_0(d, r, db, true); break;
    case 8: tw_wgmma_ss_128_s8_00(whole, da, db, true); break;
    case 9: tw_wgmma_ss_128_u8_00(whole, da, db, true); break;
    }
    tw_wgmma_commit();
    tw_wgmma_wait(0);
    tw_wgmma_settle(d);
    tw_wgmma_settle(whole);
    for (int i = 0; form >= 8 && i < 64; i++) d[i] = (f32)whole[i];
    for (int i = 0; i < 64; i += 4) tw_stg(4, out + 64 * t + i, &d[i]);
}
TW_KERNEL(wgmma_forms)
