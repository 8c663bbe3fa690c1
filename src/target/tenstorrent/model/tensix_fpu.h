/* SPDX-License-Identifier: Apache-2.0 */
/* tensix_fpu.h: the arithmetic of the matrix unit on whole tiles, bit by bit as the hardware does
 * it.
 *
 * Operands are source-register tiles (fpu_load), results accumulate into DST (fp32 bits; in a
 * 16-bit DST the low half is zero). All tiles are in storage order. `passes` is the math fidelity:
 * a pass multiplies one part of each significand, 5 bits of SrcA by 7 of SrcB, and is one
 * accumulate step of its own. */
#ifndef TARGET_TENSTORRENT_MODEL_TENSIX_FPU_H
#define TARGET_TENSTORRENT_MODEL_TENSIX_FPU_H
#include "target/tenstorrent/model/tensix_format.h"

/* value = mantissa * 2^(exponent - 127 - 10); both 0 for zero. Exponent 255 is not special. */
typedef struct Source {
    int32_t mantissa[FORMAT_TILE]; /* 11 bits and the sign */
    int32_t exponent[FORMAT_TILE];
} Source;

typedef struct FpuMode {
    bool fp32;       /* 32-bit DST */
    uint32_t passes; /* 1 .. 4 */
} FpuMode;

void fpu_load(Source *source, const uint32_t bits[FORMAT_TILE]);
/* dst = a + b, a - b (plus dst when accumulating); dst += a * b. */
void fpu_add(uint32_t dst[FORMAT_TILE], const Source *a, const Source *b, bool subtract, bool accumulate, FpuMode mode);
void fpu_mul(uint32_t dst[FORMAT_TILE], const Source *a, const Source *b, FpuMode mode);
/* dst += left x right; the right operand is SrcA, the left one SrcB. */
void fpu_matmul(uint32_t dst[FORMAT_TILE], const Source *right, const Source *left, FpuMode mode);
/* dst += scaler * sums of data along rows (into column 0), columns (row 0) or all (element 0). */
void fpu_sum(uint32_t dst[FORMAT_TILE], const Source *data, const Source *scaler, uint32_t dim, FpuMode mode);
/* The same places, maximum of data and dst; the bits are as the unpacker delivers them. */
void fpu_max(uint32_t dst[FORMAT_TILE], const uint32_t data[FORMAT_TILE], uint32_t dim);
#endif
