/* SPDX-License-Identifier: Apache-2.0 */
/* simt_dot.h: one dot being written, between simt_dot.c and a target's matrix instructions. */
#ifndef TARGET_SIMT_SIMT_DOT_H
#define TARGET_SIMT_SIMT_DOT_H
#include "pass/matrix.h"
#include "target/simt/simt.h"

struct Dot {
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
};

/* Where element (row, column) of the stored operand i lies. */
const Expr *dot_matrix_at(Dot *d, int i, const Expr *row, const Expr *column);

/* A that lies in registers as the instruction takes it: so many elements a word, the words' array (NULL: it does not
 * lie there; `set`: to 0), and what is written into it. */
int dot_left_each(const Dot *d);
const char *dot_left_declare(Dot *d, bool set);
void dot_left_pack(Dot *d, const char *words);

const char *dot_sum_type(const Type *type); /* what products of this type are summed in */
Dot dot_of(Emit *e, const Op *op);
void dot_open(Dot *d); /* the accumulator, with c in it: c's own array where nobody needs c afterwards */
void dot_say(Dot *d);  /* who multiplies, for `explain` */
#endif
