/* SPDX-License-Identifier: Apache-2.0 */
/* live.c: the host's resolver (tw_resolver) in the terms of the doors (FrontResolver), and
 * arguments of a compile as the doors see them.
 *
 * Nothing is kept: every question goes through to the host. A status that is not TW_OK becomes an
 * object that may not be used, so that the door says it at the name's own place. Texts of the host
 * live as long as the module and are not copied. */
#include "runtime/runtime.h"

#include <string.h>

typedef struct Live {
    tw_resolver host;
    Arena *arena;
} Live;

FrontValue live_value(Arena *arena, const tw_arg *arg) {
    FrontValue value = {.runtime = (arg->flags & TW_ARG_RUNTIME) != 0};
    switch (arg->kind) {
    case TW_ARG_NONE: value.kind = FRONT_NONE; break;
    case TW_ARG_BOOL:
        value.kind = FRONT_BOOL;
        value.i = arg->value.i != 0;
        break;
    case TW_ARG_INT:
        value.kind = FRONT_INT;
        value.i = arg->value.i;
        value.is_unsigned = (arg->flags & TW_ARG_UNSIGNED) && value.i < 0;
        break;
    case TW_ARG_FLOAT:
        value.kind = FRONT_FLOAT;
        value.f = arg->value.f;
        break;
    case TW_ARG_TEXT:
        if (!arg->value.text) break;
        value.kind = FRONT_TEXT;
        value.text = arena_string(arena, arg->value.text, strlen(arg->value.text));
        break;
    case TW_ARG_BUFFER: {
        const tw_buffer *b = arg->value.buffer;
        if (!b) break;
        value.kind = FRONT_ARRAY;
        value.elem = b->elem;
        value.rank = b->rank;
        memcpy(value.extent, b->shape, sizeof b->shape);
        memcpy(value.stride, b->strides, sizeof b->strides);
        break;
    }
    case TW_ARG_ARRAY_TYPE:
        value.kind = FRONT_ARRAY;
        value.elem = elem_of_dtype((int32_t)arg->value.i);
        value.rank = -1;
        break;
    case TW_ARG_NUMBER_TYPE:
        value.kind = FRONT_NUMBER;
        value.elem = elem_of_dtype((int32_t)arg->value.i);
        break;
    case TW_ARG_OBJECT: {
        FrontObject *object = ARENA_NEW(arena, FrontObject);
        live_object(arena, arg->value.object, object);
        value.kind = FRONT_OBJECT;
        value.object = object;
        break;
    }
    default: value.kind = FRONT_ABSENT;
    }
    return value;
}

void live_object(Arena *arena, const tw_object *from, FrontObject *to) {
    static const FrontObjectKind kinds[] = {
        [TW_OBJECT_UNKNOWN] = FRONT_OBJECT_UNKNOWN, [TW_OBJECT_VALUE] = FRONT_OBJECT_VALUE,
        [TW_OBJECT_NAMED] = FRONT_OBJECT_NAMED,     [TW_OBJECT_FUNCTION] = FRONT_OBJECT_FUNCTION,
        [TW_OBJECT_TUPLE] = FRONT_OBJECT_TUPLE,     [TW_OBJECT_HOST] = FRONT_OBJECT_HOST,
        [TW_OBJECT_REFUSED] = FRONT_OBJECT_REFUSED,
    };
    bool known = from->kind >= 0 && from->kind <= TW_OBJECT_REFUSED;
    *to = (FrontObject){.kind = known ? kinds[from->kind] : FRONT_OBJECT_UNKNOWN,
                        .line = from->line,
                        .count = from->count,
                        .text = from->text,
                        .file = from->file,
                        .source = from->source,
                        .source_size = from->source_size,
                        .handle = from->handle};
    if (to->source && !to->source_size) to->source_size = strlen(to->source);
    if (to->kind == FRONT_OBJECT_VALUE) to->value = live_value(arena, &from->value);
}

static void answer(Live *live, tw_status status, const tw_object *from, FrontObject *to) {
    if (status == TW_OK) {
        live_object(live->arena, from, to);
        return;
    }
    *to = (FrontObject){.kind = FRONT_OBJECT_REFUSED, .text = from->text ? from->text : tw_status_text(status)};
}

static void lookup(void *user, void *scope, const char *name, FrontObject *out) {
    Live *live = user;
    tw_object object = {0};
    tw_status status = live->host.lookup(live->host.user, scope, name, &object);
    answer(live, status, &object, out);
}

static void attribute(void *user, void *of, const char *name, FrontObject *out) {
    Live *live = user;
    tw_object object = {0};
    tw_status status = live->host.attribute(live->host.user, of, name, &object);
    answer(live, status, &object, out);
}

static void item(void *user, void *of, size_t index, FrontObject *out) {
    Live *live = user;
    tw_object object = {0};
    tw_status status = live->host.item(live->host.user, of, index, &object);
    answer(live, status, &object, out);
}

tw_arg live_argument(const FrontValue *v) {
    tw_arg arg = {.kind = TW_ARG_ABSENT};
    switch (v->kind) {
    case FRONT_NONE: arg.kind = TW_ARG_NONE; break;
    case FRONT_BOOL:
    case FRONT_INT:
        arg.kind = v->kind == FRONT_BOOL ? TW_ARG_BOOL : TW_ARG_INT;
        arg.flags = v->is_unsigned ? TW_ARG_UNSIGNED : 0;
        arg.value.i = v->i;
        break;
    case FRONT_FLOAT:
        arg.kind = TW_ARG_FLOAT;
        arg.value.f = v->f;
        break;
    case FRONT_TEXT:
        arg.kind = TW_ARG_TEXT;
        arg.value.text = v->text;
        break;
    default: break;
    }
    return arg;
}

/* A constant of the door, for the host. */
static tw_object host_object(Arena *arena, const FrontObject *from) {
    static const int32_t kinds[] = {
        [FRONT_OBJECT_UNKNOWN] = TW_OBJECT_UNKNOWN, [FRONT_OBJECT_VALUE] = TW_OBJECT_VALUE,
        [FRONT_OBJECT_NAMED] = TW_OBJECT_NAMED,     [FRONT_OBJECT_FUNCTION] = TW_OBJECT_FUNCTION,
        [FRONT_OBJECT_TUPLE] = TW_OBJECT_TUPLE,     [FRONT_OBJECT_HOST] = TW_OBJECT_HOST,
        [FRONT_OBJECT_REFUSED] = TW_OBJECT_REFUSED,
    };
    tw_object to = {.kind = kinds[from->kind],
                    .count = from->count,
                    .text = from->text,
                    .handle = from->handle,
                    .keyword = from->keyword};
    to.value = live_argument(&from->value);
    if (from->kind == FRONT_OBJECT_TUPLE) {
        const FrontObject *items = from->handle;
        tw_object *list = ARENA_ARRAY(arena, tw_object, from->count);
        for (size_t i = 0; i < from->count; i++) list[i] = host_object(arena, &items[i]);
        to.handle = list;
    }
    return to;
}

static void call(void *user, void *function, const FrontObject *args, size_t count, FrontObject *out) {
    Live *live = user;
    tw_object *given = ARENA_ARRAY(live->arena, tw_object, count), object = {0};
    for (size_t i = 0; i < count; i++) given[i] = host_object(live->arena, &args[i]);
    tw_status status = live->host.call(live->host.user, function, given, count, &object);
    answer(live, status, &object, out);
}

const FrontResolver *live_resolver(Arena *arena, const tw_resolver *host) {
    Live *live = ARENA_NEW(arena, Live);
    *live = (Live){*host, arena};
    FrontResolver *resolver = ARENA_NEW(arena, FrontResolver);
    *resolver = (FrontResolver){lookup, attribute, item, call, live};
    return resolver;
}
