/* SPDX-License-Identifier: Apache-2.0 */
/* hip_emu_matrix.c: MFMA and WMMA, written from AMD's instruction set manuals (CDNA 2 and 3, RDNA 3) and not from the
 * compiler's tables, which tests/unit/test_matrix.c compares with it.
 *
 * MFMA m x m (m = 32 or 16) of a wave of 64: lane l has row l % m of A and column l % m of B, and as many elements
 * along K, side by side, as fill its operand, those of lanes l / m one after the other. In lane l the sum has column
 * l % m:
 *     32 x 32    register r: row 8 (r / 4) + 4 (l / 32) + r % 4
 *     16 x 16    register r: row 4 (l / 16) + r; of f64: row 4 r + l / 16
 * WMMA 16 x 16 x 16 of a wave of 32: lanes l and l + 16 both have row (column) l % 16 with all of K; register r of the
 * sum: row 2 r + l / 16, column l % 16. */
#include "base/numeric.h"
#include "target/hip/emu/hip_emu_core.h"

#include <string.h>

enum { MOST_SIDE = 32, MOST_K = 64 };

static int element_bits(int type) {
    switch (type) {
    case HIP_F64: return 64;
    case HIP_F32: return 32;
    case HIP_F16:
    case HIP_BF16: return 16;
    default: return 8;
    }
}

static int side_of(int kind) { return kind == HIP_MFMA_32x32 ? 32 : 16; }

/* Elements of a lane's operand. */
static int elements_of(int kind, int type) {
    if (kind == HIP_WMMA_16x16) return 16;
    return type == HIP_F32 || type == HIP_F64 ? 1 : element_bits(type) == 16 ? 4 : 8;
}

static int sums_of(int kind) { return kind == HIP_MFMA_32x32 ? 16 : kind == HIP_MFMA_16x16 ? 4 : 8; }

void hip_place_operand(int kind, int type, int lane, int e, int *side, int *k) {
    *side = lane % side_of(kind);
    *k = kind == HIP_WMMA_16x16 ? e : lane / side_of(kind) * elements_of(kind, type) + e;
}

void hip_place_sum(int kind, int type, int lane, int r, int *row, int *column) {
    *column = lane % side_of(kind);
    if (kind == HIP_MFMA_32x32)
        *row = 8 * (r / 4) + 4 * (lane / 32) + r % 4;
    else if (kind == HIP_WMMA_16x16)
        *row = 2 * r + lane / 16;
    else
        *row = type == HIP_F64 ? 4 * r + lane / 16 : 4 * (lane / 16) + r;
}

static double element(int type, const unsigned *words, int e) {
    int bits = element_bits(type);
    if (bits == 64) return f64_from_bits((uint64_t)words[1] << 32 | words[0]);
    unsigned cell = bits == 32 ? words[e] : words[e * bits / 32] >> e * bits % 32 & ((1u << bits) - 1);
    switch (type) {
    case HIP_F32: return (double)f32_from_bits(cell);
    case HIP_F16: return (double)f16_to_f32((uint16_t)cell);
    case HIP_BF16: return (double)bf16_to_f32((uint16_t)cell);
    case HIP_E4B8: return (double)f8e4b8_to_f32((uint8_t)cell);
    case HIP_E5B16: return (double)f8e5b16_to_f32((uint8_t)cell);
    case HIP_I8: return (double)(int8_t)cell;
    default: return (double)cell;
    }
}

/* One more rounding than the sum itself has is not modelled: products are added in double, then to the sum. */
static void accumulate(int type, void *sums, int r, double sum) {
    if (type == HIP_F64)
        ((double *)sums)[r] += sum;
    else if (type == HIP_I8 || type == HIP_U8) /* exact in double; the sum wraps */
        ((uint32_t *)sums)[r] += (uint32_t)(int64_t)sum;
    else
        ((float *)sums)[r] = (float)((double)((float *)sums)[r] + sum);
}

static void multiply(Emu *emu, const HipWave *wave, int kind, int type) {
    double am[MOST_SIDE][MOST_K], bm[MOST_K][MOST_SIDE];
    int count = 0;
    for (int l = 0; l < emu->lanes; l++)
        for (int e = 0; e < elements_of(kind, type); e++) {
            int side, k;
            hip_place_operand(kind, type, l, e, &side, &k);
            if (k >= count) count = k + 1;
            am[side][k] = element(type, wave->a[l], e);
            bm[k][side] = element(type, wave->b[l], e);
        }
    for (int l = 0; l < emu->lanes; l++)
        for (int r = 0; r < sums_of(kind); r++) {
            int row, column;
            hip_place_sum(kind, type, l, r, &row, &column);
            double sum = 0;
            for (int k = 0; k < count; k++) sum += am[row][k] * bm[k][column];
            accumulate(type, wave->d[l], r, sum);
        }
}

/* WMMA's two halves of a wave must hold the same. */
static bool halves_agree(Emu *emu, const HipWave *wave, int type) {
    size_t bytes = (size_t)(16 * element_bits(type) / 8);
    for (int l = 0; l < emu->lanes / 2; l++)
        if (memcmp(wave->a[l], wave->a[l + 16], bytes) != 0 || memcmp(wave->b[l], wave->b[l + 16], bytes) != 0)
            return false;
    return true;
}

void hip_emu_matrix(Emu *emu, int line, int kind, int type, void *d, const unsigned *a, const unsigned *b) {
    bool wmma = kind == HIP_WMMA_16x16;
    const char *what = wmma ? "WMMA" : "MFMA";
    int lane = lane_of(emu), wanted = wmma ? 32 : 64;
    HipWave *wave = &hip_emu(emu)->wave[emu->running->id / emu->lanes];
    if (emu->lanes != wanted)
        emu_fail(emu, HIP_FAULT_MATRIX, "%s at %s is an instruction of waves of %d lanes; these have %d", what,
                 emu_at(emu, line), wanted, emu->lanes);
    wave->d[lane] = d;
    wave->a[lane] = a;
    wave->b[lane] = b;
    if (!emu_collective(emu, line, what, kind, type)) return;
    if (wmma && !halves_agree(emu, wave, type))
        emu_fail(emu, HIP_FAULT_MATRIX, "WMMA at %s: lanes 16 and above must hold the operands of those 16 below",
                 emu_at(emu, line));
    multiply(emu, wave, kind, type);
    emu_collective_done(emu);
}
