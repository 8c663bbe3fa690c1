/* SPDX-License-Identifier: Apache-2.0 */
/* hip_device.h: the functions of tilewright_hip.h (legend in tilewright.cuh) that are instructions of AMD's GPUs, by the builtins
 * of clang, which hipRTC has too. Memory is C's own: the compiler places its waits (s_waitcnt) and sees through all of it. */
#ifndef TILEWRIGHT_HIP_DEVICE_H
#define TILEWRIGHT_HIP_DEVICE_H

#ifndef __global__
#define __global__ __attribute__((global))
#endif
/* Threads of a block, and (for the compiler's share of registers) blocks of a compute unit, whose waves four units run. */
#undef __launch_bounds__
#define __launch_bounds__(...)    TW_BOUNDS(__VA_ARGS__, 1, )
#define TW_BOUNDS(n, blocks, ...) \
    __attribute__((amdgpu_flat_work_group_size(n, n), amdgpu_waves_per_eu(((n) * (blocks) + 4 * TW_LANES - 1) / (4 * TW_LANES))))
#define TW_KERNEL(name)
#define TW_LANES __AMDGCN_WAVEFRONT_SIZE__

extern __attribute__((shared)) __attribute__((aligned(1024))) unsigned char tw_shared_memory[];

/* ---- place ---- */
TW_FN i32 tw_thread() { return (i32)__builtin_amdgcn_workitem_id_x(); }
TW_FN i32 tw_threads() { return (i32)__builtin_amdgcn_workgroup_size_x(); }
TW_FN i32 tw_lane() { return tw_thread() & (TW_LANES - 1); }
TW_FN i32 tw_uniform(i32 x) { return __builtin_amdgcn_readfirstlane(x); }
TW_FN i32 tw_warp() { return tw_uniform((i32)((u32)tw_thread() / TW_LANES)); }
TW_FN i32 tw_block_x() { return (i32)__builtin_amdgcn_workgroup_id_x(); }
TW_FN i32 tw_block_y() { return (i32)__builtin_amdgcn_workgroup_id_y(); }
TW_FN i32 tw_block_z() { return (i32)__builtin_amdgcn_workgroup_id_z(); }
TW_FN i32 tw_blocks_x() { return (i32)(__builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x()); }
TW_FN i32 tw_blocks_y() { return (i32)__builtin_amdgcn_grid_size_y(); } /* blocks are one thread high */
TW_FN i32 tw_blocks_z() { return (i32)__builtin_amdgcn_grid_size_z(); }

/* ---- instructions that are no C ---- */
TW_FN f32 tw_hw_f32(u16 f16_bits) { return (f32)__builtin_bit_cast(_Float16, f16_bits); }
TW_FN u16 tw_hw_f16(f32 x) { return __builtin_bit_cast(u16, (_Float16)x); }
TW_FN u32 tw_hw_perm(u32 high, u32 low, u32 which) { return __builtin_amdgcn_perm(high, low, which); }
TW_FN f32 tw_hw_exp2(f32 x) { return __builtin_amdgcn_exp2f(x); }
TW_FN f32 tw_hw_log2(f32 x) { return __builtin_amdgcn_logf(x); }
TW_FN f32 tw_hw_rcp(f32 x) { return __builtin_amdgcn_rcpf(x); }
TW_FN f32 tw_hw_sqrt(f32 x) { return __builtin_amdgcn_sqrtf(x); }
TW_FN f32 tw_hw_rsqrt(f32 x) { return __builtin_amdgcn_rsqf(x); }
#define tw_hw_dpp(x, control)     ((u32)__builtin_amdgcn_update_dpp(0, (i32)(x), control, 0xf, 0xf, true))
#define tw_hw_swizzle(x, pattern) ((u32)__builtin_amdgcn_ds_swizzle((i32)(x), pattern))
TW_FN u32 tw_hw_permute(u32 from, u32 x) { return (u32)__builtin_amdgcn_ds_bpermute((i32)(from * 4), (i32)x); }
TW_FN u64 tw_ballot(bool b) { return __builtin_amdgcn_ballot_w64(b); }
TW_FN bool tw_any(bool b) { return tw_ballot(b) != 0; }
TW_FN bool tw_all(bool b) { return tw_ballot(!b) == 0; }
TW_FN bool tw_elect() { return tw_lane() == 0; }

/* ---- waits ---- */
TW_FN void tw_sync_warp() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
TW_FN void tw_sync() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
/* Of the LDS alone. The compiler waits for loads of global memory before any barrier of its own on RDNA 3; those that run
 * ahead would be waited for where they are issued. */
TW_FN void tw_sync_shared() {
#ifdef __GFX11__
    asm volatile("s_waitcnt lgkmcnt(0)\n\ts_barrier" ::: "memory");
#else
    tw_sync();
#endif
}
TW_FN void tw_fence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
TW_FN void tw_fence_device() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
TW_FN void tw_fence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }

/* ---- moves of 1, 2, 4, 8 or 16 bytes; `bytes` is a constant once inlined ---- */
typedef u32 TwTwo __attribute__((ext_vector_type(2)));
typedef u32 TwFour __attribute__((ext_vector_type(4)));
#define TW_MOVE_IN(bytes, to, p, read)                                                             \
    if (bytes == 16) { const TwFour v = read((const TwFour *)(p)); memcpy(to, &v, 16); }           \
    else if (bytes == 8) { const TwTwo v = read((const TwTwo *)(p)); memcpy(to, &v, 8); }          \
    else if (bytes == 4) { const u32 v = read((const u32 *)(p)); memcpy(to, &v, 4); }              \
    else if (bytes == 2) { const u16 v = read((const u16 *)(p)); memcpy(to, &v, 2); }              \
    else { const u8 v = read((const u8 *)(p)); memcpy(to, &v, 1); }
#define TW_MOVE_OUT(bytes, p, from, write)                                                         \
    if (bytes == 16) { TwFour v; memcpy(&v, from, 16); write(v, (TwFour *)(p)); }                  \
    else if (bytes == 8) { TwTwo v; memcpy(&v, from, 8); write(v, (TwTwo *)(p)); }                 \
    else if (bytes == 4) { u32 v; memcpy(&v, from, 4); write(v, (u32 *)(p)); }                     \
    else if (bytes == 2) { u16 v; memcpy(&v, from, 2); write(v, (u16 *)(p)); }                     \
    else { u8 v; memcpy(&v, from, 1); write(v, (u8 *)(p)); }
#define TW_READ(p)           (*(p))
#define TW_WRITE(v, p)       (*(p) = (v))
#define TW_READ_VOLATILE(p)  (*(const volatile __typeof__(*(p)) *)(p))
#define TW_READ_ONCE(p)      __builtin_nontemporal_load(p)
#define TW_WRITE_ONCE(v, p)  __builtin_nontemporal_store(v, p)
TW_FN void tw_ldg_bytes(int bytes, void *to, const void *p) { TW_MOVE_IN(bytes, to, p, TW_READ) }
TW_FN void tw_ldg_nc_bytes(int bytes, void *to, const void *p) { TW_MOVE_IN(bytes, to, p, TW_READ_ONCE) }
TW_FN void tw_ldg_volatile_bytes(int bytes, void *to, const void *p) { TW_MOVE_IN(bytes, to, p, TW_READ_VOLATILE) }
TW_FN void tw_stg_bytes(int bytes, void *p, const void *from) { TW_MOVE_OUT(bytes, p, from, TW_WRITE) }
TW_FN void tw_stg_cs_bytes(int bytes, void *p, const void *from) { TW_MOVE_OUT(bytes, p, from, TW_WRITE_ONCE) }
TW_FN void tw_stg_bytes_if(int bytes, bool on, void *p, const void *from) { if (on) tw_stg_bytes(bytes, p, from); }
/* 16 bytes of elements of that size from wherever they lie: one load, the memory takes any address. */
/* From a base that is the same in all lanes; TW_BEYOND bytes behind it and farther is nothing but zeros. */
#define TW_BEYOND 0x80000000u
#ifdef __GFX11__
#define TW_BUFFER_FORMAT 0x31004000
#else
#define TW_BUFFER_FORMAT 0x00020000
#endif
TW_FN __amdgpu_buffer_rsrc_t tw_buffer(const void *base) {
    const u64 place = (u64)(u32)tw_uniform((i32)(u64)base) | (u64)(u32)tw_uniform((i32)((u64)base >> 32)) << 32;
    return __builtin_amdgcn_make_buffer_rsrc((void *)place, 0, (i32)TW_BEYOND, TW_BUFFER_FORMAT);
}
TW_FN void tw_ldg_bounded_bytes(int bytes, void *to, const void *base, u32 at) {
    const __amdgpu_buffer_rsrc_t all = tw_buffer(base);
    if (bytes == 16) { const TwFour v = __builtin_amdgcn_raw_buffer_load_b128(all, (i32)at, 0, 0); memcpy(to, &v, 16); }
    else if (bytes == 8) { const TwTwo v = __builtin_amdgcn_raw_buffer_load_b64(all, (i32)at, 0, 0); memcpy(to, &v, 8); }
    else if (bytes == 4) { const u32 v = __builtin_amdgcn_raw_buffer_load_b32(all, (i32)at, 0, 0); memcpy(to, &v, 4); }
    else if (bytes == 2) { const u16 v = (u16)__builtin_amdgcn_raw_buffer_load_b16(all, (i32)at, 0, 0); memcpy(to, &v, 2); }
    else { const u8 v = (u8)__builtin_amdgcn_raw_buffer_load_b8(all, (i32)at, 0, 0); memcpy(to, &v, 1); }
}
TW_FN void tw_stg_bounded_bytes(int bytes, void *base, u32 at, const void *from) {
    const __amdgpu_buffer_rsrc_t all = tw_buffer(base);
    if (bytes == 16) { TwFour v; memcpy(&v, from, 16); __builtin_amdgcn_raw_buffer_store_b128(v, all, (i32)at, 0, 0); }
    else if (bytes == 8) { TwTwo v; memcpy(&v, from, 8); __builtin_amdgcn_raw_buffer_store_b64(v, all, (i32)at, 0, 0); }
    else if (bytes == 4) { u32 v; memcpy(&v, from, 4); __builtin_amdgcn_raw_buffer_store_b32(v, all, (i32)at, 0, 0); }
    else if (bytes == 2) { u16 v; memcpy(&v, from, 2); __builtin_amdgcn_raw_buffer_store_b16(v, all, (i32)at, 0, 0); }
    else { u8 v; memcpy(&v, from, 1); __builtin_amdgcn_raw_buffer_store_b8(v, all, (i32)at, 0, 0); }
}
typedef TwFour TwFourAnywhere __attribute__((aligned(1)));
TW_FN void tw_ldg_anywhere(int, void *to, const void *p) {
    const TwFour v = *(const TwFourAnywhere *)p;
    memcpy(to, &v, 16);
}
/* Hints: what is read or written once leaves the caches first; the others are CUDA's alone. */
TW_FN void tw_ldg_hinted_bytes(int bytes, bool on, u32 *w, const void *p, int hint) {
    if (!on) return;
    if (hint == TW_CV) tw_ldg_volatile_bytes(bytes, w, p);
    else if (hint == TW_CS || hint == TW_EVICT_FIRST) tw_ldg_nc_bytes(bytes, w, p);
    else tw_ldg_bytes(bytes, w, p);
}
TW_FN void tw_stg_hinted_bytes(int bytes, bool on, void *p, const u32 *w, int hint) {
    if (!on) return;
    if (hint == TW_CS || hint == TW_EVICT_FIRST) tw_stg_cs_bytes(bytes, p, w);
    else tw_stg_bytes(bytes, p, w);
}
TW_FN void tw_ldg_pairs(int count, bool on, u32 *to, const void *p, u32 fill) {
    for (int i = 0; i < count; i++) to[i] = fill;
    if (on) tw_ldg_bytes(4 * count, to, p);
}
TW_FN u16 tw_ldg_half(bool on, const void *p, u16 fill) { return on ? *(const u16 *)p : fill; }
TW_FN u32 tw_zero() {
    u32 zero;
    asm volatile("v_mov_b32 %0, 0" : "=v"(zero));
    return zero;
}
TW_FN u32 tw_own_zero() {
    u32 zero;
    asm("v_mov_b32 %0, 0" : "=v"(zero));
    return zero;
}
#define tw_at_edge() asm volatile("; at an edge") /* no instruction */
#define tw_anew(x) asm("" : "+v"(x)) /* for the compiler another number */
#define tw_own(p) ((p) + tw_own_zero())

/* ---- shared memory ---- */
TW_FN void tw_lds_bytes(int bytes, void *to, u32 s) { TW_MOVE_IN(bytes, to, tw_shared_memory + s, TW_READ) }
TW_FN void tw_sts_bytes(int bytes, u32 s, const void *from) { TW_MOVE_OUT(bytes, tw_shared_memory + s, from, TW_WRITE) }
TW_FN void tw_sts_bytes_if(int bytes, bool on, u32 s, const void *from) { if (on) tw_sts_bytes(bytes, s, from); }
#define TW_SHARED_ATOMIC(name)                                                                     \
    TW_FN void tw_atomic_##name##_shared(u32 s, i32 v) {                                           \
        __hip_atomic_fetch_##name((i32 *)(tw_shared_memory + s), v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP); \
    }
TW_SHARED_ATOMIC(add)
TW_SHARED_ATOMIC(max)
#define TW_TREE(op, x, s, ...)                                                                     \
    do {                                                                                           \
        const u32 tw_at[] = {__VA_ARGS__}, tw_s = s;                                               \
        f32 tw_all[sizeof tw_at / 4];                                                              \
        _Pragma("unroll") for (u32 i = 0; i < sizeof tw_at / 4; i++) tw_lds(1, tw_all + i, tw_s + tw_at[i]); \
        _Pragma("unroll") for (u32 by = 1; by < sizeof tw_at / 4; by *= 2)                         \
            _Pragma("unroll") for (u32 i = 0; i < sizeof tw_at / 4; i += 2 * by)                   \
                tw_all[i] = TW_BOTH_##op(tw_all[i], tw_all[i + by]);                               \
        x = tw_all[0];                                                                             \
    } while (0)
#define tw_lds_tree_2 TW_TREE
#define tw_lds_tree_4 TW_TREE
#define tw_lds_tree_8 TW_TREE

/* ---- copies past the registers: a word a lane, side by side from s (of the first lane) on; zeros where not on ---- */
#ifdef __GFX9__
#ifdef __gfx90a__
#define TW_LOAD_TO_LDS "global_load_dword %1, off lds"
#else
#define TW_LOAD_TO_LDS "global_load_lds_dword %1, off"
#endif
static __attribute__((device)) const u32 tw_nothing[4] = {0, 0, 0, 0};
TW_FN void tw_copy_wave(u32 s, const void *p, bool on) {
    const void *from = on ? p : (const void *)tw_nothing;
    asm volatile("s_mov_b32 m0, %0\n\ts_nop 0\n\t" TW_LOAD_TO_LDS :: "s"(tw_uniform((i32)s)), "v"(from) : "memory");
}
TW_FN void tw_copy_wave_near(u32 s, const void *base, u32 at) {
    asm volatile("s_mov_b32 m0, %0\n\ts_nop 0\n\tbuffer_load_dword %1, %2, 0 offen lds"
                 :: "s"(tw_uniform((i32)s)), "v"(at), "s"(tw_buffer(base)) : "memory");
}
#define tw_copies_wait(n) asm volatile("s_waitcnt vmcnt(" #n ")" ::: "memory")
#endif

/* ---- atomics: for the GPU, and as name_system for all that share its memory ---- */
#define TW_ATOMIC_AS(name, reach, T, builtin)                                                      \
    TW_FN T name(T *p, T v) { return builtin(p, v, __ATOMIC_RELAXED, reach); }
#define TW_ATOMIC(name, T, builtin)                                                                \
    TW_ATOMIC_AS(tw_atomic_##name, __HIP_MEMORY_SCOPE_AGENT, T, builtin)                           \
    TW_ATOMIC_AS(tw_atomic_##name##_system, __HIP_MEMORY_SCOPE_SYSTEM, T, builtin)
#define TW_ATOMIC_ALL(name, builtin)                                                               \
    TW_ATOMIC(name, i32, builtin) TW_ATOMIC(name, u32, builtin) TW_ATOMIC(name, i64, builtin) TW_ATOMIC(name, u64, builtin)
TW_ATOMIC_ALL(add, __hip_atomic_fetch_add)
TW_ATOMIC_ALL(min, __hip_atomic_fetch_min)
TW_ATOMIC_ALL(max, __hip_atomic_fetch_max)
TW_ATOMIC_ALL(and, __hip_atomic_fetch_and)
TW_ATOMIC_ALL(or, __hip_atomic_fetch_or)
TW_ATOMIC_ALL(xor, __hip_atomic_fetch_xor)
TW_ATOMIC_ALL(xchg, __hip_atomic_exchange)
TW_ATOMIC(add, f32, __hip_atomic_fetch_add)
TW_ATOMIC(add, f64, __hip_atomic_fetch_add)
TW_ATOMIC(xchg, f32, __hip_atomic_exchange)
#define TW_CAS_WORD(name, T, order, reach)                                                         \
    TW_FN T name(T *p, T expect, T v) {                                                            \
        __hip_atomic_compare_exchange_strong(p, &expect, v, order, __ATOMIC_RELAXED, reach);       \
        return expect;                                                                             \
    }
/* A byte or a half of a word that others may change meanwhile. */
#define TW_CAS_PART(name, T)                                                                       \
    TW_FN T name(T *p, T expect, T v) {                                                            \
        u32 *word = (u32 *)((u64)p & ~3ull), shift = (u32)((u64)p & 3) * 8, all = (T)~(T)0, old = *(volatile u32 *)word; \
        for (;;) {                                                                                 \
            if ((T)(old >> shift) != expect) return (T)(old >> shift);                             \
            const u32 seen = name(word, old, (old & ~(all << shift)) | (u32)v << shift);           \
            if (seen == old) return expect;                                                        \
            old = seen;                                                                            \
        }                                                                                          \
    }
#define TW_CAS_ALL(name, reach)                                                                    \
    TW_CAS_WORD(name, u32, __ATOMIC_RELAXED, reach) TW_CAS_WORD(name, u64, __ATOMIC_RELAXED, reach) \
    TW_CAS_PART(name, u16) TW_CAS_PART(name, u8)
TW_CAS_ALL(tw_cas_bits, __HIP_MEMORY_SCOPE_AGENT)
TW_CAS_ALL(tw_cas_bits_system, __HIP_MEMORY_SCOPE_SYSTEM)
/* One thread's, with its order and its reach. */
#define TW_REACH_cta     __HIP_MEMORY_SCOPE_WORKGROUP
#define TW_REACH_gpu     __HIP_MEMORY_SCOPE_AGENT
#define TW_REACH_sys     __HIP_MEMORY_SCOPE_SYSTEM
#define TW_ORDER_relaxed __ATOMIC_RELAXED
#define TW_ORDER_acquire __ATOMIC_ACQUIRE
#define TW_ORDER_release __ATOMIC_RELEASE
#define TW_ORDER_acq_rel __ATOMIC_ACQ_REL
#define TW_ATOM_add  __hip_atomic_fetch_add
#define TW_ATOM_min  __hip_atomic_fetch_min
#define TW_ATOM_max  __hip_atomic_fetch_max
#define TW_ATOM_and  __hip_atomic_fetch_and
#define TW_ATOM_or   __hip_atomic_fetch_or
#define TW_ATOM_xor  __hip_atomic_fetch_xor
#define TW_ATOM_exch __hip_atomic_exchange
#define TW_ATOM(reach, sem, name, type, old, p, v) ((old) = TW_ATOM_##name(p, v, TW_ORDER_##sem, TW_REACH_##reach))
#define TW_ATOM_CAS(reach, sem, size, old, p, expect, v)                                           \
    do {                                                                                           \
        u##size bits = tw_bits(expect);                                                            \
        __hip_atomic_compare_exchange_strong((u##size *)(p), &bits, tw_bits(v), TW_ORDER_##sem, __ATOMIC_RELAXED, TW_REACH_##reach); \
        memcpy(&(old), &bits, sizeof bits);                                                        \
    } while (0)

/* ---- other ---- */
TW_FN void tw_unused(const void *) {}
#define tw_trap(text)              __builtin_trap()
#define tw_assert(condition, text) do { if (!(condition)) __builtin_trap(); } while (0)
#endif
