/* schedule.h: what the files of the pass `schedule` share.
 *
 *   schedule.c         the pass: what is decided, and in which order
 *   schedule_follow.c  a role that empties rings on the threads that fill them becomes part of the role there
 *   schedule_turn.c    loops turned so that a product runs under the next trip's arithmetic
 *   schedule_flight.c  products in flight while the next item is waited for
 *
 * A decision is written to the op that it is about, as an attribute (attrs.def); the emitter reads those and decides
 * nothing. */
#ifndef PASS_SCHEDULE_SCHEDULE_H
#define PASS_SCHEDULE_SCHEDULE_H
#include "pass/layout/layout.h"
#include "pass/ring/ring.h"

typedef struct Schedule {
    PassContext *cx;
    Kernel *k;
    Arena *arena;     /* scratch: the pass's own */
    Op *tasks;        /* NULL: the kernel is flat */
    int *uses;        /* by Ref */
    bool takes_turns; /* `explain` has been told that workers take turns */
} Schedule;

const Layout *schedule_layout(const Kernel *k, Ref tile);
const Op *schedule_role(const Op *op); /* in which it stands; NULL: none */

/* --- schedule_follow.c --- */
/* False: a hand-over stands where the other role has none. */
bool schedule_follow(Kernel *k, Op *tasks);

/* --- schedule_turn.c --- */
void schedule_turn(Schedule *s, Op *loop);

/* --- schedule_flight.c --- */
/* Can the product be issued and waited for later? */
bool schedule_is_async(const Schedule *s, const Op *dot);
/* Needs the items that consumers may hold, so it comes when the rings have their slots. */
void schedule_flight(PassContext *cx, Kernel *k);
#endif
