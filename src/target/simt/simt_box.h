/* SPDX-License-Identifier: Apache-2.0 */
/* simt_box.h: one access to a box of a tensor, as the files that write it see it (simt_memory.c for
 * vectors, a target for its own ways).
 *
 *     Box b = box_of(e, op, type, layout);
 *     emit_unroll(e, "r", layout->registers, b.vector);
 *     box_indices(e, &b, mask);             then b.row, b.index[b.inner_dim], b.condition are texts */
#ifndef TARGET_SIMT_SIMT_BOX_H
#define TARGET_SIMT_SIMT_BOX_H
#include "target/simt/simt.h"

/* Which dimensions of the tensor are looked at: all, or those that say where a row begins, or the one along it. */
typedef enum BoxPart { BOX_ALL, BOX_ROW, BOX_ALONG } BoxPart;

typedef struct Box {
    const Op *op;
    const Type *tile;
    const Layout *layout;
    TensorText tensor;
    int inner_dim; /* of the tensor, that vectors run along; -1: none */
    int vector;
    bool near; /* it is `bounded`: the instruction tests which lanes are inside (box_near), without row and index */
    bool whole;                  /* a vector is inside the inner bound or outside, never both */
    const Expr *index[MAX_RANK]; /* of the tensor, at register r */
    const SharedTile *places;    /* copies by place: the last axis counts them as they lie, swizzled; NULL: elements */
    const Expr *row;             /* address without the inner index */
    const Expr *condition;       /* all bounds, unless vectors may lie across the inner one: then without it;
                        NULL: true */
} Box;

/* As the access says (Access), with the texts of base, extents and strides; a comment on it stands above what comes
 * next. */
Box box_of(Emit *e, const Op *op, const Type *tile, const Layout *layout);
/* Writes the indices of register r as variables, and makes row and condition. */
void box_indices(Emit *e, Box *b, Ref mask);
void box_part(Emit *e, Box *b, BoxPart part); /* the same for a part of the dimensions, without a mask */
void box_mask(Emit *e, Box *b, Ref mask);     /* that register r is not masked */
/* Of an access that is `bounded`: the address of its box's first element, and how many bytes behind it register r
 * lies. */
void box_near(Emit *e, const Box *b, const Expr **base, const Expr **at);
/* What elements outside are loaded as, in memory form; its bits, of a float of 8 or 16 bits that is known, else -1. */
int box_fill_bits(Emit *e, const Op *op, Elem elem);
const Expr *box_fill(Emit *e, const Op *op, Elem elem);
/* An access with a hint: "_hinted" is part of its function's name ("" without one), the hint its last argument. */
const char *memory_hinted(const Op *op);
const Expr *memory_with_hint(Emit *e, const Op *op, const Expr *last);
/* A comment that says where each thread's elements lie in the tensor (simt_purpose.c). */
void purpose_box(Emit *e, const Box *b);
/* Another condition that must hold; NULL: none. */
void box_also(Emit *e, const Expr **condition, const Expr *also);
#endif
