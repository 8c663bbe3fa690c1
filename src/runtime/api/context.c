/* context.c: contexts: memory of objects, messages, the thread pool; see runtime.h. */
#include "runtime/runtime.h"

#include "runtime/launch/pool.h"
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

void context_drop(tw_context *cx) {
    if (--cx->references > 0) return;
    for (int i = 0; target_at(i); i++)
        if (target_at(i)->shutdown) target_at(i)->shutdown(cx);
    pool_destroy(cx->pool);
    arena_free(&cx->texts);
    arena_free(&cx->arena);
    Allocator allocator = cx->allocator;
    allocator.resize(allocator.user, cx, sizeof *cx, 0);
}

tw_status context_fail(tw_context *cx, tw_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    cx->message = arena_vprintf(&cx->texts, format, args);
    va_end(args);
    return status;
}

tw_status context_refuse(tw_context *cx, tw_status status, const char *code, int64_t needed, int64_t available,
                         const char *format, ...) {
    va_list args;
    va_start(args, format);
    cx->message = arena_vprintf(&cx->texts, format, args);
    va_end(args);
    tw_diagnostic *one = ARENA_NEW(&cx->texts, tw_diagnostic);
    *one = (tw_diagnostic){.severity = diag_severity_name(SEVERITY_ERROR),
                           .code = code,
                           .text = cx->message,
                           .needed = needed,
                           .available = available};
    cx->diagnostics = one;
    cx->diagnostic_count = 1;
    return status;
}

static void list_diagnostics(tw_context *cx, const Diag *diag) {
    tw_diagnostic *list = ARENA_ARRAY(&cx->texts, tw_diagnostic, diag->messages.count);
    for (size_t i = 0; i < diag->messages.count; i++) {
        const DiagMessage *from = &diag->messages.at[i];
        Place place;
        bool placed = diag->sources && source_find(diag->sources, from->range.begin, &place);
        uint32_t bytes = from->range.end > from->range.begin ? from->range.end - from->range.begin : 1;
        list[i] = (tw_diagnostic){.severity = diag_severity_name(from->severity),
                                  .code = diag_code(from->id),
                                  .text = arena_string(&cx->texts, from->text, strlen(from->text)),
                                  .needed = from->needed,
                                  .available = from->available};
        if (!placed) continue;
        list[i].file = arena_string(&cx->texts, place.file->name, strlen(place.file->name));
        list[i].line = place.line;
        list[i].column = place.column;
        list[i].length = (int32_t)bytes;
    }
    cx->diagnostics = list;
    cx->diagnostic_count = diag->messages.count;
}

tw_status context_diagnose(tw_context *cx, const Diag *diag, tw_status on_error) {
    if (diag->messages.count == 0) return diag->errors ? on_error : TW_OK;
    const char *text = diag_render(diag, &cx->texts);
    list_diagnostics(cx, diag);
    if (diag->errors) {
        cx->message = text;
        return on_error;
    }
    cx->warnings = text;
    return TW_OK;
}

Pool *context_pool(tw_context *cx) {
    if (!cx->pool) cx->pool = pool_create(cx->allocator, cx->threads);
    if (!cx->pool) trap_throw(&cx->trap, TRAP_OUT_OF_MEMORY);
    return cx->pool;
}
