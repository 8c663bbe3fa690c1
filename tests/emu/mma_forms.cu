/* mma_forms.cu: one mma.sync of each type, registers in and out; and each ldmatrix and stmatrix over an 8x(8 count) image.
 * a[32][4], b[32][2], d[32][4]; rows: 32 rows of 16 bytes in; moved[32][4]: what ldmatrix gave; back: what stmatrix of it
 * wrote, 32 rows again. */
extern "C" __global__ void __launch_bounds__(32)
mma_forms(const u32 *a, const u32 *b, f32 *d, const u32 *rows, u32 *moved, u32 *back, i32 form, i32 count, i32 trans,
          i32 mutant) {
    enum { IN = 0, OUT = 512 };
    i32 lane = tw_lane();
    u32 fa[4], fb[2], v[4];
    f32 c[4];
    tw_ldg(4, fa, a + 4 * lane);
    tw_ldg(2, fb, b + 2 * lane);
    tw_ldg(4, c, d + 4 * lane);
    switch (form) {
    case 0: tw_mma_f16(c, fa, fb); break;
    case 1: tw_mma_bf16(c, fa, fb); break;
    case 2: tw_mma_tf32(c, fa, fb); break;
    case 3: tw_mma_e4m3(c, fa, fb); break;
    case 4: tw_mma_e5m2(c, fa, fb); break;
    }
    if (form >= 5) { /* sums of integers */
        i32 whole[4];
        for (int i = 0; i < 4; i++) whole[i] = (i32)c[i];
        if (form == 5) tw_mma_s8(whole, fa, fb);
        else tw_mma_u8(whole, fa, fb);
        for (int i = 0; i < 4; i++) c[i] = (f32)whole[i];
    }
    tw_stg(4, d + 4 * lane, c);

    tw_ldg(4, v, rows + 4 * (lane ^ 1)); /* written by another lane than the one that gives its address */
    tw_sts(4, IN + 16 * (u32)(lane ^ 1), v);
    u32 zero[4] = {0, 0, 0, 0}, r[4] = {0, 0, 0, 0};
    tw_sts(4, OUT + 16 * (u32)lane, zero);
    if (mutant != 1) tw_sync_warp();
    u32 in = IN + 16 * (u32)lane, out = OUT + 16 * (u32)lane;
    if (count == 1 && !trans) tw_ldmatrix_x1(r, in), tw_stmatrix_x1(out, r);
    if (count == 2 && !trans) tw_ldmatrix_x2(r, in), tw_stmatrix_x2(out, r);
    if (count == 4 && !trans) tw_ldmatrix_x4(r, in), tw_stmatrix_x4(out, r);
    if (count == 1 && trans) tw_ldmatrix_x1_trans(r, in), tw_stmatrix_x1_trans(out, r);
    if (count == 2 && trans) tw_ldmatrix_x2_trans(r, in), tw_stmatrix_x2_trans(out, r);
    if (count == 4 && trans) tw_ldmatrix_x4_trans(r, in), tw_stmatrix_x4_trans(out, r);
    tw_stg(4, moved + 4 * lane, r);
    tw_sync_warp();
    tw_lds(4, v, out);
    tw_stg(4, back + 4 * lane, v);
}
TW_KERNEL(mma_forms)
