/* schedule.h: what the files of the pass `schedule` share.
 *
 *   schedule.c         the pass: what is decided, and in which order
 *   schedule_follow.c  a role that empties rings on the threads that fill them becomes part of the role there
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
} Schedule;

/* --- schedule_follow.c --- */
/* False: a hand-over stands where the other role has none. */
bool schedule_follow(Kernel *k, Op *tasks);
#endif
