/* SPDX-License-Identifier: Apache-2.0 */
/* ring_rotate.h: a loop of products in a row, turned so that the last runs under the arithmetic of
 * the next trip (ring_rotate.c). */
#ifndef PASS_RING_RING_ROTATE_H
#define PASS_RING_RING_ROTATE_H
#include "ir/build.h"
#include "pass/pass.h"

/* Where an op of the body goes: HEAD computes what the second product needs, SCALE prepares its
 * accumulator, TAIL is the product itself with the hand-over of its other operand. */
typedef enum RotatePart { ROTATE_HEAD, ROTATE_SCALE, ROTATE_TAIL } RotatePart;

typedef struct Rotation {
    const Op *loop;
    const Op *first, *second;    /* the last two products; the second's left operand comes from the first */
    int carried;                 /* the accumulator among the carried values */
    VEC(const Op *) tail, scale; /* the others are HEAD */
} Rotation;

/* Can the loop be turned? */
bool rotation_find(Kernel *k, const Op *loop, Arena *arena, Rotation *out);
RotatePart rotation_part(const Rotation *r, const Op *op); /* of an op of the body */

/* A sum that is rounded before it is added goes on to the next trip, so that the loop can be turned (ring_late.c): the
 * loop again; NULL: it has none. */
Op *ring_carry_sum(PassContext *cx, Kernel *k, Op *loop);
/* The product of that sum, and the one before it; NULL: it has none. */
const Op *ring_late_sum(Kernel *k, const Op *loop, Arena *arena, const Op **before);
/* Sets `rotate` on the loops of the roles that can be turned; false: there are none. */
bool ring_rotate(PassContext *cx, Kernel *k, Op *tasks);
#endif
