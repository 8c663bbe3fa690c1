/* SPDX-License-Identifier: Apache-2.0 */
/* grid_order.h: known ways to turn a program id into the place of a tile. */
#ifndef ANALYSIS_GRID_ORDER_H
#define ANALYSIS_GRID_ORDER_H
#include "ir/build.h"

typedef struct GridOrder {
    Word order;        /* ORDER_GROUPED, ORDER_ROW, ORDER_COLUMN; ORDER_CODE: none was found */
    int64_t group;     /* rows of a group */
    Ref m, n;          /* the places, as the kernel computes them */
    Ref rows, columns; /* how many there are */
} GridOrder;

/* Looks for a decoding of program_id<0> into two places; needs no other program id in the kernel. */
GridOrder grid_order_find(const Kernel *k);

/* A `require` at the builder's place that the launch has one program a place, if there is none yet. */
void grid_order_require(Builder *b, const GridOrder *grid);

/* The same decoding as code: place 0 and 1 of program `id`, at the builder. */
void grid_order_build(Builder *b, Word order, int64_t group, Ref id, Ref rows, Ref columns, Ref *m, Ref *n);
#endif
