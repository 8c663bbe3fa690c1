/* schedule.h: what the files of the pass `schedule` share.
 *
 *   schedule.c         the pass: what is decided, and in which order
 *   schedule_follow.c  a role that empties rings on the threads that fill them becomes part of the role there
 *   schedule_turn.c    loops turned so that a product runs under the next trip's arithmetic
 *   schedule_flight.c  products in flight while the next item is waited for
 *   schedule_loose.c   loads of rows that are not aligned: together, and ahead
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
    Arena *arena; /* scratch: the pass's own */
    Op *tasks;    /* NULL: the kernel is flat */
    int *uses;    /* by Ref */
    Facts facts;
    int batches;      /* of loads that have been numbered */
    bool takes_turns; /* `explain` has been told that workers take turns */
} Schedule;

const Layout *schedule_layout(const Kernel *k, Ref tile);
const Op *schedule_role(const Op *op); /* in which it stands; NULL: none */

/* --- schedule_follow.c --- */
/* False: a hand-over stands where the other role has none. */
bool schedule_follow(Kernel *k, Op *tasks);

/* --- schedule_turn.c --- */
void schedule_turn(Schedule *s, Op *loop);

/* --- schedule_loose.c --- */
enum { LOOSE_AT_ONCE = 64 }; /* elements that a thread waits for at once: the registers they take */
void schedule_loose(Schedule *s, Op *op);
/* Can the value be computed for another trip of the loop, from its variable and from outside? */
bool schedule_is_of_any_trip(const Kernel *k, Ref r, const Region *body);
/* Of a load that is copied ahead: a line, and all of them. */
int64_t schedule_line_bytes(Facts *f, const Op *load);
int64_t schedule_word_bytes(Facts *f, const Op *load);

/* --- schedule_flight.c --- */
/* Can the product be issued and waited for later? */
bool schedule_is_async(const Schedule *s, const Op *dot);
/* Needs the items that consumers may hold, so it comes when the rings have their slots. */
void schedule_flight(PassContext *cx, Kernel *k);
#endif
