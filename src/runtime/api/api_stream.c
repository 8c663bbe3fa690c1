/* SPDX-License-Identifier: Apache-2.0 */
/* api_stream.c: streams, and on which device an address lies. */
#include "runtime/api/api.h"

#include "runtime/launch/queue.h"

#include <string.h>

typedef struct StreamCall {
    const char *name;
    bool wrapped, asynchronous;
    void *native;
    tw_stream *stream;
    int64_t pending;
} StreamCall;

static tw_status stream_body(tw_context *cx, void *user) {
    StreamCall *c = user;
    const Target *target = target_find(c->name ? c->name : "cpu", NULL);
    if (!target) return context_fail(cx, TW_ERROR_NOT_FOUND, "there is no target `%s`", c->name);
    if (c->wrapped && !target->synchronize)
        return context_fail(cx, TW_ERROR_UNSUPPORTED, "target %s has no queues: its launches are done when they return",
                            target->name);
    c->stream = context_alloc(cx, sizeof *c->stream);
    *c->stream = (tw_stream){cx, target, c->native, c->wrapped, NULL};
    context_hold(cx);
    if (c->asynchronous && target->launches_beside) c->stream->queue = queue_create(cx);
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
    return target->memory ? target->memory->home(target, cx, c->address, c->device) : TW_OK;
}

tw_status tw_target_device_of(tw_context *cx, const char *target, const void *address, int32_t *device) {
    if (device) *device = -1;
    if (!cx || !device) return api_absent(cx);
    return api_guarded(cx, home_body, &(HomeCall){target, address, device});
}

static tw_status synchronize_body(tw_context *cx, void *user) {
    const tw_stream *stream = user;
    if (stream->queue) return queue_wait(stream->queue, seat_find(cx));
    return stream->target->synchronize ? stream->target->synchronize(stream->target, cx, user) : TW_OK;
}

static tw_status make_stream(tw_context *cx, StreamCall *call, tw_stream **out) {
    if (out) *out = NULL;
    if (!cx || !out) return api_absent(cx);
    tw_status status = api_guarded(cx, stream_body, call);
    if (status == TW_OK)
        *out = call->stream;
    else
        tw_stream_destroy(call->stream);
    return status;
}

tw_status tw_stream_open(tw_context *cx, const char *target, const tw_stream_options *user_options, tw_stream **out) {
    tw_stream_options options;
    if (out) *out = NULL;
    if (!cx || !out) return api_absent(cx);
    if (!api_take_options(&options, sizeof options, user_options)) return api_misuse(cx, api_bad_struct);
    return make_stream(cx, &(StreamCall){.name = target, .asynchronous = options.asynchronous}, out);
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
    queue_destroy(stream->queue);
    context_lock(cx);
    context_free(cx, stream, sizeof *stream);
    context_drop(cx);
    context_unlock(cx);
}

tw_status tw_stream_synchronize(tw_stream *stream) {
    if (!stream) return TW_ERROR_ARGUMENT;
    if (stream->queue) return api_beside(stream->context, synchronize_body, stream);
    return api_guarded(stream->context, synchronize_body, stream);
}

static tw_status query_body(tw_context *cx, void *user) {
    StreamCall *c = user;
    const tw_stream *stream = c->stream;
    if (stream->queue) {
        c->pending = queue_pending(stream->queue);
        return TW_OK;
    }
    return stream->target->query ? stream->target->query(stream->target, cx, c->stream, &c->pending) : TW_OK;
}

tw_status tw_stream_query(tw_stream *stream, int64_t *pending) {
    if (pending) *pending = 0;
    if (!stream || !pending) return api_absent(API_CONTEXT_OF(stream));
    StreamCall call = {.stream = stream};
    tw_status status = stream->queue ? api_beside(stream->context, query_body, &call)
                                     : api_guarded(stream->context, query_body, &call);
    *pending = call.pending;
    return status;
}

static tw_status cancel_body(tw_context *cx, void *user) {
    const tw_stream *stream = user;
    if (stream->queue) {
        queue_cancel(stream->queue);
        return TW_OK;
    }
    if (!stream->target->synchronize) return TW_OK; /* nothing is under way */
    return context_fail(cx, TW_ERROR_UNSUPPORTED, "launches on target %s cannot be cancelled", stream->target->name);
}

tw_status tw_stream_cancel(tw_stream *stream) {
    if (!stream) return TW_ERROR_ARGUMENT;
    return api_beside(stream->context, cancel_body, stream);
}
