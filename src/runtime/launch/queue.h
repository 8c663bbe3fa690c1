/* SPDX-License-Identifier: Apache-2.0 */
/* queue.h: launches that go on by themselves, one after the other, on a thread of their stream (host targets).
 *
 * A launch is bound and tested where it is made; what it needs is copied, and runs later. When one fails, those behind
 * it are dropped, and who waits is told. Kernels and arrays live until the launches with them have ended:
 * whoever destroys one waits (queues_settle). */
#ifndef RUNTIME_LAUNCH_QUEUE_H
#define RUNTIME_LAUNCH_QUEUE_H
#include "runtime/target/target.h"

/* Under the context's lock, below the API's frame. From then on the context counts as shared. */
Queue *queue_create(tw_context *cx);
/* Runs what is there, and ends. Without the context's lock. NULL is allowed. */
void queue_destroy(Queue *queue);
tw_status queue_add(Queue *queue, tw_kernel *k, const LaunchCall *call);
/* Until nothing is left, or the call of `seat` is cancelled; what went wrong since the last wait, said in `seat`. */
tw_status queue_wait(Queue *queue, Seat *seat);
int64_t queue_pending(Queue *queue); /* launches that have not ended */
void queue_cancel(Queue *queue);     /* what runs ends soon, what waits is dropped */

/* Until no launch is left in any queue of the context, whose lock is held; false: the call of `seat` (may be NULL) was
 * cancelled. */
bool queues_settle(tw_context *cx, Seat *seat);
#endif
