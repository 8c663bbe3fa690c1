/* SPDX-License-Identifier: Apache-2.0 */
/* hip_table.h: what an emitted kernel for AMD's GPUs asks of the emulator beyond what any SIMT kernel does (emu_table.h, which is
 * included before). Read by C and C++. */
#ifndef HIP_TABLE_H
#define HIP_TABLE_H
#ifdef __cplusplus
extern "C" {
#endif

typedef enum HipMatrix { HIP_MFMA_32x32, HIP_MFMA_16x16, HIP_WMMA_16x16 } HipMatrix;
typedef enum HipType { HIP_F16, HIP_BF16, HIP_F32, HIP_F64, HIP_I8, HIP_U8, HIP_E4B8, HIP_E5B16 } HipType;

typedef struct HipTable {
    EmuTable simt; /* first */
    /* d += a b, registers of the calling lane: those of the sum (f32, f64 or i32), and words of the operands. */
    void (*matrix)(Emu *, int line, int kind, int type, void *d, const unsigned *a, const unsigned *b);
    /* A word from p (NULL: zeros) to shared memory, later; all of the thread's but the last `left` have landed. */
    void (*copy)(Emu *, int line, unsigned s, const void *p);
    void (*copies_wait)(Emu *, int line, int left);
} HipTable;

#ifdef __cplusplus
}
#endif
#endif
