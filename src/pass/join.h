/* SPDX-License-Identifier: Apache-2.0 */
/* join.h: how many neighbouring tasks become one; see join.c. */
#ifndef PASS_JOIN_H
#define PASS_JOIN_H
#include "pass/machine.h"

enum { MOST_JOINED = 8 }; /* along an index */

typedef struct JoinSize {
    int rows, columns; /* along the last index but one, and the last */
} JoinSize;

/* What may be joined of a kernel, along which of the two indices, and what its tasks do. Bytes are counted apart by
 * what they grow with: neither index, the first (1), the second (2), both (3). */
typedef struct JoinLimits {
    bool along[2];
    bool apart;           /* along one of them alone */
    bool whole[2];        /* only groups that are full: what is stored cannot be given another end */
    int64_t held[4];      /* bytes of on-chip memory */
    double loaded[4];     /* from memory, by what the place of the load depends on */
    double cycles;        /* of arithmetic */
    int rows, columns;    /* of cores that a launch may use */
} JoinLimits;

/* For a launch of so many tasks along the two indices: the number that takes the least time. */
JoinSize join_choose(const Machine *machine, const JoinLimits *limits, const int64_t tasks[2]);
#endif
