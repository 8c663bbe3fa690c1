/* SPDX-License-Identifier: Apache-2.0 */
/* ring.h: what ring form is to those outside of the pass. */
#ifndef PASS_RING_RING_H
#define PASS_RING_RING_H
#include "pass/pass.h"

/* The yardstick for "the same ring form": two kernels whose texts are equal differ only in names,
 * in the plan, and in how the prologue finds what the roles are given. Empty for a flat kernel. */
char *ring_canonical(const Kernel *k, Arena *arena);

/* Ring form back to the flat program that it means (flatten.c). False, with the reason, when that
 * would need items to run ahead; the kernel is unchanged then. */
bool ring_flatten(Kernel *k, Arena *scratch, const char **why);

/* What a trip of the loop (NULL: none) costs. */
typedef struct TripCost {
    const Kernel *k;
    int64_t clocks; /* of its products on matrix units that were timed */
    bool alone;     /* one worker does them */
} TripCost;
TripCost ring_trip_cost(const Kernel *k, const Op *loop);

/* --- the cut, taken back: for a schedule that finds no room for it --- */
typedef struct UncutRing { /* of the last cut */
    Ref ring;
    int worth; /* what the kernel loses without it: more is more */
    int64_t bytes;
    int fields;
    VEC(int) accesses; /* by their places in a walk of the kernel as it came: one of each field, perhaps several */
} UncutRing;
typedef struct UncutAccess { /* one that must stay in compute */
    int access;
    int ring; /* that left with it: 0, 1 .. in the order in which they left */
    const char *why;
    bool back; /* it came back: it need not stay */
} UncutAccess;
typedef struct Uncut {
    const KernelCopy *kernel;
    size_t findings; /* how many there were */
    VEC(UncutRing) rings;
    VEC(UncutAccess) stays;
} Uncut;
/* A ring leaves, REF_NONE: the one that is worth least; or one field of it (-1: all of them); the kernel is cut
 * again, its accesses in compute, with `why` for `explain`. Other findings since the cut are gone. False: no loads
 * would be left in rings, or it arrived with them. */
bool ring_leave(PassContext *cx, Kernel *k, Ref ring, int field, const char *why);
int ring_left(const PassContext *cx); /* how many have left */
/* One of those comes back, or leaves again; all come back. The kernel is cut again. */
void ring_return(PassContext *cx, Kernel *k, int which, bool back);
void ring_return_all(PassContext *cx, Kernel *k);
/* Is another ring worth less than this one? */
bool ring_is_worth_more(const PassContext *cx, Ref ring);
/* All of them: the kernel is flat. False: it arrived with rings that cannot be taken back, or errors. */
/* Do the hand-overs hold for all trip counts? What is found stands nowhere: it is a reason to go down a degree, no
 * mistake of the user. */
bool ring_is_proved(PassContext *cx, Kernel *k);
bool ring_take_back(PassContext *cx, Kernel *k, const char *why);
#endif
