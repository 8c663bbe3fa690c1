/* emulated.cuh: the functions of tilewright.cuh (legend there) for a host compiler, each a call of the emulator's
 * table (emu_table.h). The line of the caller travels as a default argument. Nothing here knows how a GPU works: that is
 * the emulator's business, compiled once into the library, so that a kernel compiles in a fraction of a second. */
#ifndef TILEWRIGHT_EMULATED_CUH
#define TILEWRIGHT_EMULATED_CUH
#include "emu_table.h"

#define __global__
#define __device__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)

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
TW_FN i32 tw_lane() { return tw_emu->now.thread & 31; }
TW_FN i32 tw_warp() { return tw_emu->now.thread >> 5; }
TW_FN i32 tw_block_x() { return tw_emu->now.block[0]; }
TW_FN i32 tw_block_y() { return tw_emu->now.block[1]; }
TW_FN i32 tw_block_z() { return tw_emu->now.block[2]; }
TW_FN i32 tw_cluster_rank() { return tw_emu->now.rank; }
TW_FN i32 tw_cluster_blocks() { return tw_emu->now.cluster; }
TW_FN i32 tw_blocks_x() { return tw_emu->now.blocks[0]; }
TW_FN i32 tw_blocks_y() { return tw_emu->now.blocks[1]; }
TW_FN i32 tw_blocks_z() { return tw_emu->now.blocks[2]; }
TW_FN i32 tw_uniform(i32 x, TW_LINE) { return (i32)TW_CALL(shuffle, EMU_SHFL_IDX, (u32)x, 0); }
TW_FN bool tw_elect(TW_LINE) { return TW_CALL(elect) != 0; }

/* ---- conversions ---- */
TW_FN f32 tw_f32(f16 x) { return (f32)tw_emu->call->widen(EMU_F16, x.bits); }
TW_FN f32 tw_f32(bf16 x) { return tw_as_f32((u32)x.bits << 16); }
TW_FN f32 tw_f32(e4m3 x) { return (f32)tw_emu->call->widen(EMU_E4M3, x.bits); }
TW_FN f32 tw_f32(e5m2 x) { return (f32)tw_emu->call->widen(EMU_E5M2, x.bits); }
TW_FN f16 tw_f16(f32 x) { return f16{(u16)tw_emu->call->narrow(EMU_F16, x)}; }
TW_FN f16 tw_f16(f64 x) { return f16{(u16)tw_emu->call->narrow(EMU_F16, x)}; }
TW_FN bf16 tw_bf16(f32 x) { return bf16{(u16)tw_emu->call->narrow(EMU_BF16, x)}; }
TW_FN e4m3 tw_e4m3(f32 x) { return e4m3{(u8)tw_emu->call->narrow(EMU_E4M3, x)}; }
TW_FN e5m2 tw_e5m2(f32 x) { return e5m2{(u8)tw_emu->call->narrow(EMU_E5M2, x)}; }
TW_FN u32 tw_tf32(f32 x) { return x - x == 0 ? (tw_as_u32(x) + 0x1000u) & ~0x1fffu : tw_as_u32(x); }
TW_FN u32 tw_pack_f16(f32 lo, f32 hi) { return tw_pack(tw_f16(lo), tw_f16(hi)); }
TW_FN u32 tw_pack_bf16(f32 lo, f32 hi) { return tw_pack(tw_bf16(lo), tw_bf16(hi)); }
TW_FN f32 tw_lo_f16(u32 x) { return tw_f32(f16{(u16)x}); }
TW_FN f32 tw_hi_f16(u32 x) { return tw_f32(f16{(u16)(x >> 16)}); }
TW_FN f32 tw_lo_bf16(u32 x) { return tw_as_f32(x << 16); }
TW_FN f32 tw_hi_bf16(u32 x) { return tw_as_f32(x & 0xffff0000u); }
#define TW_PAIRS(name, sign, type)                                                                 \
    TW_FN u32 tw_##name##_##type##x2(u32 x, u32 y) {                                               \
        return tw_pack_##type(tw_lo_##type(x) sign tw_lo_##type(y), tw_hi_##type(x) sign tw_hi_##type(y)); \
    }
TW_PAIRS(add, +, bf16)
TW_PAIRS(sub, -, bf16)
TW_PAIRS(add, +, f16)
TW_PAIRS(sub, -, f16)
TW_PAIRS(mul, *, f16)
#define TW_FROM_FLOAT(name, T, low, high, least, most)                                             \
    TW_FN T name(f64 x) { return x != x ? 0 : x <= (low) ? (least) : x >= (high) ? (most) : (T)x; } \
    TW_FN T name(f32 x) { return name((f64)x); }
TW_FROM_FLOAT(tw_i32, i32, -2147483648.0, 2147483648.0, -2147483647 - 1, 2147483647)
TW_FROM_FLOAT(tw_u32, u32, 0.0, 4294967296.0, 0u, 4294967295u)
TW_FROM_FLOAT(tw_i64, i64, -9223372036854775808.0, 9223372036854775808.0, -9223372036854775807LL - 1,
              9223372036854775807LL)
TW_FROM_FLOAT(tw_u64, u64, 0.0, 18446744073709551616.0, 0ULL, 18446744073709551615ULL)

/* ---- arithmetic that C cannot say ---- */
TW_FN i64 tw_mulhi(i64 x, i64 y) { return (i64)(((__int128)x * y) >> 64); }
TW_FN u64 tw_mulhi(u64 x, u64 y) { return (u64)(((unsigned __int128)x * y) >> 64); }
TW_FN i32 tw_popc(u32 x) { return __builtin_popcount(x); }
TW_FN i32 tw_popc(i32 x) { return __builtin_popcount((u32)x); }
TW_FN i32 tw_popc(u64 x) { return __builtin_popcountll(x); }
TW_FN i32 tw_popc(i64 x) { return __builtin_popcountll((u64)x); }
TW_FN i32 tw_clz(u32 x) { return x ? __builtin_clz(x) : 32; }
TW_FN i32 tw_clz(i32 x) { return tw_clz((u32)x); }
TW_FN i32 tw_clz(u64 x) { return x ? __builtin_clzll(x) : 64; }
TW_FN i32 tw_clz(i64 x) { return tw_clz((u64)x); }
TW_FN f32 tw_min_nan(f32 x, f32 y) { return x != x ? x : y != y ? y : fminf(x, y); }
TW_FN f32 tw_max_nan(f32 x, f32 y) { return x != x ? x : y != y ? y : fmaxf(x, y); }
TW_FN f32 tw_rsqrt(f32 x) { return (f32)(1.0 / sqrt((f64)x)); }
TW_FN f64 tw_rsqrt(f64 x) { return 1.0 / sqrt(x); }
TW_FN f32 tw_exp2_fast(f32 x) { return exp2f(x); }
TW_FN f32 tw_log2_fast(f32 x) { return log2f(x); }
TW_FN f32 tw_rcp_fast(f32 x) { return 1.0f / x; }
TW_FN f32 tw_sqrt_fast(f32 x) { return sqrtf(x); }
TW_FN f32 tw_rsqrt_fast(f32 x) { return tw_rsqrt(x); }
TW_FN f32 tw_sin_fast(f32 x) { return sinf(x); }
TW_FN f32 tw_cos_fast(f32 x) { return cosf(x); }
TW_FN f32 tw_tanh_fast(f32 x) { return tanhf(x); }
TW_FN f32 tw_exp_fast(f32 x) { return expf(x); }
TW_FN f32 tw_log_fast(f32 x) { return logf(x); }
TW_FN f32 tw_div_fast(f32 x, f32 y) { return x / y; }
struct TwOver { f32 y; };
TW_FN TwOver tw_over(f32 y) { return TwOver{y}; }
TW_FN f32 tw_div_over(f32 x, TwOver over) { return x / over.y; }

/* ---- global memory ---- */
TW_FN void tw_ldg_bytes(int bytes, void *to, const void *p, TW_LINE) { TW_CALL(load_global, to, p, bytes); }
TW_FN void tw_stg_bytes(int bytes, void *p, const void *from, TW_LINE) { TW_CALL(store_global, p, from, bytes); }
TW_FN void tw_stg_bytes_if(int bytes, bool on, void *p, const void *from, TW_LINE) {
    if (on) TW_CALL(store_global, p, from, bytes);
}
#define tw_ldg_nc_bytes tw_ldg_bytes
TW_FN void tw_ldg_pairs(int count, bool on, u32 *to, const void *p, u32 fill, TW_LINE) {
    for (int i = 0; i < count; i++) to[i] = fill;
    if (on) TW_CALL(load_global, to, p, 4 * count);
}
TW_FN u32 tw_zero() { return 0; }
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
TW_ATOMIC(tw_atomic_xchg, EMU_XCHG, f32, EMU_F32)
#define TW_CAS_BITS(T, type)                                                                       \
    TW_FN T tw_cas_bits(T *p, T expect, T v, TW_LINE) {                                            \
        T old;                                                                                     \
        TW_CALL(atomic, EMU_CAS, type, p, &v, &expect, &old);                                      \
        return old;                                                                                \
    }
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
TW_FN void tw_atomic_add_shared(u32 s, i32 v, TW_LINE) { TW_CALL(atomic_shared, EMU_ADD, EMU_I32, s, &v); }

/* ---- warp ---- */
#define TW_SHUFFLE_AS(name, kind, T, U)                                                            \
    TW_FN T name(T x, i32 n, TW_LINE) {                                                            \
        U bits;                                                                                    \
        memcpy(&bits, &x, sizeof x);                                                               \
        bits = (U)TW_CALL(shuffle, kind, bits, n);                                                 \
        memcpy(&x, &bits, sizeof x);                                                               \
        return x;                                                                                  \
    }
#define TW_SHUFFLE(name, kind)                                                                     \
    TW_SHUFFLE_AS(name, kind, i32, u32) TW_SHUFFLE_AS(name, kind, u32, u32)                        \
    TW_SHUFFLE_AS(name, kind, i64, u64) TW_SHUFFLE_AS(name, kind, u64, u64)                        \
    TW_SHUFFLE_AS(name, kind, f32, u32) TW_SHUFFLE_AS(name, kind, f64, u64)                        \
    TW_SHUFFLE_AS(name, kind, f16, u16) TW_SHUFFLE_AS(name, kind, bf16, u16)
TW_SHUFFLE(tw_shfl_xor, EMU_SHFL_XOR)
TW_SHUFFLE(tw_shfl_idx, EMU_SHFL_IDX)
TW_SHUFFLE(tw_shfl_up, EMU_SHFL_UP)
TW_SHUFFLE(tw_shfl_down, EMU_SHFL_DOWN)
#define TW_JOIN_add(x, y) ((x) + (y))
#define TW_JOIN_min(x, y) tw_min(x, y)
#define TW_JOIN_max(x, y) tw_max(x, y)
#define TW_LANES(op)                                                                               \
    TW_FN f32 tw_lanes_##op##_up(f32 x, TW_LINE) {                                                 \
        for (int mask = 1; mask < 32; mask *= 2) x = TW_JOIN_##op(x, tw_shfl_xor(x, mask, line));  \
        return x;                                                                                  \
    }                                                                                              \
    TW_FN f32 tw_lanes_##op##_down(f32 x, TW_LINE) {                                               \
        for (int mask = 16; mask; mask /= 2) x = TW_JOIN_##op(x, tw_shfl_xor(x, mask, line));      \
        return x;                                                                                  \
    }
TW_LANES(add)
TW_LANES(min)
TW_LANES(max)
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
TW_FN u32 tw_ballot(bool b, TW_LINE) { return TW_CALL(ballot, b); }
TW_FN bool tw_any(bool b, TW_LINE) { return TW_CALL(ballot, b) != 0; }
TW_FN bool tw_all(bool b, TW_LINE) { return TW_CALL(ballot, b) == 0xffffffffu; }
TW_FN void tw_sync_warp(TW_LINE) { TW_CALL(sync_warp); }

/* ---- block ---- */
TW_FN void tw_sync(TW_LINE) { TW_CALL(barrier, 0, 0, 1); }
TW_FN void tw_bar_sync(i32 id, i32 threads, TW_LINE) { TW_CALL(barrier, id, threads, 1); }
TW_FN void tw_bar_arrive(i32 id, i32 threads, TW_LINE) { TW_CALL(barrier, id, threads, 0); }
TW_FN void tw_cluster_sync(TW_LINE) { TW_CALL(cluster_sync); }
TW_FN void tw_setmaxnreg_inc(i32 n, TW_LINE) { TW_CALL(setmaxnreg, n, 1); }
TW_FN void tw_setmaxnreg_dec(i32 n, TW_LINE) { TW_CALL(setmaxnreg, n, 0); }

/* ---- mbarriers ---- */
TW_FN void tw_mbar_init(u32 bar, u32 count, TW_LINE) { TW_CALL(mbar_init, bar, count); }
TW_FN void tw_fence_mbar_init(TW_LINE) { TW_CALL(fence_mbar_init); }
TW_FN void tw_mbar_arrive(u32 bar, TW_LINE) { TW_CALL(mbar_arrive, bar, 0, 1); }
TW_FN void tw_mbar_arrive_at(u32 bar, u32 rank, TW_LINE) { TW_CALL(mbar_arrive_at, bar, rank); }
TW_FN void tw_mbar_arrive_expect(u32 bar, u32 bytes, TW_LINE) { TW_CALL(mbar_arrive, bar, bytes, 1); }
TW_FN void tw_mbar_expect(u32 bar, u32 bytes, TW_LINE) { TW_CALL(mbar_arrive, bar, bytes, 0); }
TW_FN void tw_mbar_wait(u32 bar, u32 parity, TW_LINE) { TW_CALL(mbar_wait, bar, parity); }
TW_FN void tw_fence_async(TW_LINE) { TW_CALL(fence_async); }
TW_FN void tw_fence_async_global() {} /* global memory is the same for TMA here, once there is a barrier */

/* ---- TMA ---- */
#define TW_ARGS(...) __VA_ARGS__
#define TW_TMA(rank, coordinates, ...)                                                             \
    TW_FN void tw_tma_load_##rank##d(u32 s, const TensorMap *map, TW_ARGS coordinates, u32 bar, TW_LINE) { \
        int at[] = {__VA_ARGS__};                                                                  \
        TW_CALL(tma, EMU_LOAD, rank, map, at, s, bar, 0);                                          \
    }                                                                                              \
    TW_FN void tw_tma_multicast_##rank##d(u32 s, const TensorMap *map, TW_ARGS coordinates, u32 bar, u32 mask, TW_LINE) { \
        int at[] = {__VA_ARGS__};                                                                  \
        TW_CALL(tma, EMU_LOAD, rank, map, at, s, bar, mask);                                       \
    }                                                                                              \
    TW_FN void tw_tma_store_##rank##d(const TensorMap *map, TW_ARGS coordinates, u32 s, TW_LINE) { \
        int at[] = {__VA_ARGS__};                                                                  \
        TW_CALL(tma, EMU_STORE, rank, map, at, s, 0, 0);                                           \
    }                                                                                              \
    TW_FN void tw_tma_add_##rank##d(const TensorMap *map, TW_ARGS coordinates, u32 s, TW_LINE) {   \
        int at[] = {__VA_ARGS__};                                                                  \
        TW_CALL(tma, EMU_STORE_ADD, rank, map, at, s, 0, 0);                                       \
    }
TW_TMA(1, (i32 c0), c0)
TW_TMA(2, (i32 c0, i32 c1), c0, c1)
TW_TMA(3, (i32 c0, i32 c1, i32 c2), c0, c1, c2)
TW_TMA(4, (i32 c0, i32 c1, i32 c2, i32 c3), c0, c1, c2, c3)
TW_TMA(5, (i32 c0, i32 c1, i32 c2, i32 c3, i32 c4), c0, c1, c2, c3, c4)
TW_FN void tw_tma_prefetch(const TensorMap *) {}
TW_FN void tw_bulk_load(u32 s, const void *p, u32 bytes, u32 bar, TW_LINE) {
    TW_CALL(bulk, EMU_LOAD, s, const_cast<void *>(p), bytes, bar);
}
TW_FN void tw_bulk_store(void *p, u32 s, u32 bytes, TW_LINE) { TW_CALL(bulk, EMU_STORE, s, p, bytes, 0); }
TW_FN void tw_bulk_commit(TW_LINE) { TW_CALL(bulk_commit); }
TW_FN void tw_bulk_wait_read(i32 n, TW_LINE) { TW_CALL(bulk_wait, n, 1); }
TW_FN void tw_bulk_wait(i32 n, TW_LINE) { TW_CALL(bulk_wait, n, 0); }

/* ---- cp.async ---- */
TW_FN void tw_cp_async(int bytes, u32 s, const void *p, bool ok = true, TW_LINE) {
    TW_CALL(cp_async, s, p, bytes, ok);
}
TW_FN void tw_cp_async_commit(TW_LINE) { TW_CALL(cp_async_commit); }
TW_FN void tw_cp_async_wait(i32 n, TW_LINE) { TW_CALL(cp_async_wait, n); }
TW_FN void tw_cp_async_arrive(u32 bar, TW_LINE) { TW_CALL(cp_async_arrive, bar); }

/* ---- matrices ---- */
#define TW_MATRIX_MOVES(count)                                                                     \
    TW_FN void tw_ldmatrix_x##count(u32 *r, u32 s, TW_LINE) { TW_CALL(ldmatrix, r, s, count, 0); } \
    TW_FN void tw_ldmatrix_x##count##_trans(u32 *r, u32 s, TW_LINE) { TW_CALL(ldmatrix, r, s, count, 1); } \
    TW_FN void tw_stmatrix_x##count(u32 s, const u32 *r, TW_LINE) { TW_CALL(stmatrix, s, r, count, 0); } \
    TW_FN void tw_stmatrix_x##count##_trans(u32 s, const u32 *r, TW_LINE) { TW_CALL(stmatrix, s, r, count, 1); }
TW_MATRIX_MOVES(1)
TW_MATRIX_MOVES(2)
TW_MATRIX_MOVES(4)
#define TW_MMA(name, type)                                                                         \
    TW_FN void name(f32 *d, const u32 *a, const u32 *b, TW_LINE) { TW_CALL(mma, type, d, a, b); }
TW_MMA(tw_mma_f16, EMU_F16)
TW_MMA(tw_mma_bf16, EMU_BF16)
TW_MMA(tw_mma_tf32, EMU_TF32)
TW_MMA(tw_mma_e4m3, EMU_E4M3)
TW_MMA(tw_mma_e5m2, EMU_E5M2)
#define TW_MMA_INTEGER(name, type)                                                                 \
    TW_FN void name(i32 *d, const u32 *a, const u32 *b, TW_LINE) { TW_CALL(mma, type, (float *)d, a, b); }
TW_MMA_INTEGER(tw_mma_s8, EMU_I8)
TW_MMA_INTEGER(tw_mma_u8, EMU_U8)
#define TW_EMU_f16  EMU_F16
#define TW_EMU_bf16 EMU_BF16
#define TW_EMU_tf32 EMU_TF32
#define TW_EMU_e4m3 EMU_E4M3
#define TW_EMU_e5m2 EMU_E5M2
#define TW_EMU_s8   EMU_I8
#define TW_EMU_u8   EMU_U8
#define TW_WGMMA_SS(N, t, ta, tb)                                                                  \
    TW_FN void tw_wgmma_ss_##N##_##t##_##ta##tb(TW_D_##t *d, u64 a, u64 b, bool accumulate, TW_LINE) { \
        EmuWgmma op = {N, TW_EMU_##t, ta, tb, (float *)d, 0, a, b, accumulate};                             \
        TW_CALL(wgmma, &op);                                                                       \
    }
#define TW_WGMMA_RS(N, t, tb)                                                                      \
    TW_FN void tw_wgmma_rs_##N##_##t##_##tb(TW_D_##t *d, const u32 *a, u64 b, bool accumulate, TW_LINE) { \
        EmuWgmma op = {N, TW_EMU_##t, 0, tb, (float *)d, a, 0, b, accumulate};                              \
        TW_CALL(wgmma, &op);                                                                       \
    }
TW_FN void tw_wgmma_fence(TW_LINE) { TW_CALL(wgmma_fence); }
TW_FN void tw_wgmma_commit(TW_LINE) { TW_CALL(wgmma_commit); }
TW_FN void tw_wgmma_wait(i32 n, TW_LINE) { TW_CALL(wgmma_wait, n); }
#define tw_wgmma_settle(d) tw_wgmma_settle_all((float *)(d), (int)(sizeof(d) / sizeof *(d)))
TW_FN void tw_wgmma_settle_all(float *d, i32 count, TW_LINE) { TW_CALL(wgmma_settle, d, count); }

/* ---- other ---- */
TW_FN void tw_pdl_wait() {}
TW_FN void tw_pdl_launch() {}
#define tw_printf(...) tw_emu->call->print(tw_emu->emu, __VA_ARGS__)
TW_FN void tw_trap(const char *text, TW_LINE) { TW_CALL(trap, text); }
TW_FN void tw_assert(bool condition, const char *text, TW_LINE) { if (!condition) TW_CALL(trap, text); }
#endif
