/* SPDX-License-Identifier: Apache-2.0 */
/* scratch.h: how ops that move values between threads lay them out in shared memory while they run (scratch.c): sizes
 * for the pass `schedule`, places for the emitters. Facts of the layouts, no decisions. */
#ifndef PASS_SCHEDULE_SCRATCH_H
#define PASS_SCHEDULE_SCRATCH_H
#include "pass/layout/layout.h"

/* A whole tile (or buffer), dense, that any thread reads at any place. */
int64_t stage_bytes(const Type *type);
/* Of a scatter: its tile, unless it combines; behind it a word for each place, for the last element that goes there, or
 * for what goes there together; 0: no two meet. */
int64_t scatter_tile(const Kernel *k, const Op *op);
int64_t scatter_owners(const Kernel *k, const Op *op);
/* Does the op leave every element with the thread that has it? Else it goes through shared memory. Of a slice: the
 * place of its first element; of a flip: the place that flips when it is xored to another. */
bool cat_stays(const Kernel *k, const Op *cat);
bool slice_stays(const Kernel *k, const Op *slice, uint32_t *first);
bool flip_stays(const Kernel *k, const Op *flip, LayoutPlace *place);
bool reshape_stays(const Kernel *k, const Op *reshape);

/* Are all elements one number? Then no array holds them, and nothing of them moves. */
bool tile_is_number(const Kernel *k, Ref ref);

/* A conversion through shared memory may go in 2, 4 .. pieces of equal size, each at least so many bytes: how many at
 * most; 1: it is none, or too small. */
enum { SCRATCH_ALIGN = 16 }; /* where arrays of a scratch begin: all elements, and vectors of them */
enum { LEAST_PIECE = 1024 }; /* where one scratch ends, the next begins at such a multiple */
int64_t convert_most_pieces(const Kernel *k, const Op *convert);
/* How its tile lies in shared memory, as `swizzle` says. */
LinearLayout convert_through(const Kernel *k, const Op *convert);

/* Where bit `bit` of the axis index lives; false: nowhere alone. */
bool axis_find_bit(const LinearLayout *map, int axis, int bit, LayoutInput *input, int *at);
/* The bits of the axis in the order in which a reduction combines them: the stamp, then those it does not name (there
 * is none, or the padding is wider). Their number. */
int axis_order(const Op *reduce, const LinearLayout *map, int axis, int *order);
/* Bytes of one element of a tuple that is combined. */
int axis_slot_bytes(const Type *type);
/* The same of a reduction; the best of an argmin or argmax travels as a key of 4 or 8 bytes. */
int reduce_slot_bytes(const Kernel *k, const Op *reduce);
bool reduce_is_index(const Op *reduce);
/* Reductions: what a warp has in the scratch, one value if its lanes agree (those in `lanes` were combined), else one a
 * lane; an array of that for all warps and 2^alive registers, to where another one may begin. */
bool reduce_lanes_agree(const LinearLayout *map, uint32_t lanes);
int64_t reduce_array_bytes(const LinearLayout *map, uint32_t lanes, int bytes, int warps, int alive);

/* Rows that are not aligned, whose words may be copied ahead of their trip (schedule_loose.c): can the value be
 * computed for another trip of the loop, from its variable and from outside? */
bool loose_is_of_any_trip(const Kernel *k, Ref r, const Region *body);

/* A map for TMA, where one thread puts it together. */
enum { MADE_BYTES = 128 };

/* Scratch of the op while it runs; 0: none. `warps`: of the block; `used`: somebody wants its result. A loop's is its
 * own attribute. */
int64_t scratch_bytes(const Kernel *k, const Op *op, int warps, bool used);
#endif
