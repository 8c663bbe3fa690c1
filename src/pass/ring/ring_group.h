/* SPDX-License-Identifier: Apache-2.0 */
/* ring_group.h: neighbouring tasks as a cluster, planned and proved (ring_group.c). */
#ifndef PASS_RING_RING_GROUP_H
#define PASS_RING_RING_GROUP_H
#include "pass/pass.h"

/* Writes `cluster` and `share` into a plan where options or the cost model want it, with a finding. */
void ring_group_plan(PassContext *cx, Kernel *k, Op *tasks);

/* Is a plan with clusters right? False after an error in the diag. */
bool ring_group_check(PassContext *cx, Kernel *k, const Op *tasks);
#endif
