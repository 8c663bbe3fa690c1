/* SPDX-License-Identifier: Apache-2.0 */
/* buffer.c: arrays: making, copying, filling and comparing them. */
#include "runtime/runtime.h"

#include "ir/element.h"
#include "runtime/target/target.h"

#include <math.h>
#include <string.h>

/* Public dtypes and elements of the IR, in one list. */
#define DTYPES(X)                                                                                                 \
    X(TW_I1, EL_I1)                                                                                               \
    X(TW_I8, EL_I8)                                                                                               \
    X(TW_I16, EL_I16)                                                                                             \
    X(TW_I32, EL_I32)                                                                                             \
    X(TW_I64, EL_I64)                                                                                             \
    X(TW_U8, EL_U8)                                                                                               \
    X(TW_U16, EL_U16)                                                                                             \
    X(TW_U32, EL_U32) X(TW_U64, EL_U64) X(TW_F16, EL_F16) X(TW_BF16, EL_BF16) X(TW_F32, EL_F32) X(TW_F64, EL_F64) \
        X(TW_F8E4M3, EL_F8E4M3) X(TW_F8E5M2, EL_F8E5M2) X(TW_F8E4B8, EL_F8E4B8) X(TW_F8E5B16, EL_F8E5B16)         \
            X(TW_F8E4B15, EL_F8E4B15)

Elem elem_of_dtype(int32_t dtype) {
    switch (dtype) {
#define X(d, e) \
    case d: return e;
        DTYPES(X)
#undef X
    default: return EL_COUNT;
    }
}

int32_t dtype_of_elem(Elem elem) {
    switch (elem) {
#define X(d, e) \
    case e: return d;
        DTYPES(X)
#undef X
    default: return TW_DTYPE_ANY;
    }
}

/* --- making --- */

enum { BUFFER_ALIGN = 64 };

/* Bytes below and above element 0 that the elements take; false: more than memory can hold. */
static bool span_of(const tw_buffer *b, int64_t *below, int64_t *above) {
    __int128 low = 0, high = 1;
    for (int d = 0; d < b->rank; d++) {
        if (b->shape[d] == 0) {
            *below = *above = 0;
            return true;
        }
        __int128 reach = (__int128)(b->shape[d] - 1) * b->strides[d];
        if (reach < 0)
            low += reach;
        else
            high += reach;
    }
    int bytes = elem_info[b->elem].bytes;
    low *= bytes, high *= bytes;
    if (high - low > INT64_MAX / 4) return false;
    *below = (int64_t)-low;
    *above = (int64_t)high;
    return true;
}

char *buffer_lowest(const tw_buffer *b) {
    int64_t below = 0, above = 0;
    span_of(b, &below, &above);
    return (char *)b->data - below;
}

static tw_status set_memory(tw_buffer *b, const tw_buffer_options *options) {
    tw_context *cx = b->context;
    int64_t below = 0, above = 0;
    if (!span_of(b, &below, &above)) return context_fail(cx, TW_ERROR_ARGUMENT, "a buffer of that shape is too large");
    b->size = (size_t)(below + above);
    if (options && options->data) {
        if (options->size < b->size)
            return context_fail(cx, TW_ERROR_ARGUMENT, "the buffer's shape needs %zu bytes, its memory has %zu",
                                b->size, options->size);
        b->data = (char *)options->data + below;
        return TW_OK;
    }
    b->owned = true;
    if (b->target) return b->target->memory->alloc(b->target, cx, b->device, b->size ? b->size : 1, &b->data);
    b->block = cx->allocator.resize(cx->allocator.user, NULL, 0, b->size + BUFFER_ALIGN);
    if (!b->block) return context_fail(cx, TW_ERROR_MEMORY, "out of memory");
    memset(b->block, 0, b->size + BUFFER_ALIGN);
    b->data = (void *)(((uintptr_t)b->block + BUFFER_ALIGN - 1) / BUFFER_ALIGN * BUFFER_ALIGN);
    return TW_OK;
}

tw_status buffer_make(tw_context *cx, int32_t dtype, int32_t rank, const int64_t *shape,
                      const tw_buffer_options *options, tw_buffer **out) {
    Elem elem = elem_of_dtype(dtype);
    if (elem == EL_COUNT) return context_fail(cx, TW_ERROR_ARGUMENT, "%d is not a dtype", dtype);
    if (rank < 0 || rank > TW_MAX_RANK || (rank && !shape))
        return context_fail(cx, TW_ERROR_ARGUMENT, "a buffer has 0 to %d extents, not %d", TW_MAX_RANK, rank);
    const Target *target = NULL;
    if (options && options->target) {
        target = target_find(options->target, NULL);
        if (!target) return context_fail(cx, TW_ERROR_NOT_FOUND, "there is no target `%s`", options->target);
        if (!target->memory) target = NULL;
    }
    int device = options ? options->device : 0;
    if (device && !target)
        return context_fail(cx, TW_ERROR_ARGUMENT, "a buffer of device %d: target %s has one memory, the host's",
                            device, options->target ? options->target : "cpu");
    if (options && options->strides && !options->data)
        return context_fail(cx, TW_ERROR_ARGUMENT, "strides are given with memory of the caller only");
    tw_buffer *b = context_alloc(cx, sizeof *b);
    *out = b; /* whoever catches a throw destroys it */
    *b = (tw_buffer){.context = cx, .target = target, .device = device, .elem = elem, .rank = rank};
    context_hold(cx);
    int64_t stride = 1;
    for (int d = rank; d-- > 0;) {
        b->shape[d] = shape[d];
        b->strides[d] = options && options->strides ? options->strides[d] : stride;
        if (shape[d] < 0) return context_fail(cx, TW_ERROR_ARGUMENT, "extent %lld is negative", (long long)shape[d]);
        if (shape[d] > 0 && __builtin_mul_overflow(stride, shape[d], &stride))
            return context_fail(cx, TW_ERROR_ARGUMENT, "a buffer of that shape is too large");
    }
    return set_memory(b, options);
}

void tw_buffer_destroy(tw_buffer *b) {
    if (!b) return;
    tw_context *cx = b->context;
    context_lock(cx);
    if (b->owned && b->data) {
        if (b->target)
            b->target->memory->free(b->target, cx, b->device, b->data);
        else
            context_free(cx, b->block, b->size + BUFFER_ALIGN);
    }
    context_free(cx, b, sizeof *b);
    context_drop(cx);
    context_unlock(cx);
}

int64_t tw_buffer_elements(const tw_buffer *b) {
    int64_t n = b != NULL;
    for (int d = 0; b && d < b->rank; d++) n *= b->shape[d];
    return n;
}

/* The address of the element with that row-major number. */
static char *element_at(const tw_buffer *b, int64_t number) {
    int64_t offset = 0;
    for (int d = b->rank; d-- > 0;) {
        offset += number % b->shape[d] * b->strides[d];
        number /= b->shape[d];
    }
    return (char *)b->data + offset * elem_info[b->elem].bytes;
}

bool buffer_is_dense(const tw_buffer *b) {
    int64_t stride = 1;
    if (!b->size) return true;
    for (int d = b->rank; d-- > 0;) {
        if (b->shape[d] != 1 && b->strides[d] != stride) return false;
        stride *= b->shape[d];
    }
    return true;
}

tw_status buffer_copy(tw_buffer *b, void *host, size_t size, bool read) {
    tw_context *cx = b->context;
    size_t bytes = (size_t)elem_info[b->elem].bytes, all = (size_t)tw_buffer_elements(b) * bytes;
    if (size != all)
        return context_fail(cx, TW_ERROR_ARGUMENT, "the buffer's elements take %zu bytes, not %zu", all, size);
    if (!all) return TW_OK;
    if (b->target) {
        if (!buffer_is_dense(b))
            return context_fail(cx, TW_ERROR_ARGUMENT, "only dense buffers of a device can be copied");
        const TargetMemory *memory = b->target->memory;
        return read ? memory->read(b->target, cx, b->device, host, b->data, all)
                    : memory->write(b->target, cx, b->device, b->data, host, all);
    }
    if (buffer_is_dense(b)) {
        if (read)
            memcpy(host, b->data, all);
        else
            memcpy(b->data, host, all);
        return TW_OK;
    }
    for (size_t i = 0; i < all / bytes; i++) {
        char *at = element_at(b, (int64_t)i);
        if (read)
            memcpy((char *)host + i * bytes, at, bytes);
        else
            memcpy(at, (char *)host + i * bytes, bytes);
    }
    return TW_OK;
}

/* --- filling, comparing --- */

typedef enum FillKind {
    FILL_ZEROS,
    FILL_ONES,
    FILL_FULL,
    FILL_ARANGE,
    FILL_RAND,
    FILL_RANDN,
    FILL_RANDINT,
    FILL_EMPTY,
    FILL_COUNT
} FillKind;
static const char *const fill_names[] = {"zeros", "ones", "full", "arange", "rand", "randn", "randint", "empty"};

static void put(Elem elem, void *to, double x) {
    if (elem_is_float(elem))
        elem_put_f64(elem, to, x);
    else if (elem == EL_I1)
        *(unsigned char *)to = x != 0;
    else
        elem_put_i64(elem, to, x >= 9.2e18 ? INT64_MAX : x <= -9.2e18 ? INT64_MIN : (int64_t)x);
}

tw_status buffer_fill(tw_buffer *b, const char *kind, double value, uint64_t seed) {
    tw_context *cx = b->context;
    if (b->target)
        return context_fail(cx, TW_ERROR_ARGUMENT, "only buffers of the host are filled" FIX "write it instead");
    int k = 0;
    while (k < FILL_COUNT && strcmp(kind, fill_names[k]) != 0) k++;
    if (k == FILL_COUNT) {
        const char *near = text_nearest(kind, fill_names, FILL_COUNT);
        return context_fail(cx, TW_ERROR_ARGUMENT,
                            "`%s` is no kind of content; there are zeros, ones, full, arange, rand, randn, randint, "
                            "empty%s",
                            kind, text_suggest(context_texts(cx), "", near));
    }
    int64_t n = tw_buffer_elements(b);
    b->unwritten = k == FILL_EMPTY;
    for (int64_t i = 0; i < n; i++) {
        double x = 0;
        switch (k) {
        case FILL_ONES: x = 1; break;
        case FILL_FULL: x = value; break;
        case FILL_ARANGE: x = value + (double)i; break;
        case FILL_RAND: x = random_uniform(seed, (uint64_t)i); break;
        case FILL_RANDN: x = random_normal(seed, (uint64_t)i); break;
        case FILL_RANDINT: x = floor(value * random_uniform(seed, (uint64_t)i)); break;
        default: break;
        }
        put(b->elem, element_at(b, i), x);
    }
    return TW_OK;
}

void buffer_show(const tw_buffer *b, Text *t) {
    text_add(t, "%s[", elem_info[b->elem].text);
    for (int d = 0; d < b->rank; d++) text_add(t, "%s%lld", d ? ", " : "", (long long)b->shape[d]);
    text_add(t, "]");
}

tw_status buffer_compare(const tw_buffer *got, const tw_buffer *want, double absolute, double relative,
                         tw_difference *out) {
    tw_context *cx = got->context;
    if (got->target || want->target)
        return context_fail(cx, TW_ERROR_ARGUMENT, "only buffers of the host are compared");
    if (got->rank != want->rank || memcmp(got->shape, want->shape, sizeof got->shape[0] * (size_t)got->rank) != 0) {
        Text x = text_new(context_texts(cx)), y = text_new(context_texts(cx));
        buffer_show(got, &x);
        buffer_show(want, &y);
        return context_fail(cx, TW_ERROR_ARGUMENT, "the shapes %s and %s differ", x.at, y.at);
    }
    int64_t n = tw_buffer_elements(got);
    out->elements = n;
    out->different = 0;
    out->max_error = 0, out->max_want = 0, out->got = out->want = 0;
    out->at = n ? 0 : -1;
    for (int64_t i = 0; i < n; i++) {
        double x = elem_get_f64(got->elem, element_at(got, i)), y = elem_get_f64(want->elem, element_at(want, i));
        double error = x == y || (isnan(x) && isnan(y)) ? 0 : fabs(x - y);
        if (isnan(error)) error = INFINITY;
        if (isfinite(y) && fabs(y) > out->max_want) out->max_want = fabs(y);
        if (error > absolute + (isfinite(y) ? relative * fabs(y) : 0)) out->different++;
        if (i == 0 || error > out->max_error) {
            out->max_error = error;
            out->at = i, out->got = x, out->want = y;
        }
    }
    return TW_OK;
}
