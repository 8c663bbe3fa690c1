/* SPDX-License-Identifier: Apache-2.0 */
/* nest_state.h: what the files of pass `nest` share.
 *
 *   nest.c         the pass: which loops, and the change
 *   nest_cost.c    how long a task takes with so many trips as one */
#ifndef PASS_NEST_STATE_H
#define PASS_NEST_STATE_H
#include "pass/join_state.h"

enum { MOST_TRIPS = 16 };

typedef struct Nest {
    Join x;
    Along tasks[2];      /* the last two indices of tasks: by which a load's place follows them */
    Along along;         /* the loop's own */
    Op *compute, *load;  /* the two loops */
    const int *uses;     /* by Ref */
    int64_t trips;       /* 0: nobody knows */
    int64_t held;        /* bytes of on-chip memory, as it is */
    int rows, columns;   /* of cores */
    bool is_grid;        /* tasks have two indices, by which cores share loads */
    bool can_end;        /* the last of them may be other than full */
} Nest;

/* Cycles of a task, about, of so many trips as one. */
double nest_cost(const Nest *n, int factor);
int64_t nest_bytes(const Nest *n, int factor); /* of on-chip memory, more than as it is */
int64_t nest_pages(const Nest *n, int factor); /* along the axis of the first sum */
int64_t nest_sum_pages(const Nest *n, bool *stays); /* of what the loop carries; does it stay in DST? */
#endif
