/* SPDX-License-Identifier: Apache-2.0 */
/* triton_aggregate.c: classes of the host whose fields are values of a kernel (triton.aggregate).
 *
 *     @triton.aggregate
 *     class Span:                          s = Span(x, 4)       runs __init__ in place
 *         start: tl.tensor                 s.start, s.size      fields
 *         size: tl.constexpr               s.last()             a jit function with s as `self`
 *                                          triton.aggregate_replace(s, start=y)
 *
 * The host marks the class: __triton_aggregate__ holds the names of the fields, __triton_init__ the
 * constructor with its source. A value is a VAL_OWN with one item a field; it is carried
 * through branches and loops like a tuple. Fields are set in the constructor only. */
#include "front/triton/triton.h"
#include "front/python/python_flow.h"

#include <string.h>

struct Aggregate {
    Own own; /* first: the value points to it */
    const Host *host;
    const char *const *fields;
    int count;
};

static const char of_aggregate[] = "an aggregate of";

bool tri_is_aggregate(Val v) { return v.kind == VAL_OWN && v.own->of == of_aggregate; }

static const Aggregate *class_of(Val v) { return (const Aggregate *)v.own; }

const Aggregate *tri_aggregate_of(Lower *l, const Host *host) {
    size_t count = 0;
    const char *const *fields = py_live_names(l, host->handle, "__triton_aggregate__", &count);
    if (!fields) return NULL;
    Aggregate *a = ARENA_NEW(l->arena, Aggregate);
    *a = (Aggregate){{.of = of_aggregate}, host, fields, (int)count};
    return a;
}

const char *tri_aggregate_text(Lower *l, Val v) {
    Text out = text_new(l->arena);
    for (int i = 0; i < v.count; i++)
        text_add(&out, "%s%s=%s", i ? ", " : "", class_of(v)->fields[i], val_text(l, v.items[i]));
    return out.at;
}

static int field_at(const Aggregate *a, const char *name) {
    for (int i = 0; i < a->count; i++)
        if (strcmp(a->fields[i], name) == 0) return i;
    return -1;
}

static Val no_field(Lower *l, const Aggregate *a, const char *name, Range range) {
    const char *near = text_nearest(name, a->fields, (size_t)a->count);
    return py_error(l, DIAG_EVAL_UNKNOWN, range, arena_printf(l->arena, "%s.%s", a->host->name, name),
                    near ? text_suggest(l->arena, ".", near)
                          : "; it is no field and no method of the class");
}

static Val with_field(Lower *l, Val v, int at, Val value) {
    Val *items = arena_copy(l->arena, v.items, (size_t)v.count * sizeof *items);
    items[at] = value;
    v.items = items;
    return v;
}

bool tri_aggregate_set(Lower *l, const PyNode *target, Val value) {
    const PyNode *of = target->Attribute.value;
    Local *local = of->kind == PY_Name && l->frame->constructs ? py_local(l->frame, of->Name.id) : NULL;
    if (!local || !tri_is_aggregate(local->val)) return false;
    int at = field_at(class_of(local->val), target->Attribute.attr);
    if (at < 0)
        no_field(l, class_of(local->val), target->Attribute.attr, target->range);
    else
        local->val = with_field(l, local->val, at, value);
    return true;
}

Val tri_aggregate_make(Lower *l, const Aggregate *a, const PyNode *call) {
    Val *items = ARENA_ARRAY(l->arena, Val, a->count);
    for (int i = 0; i < a->count; i++)
        items[i] = (Val){.kind = VAL_UNBOUND, .text = "the constructor has not set it yet"};
    Val self = {.kind = VAL_OWN, .own = &a->own, .items = items, .count = a->count};
    Val init = py_live_attribute(l, a->host, "__triton_init__", call->range);
    if (val_failed(init)) return init;
    if (init.kind != VAL_FUNCTION)
        return py_error(l, DIAG_EVAL_NOT_CALLABLE, call->range, val_describe(l, init), "");
    Val made = py_construct(l, init.function, &self, call);
    if (val_failed(made)) return made;
    for (int i = 0; i < a->count; i++) {
        if (val_failed(made.items[i])) return val_error;
        if (made.items[i].kind == VAL_UNBOUND)
            return py_error(l, DIAG_TRI_AGGREGATE_FIELD, call->range, a->host->name, a->fields[i], a->fields[i]);
    }
    return made;
}

Val tri_aggregate_attribute(Lower *l, Val v, const char *attr, Range range) {
    const Aggregate *a = class_of(v);
    int at = field_at(a, attr);
    if (at >= 0 && v.items[at].kind == VAL_UNBOUND)
        return py_error(l, DIAG_EVAL_UNBOUND, range, attr, v.items[at].text);
    if (at >= 0) return v.items[at];
    FrontObject object = {0};
    const FrontResolver *host = l->unit->resolver;
    host->attribute(host->user, a->host->handle, attr, &object);
    Val member = py_live_value(l, &object, attr, range);
    if (member.kind == VAL_UNBOUND) return no_field(l, a, attr, range);
    if (member.kind == VAL_FUNCTION) member.self = arena_copy(l->arena, &v, sizeof v);
    return member;
}

Val tri_lower_aggregate_replace(Lower *l, const Call *c) {
    (void)l, (void)c;
    return val_error; /* tri_aggregate_replace sees the call itself */
}

Val tri_aggregate_replace(Lower *l, const PyNode *call) {
    const PyList *args = call->Call.args, *keywords = call->Call.keywords;
    Val v = args->count == 1 ? py_eval(l, args->at[0]) : val_none;
    if (val_failed(v)) return v;
    if (!tri_is_aggregate(v))
        return py_error(l, DIAG_EVAL_ARGUMENT, args->count ? args->at[0]->range : call->range,
                        "triton.aggregate_replace", "one aggregate, and fields by name", val_describe(l, v));
    for (uint32_t i = 0; i < keywords->count; i++) {
        const PyNode *keyword = keywords->at[i];
        int at = keyword->keyword.arg ? field_at(class_of(v), keyword->keyword.arg) : -1;
        if (at < 0) return no_field(l, class_of(v), keyword->keyword.arg ? keyword->keyword.arg : "**", keyword->range);
        Val value = py_eval(l, keyword->keyword.value);
        if (val_failed(value)) return value;
        v = with_field(l, v, at, value);
    }
    return v;
}
