/* SPDX-License-Identifier: Apache-2.0 */
/* emu_matrix.c: ldmatrix, stmatrix and mma.sync, with fragments as PTX lays them out.
 *
 * g = lane / 4, t = lane % 4. With n elements in a 32-bit register (2 of 16 bits, 4 of 8, 1 of
 * tf32):
 *
 *     A (16 x 8n)  register r, element e: row g + 8 (r % 2), k = n t + e + 4n (r / 2)
 *     B (8n x 8)   register r, element e: k = n t + e + 4n r, column g
 *     C (16 x 8j)  register i:            row g + 8 (i / 2 % 2), column 8 (i / 4) + 2 t + i % 2
 *
 * Products are exact in double; a sum over one instruction's k is made in double and rounded once. */
#include "target/cuda/emu/cuda_emu_core.h"
#include "target/cuda/emu/emu_fragment.h"

#include <string.h>

int emu_per_register(int type) { return 4 / (int)emu_type_bytes(type); }

void emu_fragment_a(int type, int lane, int reg, int e, int *row, int *k) {
    int n = emu_per_register(type);
    *row = lane / 4 + 8 * (reg % 2);
    *k = n * (lane % 4) + e + 4 * n * (reg / 2);
}

void emu_fragment_b(int type, int lane, int reg, int e, int *k, int *column) {
    int n = emu_per_register(type);
    *k = n * (lane % 4) + e + 4 * n * reg;
    *column = lane / 4;
}

void emu_fragment_sum(int lane, int i, int *row, int *column) {
    *row = lane / 4 + 8 * (i / 2 % 2);
    *column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
}

double emu_element(int type, unsigned reg, int e) {
    int bits = 8 * (int)emu_type_bytes(type);
    unsigned mask = bits == 32 ? ~0u : (1u << bits) - 1;
    return emu_widen(type, reg >> (e * bits) & mask);
}

void emu_accumulate(int type, float *d, bool add, double sum) {
    if (type != EMU_I8 && type != EMU_U8) {
        *d = (float)((add ? (double)*d : 0.0) + sum);
        return;
    }
    int32_t bits; /* sums of integers are exact in double, and wrap */
    memcpy(&bits, d, sizeof bits);
    bits = (int32_t)((add ? (uint32_t)bits : 0) + (uint32_t)(int64_t)sum);
    memcpy(d, &bits, sizeof bits);
}

void emu_mma(Emu *emu, int line, int type, float *d, const unsigned *a, const unsigned *b) {
    int lane = lane_of(emu), n = emu_per_register(type);
    CudaWarp *warp = cuda_warp(emu, line, "mma.sync");
    warp->d[lane] = d;
    warp->a[lane] = a;
    warp->b[lane] = b;
    if (!emu_collective(emu, line, "mma.sync", type, 0)) return;
    double am[16][32], bm[32][8];
    for (int l = 0; l < EMU_WARP; l++)
        for (int r = 0; r < 4; r++)
            for (int e = 0; e < n; e++) {
                int row, column, k;
                emu_fragment_a(type, l, r, e, &row, &k);
                am[row][k] = emu_element(type, warp->a[l][r], e);
                if (r >= 2) continue;
                emu_fragment_b(type, l, r, e, &k, &column);
                bm[k][column] = emu_element(type, warp->b[l][r], e);
            }
    for (int l = 0; l < EMU_WARP; l++)
        for (int i = 0; i < 4; i++) {
            int row, column;
            emu_fragment_sum(l, i, &row, &column);
            double sum = 0;
            for (int k = 0; k < 8 * n; k++) sum += am[row][k] * bm[k][column];
            emu_accumulate(type, &warp->d[l][i], true, sum);
        }
    emu_collective_done(emu);
}

/* Both moves: lane 8i + j gives the address of row j of matrix i, 16 bytes; element (row, column)
 * of a matrix is half of the register of lane 4 row + column / 2, or transposed. */
static void move_matrices(Emu *emu, bool store, int count, int trans) {
    int first = first_of_warp(emu);
    const Warp *warp = warp_of(emu);
    const CudaWarp *own = cuda_warp(emu, warp->line, warp->what);
    for (int m = 0; m < count; m++)
        for (int row = 0; row < 8; row++) {
            int owner = 8 * m + row;
            Thread *thread = &emu->thread[first + owner];
            uint32_t s = warp->address[owner];
            uint16_t half[8];
            EmuAccess access = {.thread = thread,
                                .agent = thread->id,
                                .line = warp->line,
                                .clock = thread->clock,
                                .kind = CELL_GENERIC,
                                .what = store ? "writes by stmatrix" : "reads by ldmatrix"};
            emu_check_shared(emu, warp->line, s, 16, 16, store ? "stmatrix" : "ldmatrix");
            s += emu_own(emu);
            if (store) {
                emu_touch_write(emu, &access, s, 16);
            } else {
                emu_touch_read(emu, &access, s, 16);
                memcpy(half, emu->shared + s, 16);
            }
            for (int column = 0; column < 8; column++) {
                int high = trans ? row % 2 : column % 2;
                int lane = trans ? 4 * column + row / 2 : 4 * row + column / 2;
                unsigned *r = &own->r[lane][m];
                if (store)
                    half[column] = (uint16_t)(*r >> 16 * high);
                else
                    *r = (*r & (high ? 0x0000FFFFu : 0xFFFF0000u)) | (unsigned)half[column] << 16 * high;
            }
            if (store) memcpy(emu->shared + s, half, 16);
        }
}

void emu_ldmatrix(Emu *emu, int line, unsigned *r, unsigned s, int count, int trans) {
    int lane = lane_of(emu);
    warp_of(emu)->address[lane] = s;
    cuda_warp(emu, line, "ldmatrix")->r[lane] = r;
    if (!emu_collective(emu, line, "ldmatrix", trans, count)) return;
    move_matrices(emu, false, count, trans);
    emu_collective_done(emu);
}

void emu_stmatrix(Emu *emu, int line, unsigned s, const unsigned *r, int count, int trans) {
    int lane = lane_of(emu);
    unsigned copy[4]; /* lives on this fiber's stack until the last lane has come */
    memcpy(copy, r, (size_t)count * sizeof *copy);
    warp_of(emu)->address[lane] = s;
    cuda_warp(emu, line, "stmatrix")->r[lane] = copy;
    if (!emu_collective(emu, line, "stmatrix", trans, count)) return;
    move_matrices(emu, true, count, trans);
    emu_collective_done(emu);
}
