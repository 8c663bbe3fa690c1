/* SPDX-License-Identifier: Apache-2.0 */
/* api.c: see api.h. */
#include "runtime/api/api.h"

#include <string.h>

/* The end of a call that came back, and of one that left by a trap. */
static tw_status end_call(tw_context *cx, Seat *seat, tw_status status) {
    seat->inside = false;
    seat->texts.trap = &seat->trap;
    /* Whoever asked for the end must learn of it, even where the work was done just before. */
    return cancel_is_asked(&seat->cancel) ? api_cancelled(cx, seat) : status;
}

static tw_status end_trapped(tw_context *cx, Seat *seat, Trap *trap) {
    seat->inside = false;
    seat->texts.trap = &seat->trap;
    if (trap->code == TRAP_STOPPED) return api_cancelled(cx, seat);
    seat_say(seat, trap->code == TRAP_OUT_OF_MEMORY ? "out of memory" : trap->message);
    return trap->code == TRAP_OUT_OF_MEMORY ? TW_ERROR_MEMORY : TW_ERROR_INTERNAL;
}

tw_status api_cancelled(tw_context *cx, Seat *seat) {
    (void)cx;
    bool late = atomic_load(&seat->cancel.late);
    seat_say(seat, late ? "it took longer than its limit allows" : "it was cancelled");
    return late ? TW_ERROR_TIMEOUT : TW_ERROR_CANCELLED;
}

/* NULL: there can be no call, for the reason in *status. */
static Seat *begin_call(tw_context *cx, tw_status *status) {
    Seat *seat = seat_take(cx);
    *status = TW_ERROR_MEMORY;
    if (!seat) return NULL;
    if (seat->inside) {
        *status = api_misuse(cx, "a context cannot be called from its own `print` or `poll`");
        return NULL;
    }
    seat_begin(seat);
    seat->cancel.poll = cx->poll;
    seat->cancel.user = cx->poll_user;
    seat->inside = true;
    return seat;
}

tw_status api_guarded(tw_context *cx, ApiBody *body, void *call) {
    tw_status status;
    Seat *const seat = begin_call(cx, &status);
    if (!seat) return status;
    pthread_mutex_lock(&cx->lock);
    seat->texts.trap = &cx->trap;
    if (TRAP_ARM(&cx->trap)) {
        status = end_call(cx, seat, body(cx, call));
        pthread_mutex_unlock(&cx->lock);
        return status;
    }
    arena_free(&cx->launch_scratch);
    tw_status trapped = end_trapped(cx, seat, &cx->trap);
    pthread_mutex_unlock(&cx->lock);
    return trapped;
}

tw_status api_beside(tw_context *cx, ApiBody *body, void *call) {
    tw_status status;
    Seat *const seat = begin_call(cx, &status);
    if (!seat) return status;
    if (TRAP_ARM(&seat->trap)) return end_call(cx, seat, body(cx, call));
    return end_trapped(cx, seat, &seat->trap);
}

tw_status api_misuse(tw_context *cx, const char *message) {
    context_say(cx, message);
    return TW_ERROR_ARGUMENT;
}

tw_status api_absent(tw_context *cx) {
    return cx ? api_misuse(cx, "an argument that is required is NULL") : TW_ERROR_ARGUMENT;
}

tw_status api_past_last(tw_context *cx) {
    context_say(cx, "the index is past the last");
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
DEFINE_INIT(tw_launch_options)
DEFINE_INIT(tw_stream_options)
