/* SPDX-License-Identifier: Apache-2.0 */
/* api_buffer.c: arrays. */
#include "runtime/api/api.h"

#include "runtime/launch/queue.h"

typedef struct BufferCall {
    int32_t dtype, rank;
    const int64_t *shape;
    const tw_buffer_options *options;
    const char *text;
    void *host;
    size_t size;
    bool read;
    double value, relative;
    uint64_t seed;
    tw_buffer *buffer;
    const tw_buffer *other;
    tw_difference *difference;
} BufferCall;

static tw_status make_body(tw_context *cx, void *user) {
    BufferCall *c = user;
    return buffer_make(cx, c->dtype, c->rank, c->shape, c->options, &c->buffer);
}
static tw_status load_body(tw_context *cx, void *user) {
    BufferCall *c = user;
    return npy_load(cx, c->text, c->dtype, &c->buffer);
}
static tw_status copy_body(tw_context *cx, void *user) {
    BufferCall *c = user;
    if (!queues_settle(cx, seat_find(cx))) return TW_ERROR_CANCELLED;
    return buffer_copy(c->buffer, c->host, c->size, c->read);
}
static tw_status fill_body(tw_context *cx, void *user) {
    BufferCall *c = user;
    if (!queues_settle(cx, seat_find(cx))) return TW_ERROR_CANCELLED;
    return buffer_fill(c->buffer, c->text, c->value, c->seed);
}
static tw_status save_body(tw_context *cx, void *user) {
    BufferCall *c = user;
    if (!queues_settle(cx, seat_find(cx))) return TW_ERROR_CANCELLED;
    return npy_save(c->buffer, c->text);
}
static tw_status compare_body(tw_context *cx, void *user) {
    BufferCall *c = user;
    if (!queues_settle(cx, seat_find(cx))) return TW_ERROR_CANCELLED;
    return buffer_compare(c->buffer, c->other, c->value, c->relative, c->difference);
}

/* For the two entries that make a buffer. */
static tw_status finish_making(tw_context *cx, ApiBody *body, BufferCall *call, tw_buffer **out) {
    tw_status status = api_guarded(cx, body, call);
    if (status == TW_OK)
        *out = call->buffer;
    else
        tw_buffer_destroy(call->buffer);
    return status;
}

tw_status tw_buffer_create(tw_context *cx, int32_t dtype, int32_t rank, const int64_t *shape,
                           const tw_buffer_options *user_options, tw_buffer **out) {
    tw_buffer_options options;
    if (out) *out = NULL;
    if (!cx || !out) return api_absent(cx);
    if (!api_take_options(&options, sizeof options, user_options)) return api_misuse(cx, api_bad_struct);
    if (rank > 0 && !shape) return api_absent(cx);
    BufferCall call = {.dtype = dtype, .rank = rank, .shape = shape, .options = &options};
    return finish_making(cx, make_body, &call, out);
}

tw_status tw_buffer_rebind(tw_buffer *b, void *data, size_t size) {
    if (!b) return TW_ERROR_ARGUMENT;
    if (b->owned || b->rank != 1)
        return api_misuse(b->context, "only a buffer of rank 1 over memory of the caller is rebound");
    if (!data && size) return api_absent(b->context);
    size_t bytes = tw_dtype_size(dtype_of_elem(b->elem));
    context_say(b->context, "");
    b->data = data;
    b->shape[0] = (int64_t)(size / bytes);
    b->strides[0] = 1;
    b->size = size / bytes * bytes;
    return TW_OK;
}

tw_status tw_buffer_point(tw_buffer *b, void *data) {
    if (!b) return TW_ERROR_ARGUMENT;
    if (b->owned) return api_misuse(b->context, "only a buffer over memory of the caller is pointed elsewhere");
    if (!data && b->size) return api_absent(b->context);
    context_say(b->context, "");
    b->data = data;
    return TW_OK;
}

tw_status tw_buffer_load_npy(tw_context *cx, const char *path, int32_t dtype, tw_buffer **out) {
    if (out) *out = NULL;
    if (!cx || !path || !out) return api_absent(cx);
    return finish_making(cx, load_body, &(BufferCall){.text = path, .dtype = dtype}, out);
}

tw_status tw_buffer_read(tw_buffer *b, void *to, size_t size) {
    if (!b || (!to && size)) return api_absent(API_CONTEXT_OF(b));
    return api_guarded(b->context, copy_body, &(BufferCall){.buffer = b, .host = to, .size = size, .read = true});
}

tw_status tw_buffer_write(tw_buffer *b, const void *from, size_t size) {
    if (!b || (!from && size)) return api_absent(API_CONTEXT_OF(b));
    return api_guarded(b->context, copy_body,
                       &(BufferCall){.buffer = b, .host = (void *)(uintptr_t)from, .size = size});
}

tw_status tw_buffer_fill(tw_buffer *b, const char *kind, double value, uint64_t seed) {
    if (!b || !kind) return api_absent(API_CONTEXT_OF(b));
    return api_guarded(b->context, fill_body, &(BufferCall){.buffer = b, .text = kind, .value = value, .seed = seed});
}

tw_status tw_buffer_save_npy(tw_buffer *b, const char *path) {
    if (!b || !path) return api_absent(API_CONTEXT_OF(b));
    return api_guarded(b->context, save_body, &(BufferCall){.buffer = b, .text = path});
}

tw_status tw_buffer_compare(const tw_buffer *got, const tw_buffer *want, double absolute, double relative,
                            tw_difference *difference) {
    tw_difference ours = {0};
    if (!got || !want || !difference) return api_absent(API_CONTEXT_OF(got));
    BufferCall call = {.buffer = (tw_buffer *)(uintptr_t)got, .other = want, .value = absolute, .difference = &ours};
    call.relative = relative;
    tw_status status = api_guarded(got->context, compare_body, &call);
    if (status != TW_OK) return status;
    return api_give_info(difference, &ours, sizeof ours) ? TW_OK : api_misuse(got->context, api_bad_struct);
}

void *tw_buffer_data(const tw_buffer *b) { return b ? b->data : NULL; }
int32_t tw_buffer_dtype(const tw_buffer *b) { return b ? dtype_of_elem(b->elem) : TW_DTYPE_ANY; }
int32_t tw_buffer_rank(const tw_buffer *b) { return b ? b->rank : 0; }
const int64_t *tw_buffer_shape(const tw_buffer *b) { return b ? b->shape : NULL; }
const int64_t *tw_buffer_strides(const tw_buffer *b) { return b ? b->strides : NULL; }
