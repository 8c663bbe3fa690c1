/* SPDX-License-Identifier: Apache-2.0 */
/* ring_gang.h: programs that run side by side in a block and share what their loops load (ring_gang.c). */
#ifndef PASS_RING_RING_GANG_H
#define PASS_RING_RING_GANG_H
#include "pass/pass.h"

typedef struct Gang {
    int programs;               /* 1: each block runs one at a time */
    int dim;                    /* the index of the grid along which they are neighbours */
    const Op *loop, *load_loop; /* of compute and of load: every item of theirs is shared */
    bool varies;                /* the trip count is computed for each task */
} Gang;

/* Can neighbours along some index share the loop's loads? `why` if not. */
bool gang_find(PassContext *cx, Kernel *k, const Op *tasks, Gang *out, const char **why);
/* Registers a thread of compute can have when movers (warpgroups of `few` a thread) give theirs, in one of so many
 * blocks on a multiprocessor. */
int gang_registers(const Machine *machine, int blocks, int compute_groups, int movers, int few);
#endif
