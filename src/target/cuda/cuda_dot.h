/* cuda_dot.h: one dot being written, between cuda_dot.c and cuda_mma.c. */
#ifndef TARGET_CUDA_CUDA_DOT_H
#define TARGET_CUDA_CUDA_DOT_H
#include "target/cuda/cuda_emit.h"

typedef struct Dot {
    Emit *e;
    const Op *op;
    const Matrix *row; /* its instruction */
    const Type *type;  /* of the result */
    const Layout *layout;
    int64_t m, n, k;
    int along_m, along_n;
    const SharedTile *tile[2]; /* NULL: A lies in registers */
    const Expr *offset[2];
    int every;       /* wgmma: k-steps of f8 summed before they are added in f32; 0: all of them */
    bool fresh;      /* the accumulator holds nothing yet: the first k-step writes it */
    const char *acc; /* array of f32, i32 (fma: of the sum's type) */
} Dot;

/* Where element (row, column) of the stored operand i lies. */
const Expr *dot_matrix_at(Dot *d, int i, const Expr *row, const Expr *column);

/* --- cuda_mma.c --- */
void dot_emit_mma(Dot *d);
#endif
