/* SPDX-License-Identifier: Apache-2.0 */
/* cancel.c: see cancel.h. */
#include "base/cancel.h"

#include <time.h>

bool cancel_ask(Cancel *c) {
    atomic_store(&c->asked, 1);
    return atomic_load(&c->held) > 0;
}

void cancel_begin(Cancel *c) {
    atomic_store_explicit(&c->asked, 0, memory_order_relaxed);
    atomic_store_explicit(&c->held, 0, memory_order_relaxed); /* of a call that ran out of memory */
    atomic_store_explicit(&c->deadline, 0, memory_order_relaxed);
    atomic_store_explicit(&c->late, false, memory_order_relaxed);
    c->next = 0;
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void cancel_limit(Cancel *c, int64_t milliseconds) {
    atomic_store(&c->deadline, milliseconds ? now() + milliseconds * INT64_C(1000000) : 0);
}

bool cancel_is_due(Cancel *c) {
    if (!c || cancel_is_asked(c)) return c != NULL;
    int64_t deadline = atomic_load_explicit(&c->deadline, memory_order_relaxed);
    if (!deadline || now() < deadline) return false;
    atomic_store(&c->late, true);
    atomic_store(&c->asked, 1);
    return true;
}

bool cancel_look(Cancel *c) {
    if (!c || cancel_is_due(c)) return c != NULL;
    if (c->poll) {
        int64_t time = now();
        if (!c->next) c->next = time + CANCEL_LOOK_MS * INT64_C(1000000); /* short calls ask nobody */
        if (time >= c->next) {
            c->next = time + CANCEL_LOOK_MS * INT64_C(1000000);
            if (c->poll(c->user)) atomic_store(&c->asked, 1);
        }
    }
    return cancel_is_asked(c);
}
