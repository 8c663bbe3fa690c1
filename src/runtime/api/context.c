/* SPDX-License-Identifier: Apache-2.0 */
/* context.c: contexts: memory of objects, messages, the thread pool; see runtime.h. */
#include "runtime/runtime.h"

#include "runtime/launch/pool.h"
#include "runtime/launch/queue.h"
#include "runtime/target/target.h"

#include <stdlib.h>
#include <string.h>

void *context_alloc(tw_context *cx, size_t size) {
    void *block = cx->allocator.resize(cx->allocator.user, NULL, 0, size);
    if (!block) trap_throw(&cx->trap, TRAP_OUT_OF_MEMORY);
    return memset(block, 0, size);
}

void context_free(tw_context *cx, void *block, size_t size) {
    if (block) cx->allocator.resize(cx->allocator.user, block, size, 0);
}

void context_hold(tw_context *cx) { atomic_fetch_add(&cx->references, 1); }

static void free_seats(tw_context *cx) {
    for (Seat *seat = atomic_load(&cx->seats), *next; seat; seat = next) {
        next = seat->next;
        seat_free(cx, seat);
        if (seat != &cx->first) context_free(cx, seat, sizeof *seat);
    }
}

void context_drop(tw_context *cx) {
    if (atomic_fetch_sub(&cx->references, 1) > 1) return;
    for (int i = 0; target_at(i); i++)
        if (target_at(i)->shutdown) target_at(i)->shutdown(target_at(i), cx);
    pool_destroy(cx->pool);
    free_seats(cx);
    arena_free(&cx->arena);
    pthread_mutex_destroy(&cx->lock);
    pthread_mutex_destroy(&cx->allocating);
    pthread_mutex_destroy(&cx->pool_busy);
    cx->host.resize(cx->host.user, cx, sizeof *cx, 0);
}

void context_lock(tw_context *cx) {
    context_hold(cx);
    pthread_mutex_lock(&cx->lock);
    queues_settle(cx, NULL);
}

void context_unlock(tw_context *cx) {
    pthread_mutex_unlock(&cx->lock);
    context_drop(cx);
}

tw_status context_fail(tw_context *cx, tw_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    Seat *seat = seat_take(cx);
    if (seat)
        seat->message = text_open_fix(&seat->texts, format, arena_vprintf(&seat->texts, format, args), &seat->fix);
    va_end(args);
    return status;
}

tw_status context_refuse(tw_context *cx, tw_status status, const char *code, int64_t needed, int64_t available,
                         const char *format, ...) {
    va_list args;
    va_start(args, format);
    Seat *seat = seat_find(cx);
    seat->message = text_open_fix(&seat->texts, format, arena_vprintf(&seat->texts, format, args), &seat->fix);
    va_end(args);
    tw_diagnostic *one = ARENA_NEW(&seat->texts, tw_diagnostic);
    *one = (tw_diagnostic){.severity = diag_severity_name(SEVERITY_ERROR),
                           .code = code,
                           .text = seat->message,
                           .fix = seat->fix,
                           .needed = needed,
                           .available = available};
    seat->diagnostics = one;
    seat->diagnostic_count = 1;
    return status;
}

static void list_diagnostics(Seat *seat, const Diag *diag) {
    tw_diagnostic *list = ARENA_ARRAY(&seat->texts, tw_diagnostic, diag->messages.count);
    for (size_t i = 0; i < diag->messages.count; i++) {
        const DiagMessage *from = &diag->messages.at[i];
        Place place;
        bool placed = diag->sources && source_find(diag->sources, from->range.begin, &place);
        uint32_t bytes = from->range.end > from->range.begin ? from->range.end - from->range.begin : 1;
        list[i] = (tw_diagnostic){.severity = diag_severity_name(from->severity),
                                  .code = diag_code(from->id),
                                  .text = arena_string(&seat->texts, from->text, strlen(from->text)),
                                  .fix = arena_string(&seat->texts, from->fix, strlen(from->fix)),
                                  .needed = from->needed,
                                  .available = from->available};
        if (!placed) continue;
        list[i].file = arena_string(&seat->texts, place.file->name, strlen(place.file->name));
        list[i].line = place.line;
        list[i].column = place.column;
        list[i].length = (int32_t)bytes;
    }
    seat->diagnostics = list;
    seat->diagnostic_count = diag->messages.count;
}

tw_status context_diagnose(tw_context *cx, const Diag *diag, tw_status on_error) {
    if (diag->messages.count == 0) return diag->errors ? on_error : TW_OK;
    Seat *seat = seat_find(cx);
    const char *text = diag_render(diag, &seat->texts);
    list_diagnostics(seat, diag);
    if (diag->errors) {
        seat_say(seat, text);
        return on_error;
    }
    seat->warnings = text;
    return TW_OK;
}

Pool *context_pool(tw_context *cx) {
    if (!cx->pool) cx->pool = pool_create(cx->allocator, cx->threads);
    if (!cx->pool) trap_throw(&cx->trap, TRAP_OUT_OF_MEMORY);
    return cx->pool;
}
