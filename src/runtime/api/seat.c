/* SPDX-License-Identifier: Apache-2.0 */
/* seat.c: see seat.h. The list of seats only grows, so that it is walked without a lock, in a signal handler too. */
#include "runtime/runtime.h"

#include <string.h>

enum { LINE = 64 }; /* that scratch begins at */

static Seat *find_of(const tw_context *cx, pthread_t thread) {
    Seat *seat = atomic_load_explicit(&cx->seats, memory_order_acquire);
    while (seat && !pthread_equal(seat->thread, thread)) seat = seat->next;
    return seat;
}

Seat *seat_find(const tw_context *cx) { return find_of(cx, pthread_self()); }

Seat *seat_add(tw_context *cx, pthread_t thread) {
    Seat *seat = find_of(cx, thread); /* of one that has ended */
    if (seat) return seat;
    seat = &cx->first;
    if (atomic_load(&cx->seats)) {
        seat = cx->allocator.resize(cx->allocator.user, NULL, 0, sizeof *seat);
        atomic_store(&cx->shared, true);
    }
    if (!seat) return NULL;
    *seat = (Seat){.thread = thread};
    arena_init(&seat->texts, cx->allocator, &seat->trap);
    seat_begin(seat);
    seat->next = atomic_load_explicit(&cx->seats, memory_order_relaxed);
    atomic_store_explicit(&cx->seats, seat, memory_order_release);
    return seat;
}

Seat *seat_take(tw_context *cx) {
    Seat *seat = seat_find(cx);
    if (seat) return seat;
    pthread_mutex_lock(&cx->lock);
    seat = seat_add(cx, pthread_self());
    pthread_mutex_unlock(&cx->lock);
    return seat;
}

void seat_begin(Seat *seat) {
    seat->message = seat->fix = seat->warnings = seat->findings = "";
    seat->findings_json = "[]\n";
    seat->diagnostics = NULL;
    seat->diagnostic_count = 0;
    arena_reset(&seat->texts, (ArenaMark){NULL, 0});
    cancel_begin(&seat->cancel);
}

void seat_say(Seat *seat, const char *message) {
    seat->message = message;
    seat->fix = "";
}

static const char *copy_text(Arena *arena, const char *text) {
    return text ? arena_string(arena, text, strlen(text)) : NULL;
}

void seat_copy(Seat *to, const Seat *from) {
    Arena *arena = &to->texts;
    to->message = copy_text(arena, from->message);
    to->fix = copy_text(arena, from->fix);
    to->warnings = copy_text(arena, from->warnings);
    tw_diagnostic *list = ARENA_ARRAY(arena, tw_diagnostic, from->diagnostic_count);
    for (size_t i = 0; i < from->diagnostic_count; i++) {
        list[i] = from->diagnostics[i]; /* severity and code are constants */
        list[i].text = copy_text(arena, list[i].text);
        list[i].file = copy_text(arena, list[i].file);
        list[i].fix = copy_text(arena, list[i].fix);
    }
    to->diagnostics = list;
    to->diagnostic_count = from->diagnostic_count;
}

bool seat_reserve_words(tw_context *cx, Seat *seat, size_t count) {
    if (count <= seat->word_count) return true;
    Allocator a = cx->allocator;
    uint64_t *words = a.resize(a.user, NULL, 0, count * sizeof *words);
    if (!words) return false;
    context_free(cx, seat->words, seat->word_count * sizeof *words);
    seat->words = words;
    seat->word_count = count;
    return true;
}

bool seat_reserve_scratch(tw_context *cx, Seat *seat, size_t bytes) {
    if (bytes <= seat->scratch_bytes) return true;
    Allocator a = cx->allocator;
    void *block = a.resize(a.user, NULL, 0, bytes + LINE);
    if (!block) return false;
    context_free(cx, seat->scratch_block, seat->scratch_bytes + LINE);
    seat->scratch_block = block;
    seat->scratch = (void *)(((uintptr_t)block + LINE - 1) / LINE * LINE);
    seat->scratch_bytes = bytes;
    return true;
}

void seat_free(tw_context *cx, Seat *seat) {
    arena_free(&seat->texts);
    context_free(cx, seat->words, seat->word_count * sizeof *seat->words);
    context_free(cx, seat->scratch_block, seat->scratch_bytes + LINE);
}

Arena *context_texts(tw_context *cx) { return &seat_find(cx)->texts; }
Cancel *context_cancel(tw_context *cx) { return &seat_find(cx)->cancel; }

void context_say(tw_context *cx, const char *message) {
    Seat *seat = seat_take(cx);
    if (seat) seat_say(seat, message);
}

const char *context_said(const tw_context *cx) {
    const Seat *seat = seat_find(cx);
    return seat ? seat->message : "";
}
