/* SPDX-License-Identifier: Apache-2.0 */
/* emulated_simt.cuh: the functions of a prelude that any SIMT machine has (legend in tilewright.cuh) for a host compiler, each
 * a call of the emulator's table (emu_table.h); what a machine computes, and how its lanes trade, is emulated_numbers.cuh, or
 * the machine's own text over the emulator's lanes. The line of the caller travels as a default argument. Nothing here knows
 * how a GPU works: that is the emulator's business, compiled once into the library, so that a kernel compiles in a
 * fraction of a second. */
#ifndef TILEWRIGHT_EMULATED_SIMT_CUH
#define TILEWRIGHT_EMULATED_SIMT_CUH
#include "emu_table.h"

#define __global__
#define __device__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)

static __thread EmuBind *tw_emu;
#define TW_LINE int line = __builtin_LINE()
#define TW_CALL(function, ...) tw_emu->call->function(tw_emu->emu, line, ##__VA_ARGS__)

/* The kernel's own parameter types say how to read the array of pointers to its arguments. */
template <int... I> struct TwIndices {};
template <int N, int... I> struct TwCount : TwCount<N - 1, N - 1, I...> {};
template <int... I> struct TwCount<0, I...> { typedef TwIndices<I...> type; };
template <class... P, int... I> static inline void tw_run(void (*kernel)(P...), void **params, TwIndices<I...>) {
    (void)params;
    kernel(*(P *)params[I]...);
}
template <class... P> static inline void tw_run(void (*kernel)(P...), void **params) {
    tw_run(kernel, params, typename TwCount<sizeof...(P)>::type());
}
#define TW_KERNEL(name)                                                                            \
    extern "C" __attribute__((visibility("default"))) void tw_emu_##name(EmuBind *bind, void **params) { \
        tw_emu = bind;                                                                             \
        tw_run(name, params);                                                                      \
    }

/* ---- place ---- */
TW_FN i32 tw_thread() { return tw_emu->now.thread; }
TW_FN i32 tw_threads() { return tw_emu->now.threads; }
TW_FN i32 tw_lane() { return tw_emu->now.thread % tw_emu->now.lanes; }
TW_FN i32 tw_warp() { return tw_emu->now.thread / tw_emu->now.lanes; }
TW_FN i32 tw_block_x() { return tw_emu->now.block[0]; }
TW_FN i32 tw_block_y() { return tw_emu->now.block[1]; }
TW_FN i32 tw_block_z() { return tw_emu->now.block[2]; }
TW_FN i32 tw_blocks_x() { return tw_emu->now.blocks[0]; }
TW_FN i32 tw_blocks_y() { return tw_emu->now.blocks[1]; }
TW_FN i32 tw_blocks_z() { return tw_emu->now.blocks[2]; }
TW_FN i32 tw_uniform(i32 x, TW_LINE) { return (i32)TW_CALL(shuffle, EMU_SHFL_IDX, (u32)x, 0); }
TW_FN bool tw_elect(TW_LINE) { return TW_CALL(elect) != 0; }

/* ---- global memory ---- */
TW_FN void tw_ldg_bytes(int bytes, void *to, const void *p, TW_LINE) { TW_CALL(load_global, to, p, bytes); }
TW_FN void tw_stg_bytes(int bytes, void *p, const void *from, TW_LINE) { TW_CALL(store_global, p, from, bytes); }
TW_FN void tw_stg_bytes_if(int bytes, bool on, void *p, const void *from, TW_LINE) {
    if (on) TW_CALL(store_global, p, from, bytes);
}
/* Caches are not modelled. */
TW_FN void tw_ldg_hinted_bytes(int bytes, bool on, u32 *w, const void *p, int, TW_LINE) {
    if (on) TW_CALL(load_global, w, p, bytes);
}
TW_FN void tw_stg_hinted_bytes(int bytes, bool on, void *p, const u32 *w, int, TW_LINE) {
    if (on) TW_CALL(store_global, p, w, bytes);
}
#define tw_ldg_nc_bytes tw_ldg_bytes
#define tw_ldg_volatile_bytes tw_ldg_bytes
TW_FN void tw_ldg_pairs(int count, bool on, u32 *to, const void *p, u32 fill, TW_LINE) {
    for (int i = 0; i < count; i++) to[i] = fill;
    if (on) TW_CALL(load_global, to, p, 4 * count);
}
TW_FN u16 tw_ldg_half(bool on, const void *p, u16 fill, TW_LINE) {
    if (on) TW_CALL(load_global, &fill, p, 2);
    return fill;
}
TW_FN u32 tw_zero() { return 0; }
#define tw_own(p) (p)
#define tw_stg_cs_bytes tw_stg_bytes
TW_FN u32 tw_ld_acquire(const u32 *p, TW_LINE) {
    u32 x, none = 0;
    TW_CALL(poll);
    TW_CALL(atomic, EMU_OR, EMU_U32, (void *)p, &none, 0, &x);
    return x;
}
TW_FN void tw_st_release(u32 *p, u32 v, TW_LINE) { TW_CALL(atomic, EMU_XCHG, EMU_U32, p, &v, 0, 0); }
TW_FN void tw_fence_block() {}
TW_FN void tw_fence_device() {}
TW_FN void tw_fence_system() {}
#define TW_ATOMIC(name, op, T, type)                                                               \
    TW_FN T name(T *p, T v, TW_LINE) {                                                             \
        T old;                                                                                     \
        TW_CALL(atomic, op, type, p, &v, (const void *)0, &old);                                   \
        return old;                                                                                \
    }
#define TW_ATOMIC_ALL(name, op)                                                                    \
    TW_ATOMIC(name, op, i32, EMU_I32) TW_ATOMIC(name, op, u32, EMU_U32)                            \
    TW_ATOMIC(name, op, i64, EMU_I64) TW_ATOMIC(name, op, u64, EMU_U64)
TW_ATOMIC_ALL(tw_atomic_add, EMU_ADD)
TW_ATOMIC_ALL(tw_atomic_min, EMU_MIN)
TW_ATOMIC_ALL(tw_atomic_max, EMU_MAX)
TW_ATOMIC_ALL(tw_atomic_and, EMU_AND)
TW_ATOMIC_ALL(tw_atomic_or, EMU_OR)
TW_ATOMIC_ALL(tw_atomic_xor, EMU_XOR)
TW_ATOMIC_ALL(tw_atomic_xchg, EMU_XCHG)
TW_ATOMIC(tw_atomic_add, EMU_ADD, f32, EMU_F32)
TW_ATOMIC(tw_atomic_add, EMU_ADD, f64, EMU_F64)
TW_ATOMIC(tw_atomic_add, EMU_ADD, f16, EMU_F16)
TW_ATOMIC(tw_atomic_add, EMU_ADD, bf16, EMU_BF16)
TW_ATOMIC(tw_atomic_min, EMU_MIN, f32, EMU_F32)
TW_ATOMIC(tw_atomic_max, EMU_MAX, f32, EMU_F32)
TW_ATOMIC(tw_atomic_min, EMU_MIN, f64, EMU_F64)
TW_ATOMIC(tw_atomic_max, EMU_MAX, f64, EMU_F64)
TW_ATOMIC(tw_atomic_xchg, EMU_XCHG, f32, EMU_F32)
#define tw_atomic_exch                                            tw_atomic_xchg
#define TW_ATOM(reach, sem, name, type, old, p, v)                ((old) = tw_atomic_##name(p, v))
#define TW_ATOM_RANK(reach, sem, name, reversed, old, p, v)       ((old) = tw_atomic_##name(p, v))
#define TW_ATOM_RANK_f64                                          TW_ATOM_RANK
#define TW_ATOM_CAS(reach, sem, size, old, p, expect, v)          ((old) = tw_atomic_cas(p, expect, v))
/* Nobody but the launch is here. */
#define tw_atomic_add_system  tw_atomic_add
#define tw_atomic_min_system  tw_atomic_min
#define tw_atomic_max_system  tw_atomic_max
#define tw_atomic_and_system  tw_atomic_and
#define tw_atomic_or_system   tw_atomic_or
#define tw_atomic_xor_system  tw_atomic_xor
#define tw_atomic_xchg_system tw_atomic_xchg
#define tw_red_add_system     tw_red_add
#define TW_RED_ADD(T, type)                                                                        \
    TW_FN void tw_red_add(int count, bool on, T *p, const T *v, TW_LINE) {                         \
        if (on) TW_CALL(combine, EMU_ADD, type, p, v, count);                                      \
    }
TW_RED_ADD(f32, EMU_F32)
TW_RED_ADD(f16, EMU_F16)
TW_RED_ADD(bf16, EMU_BF16)
#define TW_CAS_BITS(T, type)                                                                       \
    TW_FN T tw_cas_bits(T *p, T expect, T v, TW_LINE) {                                            \
        T old;                                                                                     \
        TW_CALL(atomic, EMU_CAS, type, p, &v, &expect, &old);                                      \
        return old;                                                                                \
    }
#define tw_cas_bits_system tw_cas_bits
TW_CAS_BITS(u8, EMU_U8)
TW_CAS_BITS(u16, EMU_U16)
TW_CAS_BITS(u32, EMU_U32)
TW_CAS_BITS(u64, EMU_U64)

/* ---- shared memory ---- */
TW_FN u32 tw_shared(u32 s) { return EMU_SHARED_BASE + s; }
TW_FN void tw_lds_bytes(int bytes, void *to, u32 s, TW_LINE) { TW_CALL(load_shared, to, s, bytes); }
TW_FN void tw_sts_bytes(int bytes, u32 s, const void *from, TW_LINE) { TW_CALL(store_shared, s, from, bytes); }
TW_FN void tw_sts_bytes_if(int bytes, bool on, u32 s, const void *from, TW_LINE) {
    if (on) TW_CALL(store_shared, s, from, bytes);
}
#define tw_shared_at(T, s) ((T *)tw_emu->call->shared_at(tw_emu->emu, __LINE__, s))
TW_FN void tw_atomic_add_shared(u32 s, i32 v, TW_LINE) { TW_CALL(atomic_shared, EMU_ADD, EMU_I32, s, &v); }
TW_FN void tw_atomic_max_shared(u32 s, i32 v, TW_LINE) { TW_CALL(atomic_shared, EMU_MAX, EMU_I32, s, &v); }

/* ---- warp ---- */
#define TW_JOIN_add(x, y) ((x) + (y))
#define TW_JOIN_min(x, y) tw_min(x, y)
#define TW_JOIN_max(x, y) tw_max(x, y)
#define TW_LDS_TREE(op, x, s, ...)                                                                 \
    do {                                                                                           \
        const u32 tw_at[] = {__VA_ARGS__}, tw_s = s, tw_count = sizeof tw_at / 4;                  \
        f32 tw_all[sizeof tw_at / 4];                                                              \
        for (u32 i = 0; i < tw_count; i++) tw_lds(1, tw_all + i, tw_s + tw_at[i]);                 \
        for (u32 by = 1; by < tw_count; by *= 2)                                                   \
            for (u32 i = 0; i < tw_count; i += 2 * by)                                             \
                tw_all[i] = TW_JOIN_##op(tw_all[i], tw_all[i + by]);                               \
        x = tw_all[0];                                                                             \
    } while (0)
#define tw_lds_tree_2  TW_LDS_TREE
#define tw_lds_tree_4  TW_LDS_TREE
#define tw_lds_tree_8  TW_LDS_TREE
TW_FN u64 tw_ballot(bool b, TW_LINE) { return TW_CALL(ballot, b); }
TW_FN bool tw_any(bool b, TW_LINE) { return TW_CALL(ballot, b) != 0; }
TW_FN bool tw_all(bool b, TW_LINE) { return TW_CALL(ballot, !b) == 0; }
TW_FN void tw_sync_warp(TW_LINE) { TW_CALL(sync_warp); }

/* ---- block ---- */
TW_FN void tw_sync(TW_LINE) { TW_CALL(barrier, 0, 0, 1); }
TW_FN void tw_bar_sync(i32 id, i32 threads, TW_LINE) { TW_CALL(barrier, id, threads, 1); }
TW_FN void tw_bar_arrive(i32 id, i32 threads, TW_LINE) { TW_CALL(barrier, id, threads, 0); }
/* ---- other ---- */
#define tw_printf(...) tw_emu->call->print(tw_emu->emu, __VA_ARGS__)
TW_FN void tw_trap(const char *text, TW_LINE) { TW_CALL(trap, text); }
TW_FN void tw_assert(bool condition, const char *text, TW_LINE) { if (!condition) TW_CALL(trap, text); }
#endif
