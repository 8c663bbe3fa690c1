/* SPDX-License-Identifier: Apache-2.0 */
/* device.cuh: the functions of tilewright.cuh (legend there) for sm_90a, around PTX.
 *
 * Loads from global memory are plain dereferences, so that the compiler may schedule them; all else that touches
 * memory or synchronises is `asm volatile` with a memory clobber, which keeps program order. No header is needed
 * beyond what NVRTC has built in. wgmma is in wgmma.cuh. */
#ifndef TILEWRIGHT_DEVICE_CUH
#define TILEWRIGHT_DEVICE_CUH

#define TW_KERNEL(name)

extern __shared__ __align__(1024) unsigned char tw_shared_memory[];
TW_FN u32 tw_shared(u32 s) { return (u32)__cvta_generic_to_shared(tw_shared_memory) + s; }

/* ---- place ---- */
TW_FN i32 tw_thread() { return (i32)threadIdx.x; }
TW_FN i32 tw_threads() { return (i32)blockDim.x; }
TW_FN i32 tw_lane() { return (i32)(threadIdx.x & 31); }
TW_FN i32 tw_uniform(i32 x) { return __shfl_sync(0xffffffffu, x, 0); }
TW_FN i32 tw_warp() { return tw_uniform((i32)(threadIdx.x >> 5)); }
TW_FN i32 tw_block_x() { return (i32)blockIdx.x; }
TW_FN i32 tw_block_y() { return (i32)blockIdx.y; }
TW_FN i32 tw_block_z() { return (i32)blockIdx.z; }
TW_FN i32 tw_blocks_x() { return (i32)gridDim.x; }
TW_FN i32 tw_blocks_y() { return (i32)gridDim.y; }
TW_FN i32 tw_blocks_z() { return (i32)gridDim.z; }
TW_FN bool tw_elect() {
    u32 yes;
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(yes));
    return yes != 0;
}

/* ---- conversions ---- */
TW_FN f32 tw_f32(f16 x) {
    f32 r;
    asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x.bits));
    return r;
}
/* As halves of a word: of one that was loaded whole either half takes one instruction, which a shift of 16 bits does not. */
TW_FN f32 tw_f32(bf16 x) {
    f32 wide;
    asm("{ .reg .b16 low; mov.b16 low, 0; mov.b32 %0, {low, %1}; }" : "=f"(wide) : "h"(x.bits));
    return wide;
}
TW_FN f32 tw_f32(e5m2 x) { return tw_f32(f16{(u16)(x.bits << 8)}); }
TW_FN f16 tw_f16(f32 x) {
    f16 r;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
    return r;
}
TW_FN f16 tw_f16(f64 x) {
    f16 r;
    asm("cvt.rn.f16.f64 %0, %1;" : "=h"(r.bits) : "d"(x));
    return r;
}
TW_FN bf16 tw_bf16(f32 x) {
    bf16 r;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
    return r;
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
TW_FN f32 tw_f32(e4m3 x) {
    u32 pair;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"((u16)x.bits));
    return tw_f32(f16{(u16)pair});
}
TW_FN e4m3 tw_e4m3(f32 x) {
    u16 r;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(0.0f), "f"(x));
    return e4m3{(u8)r};
}
TW_FN e5m2 tw_e5m2(f32 x) {
    u16 r;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(r) : "f"(0.0f), "f"(x));
    return e5m2{(u8)r};
}
#define TW_PACK_BYTES(type)                                                                        \
    TW_FN u32 tw_pack_##type(f32 x0, f32 x1, f32 x2, f32 x3) {                                     \
        u32 r;                                                                                     \
        asm("{.reg .b16 lo, hi;\ncvt.rn.satfinite." #type "x2.f32 lo, %2, %1;\n"                   \
            "cvt.rn.satfinite." #type "x2.f32 hi, %4, %3;\nmov.b32 %0, {lo, hi};}"                 \
            : "=r"(r)                                                                              \
            : "f"(x0), "f"(x1), "f"(x2), "f"(x3));                                                 \
        return r;                                                                                  \
    }
TW_PACK_BYTES(e4m3)
TW_PACK_BYTES(e5m2)
#define TW_HAS_TWO_BYTES /* memcpy: what would be put together of single bytes stays two instructions more */
#define TW_TWO_BYTES(T)                                                                            \
    TW_FN void tw_two_##T(T *to, f32 x, f32 y) {                                                   \
        u16 both;                                                                                  \
        asm("cvt.rn.satfinite." #T "x2.f32 %0, %2, %1;" : "=h"(both) : "f"(x), "f"(y));            \
        memcpy(to, &both, 2);                                                                      \
    }                                                                                              \
    TW_FN void tw_two_f32(f32 *to, const T *from) {                                                \
        u16 both;                                                                                  \
        u32 pair;                                                                                  \
        memcpy(&both, from, 2);                                                                    \
        asm("cvt.rn.f16x2." #T "x2 %0, %1;" : "=r"(pair) : "h"(both));                             \
        to[0] = tw_f32(f16{(u16)pair}), to[1] = tw_f32(f16{(u16)(pair >> 16)});                    \
    }
TW_TWO_BYTES(e4m3)
TW_TWO_BYTES(e5m2)
#else
#include "f8.cuh"
#endif
TW_FN u32 tw_tf32(f32 x) {
    u32 r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    return r;
}
TW_FN u32 tw_pack_f16(f32 lo, f32 hi) {
    u32 r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
    return r;
}
TW_FN u32 tw_pack_bf16(f32 lo, f32 hi) {
    u32 r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
    return r;
}
TW_FN f32 tw_lo_f16(u32 x) { return tw_f32(f16{(u16)x}); }
TW_FN f32 tw_hi_f16(u32 x) { return tw_f32(f16{(u16)(x >> 16)}); }
TW_FN f32 tw_lo_bf16(u32 x) { return tw_as_f32(x << 16); }
TW_FN f32 tw_hi_bf16(u32 x) { return tw_as_f32(x & 0xffff0000u); }
#define TW_TESTS_BITS /* nobody sees through, or shifts the bit down first */
TW_FN bool tw_bit(u32 x, u32 bit) {
    u32 r;
    asm("and.b32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(bit));
    return r != 0;
}
#define TW_PAIRS(name, instruction)                                                                \
    TW_FN u32 name(u32 x, u32 y) {                                                                 \
        u32 r;                                                                                     \
        asm(instruction : "=r"(r) : "r"(x), "r"(y));                                               \
        return r;                                                                                  \
    }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
TW_PAIRS(tw_add_bf16x2, "add.rn.bf16x2 %0, %1, %2;")
TW_PAIRS(tw_sub_bf16x2, "sub.rn.bf16x2 %0, %1, %2;")
#define TW_SUMS_HALVES /* by one instruction, which takes and gives halves of words */
TW_FN f32 tw_sum_bf16(f32 x, f32 y) {
    u16 sum;
    asm("add.rn.bf16 %0, %1, %2;" : "=h"(sum) : "h"((u16)(tw_as_u32(x) >> 16)), "h"((u16)(tw_as_u32(y) >> 16)));
    return tw_as_f32((u32)sum << 16);
}
#else /* times 1, times -1 */
TW_PAIRS(tw_add_bf16x2, "{.reg .b32 one;\nmov.b32 one, 0x3f803f80;\nfma.rn.bf16x2 %0, %1, one, %2;}")
TW_PAIRS(tw_sub_bf16x2, "{.reg .b32 one;\nmov.b32 one, 0xbf80bf80;\nfma.rn.bf16x2 %0, %2, one, %1;}")
#endif
TW_PAIRS(tw_add_f16x2, "add.rn.f16x2 %0, %1, %2;")
TW_PAIRS(tw_sub_f16x2, "sub.rn.f16x2 %0, %1, %2;")
TW_PAIRS(tw_mul_f16x2, "mul.rn.f16x2 %0, %1, %2;")
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
TW_FN u32 tw_pack_f16(e4m3 lo, e4m3 hi) {
    u32 r;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"((u16)(lo.bits | hi.bits << 8)));
    return r;
}
#else
TW_FN u32 tw_pack_f16(e4m3 lo, e4m3 hi) { return tw_pack_f16(tw_f32(lo), tw_f32(hi)); }
#endif
TW_FN u32 tw_pack_bf16(e4m3 lo, e4m3 hi) {
    u32 pair = tw_pack_f16(lo, hi);
    return tw_pack_bf16(tw_lo_f16(pair), tw_hi_f16(pair));
}
TW_FN u32 tw_prmt(u32 x, u32 y, u32 which) { return __byte_perm(x, y, which); }
TW_FN i32 tw_i32(f32 x) { return __float2int_rz(x); }
TW_FN u32 tw_u32(f32 x) { return __float2uint_rz(x); }
TW_FN i64 tw_i64(f32 x) { return x != x ? 0 : __float2ll_rz(x); }
TW_FN u64 tw_u64(f32 x) { return x != x ? 0 : __float2ull_rz(x); }
TW_FN i32 tw_i32(f64 x) { return x != x ? 0 : __double2int_rz(x); }
TW_FN u32 tw_u32(f64 x) { return x != x ? 0 : __double2uint_rz(x); }
TW_FN i64 tw_i64(f64 x) { return x != x ? 0 : __double2ll_rz(x); }
TW_FN u64 tw_u64(f64 x) { return x != x ? 0 : __double2ull_rz(x); }

/* ---- arithmetic that C cannot say ---- */
/* One instruction. From a product in C, whose factors the compiler may know to have no sign, it makes four. */
TW_FN i64 tw_mul_wide(i32 x, i32 y) {
    i64 xy;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(xy) : "r"(x), "r"(y));
    return xy;
}
TW_FN i64 tw_mulhi(i64 x, i64 y) { return __mul64hi(x, y); }
TW_FN u64 tw_mulhi(u64 x, u64 y) { return __umul64hi(x, y); }
TW_FN i32 tw_popc(u32 x) { return __popc(x); }
TW_FN i32 tw_popc(i32 x) { return __popc((u32)x); }
TW_FN i32 tw_popc(u64 x) { return __popcll(x); }
TW_FN i32 tw_popc(i64 x) { return __popcll((u64)x); }
TW_FN i32 tw_clz(u32 x) { return __clz((i32)x); }
TW_FN i32 tw_clz(i32 x) { return __clz(x); }
TW_FN i32 tw_clz(u64 x) { return __clzll((i64)x); }
TW_FN i32 tw_clz(i64 x) { return __clzll(x); }
TW_FN f32 tw_min_nan(f32 x, f32 y) {
    f32 r;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
    return r;
}
TW_FN f32 tw_max_nan(f32 x, f32 y) {
    f32 r;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
    return r;
}
TW_FN f32 tw_rsqrt(f32 x) { return rsqrtf(x); }
TW_FN f64 tw_rsqrt(f64 x) { return rsqrt(x); }
#define TW_APPROX(name, instruction)                                                               \
    TW_FN f32 name(f32 x) {                                                                        \
        f32 r;                                                                                     \
        asm(instruction " %0, %1;" : "=f"(r) : "f"(x));                                            \
        return r;                                                                                  \
    }
TW_APPROX(tw_exp2_fast, "ex2.approx.ftz.f32")     /* 2^-22.5 relative, 3 ulp; subnormals are 0 */
TW_APPROX(tw_log2_fast, "lg2.approx.ftz.f32")     /* 2^-22 absolute in 0.5..2, 2 ulp outside */
TW_APPROX(tw_rcp_fast, "rcp.approx.ftz.f32")      /* 1 ulp */
TW_APPROX(tw_sqrt_fast, "sqrt.approx.ftz.f32")    /* 2^-23 relative: 1 ulp */
TW_APPROX(tw_rsqrt_fast, "rsqrt.approx.ftz.f32")  /* 2^-22.9 relative: 2 ulp */
TW_APPROX(tw_sin_fast, "sin.approx.ftz.f32")      /* 2^-20.9 absolute in -pi..pi */
TW_APPROX(tw_cos_fast, "cos.approx.ftz.f32")      /* 2^-20.9 absolute in -pi..pi */
TW_APPROX(tw_tanh_fast, "tanh.approx.f32")        /* 2^-11 relative */
/* The product with log2(e) is rounded once, so the error grows with |x|: 3 + |1.18 x| ulp. */
TW_FN f32 tw_exp_fast(f32 x) { return tw_exp2_fast(x * 1.4426950408889634f); }
/* That of tw_log2_fast, plus one rounding. */
TW_FN f32 tw_log_fast(f32 x) { return tw_log2_fast(x) * 0.6931471805599453f; }
/* 2 ulp over the whole range of y. */
TW_FN f32 tw_div_fast(f32 x, f32 y) {
    f32 r;
    asm("div.full.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
    return r;
}

/* The same where one number divides many: what div.full does, its reciprocal once. */
typedef struct TwOver { f32 scale, reciprocal; } TwOver;
TW_FN TwOver tw_over(f32 y) {
    const f32 scale = tw_abs(y) > 0x1p126f ? 0.25f : tw_abs(y) < 0x1p-126f ? 0x1p24f : 1.0f;
    f32 reciprocal; /* of a number in the middle of the range: nothing to flush */
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(y * scale));
    return TwOver{scale, reciprocal};
}
TW_FN f32 tw_div_over(f32 x, TwOver over) { return x * over.scale * over.reciprocal; }

/* ---- moves of 1, 2, 4, 8 or 16 bytes; `bytes` is a constant once inlined, so one branch of each remains ---- */
#define TW_LOAD_BYTES(kind, op, bytes, to, address, constraint)                                    \
    u32 w[4];                                                                                      \
    if (bytes == 16)                                                                               \
        asm kind(op ".v4.b32 {%0, %1, %2, %3}, [%4];"                                              \
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : constraint(address));          \
    else if (bytes == 8)                                                                           \
        asm kind(op ".v2.b32 {%0, %1}, [%2];" : "=r"(w[0]), "=r"(w[1]) : constraint(address));     \
    else if (bytes == 4) asm kind(op ".b32 %0, [%1];" : "=r"(w[0]) : constraint(address));         \
    else if (bytes == 2) asm kind(op ".u16 %0, [%1];" : "=r"(w[0]) : constraint(address));         \
    else asm kind(op ".u8 %0, [%1];" : "=r"(w[0]) : constraint(address));                          \
    memcpy(to, w, (size_t)bytes);
#define TW_STORE_BYTES(op, bytes, address, from, constraint)                                       \
    u32 w[4] = {0, 0, 0, 0};                                                                       \
    memcpy(w, from, (size_t)bytes);                                                                \
    if (bytes == 16)                                                                               \
        asm volatile(op ".v4.b32 [%4], {%0, %1, %2, %3};" ::"r"(w[0]), "r"(w[1]), "r"(w[2]),       \
                     "r"(w[3]), constraint(address) : "memory");                                   \
    else if (bytes == 8)                                                                           \
        asm volatile(op ".v2.b32 [%2], {%0, %1};" ::"r"(w[0]), "r"(w[1]), constraint(address)      \
                     : "memory");                                                                  \
    else if (bytes == 4) asm volatile(op ".b32 [%1], %0;" ::"r"(w[0]), constraint(address) : "memory"); \
    else if (bytes == 2) asm volatile(op ".u16 [%1], %0;" ::"r"(w[0]), constraint(address) : "memory"); \
    else asm volatile(op ".u8 [%1], %0;" ::"r"(w[0]), constraint(address) : "memory");
/* A branch around a store would keep the compiler from moving what computes the next one. */
#define TW_PREDICATED(yes, store) "{\n.reg .pred p;\nsetp.ne.u32 p, " yes ", 0;\n@p " store ";\n}"
#define TW_STORE_BYTES_IF(op, bytes, on, address, from, constraint)                                \
    u32 w[4] = {0, 0, 0, 0};                                                                       \
    memcpy(w, from, (size_t)bytes);                                                                \
    TW_STORE_WORDS_IF(op, bytes, on, address, w, constraint)
#define TW_STORE_WORDS_IF(op, bytes, on, address, w, constraint)                                   \
    if (bytes == 16)                                                                               \
        asm volatile(TW_PREDICATED("%5", op ".v4.b32 [%4], {%0, %1, %2, %3}") ::"r"(w[0]),         \
                     "r"(w[1]), "r"(w[2]), "r"(w[3]), constraint(address), "r"((u32)on) : "memory"); \
    else if (bytes == 8)                                                                           \
        asm volatile(TW_PREDICATED("%3", op ".v2.b32 [%2], {%0, %1}") ::"r"(w[0]), "r"(w[1]),      \
                     constraint(address), "r"((u32)on) : "memory");                                \
    else if (bytes == 4)                                                                           \
        asm volatile(TW_PREDICATED("%2", op ".b32 [%1], %0") ::"r"(w[0]), constraint(address),     \
                     "r"((u32)on) : "memory");                                                     \
    else if (bytes == 2)                                                                           \
        asm volatile(TW_PREDICATED("%2", op ".u16 [%1], %0") ::"r"(w[0]), constraint(address),     \
                     "r"((u32)on) : "memory");                                                     \
    else                                                                                           \
        asm volatile(TW_PREDICATED("%2", op ".u8 [%1], %0") ::"r"(w[0]), constraint(address),      \
                     "r"((u32)on) : "memory");

/* ---- accesses with a hint (TW_CA ..), which is a constant too ---- */
#define TW_HINTED(policy, yes, access)                                                             \
    "{\n.reg .pred p;\n.reg .b64 policy;\n" policy "setp.ne.u32 p, " yes ", 0;\n@p " access ";\n}"
#define TW_POLICY(name) "createpolicy.fractional.L2::evict_" #name ".b64 policy, 1.0;\n"
#define TW_LOAD_HINTED(policy, op, tail)                                                           \
    if (bytes == 16)                                                                               \
        asm volatile(TW_HINTED(policy, "%5", "ld.global" op ".v4.b32 {%0, %1, %2, %3}, [%4]" tail) \
                     : "+r"(w[0]), "+r"(w[1]), "+r"(w[2]), "+r"(w[3]) : "l"(p), "r"((u32)on) : "memory"); \
    else if (bytes == 8)                                                                           \
        asm volatile(TW_HINTED(policy, "%3", "ld.global" op ".v2.b32 {%0, %1}, [%2]" tail)         \
                     : "+r"(w[0]), "+r"(w[1]) : "l"(p), "r"((u32)on) : "memory");                  \
    else if (bytes == 4)                                                                           \
        asm volatile(TW_HINTED(policy, "%2", "ld.global" op ".b32 %0, [%1]" tail) : "+r"(w[0]) : "l"(p), "r"((u32)on) : "memory"); \
    else if (bytes == 2)                                                                           \
        asm volatile(TW_HINTED(policy, "%2", "ld.global" op ".u16 %0, [%1]" tail) : "+r"(w[0]) : "l"(p), "r"((u32)on) : "memory"); \
    else asm volatile(TW_HINTED(policy, "%2", "ld.global" op ".u8 %0, [%1]" tail) : "+r"(w[0]) : "l"(p), "r"((u32)on) : "memory");
TW_FN void tw_ldg_hinted_bytes(int bytes, bool on, u32 *w, const void *p, int hint) {
    if (hint == TW_EVICT_FIRST) { TW_LOAD_HINTED(TW_POLICY(first), ".L1::evict_first.L2::cache_hint", ", policy") }
    else if (hint == TW_EVICT_LAST) { TW_LOAD_HINTED(TW_POLICY(last), ".L1::evict_last.L2::cache_hint", ", policy") }
    else if (hint == TW_CA) { TW_LOAD_HINTED("", ".ca", "") }
    else if (hint == TW_CG) { TW_LOAD_HINTED("", ".cg", "") }
    else if (hint == TW_CS) { TW_LOAD_HINTED("", ".cs", "") }
    else { TW_LOAD_HINTED("", ".cv", "") }
}
#define TW_STORE_HINTED(policy, op, tail)                                                          \
    if (bytes == 16)                                                                               \
        asm volatile(TW_HINTED(policy, "%5", "st.global" op ".v4.b32 [%4], {%0, %1, %2, %3}" tail) \
                     ::"r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "l"(p), "r"((u32)on) : "memory"); \
    else if (bytes == 8)                                                                           \
        asm volatile(TW_HINTED(policy, "%3", "st.global" op ".v2.b32 [%2], {%0, %1}" tail)         \
                     ::"r"(w[0]), "r"(w[1]), "l"(p), "r"((u32)on) : "memory");                     \
    else if (bytes == 4)                                                                           \
        asm volatile(TW_HINTED(policy, "%2", "st.global" op ".b32 [%1], %0" tail) ::"r"(w[0]), "l"(p), "r"((u32)on) : "memory"); \
    else if (bytes == 2)                                                                           \
        asm volatile(TW_HINTED(policy, "%2", "st.global" op ".u16 [%1], %0" tail) ::"r"(w[0]), "l"(p), "r"((u32)on) : "memory"); \
    else asm volatile(TW_HINTED(policy, "%2", "st.global" op ".u8 [%1], %0" tail) ::"r"(w[0]), "l"(p), "r"((u32)on) : "memory");
TW_FN void tw_stg_hinted_bytes(int bytes, bool on, void *p, const u32 *w, int hint) {
    if (hint == TW_EVICT_FIRST) { TW_STORE_HINTED(TW_POLICY(first), ".L1::evict_first.L2::cache_hint", ", policy") }
    else if (hint == TW_EVICT_LAST) { TW_STORE_HINTED(TW_POLICY(last), ".L1::evict_last.L2::cache_hint", ", policy") }
    else if (hint == TW_CG) { TW_STORE_HINTED("", ".cg", "") }
    else if (hint == TW_CS) { TW_STORE_HINTED("", ".cs", "") }
    else if (hint == TW_WB) { TW_STORE_HINTED("", ".wb", "") }
    else { TW_STORE_HINTED("", ".wt", "") }
}
/* Of copies past the registers: TW_EVICT_FIRST, TW_EVICT_LAST. */
TW_FN u64 tw_policy(int hint) {
    u64 policy;
    if (hint == TW_EVICT_FIRST) asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    else asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

/* 0, but no compiler knows: the sign of the clock. */
TW_FN u32 tw_zero() {
    i32 clock;
    asm volatile("mov.u32 %0, %%clock_hi;" : "=r"(clock));
    return (u32)(clock >> 31);
}

/* The same place, but a compiler takes it for the thread's own: it does not know that no thread has such a number. */
TW_FN u32 tw_own_zero() {
    u32 thread;
    asm("mov.u32 %0, %%tid.x;" : "=r"(thread));
    return thread >> 31;
}
#define tw_own(p) ((p) + tw_own_zero())

/* ---- global memory ---- */
TW_FN void tw_ldg_bytes(int bytes, void *to, const void *p) {
    if (bytes == 16) {
        uint4 v = *(const uint4 *)p;
        memcpy(to, &v, 16);
    } else if (bytes == 8) {
        uint2 v = *(const uint2 *)p;
        memcpy(to, &v, 8);
    } else if (bytes == 4) {
        u32 v = *(const u32 *)p;
        memcpy(to, &v, 4);
    } else if (bytes == 2) {
        u16 v = *(const u16 *)p;
        memcpy(to, &v, 2);
    } else *(u8 *)to = *(const u8 *)p;
}
TW_FN void tw_ldg_pairs(int count, bool on, u32 *to, const void *p, u32 fill) {
    if (count == 4) {
        uint4 v = {fill, fill, fill, fill};
        if (on) v = *(const uint4 *)p;
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    } else if (count == 2) {
        uint2 v = {fill, fill};
        if (on) v = *(const uint2 *)p;
        to[0] = v.x, to[1] = v.y;
    } else to[0] = on ? *(const u32 *)p : fill;
}
TW_FN u16 tw_ldg_half(bool on, const void *p, u16 fill) {
    u16 x;
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\nmov.b16 %0, %3;\n@p ld.global.b16 %0, [%1];\n}"
                 : "=h"(x) : "l"(p), "r"((u32)on), "h"(fill) : "memory");
    return x;
}
TW_FN void tw_ldg_volatile_bytes(int bytes, void *to, const void *p) {
    TW_LOAD_BYTES(volatile, "ld.volatile.global", bytes, to, p, "l")
}
TW_FN void tw_ldg_nc_bytes(int bytes, void *to, const void *p) {
    TW_LOAD_BYTES(, "ld.global.nc.L1::no_allocate", bytes, to, p, "l")
}
TW_FN void tw_stg_bytes(int bytes, void *p, const void *from) {
    TW_STORE_BYTES("st.global", bytes, p, from, "l")
}
TW_FN void tw_stg_bytes(int bytes, void *p, const u32 *w) { /* without a detour */
    if (bytes == 16)
        asm volatile("st.global.v4.b32 [%4], {%0, %1, %2, %3};" ::"r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "l"(p) : "memory");
    else if (bytes == 8) asm volatile("st.global.v2.b32 [%2], {%0, %1};" ::"r"(w[0]), "r"(w[1]), "l"(p) : "memory");
    else asm volatile("st.global.b32 [%1], %0;" ::"r"(w[0]), "l"(p) : "memory");
}
TW_FN void tw_stg_bytes_if(int bytes, bool on, void *p, const void *from) {
    TW_STORE_BYTES_IF("st.global", bytes, on, p, from, "l")
}
TW_FN void tw_stg_bytes_if(int bytes, bool on, void *p, const u32 *w) { TW_STORE_WORDS_IF("st.global", bytes, on, p, w, "l") }
TW_FN void tw_stg_cs_bytes(int bytes, void *p, const void *from) {
    TW_STORE_BYTES("st.global.cs", bytes, p, from, "l")
}

TW_FN u32 tw_ld_acquire(const u32 *p) {
    u32 r;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(r) : "l"(p) : "memory");
    return r;
}
TW_FN void tw_st_release(u32 *p, u32 v) { asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
TW_FN void tw_fence_block() { __threadfence_block(); }
TW_FN void tw_fence_device() { __threadfence(); }
TW_FN void tw_fence_system() { __threadfence_system(); }

/* Each for the GPU, and as name_system for all that share its memory. */
#define TW_ATOMIC(name, T, builtin, As)                                                            \
    TW_FN T name(T *p, T v) { return (T)builtin((As *)p, (As)v); }                                 \
    TW_FN T name##_system(T *p, T v) { return (T)builtin##_system((As *)p, (As)v); }
#define TW_ATOMIC_ALL(name, builtin)                                                               \
    TW_ATOMIC(name, i32, builtin, i32) TW_ATOMIC(name, u32, builtin, u32)                          \
    TW_ATOMIC(name, i64, builtin, i64) TW_ATOMIC(name, u64, builtin, u64)
#define TW_ATOMIC_BITS(name, builtin)                                                              \
    TW_ATOMIC(name, i32, builtin, u32) TW_ATOMIC(name, u32, builtin, u32)                          \
    TW_ATOMIC(name, i64, builtin, u64) TW_ATOMIC(name, u64, builtin, u64)
TW_ATOMIC_BITS(tw_atomic_add, atomicAdd)
TW_ATOMIC_ALL(tw_atomic_min, atomicMin)
TW_ATOMIC_ALL(tw_atomic_max, atomicMax)
TW_ATOMIC_BITS(tw_atomic_and, atomicAnd)
TW_ATOMIC_BITS(tw_atomic_or, atomicOr)
TW_ATOMIC_BITS(tw_atomic_xor, atomicXor)
TW_ATOMIC_BITS(tw_atomic_xchg, atomicExch)
TW_ATOMIC(tw_atomic_add, f32, atomicAdd, f32)
TW_ATOMIC(tw_atomic_add, f64, atomicAdd, f64)
TW_ATOMIC(tw_atomic_xchg, f32, atomicExch, f32)
#define TW_ATOMIC_HALF(name, T, reach)                                                             \
    TW_FN T name(T *p, T v) {                                                                      \
        T r;                                                                                       \
        asm volatile("atom.global" reach ".add.noftz." #T " %0, [%1], %2;" : "=h"(r.bits) : "l"(p), "h"(v.bits) : "memory"); \
        return r;                                                                                  \
    }
TW_ATOMIC_HALF(tw_atomic_add, f16, "")
TW_ATOMIC_HALF(tw_atomic_add_system, f16, ".sys")
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
TW_ATOMIC_HALF(tw_atomic_add, bf16, "")
TW_ATOMIC_HALF(tw_atomic_add_system, bf16, ".sys")
#else
#define TW_ATOMIC_BF16(name, reach)                                                                \
    TW_FN bf16 name(bf16 *p, bf16 v) {                                                             \
        u16 *at = (u16 *)p, old = *(volatile u16 *)at, seen = old;                                 \
        do {                                                                                       \
            seen = old;                                                                            \
            bf16 sum = tw_bf16(tw_f32(bf16{seen}) + tw_f32(v));                                    \
            asm volatile("atom.global" reach ".cas.b16 %0, [%1], %2, %3;" : "=h"(old) : "l"(at), "h"(seen), "h"(sum.bits) : "memory"); \
        } while (old != seen);                                                                     \
        return bf16{old};                                                                          \
    }
TW_ATOMIC_BF16(tw_atomic_add, "")
TW_ATOMIC_BF16(tw_atomic_add_system, ".sys")
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define TW_RED_WORDS(name, reach)                                                                  \
    TW_FN void name(int count, bool on, f32 *p, const f32 *v) {                                    \
        if (!on) return;                                                                           \
        if (count == 4)                                                                            \
            asm volatile("red.global" reach ".add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(p), "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3]) : "memory"); \
        else                                                                                       \
            asm volatile("red.global" reach ".add.v2.f32 [%0], {%1, %2};" ::"l"(p), "f"(v[0]), "f"(v[1]) : "memory"); \
    }
#define TW_RED_HALVES(name, reach, T)                                                              \
    TW_FN void name(int count, bool on, T *p, const T *v) {                                        \
        u32 w[4];                                                                                  \
        if (!on) return;                                                                           \
        _Pragma("unroll") for (int i = 0; i < count / 2; i++) w[i] = v[2 * i].bits | (u32)v[2 * i + 1].bits << 16; \
        if (count == 8)                                                                            \
            asm volatile("red.global" reach ".add.noftz.v4." #T "x2 [%0], {%1, %2, %3, %4};"       \
                         ::"l"(p), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]) : "memory");         \
        else if (count == 4)                                                                       \
            asm volatile("red.global" reach ".add.noftz.v2." #T "x2 [%0], {%1, %2};" ::"l"(p), "r"(w[0]), "r"(w[1]) : "memory"); \
        else                                                                                       \
            asm volatile("red.global" reach ".add.noftz." #T "x2 [%0], %1;" ::"l"(p), "r"(w[0]) : "memory"); \
    }
#define TW_RED(name, reach) TW_RED_WORDS(name, reach) TW_RED_HALVES(name, reach, f16) TW_RED_HALVES(name, reach, bf16)
TW_RED(tw_red_add, "")
TW_RED(tw_red_add_system, ".sys")
#endif
#define TW_CAS_WORD(name, T, builtin) TW_FN T name(T *p, T expect, T v) { return builtin(p, expect, v); }
TW_CAS_WORD(tw_cas_bits, u64, atomicCAS)
TW_CAS_WORD(tw_cas_bits, u32, atomicCAS)
TW_CAS_WORD(tw_cas_bits_system, u64, atomicCAS_system)
TW_CAS_WORD(tw_cas_bits_system, u32, atomicCAS_system)
/* IEEE order is integer order for equal signs: as signed for v >= 0, reversed as unsigned for v < 0. NaN loses, whatever its
 * sign: one that comes changes nothing, and one that lies there is replaced: by the instruction, or, where its bits are the
 * very first in that order (TW_STAYS), by an exchange. */
#define TW_STAYS_max(bits, U, I) ((I)(bits) > (I)TW_INF_##U)
#define TW_STAYS_min(bits, U, I) ((U)(bits) > ((U)1 << (8 * sizeof(U) - 1) | TW_INF_##U))
#define TW_INF_u32 0x7f800000u
#define TW_INF_u64 0x7ff0000000000000ull
#define TW_ATOMIC_RANK(name, reversed, tail, T, I, U)                                              \
    TW_FN T tw_atomic_##name##tail(T *p, T v) {                                                    \
        if (v != v) return tw_as_##T(tw_atomic_add##tail((U *)p, (U)0));                           \
        for (;;) {                                                                                 \
            const U bits = tw_as_##U(v);                                                           \
            const U old = (I)bits >= 0 ? (U)tw_atomic_##name##tail((I *)p, (I)bits)                \
                                       : tw_atomic_##reversed##tail((U *)p, bits);                 \
            if (!TW_STAYS_##name(old, U, I) || tw_cas_bits##tail((U *)p, old, bits) == old) return tw_as_##T(old); \
        }                                                                                          \
    }
#define TW_ATOMIC_RANKS(tail, T, I, U)                                                             \
    TW_ATOMIC_RANK(max, min, tail, T, I, U) TW_ATOMIC_RANK(min, max, tail, T, I, U)
TW_ATOMIC_RANKS(, f32, i32, u32)
TW_ATOMIC_RANKS(_system, f32, i32, u32)
TW_ATOMIC_RANKS(, f64, i64, u64)
TW_ATOMIC_RANKS(_system, f64, i64, u64)
/* One thread's, with its reach and order; of 16-bit floats the instruction takes the bits, and some chips have none for bf16. */
#define TW_ATOM(reach, sem, name, type, old, p, v)                                                 \
    TW_ATOM_##type("atom.global." #reach "." #sem "." #name, "." #type, old, p, v)
#define TW_ATOM_BY(letter, head, tail, old, p, v)                                                  \
    asm volatile(head tail " %0, [%1], %2;" : "=" letter(old) : "l"(p), letter(v) : "memory")
#define TW_ATOM_u32(...) TW_ATOM_BY("r", __VA_ARGS__)
#define TW_ATOM_s32(...) TW_ATOM_BY("r", __VA_ARGS__)
#define TW_ATOM_b32(...) TW_ATOM_BY("r", __VA_ARGS__)
#define TW_ATOM_f32(...) TW_ATOM_BY("f", __VA_ARGS__)
#define TW_ATOM_u64(...) TW_ATOM_BY("l", __VA_ARGS__)
#define TW_ATOM_s64(...) TW_ATOM_BY("l", __VA_ARGS__)
#define TW_ATOM_b64(...) TW_ATOM_BY("l", __VA_ARGS__)
#define TW_ATOM_f64(...) TW_ATOM_BY("d", __VA_ARGS__)
#define TW_ATOM_f16(head, tail, old, p, v) TW_ATOM_BY("h", head, ".noftz" tail, (old).bits, p, (v).bits)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define TW_ATOM_bf16 TW_ATOM_f16
#else
#define TW_ATOM_bf16(head, tail, old, p, v)                                                        \
    do {                                                                                           \
        tw_fence_system();                                                                         \
        (old) = tw_atomic_add_system(p, v);                                                        \
        tw_fence_system();                                                                         \
    } while (0)
#endif
#define TW_ATOM_RANK(reach, sem, name, reversed, old, p, v) TW_ATOM_RANK_OF(reach, sem, name, reversed, 32, old, p, v)
#define TW_ATOM_RANK_f64(reach, sem, name, reversed, old, p, v) TW_ATOM_RANK_OF(reach, sem, name, reversed, 64, old, p, v)
#define TW_ATOM_RANK_OF(reach, sem, name, reversed, size, old, p, v)                               \
    do {                                                                                           \
        const u##size value = tw_as_u##size(v), zero = 0;                                          \
        u##size bits = value, seen;                                                                \
        if ((v) != (v))                                                                            \
            TW_ATOM(reach, sem, add, u##size, bits, p, zero);                                      \
        else                                                                                       \
            do {                                                                                   \
                if ((i##size)value >= 0)                                                           \
                    TW_ATOM(reach, sem, name, s##size, bits, p, value);                            \
                else                                                                               \
                    TW_ATOM(reach, sem, reversed, u##size, bits, p, value);                        \
                if (!TW_STAYS_##name(bits, u##size, i##size)) break;                               \
                seen = bits;                                                                       \
                TW_ATOM_CAS_##size("atom.global." #sem "." #reach ".cas.b" #size, seen, p, value); \
            } while (seen != bits);                                                                \
        (old) = tw_as_f##size(bits);                                                               \
    } while (0)
#define TW_ATOM_CAS(reach, sem, size, old, p, expect, v)                                           \
    do {                                                                                           \
        u##size bits = tw_bits(expect);                                                            \
        TW_ATOM_CAS_##size("atom.global." #sem "." #reach ".cas.b" #size, bits, p, tw_bits(v));    \
        memcpy(&(old), &bits, sizeof bits);                                                        \
    } while (0)
#define TW_ATOM_CAS_BY(letter, head, bits, p, v)                                                   \
    asm volatile(head " %0, [%1], %2, %3;" : "=" letter(bits) : "l"(p), letter(bits), letter(v) : "memory")
#define TW_ATOM_CAS_32(...) TW_ATOM_CAS_BY("r", __VA_ARGS__)
#define TW_ATOM_CAS_64(...) TW_ATOM_CAS_BY("l", __VA_ARGS__)
#define TW_CAS_HALF(name, reach)                                                                   \
    TW_FN u16 name(u16 *p, u16 expect, u16 v) {                                                    \
        u16 r;                                                                                     \
        asm volatile("atom.global" reach ".cas.b16 %0, [%1], %2, %3;" : "=h"(r) : "l"(p), "h"(expect), "h"(v) : "memory"); \
        return r;                                                                                  \
    }
TW_CAS_HALF(tw_cas_bits, "")
TW_CAS_HALF(tw_cas_bits_system, ".sys")
/* A byte of a word that others may change meanwhile. */
#define TW_CAS_BYTE(name)                                                                          \
    TW_FN u8 name(u8 *p, u8 expect, u8 v) {                                                        \
        u32 *word = (u32 *)((u64)p & ~3ull), shift = (u32)((u64)p & 3) * 8, old = *(volatile u32 *)word; \
        for (;;) {                                                                                 \
            if ((u8)(old >> shift) != expect) return (u8)(old >> shift);                           \
            u32 seen = name(word, old, (old & ~(0xffu << shift)) | (u32)v << shift);               \
            if (seen == old) return expect;                                                        \
            old = seen;                                                                            \
        }                                                                                          \
    }
TW_CAS_BYTE(tw_cas_bits)
TW_CAS_BYTE(tw_cas_bits_system)

/* ---- shared memory ---- */
TW_FN void tw_lds_bytes(int bytes, void *to, u32 s) {
    u32 address = tw_shared(s);
    TW_LOAD_BYTES(volatile, "ld.shared", bytes, to, address, "r")
}
TW_FN void tw_sts_bytes(int bytes, u32 s, const void *from) {
    u32 address = tw_shared(s);
    TW_STORE_BYTES("st.shared", bytes, address, from, "r")
}
/* One number, without a detour. */
TW_FN void tw_sts_bytes(int bytes, u32 s, const f32 *x) {
    if (bytes == 4) asm volatile("st.shared.f32 [%0], %1;" ::"r"(tw_shared(s)), "f"(*x) : "memory");
    else tw_sts_bytes(bytes, s, (const void *)x);
}
#define TW_PTX_add "add.rn.f32 "
#define TW_PTX_min "min.f32 "
#define TW_PTX_max "max.f32 "
#define TW_LDS(to, offset) "ld.shared.f32 " to ", [%1+" offset "];\n"
#define TW_JOIN(op, x, y)  TW_PTX_##op x ", " x ", " y ";\n"
#define tw_lds_tree_2(op, x, s, a, b)                                                              \
    asm volatile("{.reg .f32 a, b;\n" TW_LDS("a", "%2") TW_LDS("b", "%3") TW_PTX_##op "%0, a, b;}" \
                 : "=f"(x) : "r"(tw_shared(s)), "n"(a), "n"(b) : "memory")
#define tw_lds_tree_4(op, x, s, a, b, c, d)                                                        \
    asm volatile("{.reg .f32 a, b, c, d;\n" TW_LDS("a", "%2") TW_LDS("b", "%3") TW_LDS("c", "%4")  \
                 TW_LDS("d", "%5") TW_JOIN(op, "a", "b") TW_JOIN(op, "c", "d")                     \
                 TW_PTX_##op "%0, a, c;}"                                                          \
                 : "=f"(x) : "r"(tw_shared(s)), "n"(a), "n"(b), "n"(c), "n"(d) : "memory")
#define tw_lds_tree_8(op, x, s, a, b, c, d, e, f, g, h)                                            \
    asm volatile("{.reg .f32 a, b, c, d, e, f, g, h;\n" TW_LDS("a", "%2") TW_LDS("b", "%3")        \
                 TW_LDS("c", "%4") TW_LDS("d", "%5") TW_LDS("e", "%6") TW_LDS("f", "%7")           \
                 TW_LDS("g", "%8") TW_LDS("h", "%9") TW_JOIN(op, "a", "b") TW_JOIN(op, "c", "d")   \
                 TW_JOIN(op, "e", "f") TW_JOIN(op, "g", "h") TW_JOIN(op, "a", "c")                 \
                 TW_JOIN(op, "e", "g") TW_PTX_##op "%0, a, e;}"                                    \
                 : "=f"(x) : "r"(tw_shared(s)), "n"(a), "n"(b), "n"(c), "n"(d), "n"(e), "n"(f),    \
                   "n"(g), "n"(h) : "memory")
TW_FN void tw_sts_bytes_if(int bytes, bool on, u32 s, const void *from) {
    u32 address = tw_shared(s);
    TW_STORE_BYTES_IF("st.shared", bytes, on, address, from, "r")
}
TW_FN void tw_sts_bytes_if(int bytes, bool on, u32 s, const f32 *x) {
    if (bytes == 4)
        asm volatile(TW_PREDICATED("%2", "st.shared.f32 [%0], %1") ::"r"(tw_shared(s)), "f"(*x), "r"((u32)on) : "memory");
    else tw_sts_bytes_if(bytes, on, s, (const void *)x);
}
#define tw_shared_at(T, s) ((T *)(tw_shared_memory + (s)))
TW_FN void tw_atomic_add_shared(u32 s, i32 v) {
    asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(tw_shared(s)), "r"(v) : "memory");
}
TW_FN void tw_atomic_max_shared(u32 s, i32 v) {
    asm volatile("red.shared.max.s32 [%0], %1;" ::"r"(tw_shared(s)), "r"(v) : "memory");
}

/* ---- warp ---- */
#define TW_SHUFFLE(name, builtin)                                                                  \
    TW_FN i32 name(i32 x, i32 n) { return builtin(0xffffffffu, x, n); }                            \
    TW_FN u32 name(u32 x, i32 n) { return builtin(0xffffffffu, x, n); }                            \
    TW_FN i64 name(i64 x, i32 n) { return builtin(0xffffffffu, x, n); }                            \
    TW_FN u64 name(u64 x, i32 n) { return builtin(0xffffffffu, x, n); }                            \
    TW_FN f32 name(f32 x, i32 n) { return builtin(0xffffffffu, x, n); }                            \
    TW_FN f64 name(f64 x, i32 n) { return builtin(0xffffffffu, x, n); }                            \
    TW_FN f16 name(f16 x, i32 n) { return f16{(u16)builtin(0xffffffffu, (u32)x.bits, n)}; }        \
    TW_FN bf16 name(bf16 x, i32 n) { return bf16{(u16)builtin(0xffffffffu, (u32)x.bits, n)}; }
TW_SHUFFLE(tw_shfl_xor, __shfl_xor_sync)
TW_SHUFFLE(tw_shfl_idx, __shfl_sync)
TW_SHUFFLE(tw_shfl_up, __shfl_up_sync)
TW_SHUFFLE(tw_shfl_down, __shfl_down_sync)
#define TW_LANE(op, mask) "shfl.sync.bfly.b32 y, %0, " #mask ", 31, 0xffffffff;\n" TW_PTX_##op "%0, %0, y;\n"
#define TW_LANES(op, name, a, b, c, d, e)                                                          \
    TW_FN f32 tw_lanes_##op##_##name(f32 x) {                                                      \
        asm volatile("{.reg .f32 y;\n" TW_LANE(op, a) TW_LANE(op, b) TW_LANE(op, c) TW_LANE(op, d) \
                     TW_LANE(op, e) "}" : "+f"(x));                                                \
        return x;                                                                                  \
    }
#define TW_LANES_BOTH(op) TW_LANES(op, up, 1, 2, 4, 8, 16) TW_LANES(op, down, 16, 8, 4, 2, 1)
TW_LANES_BOTH(add)
TW_LANES_BOTH(min)
TW_LANES_BOTH(max)
#define TW_LANES_WHOLE(T, type)                                                                    \
    TW_LANES_OF(T, add, "add." type) TW_LANES_OF(T, min, "min." type) TW_LANES_OF(T, max, "max." type) \
    TW_LANES_OF(T, and, "and.b32") TW_LANES_OF(T, or, "or.b32") TW_LANES_OF(T, xor, "xor.b32")
#define TW_LANES_OF(T, name, op)                                                                   \
    TW_FN T tw_lanes_##name(T x) {                                                                 \
        T y;                                                                                       \
        asm volatile("redux.sync." op " %0, %1, 0xffffffff;" : "=r"(y) : "r"(x));                  \
        return y;                                                                                  \
    }
TW_LANES_WHOLE(i32, "s32")
TW_LANES_WHOLE(u32, "u32")
TW_FN u32 tw_ballot(bool b) { return __ballot_sync(0xffffffffu, b); }
TW_FN bool tw_any(bool b) { return __any_sync(0xffffffffu, b) != 0; }
TW_FN bool tw_all(bool b) { return __all_sync(0xffffffffu, b) != 0; }
TW_FN void tw_sync_warp() { __syncwarp(); }

/* ---- block ---- */
TW_FN void tw_sync() { __syncthreads(); }
TW_FN void tw_bar_sync(i32 id, i32 threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
TW_FN void tw_bar_arrive(i32 id, i32 threads) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
TW_FN i32 tw_cluster_rank() {
    i32 r;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}
TW_FN i32 tw_cluster_blocks() {
    i32 n;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(n));
    return n;
}
TW_FN void tw_cluster_sync() {
    asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}
#define tw_setmaxnreg_inc(n) asm volatile("setmaxnreg.inc.sync.aligned.u32 " #n ";")
#define tw_setmaxnreg_dec(n) asm volatile("setmaxnreg.dec.sync.aligned.u32 " #n ";")

/* ---- mbarriers ---- */
TW_FN void tw_mbar_init(u32 bar, u32 count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(tw_shared(bar)), "r"(count) : "memory");
}
TW_FN void tw_fence_mbar_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
TW_FN void tw_mbar_arrive(u32 bar) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(tw_shared(bar)) : "memory");
}
/* Without `.release.cluster`, which would be a fence of the whole GPU: it gives back what wgmma has read, or what a
 * fence before it has covered, and publishes nothing. */
TW_FN void tw_mbar_arrive_at(u32 bar, u32 rank) {
    asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(tw_shared(bar)), "r"(rank)
                 : "memory");
}
TW_FN void tw_mbar_arrive_expect(u32 bar, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(tw_shared(bar)), "r"(bytes) : "memory");
}
TW_FN void tw_mbar_expect(u32 bar, u32 bytes) {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(tw_shared(bar)), "r"(bytes) : "memory");
}
TW_FN void tw_mbar_wait(u32 bar, u32 parity) {
    asm volatile("{\n.reg .pred done;\n"
                 "again:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n}" ::"r"(tw_shared(bar)), "r"(parity) : "memory");
}
TW_FN void tw_fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
TW_FN void tw_fence_async_global() { asm volatile("fence.proxy.async.global;" ::: "memory"); }

/* ---- TMA ---- */
#define TW_TMA(rank, coordinates, load_slots, store_slots, load_end, mask_slot, store_end, last_slot, ...) \
    TW_FN void tw_tma_load_##rank##d_hinted(u32 s, const TensorMap *map, TW_ARGS coordinates, u32 bar, int hint) { \
        asm volatile("cp.async.bulk.tensor." #rank "d.shared::cluster.global.tile"                    \
                     ".mbarrier::complete_tx::bytes.L2::cache_hint"                                \
                     " [%0], [%1, {" load_slots "}], [" load_end "], " mask_slot ";"               \
                     ::"r"(tw_shared(s)), "l"(map), __VA_ARGS__, "r"(tw_shared(bar)), "l"(tw_policy(hint)) : "memory"); \
    }                                                                                              \
    TW_FN void tw_tma_multicast_##rank##d_hinted(u32 s, const TensorMap *map, TW_ARGS coordinates, u32 bar, u32 mask, int hint) { \
        asm volatile("cp.async.bulk.tensor." #rank "d.shared::cluster.global.tile"                    \
                     ".mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint"             \
                     " [%0], [%1, {" load_slots "}], [" load_end "], " mask_slot ", " last_slot ";" \
                     ::"r"(tw_shared(s)), "l"(map), __VA_ARGS__, "r"(tw_shared(bar)), "h"((u16)mask), "l"(tw_policy(hint)) : "memory"); \
    }                                                                                              \
    TW_FN void tw_tma_store_##rank##d_hinted(const TensorMap *map, TW_ARGS coordinates, u32 s, int hint) { \
        asm volatile("cp.async.bulk.tensor." #rank "d.global.shared::cta.tile.bulk_group.L2::cache_hint" \
                     " [%0, {" store_slots "}], [" store_end "], " load_end ";"                    \
                     ::"l"(map), __VA_ARGS__, "r"(tw_shared(s)), "l"(tw_policy(hint)) : "memory"); \
    }                                                                                              \
    TW_FN void tw_tma_load_##rank##d(u32 s, const TensorMap *map, TW_ARGS coordinates, u32 bar) {     \
        asm volatile("cp.async.bulk.tensor." #rank "d.shared::cluster.global.tile"                    \
                     ".mbarrier::complete_tx::bytes [%0], [%1, {" load_slots "}], [" load_end "];" \
                     ::"r"(tw_shared(s)), "l"(map), __VA_ARGS__, "r"(tw_shared(bar)) : "memory");  \
    }                                                                                              \
    TW_FN void tw_tma_multicast_##rank##d(u32 s, const TensorMap *map, TW_ARGS coordinates, u32 bar, u32 mask) { \
        asm volatile("cp.async.bulk.tensor." #rank "d.shared::cluster.global.tile"                    \
                     ".mbarrier::complete_tx::bytes.multicast::cluster"                            \
                     " [%0], [%1, {" load_slots "}], [" load_end "], " mask_slot ";"               \
                     ::"r"(tw_shared(s)), "l"(map), __VA_ARGS__, "r"(tw_shared(bar)), "h"((u16)mask) : "memory"); \
    }                                                                                              \
    TW_FN void tw_tma_store_##rank##d(const TensorMap *map, TW_ARGS coordinates, u32 s) {             \
        asm volatile("cp.async.bulk.tensor." #rank "d.global.shared::cta.tile.bulk_group"             \
                     " [%0, {" store_slots "}], [" store_end "];"                                  \
                     ::"l"(map), __VA_ARGS__, "r"(tw_shared(s)) : "memory");                       \
    }                                                                                              \
    TW_FN void tw_tma_add_##rank##d(const TensorMap *map, TW_ARGS coordinates, u32 s) {               \
        asm volatile("cp.reduce.async.bulk.tensor." #rank "d.global.shared::cta.add.tile.bulk_group"  \
                     " [%0, {" store_slots "}], [" store_end "];"                                  \
                     ::"l"(map), __VA_ARGS__, "r"(tw_shared(s)) : "memory");                       \
    }
#define TW_ARGS(...) __VA_ARGS__
TW_TMA(1, (i32 c0), "%2", "%1", "%3", "%4", "%2", "%5", "r"(c0))
TW_TMA(2, (i32 c0, i32 c1), "%2, %3", "%1, %2", "%4", "%5", "%3", "%6", "r"(c0), "r"(c1))
TW_TMA(3, (i32 c0, i32 c1, i32 c2), "%2, %3, %4", "%1, %2, %3", "%5", "%6", "%4", "%7", "r"(c0), "r"(c1), "r"(c2))
TW_TMA(4, (i32 c0, i32 c1, i32 c2, i32 c3), "%2, %3, %4, %5", "%1, %2, %3, %4", "%6", "%7", "%5", "%8",
       "r"(c0), "r"(c1), "r"(c2), "r"(c3))
TW_TMA(5, (i32 c0, i32 c1, i32 c2, i32 c3, i32 c4), "%2, %3, %4, %5, %6", "%1, %2, %3, %4, %5", "%7", "%8", "%6", "%9",
       "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4))
TW_FN void tw_tma_prefetch(const TensorMap *map) { asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory"); }
/* Maps in memory. Compilers before 12.5 take strides over 16. */
TW_FN void tw_map_base(u32 s, const void *p) {
    asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(tw_shared(s)), "l"(p) : "memory");
}
#define tw_map_extent(s, d, n)                                                                     \
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], " #d ", %1;"       \
                 ::"r"(tw_shared(s)), "r"(n) : "memory")
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1205
#define TW_MAP_STRIDE(bytes) (u64)(bytes)
#else
#define TW_MAP_STRIDE(bytes) ((u64)(bytes) >> 4)
#endif
#define tw_map_stride(s, d, bytes)                                                                 \
    asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], " #d ", %1;"    \
                 ::"r"(tw_shared(s)), "l"(TW_MAP_STRIDE(bytes)) : "memory")
TW_FN void tw_map_fence(const TensorMap *map) {
    asm volatile("fence.proxy.tensormap::generic.release.gpu;\n"
                 "fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}
TW_FN void tw_bulk_load(u32 s, const void *p, u32 bytes, u32 bar) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(tw_shared(s)), "l"(p), "r"(bytes), "r"(tw_shared(bar)) : "memory");
}
TW_FN void tw_bulk_store(void *p, u32 s, u32 bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(p), "r"(tw_shared(s)), "r"(bytes)
                 : "memory");
}
TW_FN void tw_bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
#define tw_bulk_wait_read(n) asm volatile("cp.async.bulk.wait_group.read " #n ";" ::: "memory")
#define tw_bulk_wait(n)      asm volatile("cp.async.bulk.wait_group " #n ";" ::: "memory")

/* ---- cp.async ---- */
TW_FN void tw_cp_async_part(int bytes, u32 s, const void *p, int size) {
    u32 at = tw_shared(s);
    if (bytes == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(p), "r"(size) : "memory");
    else if (bytes == 8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(at), "l"(p), "r"(size) : "memory");
    else asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(p), "r"(size) : "memory");
}
TW_FN void tw_cp_async(int bytes, u32 s, const void *p, bool ok = true) { tw_cp_async_part(bytes, s, p, ok ? bytes : 0); }
TW_FN void tw_cp_async_part_hinted(int bytes, u32 s, const void *p, int size, int hint) {
    const u64 policy = tw_policy(hint);
    u32 at = tw_shared(s);
    if (bytes == 16) asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2, %3;" ::"r"(at), "l"(p), "r"(size), "l"(policy) : "memory");
    else if (bytes == 8) asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], 8, %2, %3;" ::"r"(at), "l"(p), "r"(size), "l"(policy) : "memory");
    else asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], 4, %2, %3;" ::"r"(at), "l"(p), "r"(size), "l"(policy) : "memory");
}
TW_FN void tw_cp_async_hinted(int bytes, u32 s, const void *p, bool ok, int hint) { tw_cp_async_part_hinted(bytes, s, p, ok ? bytes : 0, hint); }
TW_FN void tw_cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
#define tw_cp_async_wait(n) asm volatile("cp.async.wait_group " #n ";" ::: "memory")
TW_FN void tw_cp_async_arrive(u32 bar) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(tw_shared(bar)) : "memory");
}

/* ---- 8x8 matrices and mma.sync ---- */
#define TW_MATRIX_MOVES(suffix, trans)                                                             \
    TW_FN void tw_ldmatrix_x1##suffix(u32 *r, u32 s) {                                             \
        asm volatile("ldmatrix.sync.aligned.m8n8.x1" trans ".shared.b16 {%0}, [%1];"               \
                     : "=r"(r[0]) : "r"(tw_shared(s)) : "memory");                                 \
    }                                                                                              \
    TW_FN void tw_ldmatrix_x2##suffix(u32 *r, u32 s) {                                             \
        asm volatile("ldmatrix.sync.aligned.m8n8.x2" trans ".shared.b16 {%0, %1}, [%2];"           \
                     : "=r"(r[0]), "=r"(r[1]) : "r"(tw_shared(s)) : "memory");                     \
    }                                                                                              \
    TW_FN void tw_ldmatrix_x4##suffix(u32 *r, u32 s) {                                             \
        asm volatile("ldmatrix.sync.aligned.m8n8.x4" trans ".shared.b16 {%0, %1, %2, %3}, [%4];"   \
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(tw_shared(s))          \
                     : "memory");                                                                  \
    }                                                                                              \
    TW_FN void tw_stmatrix_x1##suffix(u32 s, const u32 *r) {                                       \
        asm volatile("stmatrix.sync.aligned.m8n8.x1" trans ".shared.b16 [%0], {%1};"               \
                     ::"r"(tw_shared(s)), "r"(r[0]) : "memory");                                   \
    }                                                                                              \
    TW_FN void tw_stmatrix_x2##suffix(u32 s, const u32 *r) {                                       \
        asm volatile("stmatrix.sync.aligned.m8n8.x2" trans ".shared.b16 [%0], {%1, %2};"           \
                     ::"r"(tw_shared(s)), "r"(r[0]), "r"(r[1]) : "memory");                        \
    }                                                                                              \
    TW_FN void tw_stmatrix_x4##suffix(u32 s, const u32 *r) {                                       \
        asm volatile("stmatrix.sync.aligned.m8n8.x4" trans ".shared.b16 [%0], {%1, %2, %3, %4};"   \
                     ::"r"(tw_shared(s)), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");  \
    }
TW_MATRIX_MOVES(, "")
TW_MATRIX_MOVES(_trans, ".trans")
#define TW_MMA(name, shape, type)                                                                  \
    TW_FN void name(f32 *d, const u32 *a, const u32 *b) {                                          \
        asm volatile("mma.sync.aligned." shape ".row.col.f32." type "." type ".f32 "               \
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"             \
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                              \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));          \
    }
TW_MMA(tw_mma_f16, "m16n8k16", "f16")
TW_MMA(tw_mma_bf16, "m16n8k16", "bf16")
TW_MMA(tw_mma_tf32, "m16n8k8", "tf32")
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
TW_MMA(tw_mma_e4m3, "m16n8k32", "e4m3")
TW_MMA(tw_mma_e5m2, "m16n8k32", "e5m2")
#endif
#define TW_MMA_INTEGER(name, type)                                                                 \
    TW_FN void name(i32 *d, const u32 *a, const u32 *b) {                                          \
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32." type "." type ".s32 "                \
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"             \
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                              \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));          \
    }
TW_MMA_INTEGER(tw_mma_s8, "s8")
TW_MMA_INTEGER(tw_mma_u8, "u8")

/* ---- other ---- */
TW_FN void tw_unused(const void *) {}
#define tw_list(...) __VA_ARGS__
#define tw_asm(code, outputs, inputs) asm(code : outputs : inputs)
#define tw_asm_act(code, outputs, inputs) asm volatile(code : outputs : inputs : "memory")
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
TW_FN void tw_pdl_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
TW_FN void tw_pdl_launch() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
#else /* launches do not overlap */
TW_FN void tw_pdl_wait() {}
TW_FN void tw_pdl_launch() {}
#endif
#define tw_printf(...) printf(__VA_ARGS__)
#define tw_trap(text)                                                                              \
    do {                                                                                           \
        printf("block (%d, %d, %d) thread %d: %s\n", tw_block_x(), tw_block_y(), tw_block_z(),     \
               tw_thread(), text);                                                                 \
        __trap();                                                                                  \
    } while (0)
/* A call, as printf is one, would make ptxas wait for every wgmma of the kernel (C7510). */
#define tw_trap_silent(text) __trap()
#define tw_assert(condition, text)                                                                 \
    do {                                                                                           \
        if (!(condition)) tw_trap(text);                                                           \
    } while (0)
#endif
