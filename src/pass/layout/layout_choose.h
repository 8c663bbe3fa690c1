/* SPDX-License-Identifier: Apache-2.0 */
/* layout_choose.h: layouts that accesses and dots ask for (layout_choose.c), for the pass `layout`. */
#ifndef PASS_LAYOUT_LAYOUT_CHOOSE_H
#define PASS_LAYOUT_LAYOUT_CHOOSE_H
#include "pass/layout/layout.h"

/* 16-byte vectors along the contiguous dimension, then the threads of a warp, then warps, then registers. */
LinearLayout choose_blocked(const Machine *machine, const Type *type, int warps, int contiguous);
/* The left operand of a dot whose instruction takes it from registers, over all warps. */
LinearLayout choose_left(const Kernel *k, const Op *dot, int along_m, int warps);
/* The same as the sum of a product before it lies; false: the instruction knows but the one. */
bool choose_left_held(const Kernel *k, const Op *dot, int along_m, int warps, LinearLayout *map);
LinearLayout choose_accumulator(const PassContext *cx, const Kernel *k, const Op *dot, int warps);
/* The grid, over the sum of a dot, of those warps that run its matrix instruction together: as it was written on the
 * dot, which is done before anything moves; has it one that its instruction can be run by? */
void choose_grid(Kernel *k, Op *dot, int warps);
bool choose_has_grid(const Kernel *k, const Op *dot, int warps);
void choose_dot_grid(const Kernel *k, const Op *dot, int warps, int *along_m, int *along_n);
/* How a field of a ring is stored: by type and by the instructions that read it. */
SharedTile choose_field(const PassContext *cx, const Kernel *k, Ref ring, int field);
/* The dimension of the tile along which memory is contiguous; the last one, and a wish for it, when
 * nothing is known. */
int choose_contiguous(Facts *f, const Op *access, const Type *tile);
/* Is what is put into the slot a row that comes with a matrix? */
bool choose_is_beside(const Kernel *k, const Op *put);
/* Is each element of the box asked about by a mask? Of one that comes in runs, only the first of each. */
bool choose_by_element(const Op *access);
/* Does the mask of a store keep or leave out whole rows along that axis, so that vectors may run along it? */
bool choose_masks_rows(const Kernel *k, const Op *access, int axis);
/* Of what an access loads: blocked along that dimension. */
LinearLayout choose_access(const Machine *machine, Facts *f, const Op *access, const Type *tile, int warps);
#endif
