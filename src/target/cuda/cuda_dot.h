/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_dot.h: between cuda_dot.c and cuda_mma.c. */
#ifndef TARGET_CUDA_CUDA_DOT_H
#define TARGET_CUDA_CUDA_DOT_H
#include "target/cuda/cuda_emit.h"
#include "target/simt/simt_dot.h"

/* The op is written: a product that spans it as its last one is waited for. */
void dot_end_span(Emit *e, const Op *op);
/* The product onto the accumulator, by an instruction of warps; one in flight is not waited for. */
void dot_multiply(Dot *d);

/* --- cuda_mma.c --- */
void dot_emit_mma(Dot *d);
#endif
