/* SPDX-License-Identifier: Apache-2.0 */
/* wgmma.cuh: warpgroup matrix multiply for sm_90a (legend in tilewright.cuh).
 *
 * An m64nN wgmma has N/2 accumulators, all of them operands of one asm statement; a kernel defines just the forms it
 * uses, because each costs the compiler time:
 *
 *     TW_WGMMA_SS(256, bf16, 0, 1)                                  at file scope
 *     tw_wgmma_ss_256_bf16_01(d, tw_desc_k(a, 128), tw_desc_mn(b, 128, 8192), k > 0);
 *
 * Below, for each N: the operand list (TW_OUT_N), its place holders (TW_REG_N) and the numbers of the six operands
 * that follow (TW_END_N). */
#ifndef TILEWRIGHT_WGMMA_CUH
#define TILEWRIGHT_WGMMA_CUH

/* clang-format off */
#define TW_OUT4(c, d, i) c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3])
#define TW_OUT_8(c, d) TW_OUT4(c, d, 0)
#define TW_OUT_16(c, d) TW_OUT_8(c, d), TW_OUT4(c, d, 4)
#define TW_OUT_24(c, d) TW_OUT_16(c, d), TW_OUT4(c, d, 8)
#define TW_OUT_32(c, d) TW_OUT_24(c, d), TW_OUT4(c, d, 12)
#define TW_OUT_40(c, d) TW_OUT_32(c, d), TW_OUT4(c, d, 16)
#define TW_OUT_48(c, d) TW_OUT_40(c, d), TW_OUT4(c, d, 20)
#define TW_OUT_56(c, d) TW_OUT_48(c, d), TW_OUT4(c, d, 24)
#define TW_OUT_64(c, d) TW_OUT_56(c, d), TW_OUT4(c, d, 28)
#define TW_OUT_72(c, d) TW_OUT_64(c, d), TW_OUT4(c, d, 32)
#define TW_OUT_80(c, d) TW_OUT_72(c, d), TW_OUT4(c, d, 36)
#define TW_OUT_88(c, d) TW_OUT_80(c, d), TW_OUT4(c, d, 40)
#define TW_OUT_96(c, d) TW_OUT_88(c, d), TW_OUT4(c, d, 44)
#define TW_OUT_104(c, d) TW_OUT_96(c, d), TW_OUT4(c, d, 48)
#define TW_OUT_112(c, d) TW_OUT_104(c, d), TW_OUT4(c, d, 52)
#define TW_OUT_120(c, d) TW_OUT_112(c, d), TW_OUT4(c, d, 56)
#define TW_OUT_128(c, d) TW_OUT_120(c, d), TW_OUT4(c, d, 60)
#define TW_OUT_136(c, d) TW_OUT_128(c, d), TW_OUT4(c, d, 64)
#define TW_OUT_144(c, d) TW_OUT_136(c, d), TW_OUT4(c, d, 68)
#define TW_OUT_152(c, d) TW_OUT_144(c, d), TW_OUT4(c, d, 72)
#define TW_OUT_160(c, d) TW_OUT_152(c, d), TW_OUT4(c, d, 76)
#define TW_OUT_168(c, d) TW_OUT_160(c, d), TW_OUT4(c, d, 80)
#define TW_OUT_176(c, d) TW_OUT_168(c, d), TW_OUT4(c, d, 84)
#define TW_OUT_184(c, d) TW_OUT_176(c, d), TW_OUT4(c, d, 88)
#define TW_OUT_192(c, d) TW_OUT_184(c, d), TW_OUT4(c, d, 92)
#define TW_OUT_200(c, d) TW_OUT_192(c, d), TW_OUT4(c, d, 96)
#define TW_OUT_208(c, d) TW_OUT_200(c, d), TW_OUT4(c, d, 100)
#define TW_OUT_216(c, d) TW_OUT_208(c, d), TW_OUT4(c, d, 104)
#define TW_OUT_224(c, d) TW_OUT_216(c, d), TW_OUT4(c, d, 108)
#define TW_OUT_232(c, d) TW_OUT_224(c, d), TW_OUT4(c, d, 112)
#define TW_OUT_240(c, d) TW_OUT_232(c, d), TW_OUT4(c, d, 116)
#define TW_OUT_248(c, d) TW_OUT_240(c, d), TW_OUT4(c, d, 120)
#define TW_OUT_256(c, d) TW_OUT_248(c, d), TW_OUT4(c, d, 124)
#define TW_REG_8 "%0, %1, %2, %3"
#define TW_REG_16 TW_REG_8 ", %4, %5, %6, %7"
#define TW_REG_24 TW_REG_16 ", %8, %9, %10, %11"
#define TW_REG_32 TW_REG_24 ", %12, %13, %14, %15"
#define TW_REG_40 TW_REG_32 ", %16, %17, %18, %19"
#define TW_REG_48 TW_REG_40 ", %20, %21, %22, %23"
#define TW_REG_56 TW_REG_48 ", %24, %25, %26, %27"
#define TW_REG_64 TW_REG_56 ", %28, %29, %30, %31"
#define TW_REG_72 TW_REG_64 ", %32, %33, %34, %35"
#define TW_REG_80 TW_REG_72 ", %36, %37, %38, %39"
#define TW_REG_88 TW_REG_80 ", %40, %41, %42, %43"
#define TW_REG_96 TW_REG_88 ", %44, %45, %46, %47"
#define TW_REG_104 TW_REG_96 ", %48, %49, %50, %51"
#define TW_REG_112 TW_REG_104 ", %52, %53, %54, %55"
#define TW_REG_120 TW_REG_112 ", %56, %57, %58, %59"
#define TW_REG_128 TW_REG_120 ", %60, %61, %62, %63"
#define TW_REG_136 TW_REG_128 ", %64, %65, %66, %67"
#define TW_REG_144 TW_REG_136 ", %68, %69, %70, %71"
#define TW_REG_152 TW_REG_144 ", %72, %73, %74, %75"
#define TW_REG_160 TW_REG_152 ", %76, %77, %78, %79"
#define TW_REG_168 TW_REG_160 ", %80, %81, %82, %83"
#define TW_REG_176 TW_REG_168 ", %84, %85, %86, %87"
#define TW_REG_184 TW_REG_176 ", %88, %89, %90, %91"
#define TW_REG_192 TW_REG_184 ", %92, %93, %94, %95"
#define TW_REG_200 TW_REG_192 ", %96, %97, %98, %99"
#define TW_REG_208 TW_REG_200 ", %100, %101, %102, %103"
#define TW_REG_216 TW_REG_208 ", %104, %105, %106, %107"
#define TW_REG_224 TW_REG_216 ", %108, %109, %110, %111"
#define TW_REG_232 TW_REG_224 ", %112, %113, %114, %115"
#define TW_REG_240 TW_REG_232 ", %116, %117, %118, %119"
#define TW_REG_248 TW_REG_240 ", %120, %121, %122, %123"
#define TW_REG_256 TW_REG_248 ", %124, %125, %126, %127"
#define TW_END_8 "%4", "%5", "%6", "%7", "%8", "%9"
#define TW_END_16 "%8", "%9", "%10", "%11", "%12", "%13"
#define TW_END_24 "%12", "%13", "%14", "%15", "%16", "%17"
#define TW_END_32 "%16", "%17", "%18", "%19", "%20", "%21"
#define TW_END_40 "%20", "%21", "%22", "%23", "%24", "%25"
#define TW_END_48 "%24", "%25", "%26", "%27", "%28", "%29"
#define TW_END_56 "%28", "%29", "%30", "%31", "%32", "%33"
#define TW_END_64 "%32", "%33", "%34", "%35", "%36", "%37"
#define TW_END_72 "%36", "%37", "%38", "%39", "%40", "%41"
#define TW_END_80 "%40", "%41", "%42", "%43", "%44", "%45"
#define TW_END_88 "%44", "%45", "%46", "%47", "%48", "%49"
#define TW_END_96 "%48", "%49", "%50", "%51", "%52", "%53"
#define TW_END_104 "%52", "%53", "%54", "%55", "%56", "%57"
#define TW_END_112 "%56", "%57", "%58", "%59", "%60", "%61"
#define TW_END_120 "%60", "%61", "%62", "%63", "%64", "%65"
#define TW_END_128 "%64", "%65", "%66", "%67", "%68", "%69"
#define TW_END_136 "%68", "%69", "%70", "%71", "%72", "%73"
#define TW_END_144 "%72", "%73", "%74", "%75", "%76", "%77"
#define TW_END_152 "%76", "%77", "%78", "%79", "%80", "%81"
#define TW_END_160 "%80", "%81", "%82", "%83", "%84", "%85"
#define TW_END_168 "%84", "%85", "%86", "%87", "%88", "%89"
#define TW_END_176 "%88", "%89", "%90", "%91", "%92", "%93"
#define TW_END_184 "%92", "%93", "%94", "%95", "%96", "%97"
#define TW_END_192 "%96", "%97", "%98", "%99", "%100", "%101"
#define TW_END_200 "%100", "%101", "%102", "%103", "%104", "%105"
#define TW_END_208 "%104", "%105", "%106", "%107", "%108", "%109"
#define TW_END_216 "%108", "%109", "%110", "%111", "%112", "%113"
#define TW_END_224 "%112", "%113", "%114", "%115", "%116", "%117"
#define TW_END_232 "%116", "%117", "%118", "%119", "%120", "%121"
#define TW_END_240 "%120", "%121", "%122", "%123", "%124", "%125"
#define TW_END_248 "%124", "%125", "%126", "%127", "%128", "%129"
#define TW_END_256 "%128", "%129", "%130", "%131", "%132", "%133"
/* clang-format on */

/* Per type: k of the instruction; type, name and constraint of the sums; what follows the operands: signs of floats,
 * and for 16-bit types whether they are MN-major. */
#define TW_K_f16          "16"
#define TW_K_bf16         "16"
#define TW_K_tf32         "8"
#define TW_K_e4m3         "32"
#define TW_K_e5m2         "32"
#define TW_K_s8           "32"
#define TW_K_u8           "32"
#define TW_S_f16          "f32"
#define TW_S_bf16         "f32"
#define TW_S_tf32         "f32"
#define TW_S_e4m3         "f32"
#define TW_S_e5m2         "f32"
#define TW_S_s8           "s32"
#define TW_S_u8           "s32"
#define TW_C_f16          "+f"
#define TW_C_bf16         "+f"
#define TW_C_tf32         "+f"
#define TW_C_e4m3         "+f"
#define TW_C_e5m2         "+f"
#define TW_C_s8           "+r"
#define TW_C_u8           "+r"
#define TW_MAJOR_2_f16(ta, tb)  ", 1, 1, " #ta ", " #tb
#define TW_MAJOR_2_bf16(ta, tb) ", 1, 1, " #ta ", " #tb
#define TW_MAJOR_2_tf32(ta, tb) ", 1, 1"
#define TW_MAJOR_2_e4m3(ta, tb) ", 1, 1"
#define TW_MAJOR_2_e5m2(ta, tb) ", 1, 1"
#define TW_MAJOR_2_s8(ta, tb)
#define TW_MAJOR_2_u8(ta, tb)
#define TW_MAJOR_1_f16(tb)  ", 1, 1, " #tb
#define TW_MAJOR_1_bf16(tb) ", 1, 1, " #tb
#define TW_MAJOR_1_tf32(tb) ", 1, 1"
#define TW_MAJOR_1_e4m3(tb) ", 1, 1"
#define TW_MAJOR_1_e5m2(tb) ", 1, 1"
#define TW_MAJOR_1_s8(tb)
#define TW_MAJOR_1_u8(tb)
#define TW_WGMMA_NAME(N, t) "wgmma.mma_async.sync.aligned.m64n" #N "k" TW_K_##t "." TW_S_##t "." #t "." #t

#define TW_WGMMA_SS(N, t, ta, tb) TW_WGMMA_SS_(N, t, ta, tb, TW_REG_##N, TW_END_##N)
#define TW_WGMMA_SS_(N, t, ta, tb, regs, ...) TW_WGMMA_SS__(N, t, ta, tb, regs, __VA_ARGS__)
#define TW_WGMMA_SS__(N, t, ta, tb, regs, e0, e1, e2, e3, e4, e5)                                  \
    TW_FN void tw_wgmma_ss_##N##_##t##_##ta##tb(TW_D_##t *d, u64 a, u64 b, bool accumulate) {  \
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " e2 ", 0;\n" TW_WGMMA_NAME(N, t)           \
                     " {" regs "}, " e0 ", " e1 ", p" TW_MAJOR_2_##t(ta, tb) ";\n}"          \
                     : TW_OUT_##N(TW_C_##t, d)                                                               \
                     : "l"(a), "l"(b), "r"((i32)accumulate)                                        \
                     : "memory");                                                                  \
    }

#define TW_WGMMA_RS(N, t, tb) TW_WGMMA_RS_(N, t, tb, TW_REG_##N, TW_END_##N)
#define TW_WGMMA_RS_(N, t, tb, regs, ...) TW_WGMMA_RS__(N, t, tb, regs, __VA_ARGS__)
#define TW_WGMMA_RS__(N, t, tb, regs, e0, e1, e2, e3, e4, e5)                                      \
    TW_FN void tw_wgmma_rs_##N##_##t##_##tb(TW_D_##t *d, const u32 *a, u64 b,                  \
                                            bool accumulate) {                                     \
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " e5 ", 0;\n" TW_WGMMA_NAME(N, t)           \
                     " {" regs "}, {" e0 ", " e1 ", " e2 ", " e3 "}, " e4 ", p"                    \
                     TW_MAJOR_1_##t(tb) ";\n}"                                                     \
                     : TW_OUT_##N(TW_C_##t, d)                                                               \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"((i32)accumulate)    \
                     : "memory");                                                                  \
    }

TW_FN void tw_wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
TW_FN void tw_wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
#define tw_wgmma_wait(n) asm volatile("wgmma.wait_group.sync.aligned " #n ";" ::: "memory")
/* Stops the compiler from moving reads of the accumulator above this point. */
TW_FN void tw_wgmma_settle_all(f32 *d, int count) {
#pragma unroll
    for (int i = 0; i < count; i++) asm volatile("" : "+f"(d[i])::"memory");
}
TW_FN void tw_wgmma_settle_all(i32 *d, int count) {
#pragma unroll
    for (int i = 0; i < count; i++) asm volatile("" : "+r"(d[i])::"memory");
}
#define tw_wgmma_settle(d) tw_wgmma_settle_all(d, (int)(sizeof(d) / sizeof *(d)))
#endif
