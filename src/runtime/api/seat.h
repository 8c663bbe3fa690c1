/* SPDX-License-Identifier: Apache-2.0 */
/* seat.h: what a context keeps for each thread that calls it: the messages of the thread's last call, whether that call
 * is still wanted, memory for its launches. It is made with the thread's first call, and freed with the context; a
 * later thread with the same id takes it over. */
#ifndef RUNTIME_API_SEAT_H
#define RUNTIME_API_SEAT_H
#include "base/arena.h"
#include "base/cancel.h"
#include "tilewright.h"

#include <pthread.h>

typedef struct Seat Seat;
struct Seat {
    Seat *next;
    pthread_t thread;
    Arena texts; /* message and warnings; emptied by each call */
    Trap trap;   /* of a call that does not hold the context's lock */
    const char *message, *warnings, *findings, *findings_json;
    const char *fix; /* the end of message that says what to do instead; "": it says none by itself */
    const tw_diagnostic *diagnostics; /* the messages one by one; in texts */
    size_t diagnostic_count;
    bool inside;   /* a call is under way */
    Cancel cancel; /* of that call */
    uint64_t *words; /* of its launch */
    size_t word_count;
    void *scratch, *scratch_block; /* what a kernel works in on this thread; block: as allocated */
    size_t scratch_bytes;
};

/* Of the calling thread; NULL: it has made no call. */
Seat *seat_find(const tw_context *cx);
/* The same, made if it is missing, which waits for the call that is under way: from then on the context is shared.
 * NULL: no memory. */
Seat *seat_take(tw_context *cx);
/* One for a thread that has been started, with the context's lock held; NULL: no memory. */
Seat *seat_add(tw_context *cx, pthread_t thread);
/* A call begins: no message, and it is wanted. */
void seat_begin(Seat *seat);
/* What it says from now on; without a fix. */
void seat_say(Seat *seat, const char *message);
/* What was said in one, said in the other. */
void seat_copy(Seat *to, const Seat *from);
bool seat_reserve_words(tw_context *cx, Seat *seat, size_t count);
/* 64-byte aligned, at least so much; false: no memory. */
bool seat_reserve_scratch(tw_context *cx, Seat *seat, size_t bytes);
void seat_free(tw_context *cx, Seat *seat); /* what it holds, not itself */

/* For the thread of a call: where its texts go, and what ends it. */
Arena *context_texts(tw_context *cx);
Cancel *context_cancel(tw_context *cx);
/* What the call says; NULL is nothing. A thread that has no seat says nothing. */
void context_say(tw_context *cx, const char *message);
const char *context_said(const tw_context *cx);
#endif
