/* SPDX-License-Identifier: Apache-2.0 */
/* emu_fragment.h: which element of a matrix a lane's registers hold, as PTX lays fragments out (emu_matrix.c). Elements
 * of A, B and the sum by lane, register and place in the register; types are EmuType. Of wgmma, each warp has 16
 * rows. */
#ifndef TARGET_CUDA_EMU_EMU_FRAGMENT_H
#define TARGET_CUDA_EMU_EMU_FRAGMENT_H

int emu_per_register(int type); /* elements in 32 bits */
void emu_fragment_a(int type, int lane, int reg, int e, int *row, int *k);
void emu_fragment_b(int type, int lane, int reg, int e, int *k, int *column);
void emu_fragment_sum(int lane, int i, int *row, int *column);
#endif
