/* SPDX-License-Identifier: Apache-2.0 */
/* hip_emu_core.h: what the files of HIP's emulation share (hip_emu.h). */
#ifndef TARGET_HIP_EMU_HIP_EMU_CORE_H
#define TARGET_HIP_EMU_HIP_EMU_CORE_H
#include "target/hip/emu/hip_emu.h"
#include "base/vec.h"
#include "target/simt/emu/emu_core.h"

#include "target/hip/emu/include/hip_table.h"

enum { HIP_FAULT_MATRIX = EMU_FAULT_OF_TARGET };

/* The operands of a matrix instruction, while lanes are missing. */
typedef struct HipWave {
    void *d[EMU_MAX_LANES];
    const unsigned *a[EMU_MAX_LANES], *b[EMU_MAX_LANES];
} HipWave;

/* A word on its way to shared memory. */
typedef struct HipCopy {
    uint32_t s;
    const void *from; /* NULL: zeros */
} HipCopy;
typedef struct HipThread {
    VEC(HipCopy) copies; /* from number `landed` on, counted from 0 */
    uint32_t landed;
} HipThread;

typedef struct HipEmu {
    Emu emu; /* first */
    HipWave *wave;
    HipThread *thread;
} HipEmu;

static inline HipEmu *hip_emu(Emu *emu) { return (HipEmu *)emu; }

/* hip_emu_copy.c */
void hip_emu_copy(Emu *emu, int line, unsigned s, const void *p);
void hip_emu_copies_wait(Emu *emu, int line, int left);
void hip_emu_happen(Emu *emu, const Event *event);

/* hip_emu_matrix.c */
void hip_emu_matrix(Emu *emu, int line, int kind, int type, void *d, const unsigned *a, const unsigned *b);
/* AMD's lane maps: of element e of a lane's operand (A: its row; B: its column), and of register r of its sum. */
void hip_place_operand(int kind, int type, int lane, int e, int *side, int *k);
void hip_place_sum(int kind, int type, int lane, int r, int *row, int *column);
#endif
