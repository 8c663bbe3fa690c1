/* numbers.cu: conversions and mathematical functions, one row of 24 words per input. */
extern "C" __global__ void __launch_bounds__(128) numbers(const f32 *x, u32 *out, i32 n, i32 mutant) {
    i32 i = tw_block_x() * 128 + tw_thread();
    if (i >= n || mutant) return;
    f32 v;
    tw_ldg(1, &v, x + i);
    f32 one = 1, nan = tw_as_f32(0x7fc00000u);
    u32 r[24] = {
        tw_f16(v).bits,
        tw_bf16(v).bits,
        tw_e4m3(v).bits,
        tw_e5m2(v).bits,
        tw_tf32(v),
        (u32)tw_i32(v),
        tw_u32(v),
        tw_pack_f16(v, -v),
        tw_pack_bf16(v, -v),
        tw_as_u32(tw_min_nan(v, one)),
        tw_as_u32(tw_max(v, nan)),
        (u32)tw_i64(v),
        tw_as_u32(tw_exp(v)),
        tw_as_u32(tw_log(v)),
        tw_as_u32(tw_rsqrt(v)),
        tw_as_u32(tw_tanh(v)),
        tw_as_u32(tw_exp2_fast(v)),
        tw_as_u32(tw_exp_fast(v)),
        tw_as_u32(tw_rsqrt_fast(v)),
        tw_as_u32(tw_div_fast(one, v)),
        tw_as_u32(tw_sqrt_fast(v)),
        tw_as_u32(tw_tanh_fast(v)),
        tw_as_u32(tw_f32(f16{(u16)i})),
        tw_as_u32(i & 256 ? tw_f32(e5m2{(u8)i}) : tw_f32(e4m3{(u8)i})),
    };
    for (int j = 0; j < 24; j += 4) tw_stg(4, out + 24 * (i64)i + j, &r[j]);
}
TW_KERNEL(numbers)
