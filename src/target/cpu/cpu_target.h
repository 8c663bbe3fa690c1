/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_target.h: the CPU emitter: a kernel in access form (or any flat form without SPMD) becomes
 * one C file.
 *
 * The text includes "cpu.h" and others of prelude/, and defines one function:
 *
 *     void tw_run(TwLaunch *launch, i64 begin, i64 end, u8 *scratch)
 *
 * which runs programs begin .. end-1 of the grid, numbered with dimension 0 fastest, using
 * `scratch_bytes` of private, 64-byte aligned memory, whose first 256 bytes are zero when a thread
 * begins a launch. Tiles live there or in registers, never on
 * the stack. Bits do not depend on how programs are spread over threads. */
#ifndef TARGET_CPU_CPU_TARGET_H
#define TARGET_CPU_CPU_TARGET_H
#include "ir/speech.h"

typedef struct CpuAssert {
    Range range;
    const char *message;
} CpuAssert;

typedef struct CpuCode {
    const char *text;
    bool uses_libm;
    bool has_externs; /* functions that the source brings stand in the text */
    bool has_products; /* calls TW_APART functions of prelude/dot.h or gemm.h, which may be compiled apart */
    int64_t scratch_bytes;
    const CpuAssert *asserts; /* in the order of TwLaunch.failed - 1 */
    int assert_count;
    const Speech *prints; /* in the order of the numbers given to TwLaunch.print */
    int print_count;      /* with prints, programs run one after the other */
    bool has_workers;     /* workers run side by side: the launcher has TwLaunch.beside and .turn for them */
} CpuCode;

/* False after errors (in the module's diag): an op that this target cannot do. */
bool cpu_emit(Kernel *k, Arena *arena, CpuCode *code);
#endif
