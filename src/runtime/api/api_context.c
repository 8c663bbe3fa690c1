/* SPDX-License-Identifier: Apache-2.0 */
/* api_context.c: contexts, and the tables that one can be asked for: targets, options, builtins, manual pages. */
#include "runtime/api/api.h"

#include "runtime/api/options.h"
#include "runtime/compile/cache.h"
#include "runtime/target/target.h"

#include <string.h>

static tw_status choose_cache(tw_context *cx, void *call) {
    const char *wish = call;
    char dir[CACHE_PATH], absolute[CACHE_PATH];
    if (!wish && cache_default_dir(dir, sizeof dir)) wish = dir;
    cx->cache_dir = NULL;
    if (wish && *wish && path_absolute(wish, absolute))
        cx->cache_dir = arena_string(&cx->arena, absolute, strlen(absolute));
    cx->no_cache = !cx->cache_dir && !(wish && !*wish);
    return TW_OK;
}

tw_status tw_context_set_cache_dir(tw_context *cx, const char *dir) {
    if (!cx) return TW_ERROR_ARGUMENT;
    return api_guarded(cx, choose_cache, (void *)(uintptr_t)dir);
}

/* The caller's allocator is called by one thread at a time. */
static void *resize_alone(void *user, void *block, size_t old_size, size_t new_size) {
    tw_context *cx = user;
    pthread_mutex_lock(&cx->allocating);
    void *result = cx->host.resize(cx->host.user, block, old_size, new_size);
    pthread_mutex_unlock(&cx->allocating);
    return result;
}

static void start_locks(tw_context *cx) {
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&cx->lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    pthread_mutex_init(&cx->allocating, NULL);
    pthread_mutex_init(&cx->pool_busy, NULL);
}

tw_status tw_context_create(const tw_context_options *user_options, tw_context **out) {
    tw_context_options options;
    if (!out) return TW_ERROR_ARGUMENT;
    *out = NULL;
    if (!api_take_options(&options, sizeof options, user_options)) return TW_ERROR_ARGUMENT;
    Allocator allocator = allocator_malloc;
    if (options.allocator) allocator = (Allocator){options.allocator->resize, options.allocator->user};
    tw_context *cx = allocator.resize(allocator.user, NULL, 0, sizeof *cx);
    if (!cx) return TW_ERROR_MEMORY;
    memset(cx, 0, sizeof *cx);
    cx->host = cx->allocator = allocator;
    if (options.allocator) cx->allocator = (Allocator){resize_alone, cx};
    start_locks(cx);
    atomic_store(&cx->references, 1);
    cx->threads = options.threads;
    cx->print = options.print;
    cx->print_user = options.print_user;
    cx->poll = options.poll;
    cx->poll_user = options.poll_user;
    cx->tool_timeout = options.tool_timeout > 0 ? options.tool_timeout : 120;
    arena_init(&cx->arena, cx->allocator, &cx->trap);
    arena_init(&cx->launch_scratch, cx->allocator, &cx->trap);
    tw_status status = api_guarded(cx, choose_cache, (void *)(uintptr_t)options.cache_dir);
    if (status == TW_OK)
        *out = cx;
    else
        context_drop(cx);
    return status;
}

void tw_context_destroy(tw_context *cx) {
    if (cx) context_drop(cx);
}

int32_t tw_context_cancel(tw_context *cx) {
    int32_t holds = 0;
    for (Seat *seat = cx ? atomic_load(&cx->seats) : NULL; seat; seat = seat->next) holds |= cancel_ask(&seat->cancel);
    return holds;
}

/* What the last call of this thread said. */
#define SAID(cx, field, nothing)                         \
    const Seat *seat = (cx) ? seat_find(cx) : NULL;      \
    return seat ? seat->field : (nothing)
const char *tw_context_message(const tw_context *cx) { SAID(cx, message, ""); }
const char *tw_context_warnings(const tw_context *cx) { SAID(cx, warnings, ""); }
const char *tw_context_findings(const tw_context *cx) { SAID(cx, findings, ""); }
const char *tw_context_findings_json(const tw_context *cx) { SAID(cx, findings_json, "[]\n"); }

tw_status tw_context_diagnostic_at(const tw_context *cx, size_t index, tw_diagnostic *diagnostic) {
    if (!cx || !diagnostic) return TW_ERROR_ARGUMENT;
    const Seat *seat = seat_find(cx);
    if (!seat) return TW_ERROR_NOT_FOUND;
    /* An error that is about no source, such as a wrong argument: its message. */
    tw_diagnostic plain = {.severity = "error", .code = "", .text = seat->message, .fix = seat->fix};
    const tw_diagnostic *found = index < seat->diagnostic_count ? &seat->diagnostics[index] : NULL;
    if (!found && !seat->diagnostic_count && index == 0 && *seat->message) found = &plain;
    if (!found) return TW_ERROR_NOT_FOUND;
    return api_give_info(diagnostic, found, sizeof *found) ? TW_OK : TW_ERROR_ARGUMENT;
}

/* --- lists of targets --- */

typedef struct TargetCall {
    size_t index;
    tw_target_info *info;
} TargetCall;

static tw_status describe_target(tw_context *cx, void *user) {
    TargetCall *call = user;
    const Target *target = call->index < 1000 ? target_at((int)call->index) : NULL;
    if (!target) return api_past_last(cx);
    tw_target_info info = {.name = target->name, .about = target->about, .note = ""};
    info.available = target->available(target, cx, context_texts(cx), &info.note);
    context_say(cx, "");
    return api_give_info(call->info, &info, sizeof info) ? TW_OK : api_misuse(cx, api_bad_struct);
}

tw_status tw_target_info_at(tw_context *cx, size_t index, tw_target_info *info) {
    if (!cx || !info) return api_absent(cx);
    return api_guarded(cx, describe_target, &(TargetCall){index, info});
}

tw_status tw_option_info_at(tw_context *cx, size_t index, tw_option_info *info) {
    tw_option_info ours = {0};
    if (!cx || !info) return api_absent(cx);
    context_say(cx, "");
    if (!option_info(index, &ours)) return api_past_last(cx);
    return api_give_info(info, &ours, sizeof ours) ? TW_OK : api_misuse(cx, api_bad_struct);
}

tw_status tw_builtin_info_at(tw_context *cx, size_t index, tw_builtin_info *info) {
    FrontBuiltin row;
    if (!cx || !info) return api_absent(cx);
    context_say(cx, "");
    if (!front_builtin(index, &row)) return api_past_last(cx);
    tw_builtin_info ours = {
        .name = row.name, .places = row.kinds, .signature = row.form, .about = row.doc, .refused = row.refused};
    return api_give_info(info, &ours, sizeof ours) ? TW_OK : api_misuse(cx, api_bad_struct);
}

typedef struct DocumentCall {
    const char *name, *text;
} DocumentCall;

static tw_status document_body(tw_context *cx, void *user) {
    DocumentCall *call = user;
    if (strcmp(call->name, "ops") == 0) {
        call->text = ir_manual(context_texts(cx));
        return TW_OK;
    }
    if (strcmp(call->name, "options") == 0) {
        Text t = text_new(context_texts(cx));
        tw_option_info info = {0};
        for (size_t i = 0; option_info(i, &info); i++)
            text_add(&t, "- `%s`: %s. Takes %s.\n", info.name, info.about, info.values);
        call->text = t.at;
        return TW_OK;
    }
    call->text = front_manual(call->name, context_texts(cx));
    if (call->text) return TW_OK;
    return context_fail(cx, TW_ERROR_NOT_FOUND,
                        "there is no page `%s`; there are ops, options, triton, tilelang and tile-c", call->name);
}

tw_status tw_document(tw_context *cx, const char *name, const char **text) {
    if (text) *text = NULL;
    if (!cx || !name || !text) return api_absent(cx);
    DocumentCall call = {.name = name};
    tw_status status = api_guarded(cx, document_body, &call);
    *text = call.text;
    return status;
}
