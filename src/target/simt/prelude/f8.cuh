/* SPDX-License-Identifier: Apache-2.0 */
/* f8.cuh: e4m3 and e5m2 for machines without instructions that convert them, on bits: rounded by adding half a unit, or
 * (subnormals) by a sum that has their unit. */
#ifndef TILEWRIGHT_F8_CUH
#define TILEWRIGHT_F8_CUH
TW_FN f32 tw_f32(e4m3 x) {
    f32 size = tw_as_f32((x.bits & 0x7fu) << 20) * 0x1p120f;
    return (x.bits & 0x7f) == 0x7f ? tw_as_f32(0x7fffffffu) : x.bits & 0x80 ? -size : size;
}
TW_FN u32 tw_f8_bits(f32 x, u32 shift, u32 base, f32 add, u32 most) {
    u32 size = tw_as_u32(x) & 0x7fffffffu, sign = tw_as_u32(x) >> 24 & 0x80;
    u32 normal = (size - base + (1u << (shift - 1)) - 1 + (size >> shift & 1)) >> shift;
    u32 small = tw_as_u32(tw_as_f32(size) + add) - tw_as_u32(add);
    u32 bits = size < base + 0x800000u ? small : size >= 0x47800000u || normal > most ? most : normal;
    return size > 0x7f800000u ? 0x7fu : sign | bits;
}
TW_FN e4m3 tw_e4m3(f32 x) { return e4m3{(u8)tw_f8_bits(x, 20, 0x3c000000u, 0x1p14f, 0x7e)}; }
TW_FN e5m2 tw_e5m2(f32 x) { return e5m2{(u8)tw_f8_bits(x, 21, 0x38000000u, 0x1p7f, 0x7b)}; }
TW_FN u32 tw_pack_e4m3(f32 x0, f32 x1, f32 x2, f32 x3) { return tw_pack(tw_e4m3(x0), tw_e4m3(x1), tw_e4m3(x2), tw_e4m3(x3)); }
TW_FN u32 tw_pack_e5m2(f32 x0, f32 x1, f32 x2, f32 x3) { return tw_pack(tw_e5m2(x0), tw_e5m2(x1), tw_e5m2(x2), tw_e5m2(x3)); }
#endif
