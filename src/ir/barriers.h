/* SPDX-License-Identifier: Apache-2.0 */
/* barriers.h: phases of mbarriers as numbers, for those who run through a kernel's control without its data.
 *
 * A walk knows the loop variables that its user sets, and computes small integers from them. Arrivals at a barrier and
 * waits for it are then plain arithmetic. */
#ifndef IR_BARRIERS_H
#define IR_BARRIERS_H
#include "ir/build.h"

typedef struct BarWalk {
    const Kernel *k;
    Arena *arena;
    Map bars;  /* Ref -> phases of its barriers */
    Map known; /* Ref -> int64_t *: variables that have a number now; NULL: they have none */
    const char *why; /* it is not known, or wrong */
    const Op *where;
} BarWalk;

/* A number that is made of integers and of what leaf knows; false: of something else, or it is large. */
typedef bool (*NumberLeaf)(const void *user, Ref ref, int64_t *out);
bool ir_number(const Kernel *k, Ref ref, NumberLeaf leaf, const void *user, int64_t *out);

bool bars_number(const BarWalk *w, Ref ref, int64_t *out);
bool bars_fail(BarWalk *w, const Op *op, const char *why);
bool bars_arrive(BarWalk *w, const Op *op);
bool bars_wait(BarWalk *w, const Op *op, bool *passes); /* has the phase ended? */
/* Does each wait of the kernel, which one worker runs, find its phase ended? Else why not, and where. */
bool bars_prove(const Kernel *k, Arena *arena, const char **why, const Op **where);
bool bars_are_inside(const Op *op);                     /* an arrival or a wait, in one of its regions */
#endif
