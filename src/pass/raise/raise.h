/* SPDX-License-Identifier: Apache-2.0 */
/* raise.h: the steps of the raise pass (raise.c), each in a file of its own. Each says whether it changed the
 * kernel. */
#ifndef PASS_RAISE_RAISE_H
#define PASS_RAISE_RAISE_H
#include "pass/pass.h"

/* Element loops become tile ops (raise_parallel.c). patches: reads of buffers, by result, that are there for what the
 * write behind them leaves as it is. */
bool raise_parallel(PassContext *cx, Kernel *k, Map *patches);
bool raise_buffers(PassContext *cx, Kernel *k, const Map *patches); /* buffers become values (raise_buffers.c) */
bool raise_sums(PassContext *cx, Kernel *k);                        /* running sums become reduce (raise_sums.c) */
#endif
