/* api_stream.c: streams, and on which device an address lies. */
#include "runtime/api/api.h"

#include "runtime/target/target.h"

#include <string.h>

typedef struct StreamCall {
    const char *name;
    bool wrapped;
    void *native;
    tw_stream *stream;
} StreamCall;

static tw_status stream_body(tw_context *cx, void *user) {
    StreamCall *c = user;
    const Target *target = target_find(c->name ? c->name : "cpu", NULL);
    if (!target) return context_fail(cx, TW_ERROR_NOT_FOUND, "there is no target `%s`", c->name);
    if (c->wrapped && !target->synchronize)
        return context_fail(cx, TW_ERROR_UNSUPPORTED, "target %s has no queues: its launches are done when they return",
                            target->name);
    c->stream = context_alloc(cx, sizeof *c->stream);
    *c->stream = (tw_stream){cx, target, c->native, c->wrapped};
    cx->references++;
    return TW_OK;
}

typedef struct HomeCall {
    const char *target;
    const void *address;
    int32_t *device;
} HomeCall;

static tw_status home_body(tw_context *cx, void *user) {
    const HomeCall *c = user;
    const Target *target = target_find(c->target ? c->target : "cpu", NULL);
    if (!target) return context_fail(cx, TW_ERROR_NOT_FOUND, "there is no target `%s`", c->target);
    return target->memory ? target->memory->home(cx, c->address, c->device) : TW_OK;
}

tw_status tw_target_device_of(tw_context *cx, const char *target, const void *address, int32_t *device) {
    if (device) *device = -1;
    if (!cx || !device) return api_absent(cx);
    return api_guarded(cx, home_body, &(HomeCall){target, address, device});
}

static tw_status synchronize_body(tw_context *cx, void *user) {
    const tw_stream *stream = user;
    return stream->target->synchronize ? stream->target->synchronize(cx, user) : TW_OK;
}

static tw_status make_stream(tw_context *cx, StreamCall *call, tw_stream **out) {
    if (out) *out = NULL;
    if (!cx || !out) return api_absent(cx);
    tw_status status = api_guarded(cx, stream_body, call);
    if (status == TW_OK) *out = call->stream;
    return status;
}

tw_status tw_stream_create(tw_context *cx, const char *target, tw_stream **out) {
    return make_stream(cx, &(StreamCall){.name = target}, out);
}

tw_status tw_stream_wrap(tw_context *cx, const char *target, void *native, tw_stream **out) {
    return make_stream(cx, &(StreamCall){.name = target, .wrapped = true, .native = native}, out);
}

tw_status tw_stream_rebind(tw_stream *stream, void *native) {
    if (!stream) return TW_ERROR_ARGUMENT;
    if (!stream->wrapped) return api_misuse(stream->context, "only a stream that stands for the caller's is rebound");
    stream->native = native;
    return TW_OK;
}

void tw_stream_destroy(tw_stream *stream) {
    if (!stream) return;
    tw_context *cx = stream->context;
    context_free(cx, stream, sizeof *stream);
    context_drop(cx);
}

tw_status tw_stream_synchronize(tw_stream *stream) {
    if (!stream) return TW_ERROR_ARGUMENT;
    return api_guarded(stream->context, synchronize_body, stream);
}
