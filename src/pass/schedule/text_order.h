/* SPDX-License-Identifier: Apache-2.0 */
/* text_order.h: in which order the text of a scheduled kernel runs through its ops, where that is not the order in
 * which they stand: headers of tasks, turned loops, loads that run ahead on the threads of compute. Facts of the
 * ops and their marks, for the pass that decides what waits for what (schedule_sync.c) and for the emitters that
 * write it. */
#ifndef PASS_SCHEDULE_TEXT_ORDER_H
#define PASS_SCHEDULE_TEXT_ORDER_H
#include "ir/ringform.h"

/* --- headers: each role computes for itself what it needs of the header of its task --- */
/* By Ref: what the role needs, or (a value given) only what that is made of. */
bool *header_uses(const Kernel *k, Arena *arena, const Op *tasks, const Op *role, Ref value);
bool header_has(const bool *uses, const Op *op); /* is an op of the tasks' body part of the header? */

/* --- rings, as the schedule has marked them --- */
bool ring_is_fused(const Op *ring);   /* its ends are the same threads: no barriers of its own */
bool ring_runs_ahead(const Op *ring); /* and its producer runs ahead in the loops of its consumer */
/* The role that runs on this one and fills such rings for it; NULL: none. */
const Op *role_feeder(const Kernel *k, const Op *tasks, const Op *role);

/* --- gangs --- */
Op *gang_loop(const Op *role);                     /* that all programs run on the same items; NULL: there is none */
bool gang_varies(const Kernel *k, const Op *loop); /* do their trips follow from the task? */

/* --- loads that run ahead: the load role is written into the loops of its host --- */
/* Does a loop of the load role run in one inside of this loop, or a branch around such? */
bool twin_is_outer(const Op *loop);
/* The product of the loop behind which its loads are issued (`covers`); NULL: they come before all else of the trip. */
const Op *twin_cover(const Op *loop);
/* Is an item handed over from the op on, before the other (NULL: the end of the region)? */
bool twin_fills(const Op *from, const Op *until);

/* --- products in flight --- */
/* The release of a loop that comes a trip late, behind a product in flight; NULL: there is none. */
const Op *late_release(const Region *body);
/* The product of such a loop; is it the last of several? Then it is done when one of the next trip is waited for. */
const Op *late_dot(const Op *loop);
bool late_crosses(const Op *loop);
/* A store of a tile from shared memory that begins with the op, from a buffer (wait ; get .. tstore ; release) or from
 * where a product reads it (convert ; tstore): its last op; NULL: none does. The same of all stores directly behind a
 * product that `spans` them; NULL: there is none. */
const Op *span_store(const Kernel *k, const Op *op);
const Op *dot_span(const Kernel *k, const Op *dot);
/* Does the next product of its region add to the sum of this one, which joins it? Then nobody waits in between. */
bool dot_is_continued(const Op *dot);
/* Does the product read shared memory that is no ring's? */
bool dot_reads_scratch(const Kernel *k, const Op *dot);

/* --- turned loops (`rotate`): head; scale; tail, which is written into the next trip --- */
typedef struct TurnedLoop {
    const Op *first, *second; /* the products */
    const Op *scale, *tail;   /* where these parts begin in the body; the tail ends at the yield */
    int carried;              /* the accumulator of the second among the carried values */
} TurnedLoop;
TurnedLoop turned_parts(const Op *loop);

/* --- loops that `trails`: heads side by side; the rest; tails and releases of their slots, for the next trip --- */
typedef struct TrailingLoop {
    const Op *first, *rest;    /* the first head, and what stands behind the last */
    const Op *tail, *releases; /* the first of the tails, and of their releases, which end at the yield */
} TrailingLoop;
TrailingLoop trailing_parts(const Op *loop);

/* --- loops that `leads`: heads side by side; what comes before the next trip's are issued; the rest, with tails in
 * flight; the releases of their slots, a trip late --- */
typedef struct LeadingLoop {
    const Op *first, *rest; /* the first head, and what stands behind the last */
    const Op *issue;        /* before this op the next trip's heads are issued .. */
    const Op *settle;       /* .. and before this one, all products before those are waited for */
    const Op *releases;     /* the first of those that come late; they end at the yield */
} LeadingLoop;
LeadingLoop leading_parts(const Op *loop);
bool loop_is_turned(const Op *loop); /* one of these three */
#endif
