/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_trail.h: loops of products whose sums are made of rings alone, then arithmetic, then products that add what
 * it made to sums of their own: what schedule_trail.c and schedule_lead.c, which give them another order, both see. */
#ifndef PASS_SCHEDULE_SCHEDULE_TRAIL_H
#define PASS_SCHEDULE_SCHEDULE_TRAIL_H
#include "pass/schedule/schedule.h"

typedef struct Trail {
    VEC(Op *) heads, tails, releases; /* in the order of the body; releases of the slots that the tails read */
    uint8_t *early;                   /* by Ref: what the heads are made of, in the body */
} Trail;

/* Is the loop such a one? */
bool trail_find(const Schedule *s, const Op *loop, Trail *t);
/* The op of the body that makes the value; NULL: it comes from elsewhere. */
const Op *trail_maker(const Schedule *s, const Region *body, Ref ref);
bool trail_gives_back(const Trail *t, const Op *op); /* is it one of the releases? */
/* The heads side by side behind what they need, the releases last. */
void trail_sort(Region *body, const Trail *t);

/* --- schedule_lead.c --- */
/* The loop leads, if it can; false: it stays as it is. */
bool schedule_lead(Schedule *s, Op *loop, const Trail *t);
#endif
