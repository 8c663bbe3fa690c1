/* SPDX-License-Identifier: Apache-2.0 */
/* join.h: how many neighbouring tasks become one; see join.c. */
#ifndef PASS_JOIN_H
#define PASS_JOIN_H
#include "pass/machine.h"

enum { MOST_JOINED = 8 }; /* along an index */

typedef struct JoinSize {
    int rows, columns; /* along the last index but one, and the last */
} JoinSize;

/* What may be joined of a kernel: along which of the two indices, and the bytes of on-chip memory of a task: those that
 * stay as they are, grow with the rows, with the columns, and with both. */
typedef struct JoinLimits {
    bool along[2];
    int64_t bytes[4];
} JoinLimits;

/* For a launch of so many tasks along the two indices: a core's block of them, as far as it may and fits. */
JoinSize join_choose(const Machine *machine, const JoinLimits *limits, const int64_t tasks[2]);
#endif
