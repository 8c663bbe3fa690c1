/* SPDX-License-Identifier: Apache-2.0 */
/* ring_number.h: which loops and conditions of different roles are the same (ring_number.c). */
#ifndef PASS_RING_RING_NUMBER_H
#define PASS_RING_RING_NUMBER_H
#include "ir/ir.h"

typedef struct RingNumbers RingNumbers;
RingNumbers *ring_numbers_new(const Kernel *k, Arena *arena);

/* Of a for its trips, of a while or an if its condition, as role number `role` (below MAX_ROLES) sees it: 0, 1, ..
 * Equal numbers: as many trips, the same way, in whichever of the roles it stands. */
int ring_number(RingNumbers *n, int role, const Op *op);
int ring_number_count(const RingNumbers *n); /* how many there are */
#endif
