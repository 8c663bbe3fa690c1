/* SPDX-License-Identifier: Apache-2.0 */
/* cancel.h: is the work that is under way still wanted?
 *
 * One Cancel belongs to a context. Another thread or a signal handler asks for the end with
 * cancel_ask; whoever works for long looks now and then and leaves on its own way, so that nothing is
 * left half done. Two looks:
 *
 *     cancel_is_asked(c)   one load; any thread, any stack (fibers, workers, emitted code)
 *     cancel_look(c)       the thread of the call alone, on its own stack: also lets the host be
 *                          asked (Python: is there a Ctrl-C?), at most every CANCEL_LOOK_MS
 *
 * A loop that can go on for long makes a cancel_look at least every 10 ms or so; what is not of the
 * host's thread makes that thread come back to it, or rests on its looks. A NULL is never cancelled.
 *
 * cancel_hold counts things outside of the process that the work must still let go of: a compiler
 * that runs, a folder. Who asks for the end learns of it, and may end the process at once when there
 * are none. After cancel_hold one asks once more before taking anything: so no thing is begun behind
 * the back of one who asked. */
#ifndef BASE_CANCEL_H
#define BASE_CANCEL_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { CANCEL_LOOK_MS = 50 };

typedef struct Cancel {
    atomic_int asked, held;
    int32_t (*poll)(void *user); /* the host's own question: not 0 asks for the end; may be NULL */
    void *user;
    int64_t next; /* when the host is asked again, in ns */
    _Atomic int64_t deadline; /* when it ends by itself, in ns of a clock that never goes back; 0: never */
    atomic_bool late;         /* that was why */
} Cancel;

static inline bool cancel_is_asked(Cancel *c) { return c && atomic_load_explicit(&c->asked, memory_order_relaxed); }
static inline void cancel_hold(Cancel *c) {
    if (c) atomic_fetch_add(&c->held, 1);
}
static inline void cancel_release(Cancel *c) {
    if (c) atomic_fetch_sub(&c->held, 1);
}
/* Asks for the end; true: the work holds something and will let go of it. Any thread, also in a signal handler. */
bool cancel_ask(Cancel *c);
/* A new call begins; what was asked before does not concern it. */
void cancel_begin(Cancel *c);
bool cancel_look(Cancel *c);
/* Of any thread: is it past the deadline, or was the end asked for? */
bool cancel_is_due(Cancel *c);
/* So many ms from now on; 0: it may take any time. */
void cancel_limit(Cancel *c, int64_t milliseconds);
#endif
