/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c: see queue.h. The thread of a queue sits in a seat of its own: what a launch says lies there, until a wait
 * takes it. */
#include "runtime/launch/queue.h"

#include "runtime/launch/frame.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct Entry {
    struct Entry *next;
    tw_kernel *kernel;
    LaunchCall call;
    size_t words;
    uint64_t word[]; /* of the frame */
} Entry;

struct Queue {
    tw_context *context;
    Queue *next; /* of the context's */
    pthread_t thread;
    pid_t owner; /* a forked child has no such thread */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    /* under the mutex */
    Entry *first, **last;
    Entry *spare; /* that have run, to be used again */
    int64_t pending;
    bool stop;
    Seat *seat;       /* of the thread */
    tw_status failed; /* since the last wait */
};

static void drop_waiting(Queue *q) {
    for (; q->first; q->pending--) {
        Entry *entry = q->first;
        q->first = entry->next;
        entry->next = q->spare;
        q->spare = entry;
    }
    q->last = &q->first;
}

static tw_status run_entry(Queue *q, Entry *entry) {
    Seat *seat = q->seat;
    Frame frame = frame_in(entry->kernel, entry->word);
    entry->call.frame = &frame;
    entry->call.seat = seat;
    seat->inside = true;
    seat->cancel.poll = NULL; /* the host is asked on its own threads */
    if (entry->call.timeout_ms) cancel_limit(&seat->cancel, entry->call.timeout_ms);
    tw_status status;
    if (TRAP_ARM(&seat->trap)) {
        status = entry->kernel->target->launch(entry->kernel, &entry->call);
    } else {
        bool memory = seat->trap.code == TRAP_OUT_OF_MEMORY;
        seat_say(seat, memory ? "out of memory" : seat->trap.message);
        status = memory ? TW_ERROR_MEMORY : TW_ERROR_INTERNAL;
    }
    seat->inside = false;
    if (!cancel_is_asked(&seat->cancel)) return status;
    bool late = atomic_load(&seat->cancel.late);
    seat_say(seat, late ? "a launch took longer than its limit allows" : "it was cancelled");
    return late ? TW_ERROR_TIMEOUT : TW_ERROR_CANCELLED;
}

static void *queue_main(void *user) {
    Queue *q = user;
    pthread_mutex_lock(&q->mutex);
    for (;;) {
        while (!q->first && !q->stop) pthread_cond_wait(&q->changed, &q->mutex);
        if (!q->first) break;
        Seat *seat = q->seat;
        Entry *entry = q->first;
        q->first = entry->next;
        if (!q->first) q->last = &q->first;
        seat_begin(seat); /* under the mutex: queue_cancel is about this launch or about none */
        pthread_mutex_unlock(&q->mutex);
        tw_status status = run_entry(q, entry);
        pthread_mutex_lock(&q->mutex);
        entry->next = q->spare;
        q->spare = entry;
        q->pending--;
        if (status != TW_OK) {
            q->failed = status;
            drop_waiting(q);
        }
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->mutex);
    return NULL;
}

Queue *queue_create(tw_context *cx) {
    Queue *q = context_alloc(cx, sizeof *q);
    *q = (Queue){.context = cx, .owner = getpid()};
    q->last = &q->first;
    pthread_mutex_init(&q->mutex, NULL);
    pthread_cond_init(&q->changed, NULL);
    if (pthread_create(&q->thread, NULL, queue_main, q) != 0) {
        context_free(cx, q, sizeof *q);
        trap_throw(&cx->trap, TRAP_OUT_OF_MEMORY);
    }
    q->seat = seat_add(cx, q->thread);
    q->next = cx->queues;
    cx->queues = q;
    if (q->seat) return q;
    queue_destroy(q);
    trap_throw(&cx->trap, TRAP_OUT_OF_MEMORY);
}

void queue_destroy(Queue *q) {
    if (!q) return;
    tw_context *cx = q->context;
    pthread_mutex_lock(&cx->lock);
    Queue **at = &cx->queues;
    while (*at != q) at = &(*at)->next;
    *at = q->next;
    pthread_mutex_unlock(&cx->lock);
    if (q->owner == getpid()) {
        pthread_mutex_lock(&q->mutex);
        q->stop = true;
        pthread_cond_broadcast(&q->changed);
        pthread_mutex_unlock(&q->mutex);
        pthread_join(q->thread, NULL);
        pthread_cond_destroy(&q->changed);
        pthread_mutex_destroy(&q->mutex);
    }
    for (Entry *entry = q->spare, *next; entry; entry = next) {
        next = entry->next;
        context_free(cx, entry, sizeof *entry + entry->words * sizeof *entry->word);
    }
    context_free(cx, q, sizeof *q);
}

/* One of the spare ones that is large enough, or a new one; NULL: no memory. */
static Entry *take_entry(Queue *q, size_t words) {
    for (Entry **at = &q->spare; *at; at = &(*at)->next)
        if ((*at)->words >= words) {
            Entry *entry = *at;
            *at = entry->next;
            return entry;
        }
    Allocator a = q->context->allocator;
    Entry *entry = a.resize(a.user, NULL, 0, sizeof *entry + words * sizeof *entry->word);
    if (entry) entry->words = words;
    return entry;
}

tw_status queue_add(Queue *q, tw_kernel *k, const LaunchCall *call) {
    if (q->owner != getpid()) return k->target->launch(k, call);
    pthread_mutex_lock(&q->mutex);
    Entry *entry = take_entry(q, k->frame_words);
    if (entry) {
        entry->kernel = k;
        entry->call = *call;
        entry->next = NULL;
        memcpy(entry->word, call->frame->slots, k->frame_words * sizeof *entry->word);
        q->pending++;
        *q->last = entry;
        q->last = &entry->next;
        if (q->failed != TW_OK) drop_waiting(q); /* nobody has heard of the one before yet */
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->mutex);
    return entry ? TW_OK : context_fail(k->context, TW_ERROR_MEMORY, "no memory to keep the launch of `%s`", k->name);
}

/* With the mutex held; false: cancelled. */
static bool await_end(Queue *q, Seat *seat) {
    while (q->pending) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += CANCEL_LOOK_MS * 1000000L;
        if (until.tv_nsec >= 1000000000L) until.tv_sec++, until.tv_nsec -= 1000000000L;
        pthread_cond_timedwait(&q->changed, &q->mutex, &until);
        if (seat && q->pending && cancel_look(&seat->cancel)) return false;
    }
    return true;
}

/* With the mutex held, which nothing may throw past. */
static bool copy_said(Seat *to, const Seat *from) {
    Trap trap, *const outer = to->texts.trap;
    to->texts.trap = &trap;
    if (TRAP_ARM(&trap)) {
        seat_copy(to, from);
        to->texts.trap = outer;
        return true;
    }
    to->texts.trap = outer;
    return false;
}

tw_status queue_wait(Queue *q, Seat *seat) {
    if (q->owner != getpid()) return TW_OK;
    tw_status status = TW_ERROR_CANCELLED;
    pthread_mutex_lock(&q->mutex);
    if (await_end(q, seat)) {
        status = q->failed;
        if (status != TW_OK && !copy_said(seat, q->seat)) status = TW_ERROR_MEMORY;
        q->failed = TW_OK;
    }
    pthread_mutex_unlock(&q->mutex);
    return status;
}

int64_t queue_pending(Queue *q) {
    if (q->owner != getpid()) return 0;
    pthread_mutex_lock(&q->mutex);
    int64_t pending = q->pending;
    pthread_mutex_unlock(&q->mutex);
    return pending;
}

void queue_cancel(Queue *q) {
    if (q->owner != getpid()) return;
    pthread_mutex_lock(&q->mutex);
    bool dropped = q->first != NULL;
    drop_waiting(q);
    if (q->pending)
        cancel_ask(&q->seat->cancel);
    else if (dropped && q->failed == TW_OK) {
        q->failed = TW_ERROR_CANCELLED;
        seat_say(q->seat, "it was cancelled");
    }
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->mutex);
}

bool queues_settle(tw_context *cx, Seat *seat) {
    bool settled = true;
    for (Queue *q = cx->queues; q && settled; q = q->next) {
        if (q->owner != getpid() || pthread_equal(q->thread, pthread_self())) continue;
        pthread_mutex_lock(&q->mutex);
        settled = await_end(q, seat);
        pthread_mutex_unlock(&q->mutex);
    }
    return settled;
}
