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
    cx->allocator = allocator;
    cx->references = 1;
    cx->threads = options.threads;
    cx->print = options.print;
    cx->print_user = options.print_user;
    cx->cancel.poll = options.poll;
    cx->cancel.user = options.poll_user;
    cx->tool_timeout = options.tool_timeout > 0 ? options.tool_timeout : 120;
    arena_init(&cx->texts, allocator, &cx->trap);
    arena_init(&cx->arena, allocator, &cx->trap);
    arena_init(&cx->launch_scratch, allocator, &cx->trap);
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

int32_t tw_context_cancel(tw_context *cx) { return cx && cancel_ask(&cx->cancel); }

const char *tw_context_message(const tw_context *cx) { return cx ? cx->message : ""; }
const char *tw_context_findings(const tw_context *cx) { return cx ? cx->findings : ""; }

const char *tw_context_findings_json(const tw_context *cx) { return cx ? cx->findings_json : "[]\n"; }

tw_status tw_context_diagnostic_at(const tw_context *cx, size_t index, tw_diagnostic *diagnostic) {
    if (!cx || !diagnostic) return TW_ERROR_ARGUMENT;
    /* An error that is about no source, such as a wrong argument: its message. */
    tw_diagnostic plain = {.severity = "error", .code = "", .text = cx->message};
    const tw_diagnostic *found = index < cx->diagnostic_count ? &cx->diagnostics[index] : NULL;
    if (!found && !cx->diagnostic_count && index == 0 && *cx->message) found = &plain;
    if (!found) return TW_ERROR_NOT_FOUND;
    return api_give_info(diagnostic, found, sizeof *found) ? TW_OK : TW_ERROR_ARGUMENT;
}

const char *tw_context_warnings(const tw_context *cx) { return cx ? cx->warnings : ""; }

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
    info.available = target->available(cx, &cx->texts, &info.note);
    cx->message = "";
    return api_give_info(call->info, &info, sizeof info) ? TW_OK : api_misuse(cx, api_bad_struct);
}

tw_status tw_target_info_at(tw_context *cx, size_t index, tw_target_info *info) {
    if (!cx || !info) return api_absent(cx);
    return api_guarded(cx, describe_target, &(TargetCall){index, info});
}

tw_status tw_option_info_at(tw_context *cx, size_t index, tw_option_info *info) {
    tw_option_info ours = {0};
    if (!cx || !info) return api_absent(cx);
    cx->message = "";
    if (!option_info(index, &ours)) return api_past_last(cx);
    return api_give_info(info, &ours, sizeof ours) ? TW_OK : api_misuse(cx, api_bad_struct);
}

tw_status tw_builtin_info_at(tw_context *cx, size_t index, tw_builtin_info *info) {
    FrontBuiltin row;
    if (!cx || !info) return api_absent(cx);
    cx->message = "";
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
        call->text = ir_manual(&cx->texts);
        return TW_OK;
    }
    if (strcmp(call->name, "options") == 0) {
        Text t = text_new(&cx->texts);
        tw_option_info info = {0};
        for (size_t i = 0; option_info(i, &info); i++)
            text_add(&t, "- `%s`: %s. Takes %s.\n", info.name, info.about, info.values);
        call->text = t.at;
        return TW_OK;
    }
    call->text = front_manual(call->name, &cx->texts);
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
