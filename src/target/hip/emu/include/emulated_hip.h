/* SPDX-License-Identifier: Apache-2.0 */
/* emulated_hip.h: the instructions of AMD's GPUs (hip_device.h) for a host compiler: memory and waits are those of any SIMT
 * machine (emulated_simt.cuh); which lane reads which is decoded here as AMD's instruction set manuals have it; matrix
 * instructions are calls of the emulator (hip_table.h). Numbers that the chip only approximates are exact. */
#ifndef TILEWRIGHT_EMULATED_HIP_H
#define TILEWRIGHT_EMULATED_HIP_H
#include "emulated_simt.cuh"
#include "hip_table.h"

#define TW_HIP(function, ...) ((const HipTable *)tw_emu->call)->function(tw_emu->emu, line, ##__VA_ARGS__)

/* Of the launch: the text is the same for all. */
#define TW_LANES (tw_emu->now.lanes)

#define tw_sync_shared tw_sync
TW_FN f32 tw_hw_f32(u16 bits) { return (f32)tw_emu->call->widen(EMU_F16, bits); }
TW_FN u16 tw_hw_f16(f32 x) { return (u16)tw_emu->call->narrow(EMU_F16, x); }
TW_FN u32 tw_hw_perm(u32 high, u32 low, u32 which) {
    const u64 both = (u64)high << 32 | low;
    u32 r = 0;
    for (int i = 0; i < 4; i++) r |= (u32)(both >> (which >> 8 * i & 7) * 8 & 0xff) << 8 * i;
    return r;
}
TW_FN f32 tw_hw_exp2(f32 x) { return (f32)tw_m_exp2((f64)x); }
TW_FN f32 tw_hw_log2(f32 x) { return (f32)tw_m_log2((f64)x); }
TW_FN f32 tw_hw_rcp(f32 x) { return 1.0f / x; }
TW_FN f32 tw_hw_sqrt(f32 x) { return __builtin_sqrtf(x); }
TW_FN f32 tw_hw_rsqrt(f32 x) { return (f32)(1.0 / __builtin_sqrt((f64)x)); }

TW_FN void tw_ldg_anywhere(int size, void *to, const void *p, TW_LINE) {
    for (int i = 0; i < 16; i += size) TW_CALL(load_global, (u8 *)to + i, (const u8 *)p + i, size);
}

#define TW_BEYOND 0x80000000u
TW_FN void tw_ldg_bounded_bytes(int bytes, void *to, const void *base, u32 at, TW_LINE) {
    memset(to, 0, (size_t)bytes);
    if (at < TW_BEYOND) TW_CALL(load_global, to, (const u8 *)base + at, bytes);
}
TW_FN void tw_stg_bounded_bytes(int bytes, void *base, u32 at, const void *from, TW_LINE) {
    if (at < TW_BEYOND) TW_CALL(store_global, (u8 *)base + at, from, bytes);
}

#define tw_anew(x) (void)(x)
#define tw_at_edge()

/* ---- copies ---- */
TW_FN void tw_copy_wave(u32 s, const void *p, bool on, TW_LINE) {
    TW_HIP(copy, tw_uniform((i32)s, line) + 4 * tw_lane(), on ? p : 0);
}
TW_FN void tw_copy_wave_near(u32 s, const void *base, u32 at, TW_LINE) {
    TW_HIP(copy, tw_uniform((i32)s, line) + 4 * tw_lane(), at < TW_BEYOND ? (const u8 *)base + at : 0);
}
TW_FN void tw_copies_wait(i32 n, TW_LINE) { TW_HIP(copies_wait, n); }

/* ---- lanes ---- */
/* DPP: four choices of two bits below 0x100, then rotations of a row, mirrors of a row and of its halves, and, on RDNA, a
 * mask that is xored to the place in a row. -1: no such control. */
TW_FN i32 tw_dpp_source(i32 lane, i32 control) {
    const i32 row = lane & ~15, at = lane & 15;
    if (control < 0x100) return (lane & ~3) | (control >> 2 * (lane & 3) & 3);
    if (control > 0x120 && control < 0x130) return row | (at - (control - 0x120)) & 15;
    if (control == 0x140) return row | 15 - at;
    if (control == 0x141) return row | (at & 8) | 7 - (at & 7);
    if (control >= 0x160 && control < 0x170 && TW_LANES == 32) return row | at ^ (control - 0x160);
    return -1;
}
TW_FN u32 tw_hw_dpp(u32 x, i32 control, TW_LINE) {
    const i32 from = tw_dpp_source(tw_lane(), control);
    if (from < 0) TW_CALL(trap, "a DPP control that this GPU does not have");
    return (u32)TW_CALL(shuffle, EMU_SHFL_IDX, x, from);
}
TW_FN u32 tw_hw_swizzle(u32 x, i32 pattern, TW_LINE) {
    const i32 lane = tw_lane(), own = lane & 31;
    if (pattern & 0x8000) TW_CALL(trap, "a swizzle in the mode of quads is not modelled");
    const i32 from = (lane & ~31) | (((own & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31));
    return (u32)TW_CALL(shuffle, EMU_SHFL_IDX, x, from);
}
TW_FN u32 tw_hw_permute(u32 from, u32 x, TW_LINE) { return (u32)TW_CALL(shuffle, EMU_SHFL_IDX, x, (i32)from); }
#endif
