/* api.c: see api.h. */
#include "runtime/api/api.h"

#include <string.h>

static tw_status cancelled(tw_context *cx) {
    cx->message = "it was cancelled";
    return TW_ERROR_CANCELLED;
}

tw_status api_guarded(tw_context *cx, ApiBody *body, void *call) {
    if (cx->inside) return api_misuse(cx, "a context cannot be called from its own `print` or `poll`");
    cx->message = cx->warnings = cx->findings = "";
    cx->diagnostics = NULL;
    cx->diagnostic_count = 0;
    cx->findings_json = "[]\n";
    arena_reset(&cx->texts, (ArenaMark){NULL, 0});
    cancel_begin(&cx->cancel);
    cx->inside = true;
    if (TRAP_ARM(&cx->trap)) {
        tw_status status = body(cx, call);
        cx->inside = false;
        /* Whoever asked for the end must learn of it, even where the work was done just before. */
        return cancel_is_asked(&cx->cancel) ? cancelled(cx) : status;
    }
    cx->inside = false;
    arena_free(&cx->launch_scratch);
    if (cx->trap.code == TRAP_STOPPED) return cancelled(cx);
    if (cx->trap.code == TRAP_OUT_OF_MEMORY) {
        cx->message = "out of memory";
        return TW_ERROR_MEMORY;
    }
    cx->message = cx->trap.message;
    return TW_ERROR_INTERNAL;
}

tw_status api_misuse(tw_context *cx, const char *message) {
    cx->message = message;
    return TW_ERROR_ARGUMENT;
}

tw_status api_absent(tw_context *cx) {
    return cx ? api_misuse(cx, "an argument that is required is NULL") : TW_ERROR_ARGUMENT;
}

tw_status api_past_last(tw_context *cx) {
    cx->message = "the index is past the last";
    return TW_ERROR_NOT_FOUND;
}

bool api_take_options(void *ours, size_t size, const void *theirs) {
    size_t given = 0;
    memset(ours, 0, size);
    if (!theirs) return true;
    memcpy(&given, theirs, sizeof given);
    if (given < sizeof given) return false;
    memcpy(ours, theirs, given < size ? given : size);
    for (size_t i = size; i < given; i++)
        if (((const char *)theirs)[i]) return false;
    return true;
}

bool api_give_info(void *theirs, const void *ours, size_t size) {
    size_t given = 0;
    memcpy(&given, theirs, sizeof given);
    if (given < sizeof given) return false;
    size_t n = given < size ? given : size;
    memcpy((char *)theirs + sizeof given, (const char *)ours + sizeof given, n - sizeof given);
    return true;
}

const char api_bad_struct[] = "an options struct must start with its size, and be zero beyond what this version knows";

bool api_args_ok(const tw_arg *args, size_t count) {
    if (!args) return count == 0;
    for (size_t i = 0; i < count; i++) {
        if (args[i].kind < TW_ARG_ABSENT || args[i].kind > TW_ARG_NUMBER_TYPE) return false;
        if (args[i].kind == TW_ARG_TEXT && !args[i].value.text) return false;
        if (args[i].kind == TW_ARG_BUFFER && !args[i].value.buffer) return false;
        if (args[i].kind == TW_ARG_OBJECT && !args[i].value.object) return false;
        bool type = args[i].kind == TW_ARG_ARRAY_TYPE || args[i].kind == TW_ARG_NUMBER_TYPE;
        int64_t dtype = args[i].value.i;
        if (type && (dtype < 1 || dtype > INT32_MAX || !tw_dtype_size((int32_t)dtype))) return false;
    }
    return true;
}

const char api_bad_args[] = "an argument has no known kind, a NULL inside, or a type that is none";

bool api_pairs_ok(const tw_pair *pairs, size_t count) {
    if (!pairs) return count == 0;
    for (size_t i = 0; i < count; i++)
        if (!pairs[i].name || !pairs[i].value) return false;
    return count <= INT32_MAX;
}

const char api_bad_pairs[] = "a list of names and values is NULL, or has a NULL inside";

#define DEFINE_INIT(name)                       \
    void name##_init(name *options) {           \
        if (!options) return;                   \
        memset(options, 0, sizeof *options);    \
        options->struct_size = sizeof *options; \
    }
DEFINE_INIT(tw_context_options)
DEFINE_INIT(tw_module_options)
DEFINE_INIT(tw_buffer_options)
DEFINE_INIT(tw_compile_options)
DEFINE_INIT(tw_build_options)
