/* SPDX-License-Identifier: Apache-2.0 */
/* python_live.c: names of the Python program around a kernel, asked of its resolver
 * (FrontResolver).
 *
 *     @triton.jit                    tl       NAMED "triton.language"
 *     def k(p, N: tl.constexpr):     helper   FUNCTION, parsed from its own source, whose names are
 *         tl.store(p, helper(N))              asked in its own scope
 *
 * What comes back becomes a Val: numbers, strings and None are constants, a full name is looked up
 * in the tables, tuples are taken over item by item. Any other object stays the host's: attributes
 * and calls on constants go back to it. */
#include "front/python/python.h"

#include <string.h>

/* A name that the tables know: "triton.language.float32", "builtins.len", "math.pi". */
static Val named_value(Lower *l, const char *path, Range range) {
    const char *dot = strrchr(path, '.');
    if (!dot) return (Val){.kind = VAL_MODULE, .text = path};
    const char *parent = arena_string(l->arena, path, (size_t)(dot - path));
    return names_attribute(l, parent, dot + 1, range);
}

/* The def in the source of a live function; NULL after errors in it. Parsed once a module. */
static const PyNode *parse_function(Lower *l, const FrontObject *object) {
    typedef struct Parsed {
        const SourceFile *file;
        const PyNode *def;
    } Parsed;
    Map *known = &((Tree *)l->unit->tree)->live;
    MapEntry *entry = map_find_number(known, (uintptr_t)object->handle);
    Parsed *parsed = entry ? entry->value : NULL;
    if (parsed && parsed->file->size == object->source_size &&
        memcmp(parsed->file->text, object->source, object->source_size) == 0)
        return parsed->def;
    SourceFile *file =
        source_add(l->unit->sources, object->file ? object->file : "<host>", object->source, object->source_size);
    if (!file) return NULL;
    if (object->line > 0) file->first_line = object->line;
    int errors = l->diag->errors;
    const PyNode *module = py_parse(file, l->unit->arena, l->diag);
    if (l->diag->errors > errors) return NULL;
    for (uint32_t i = 0; i < module->Module.body->count; i++)
        if (module->Module.body->at[i]->kind == PY_FunctionDef) {
            parsed = ARENA_NEW(l->unit->arena, Parsed);
            *parsed = (Parsed){file, module->Module.body->at[i]};
            map_put_number(known, l->unit->arena, (uintptr_t)object->handle, parsed);
            return parsed->def;
        }
    return NULL;
}

static Val function_value(Lower *l, const FrontObject *object, Range range) {
    int errors = l->diag->errors;
    const PyNode *def = object->source ? parse_function(l, object) : NULL;
    if (!def)
        return l->diag->errors > errors ? val_error
                                        : py_error(l, DIAG_EVAL_REFUSED, range, object->text ? object->text : "it",
                                                   "its source is not there");
    MapEntry *entry = map_find_number(&l->scopes, (uintptr_t)object->handle);
    Names *names = entry ? entry->value : NULL;
    if (!names) {
        names = names_live(l->unit, l->domain, object->handle, l->arena);
        map_put_number(&l->scopes, l->arena, (uintptr_t)object->handle, names);
    }
    Function *function = ARENA_NEW(l->arena, Function);
    *function = (Function){.node = def, .names = names, .handle = object->handle};
    return (Val){.kind = VAL_FUNCTION, .function = function};
}

const char *const *py_live_names(Lower *l, void *handle, const char *attr, size_t *count) {
    const FrontResolver *host = l->unit->resolver;
    FrontObject fields = {0};
    host->attribute(host->user, handle, attr, &fields);
    if (fields.kind != FRONT_OBJECT_TUPLE || fields.count > PYTHON_MAX_TUPLE) return NULL;
    const char **names = ARENA_ARRAY(l->arena, const char *, fields.count);
    for (size_t i = 0; i < fields.count; i++) {
        FrontObject item = {0};
        host->item(host->user, fields.handle, i, &item);
        if (item.kind != FRONT_OBJECT_VALUE || item.value.kind != FRONT_TEXT) return NULL;
        names[i] = item.value.text;
    }
    *count = fields.count;
    return names;
}

Val py_live_function(Lower *l, Val v, Range range) {
    const FrontResolver *host = l->unit->resolver;
    FrontObject source = {0};
    if (v.kind != VAL_HOST || !l->domain->host_in_kernels) return v;
    host->attribute(host->user, v.host->handle, "__source__", &source);
    return source.kind == FRONT_OBJECT_FUNCTION ? function_value(l, &source, range) : v;
}

Val py_live_peek(Lower *l, Val v, Range range) {
    const FrontResolver *host = l->unit->resolver;
    FrontObject source = {0};
    if (v.kind != VAL_HOST) return v;
    host->attribute(host->user, v.host->handle, "__source__", &source);
    return source.kind == FRONT_OBJECT_FUNCTION && source.source ? function_value(l, &source, range) : v;
}

/* A named tuple made in a kernel: its items may live at run time. */
static Val make_named(Lower *l, const char *const *fields, size_t count, const PyNode *node) {
    Val *items = ARENA_ARRAY(l->arena, Val, count);
    bool *given = ARENA_ARRAY(l->arena, bool, count);
    const PyList *args = node->Call.args, *keywords = node->Call.keywords;
    bool fits = args->count + keywords->count == count;
    for (uint32_t i = 0; fits && i < args->count; i++) {
        items[i] = py_eval(l, args->at[i]);
        given[i] = true;
    }
    for (uint32_t k = 0; fits && k < keywords->count; k++) {
        const char *name = keywords->at[k]->keyword.arg;
        size_t at = 0;
        while (at < count && (!name || strcmp(fields[at], name) != 0)) at++;
        fits = at < count && !given[at];
        if (!fits) break;
        items[at] = py_eval(l, keywords->at[k]->keyword.value);
        given[at] = true;
    }
    if (!fits) return py_error(l, DIAG_EVAL_UNPACK, node->range, (int)count, "other arguments");
    for (size_t i = 0; i < count; i++)
        if (val_failed(items[i])) return val_error;
    return (Val){.kind = VAL_TUPLE, .fields = fields, .items = items, .count = (int)count};
}

static Val tuple_value(Lower *l, const FrontObject *object, const char *name, Range range) {
    const FrontResolver *host = l->unit->resolver;
    if (object->count > PYTHON_MAX_TUPLE)
        return py_error(l, DIAG_EVAL_REFUSED, range, name, "it is too long for a tuple");
    Val *items = ARENA_ARRAY(l->arena, Val, object->count);
    for (size_t i = 0; i < object->count; i++) {
        FrontObject item = {0};
        host->item(host->user, object->handle, i, &item);
        items[i] = py_live_value(l, &item, name, range);
        if (val_failed(items[i])) return val_error;
    }
    size_t named = 0;
    const char *const *fields = py_live_names(l, object->handle, "_fields", &named);
    return (Val){.kind = VAL_TUPLE,
                 .fields = named == object->count ? fields : NULL,
                 .items = items,
                 .count = (int)object->count};
}

Val py_live_value(Lower *l, const FrontObject *object, const char *name, Range range) {
    if (!py_step(l, range)) return val_error;
    if (l->depth >= PYTHON_MAX_DEPTH) /* a list that holds itself */
        return py_error(l, DIAG_EVAL_DEPTH, range, PYTHON_MAX_DEPTH);
    switch (object->kind) {
    case FRONT_OBJECT_UNKNOWN: break;
    case FRONT_OBJECT_VALUE: return val_given(l, &object->value);
    case FRONT_OBJECT_NAMED: return named_value(l, object->text, range);
    case FRONT_OBJECT_FUNCTION: return function_value(l, object, range);
    case FRONT_OBJECT_TUPLE: {
        l->depth++;
        Val v = tuple_value(l, object, name, range);
        l->depth--;
        return v;
    }
    case FRONT_OBJECT_HOST: {
        Host *host = ARENA_NEW(l->arena, Host);
        *host = (Host){.handle = object->handle, .name = object->text ? object->text : name};
        Val own;
        if (l->domain->live && l->domain->live(l, host, range, &own)) return own;
        return (Val){.kind = VAL_HOST, .host = host};
    }
    case FRONT_OBJECT_REFUSED:
        return py_error(l, DIAG_EVAL_REFUSED, range, name, object->text ? object->text : "the program refuses it");
    }
    return (Val){.kind = VAL_UNBOUND};
}

Val py_live_lookup(Lower *l, void *scope, const char *name, Range range) {
    const FrontResolver *host = l->unit->resolver;
    FrontObject object = {0};
    host->lookup(host->user, scope, name, &object);
    return py_live_value(l, &object, name, range);
}

Val py_live_attribute(Lower *l, const Host *of, const char *attr, Range range) {
    const FrontResolver *host = l->unit->resolver;
    FrontObject object = {0};
    host->attribute(host->user, of->handle, attr, &object);
    Val v = py_live_value(l, &object, arena_printf(l->arena, "%s.%s", of->name, attr), range);
    return v.kind == VAL_UNBOUND
               ? py_error(l, DIAG_EVAL_ATTRIBUTE, range, arena_printf(l->arena, "`%s`", of->name), attr)
               : v;
}

/* --- calls --- */

/* A constant as an object of the host; false for what only a kernel has. */
static bool to_object(Lower *l, Val v, FrontObject *out) {
    *out = (FrontObject){.kind = FRONT_OBJECT_VALUE};
    switch (v.kind) {
    case VAL_NONE: out->value.kind = FRONT_NONE; return true;
    case VAL_BOOL:
    case VAL_INT:
        if (v.i < INT64_MIN || v.i > (PyInt)UINT64_MAX) return false;
        out->value.kind = v.kind == VAL_BOOL ? FRONT_BOOL : FRONT_INT;
        out->value.i = (int64_t)(uint64_t)v.i;
        out->value.is_unsigned = v.i > INT64_MAX;
        return true;
    case VAL_FLOAT:
        out->value.kind = FRONT_FLOAT;
        out->value.f = v.f;
        return true;
    case VAL_STR:
        out->value.kind = FRONT_TEXT;
        out->value.text = v.text;
        return true;
    case VAL_DTYPE:
        *out = (FrontObject){.kind = FRONT_OBJECT_NAMED};
        out->text = l->domain->dtype_path(l, v.dtype);
        return v.dtype->rank == 0;
    case VAL_FUNCTION:
        *out = (FrontObject){.kind = FRONT_OBJECT_FUNCTION, .handle = v.function->handle};
        return out->handle != NULL;
    case VAL_HOST: *out = (FrontObject){.kind = FRONT_OBJECT_HOST, .handle = v.host->handle}; return true;
    case VAL_TUPLE: {
        FrontObject *items = ARENA_ARRAY(l->arena, FrontObject, v.count);
        for (int i = 0; i < v.count; i++)
            if (!to_object(l, v.items[i], &items[i])) return false;
        *out = (FrontObject){.kind = FRONT_OBJECT_TUPLE, .count = (size_t)v.count, .handle = items};
        return true;
    }
    default: return false;
    }
}

Val py_live_call(Lower *l, const Host *function, const PyNode *node) {
    const FrontResolver *host = l->unit->resolver;
    const PyList *args = node->Call.args;
    size_t named = 0;
    const char *const *fields = py_live_names(l, function->handle, "_fields", &named);
    if (fields) return make_named(l, fields, named, node);
    Val made;
    if (l->domain->call_class(l, function, node, &made)) return made;
    const PyList *keywords = node->Call.keywords;
    Vals vals = {0};
    VEC(const char *) called = {0}; /* by which keyword; NULL: by position */
    VEC(Range) ranges = {0};
    for (uint32_t i = 0; i < args->count + keywords->count; i++) {
        const PyNode *keyword = i < args->count ? NULL : keywords->at[i - args->count];
        const PyNode *arg = keyword ? keyword->keyword.value : args->at[i];
        if (keyword && !keyword->keyword.arg) return py_unsupported(l, keyword->range, "`**` in a call");
        bool star = arg->kind == PY_Starred && l->domain->host_in_kernels;
        Val v = py_eval(l, star ? arg->Starred.value : arg);
        if (val_failed(v)) return v;
        bool many = star && (v.kind == VAL_TUPLE || v.kind == VAL_LIST);
        for (int k = 0; k < (many ? val_count(v) : 1); k++) {
            *VEC_PUSH(&vals, l->arena) = many ? val_items(v)[k] : v;
            *VEC_PUSH(&called, l->arena) = keyword ? keyword->keyword.arg : NULL;
            *VEC_PUSH(&ranges, l->arena) = arg->range;
        }
    }
    FrontObject *given = ARENA_ARRAY(l->arena, FrontObject, vals.count), result = {0};
    for (size_t i = 0; i < vals.count; i++) {
        if (!to_object(l, vals.at[i], &given[i])) {
            /* What lives at run time is the kernel's: so the function is run here, from its text. */
            Val inner = py_live_function(l, (Val){.kind = VAL_HOST, .host = function}, node->range);
            if (val_failed(inner)) return inner;
            if (inner.kind == VAL_FUNCTION)
                return py_apply_named(l, inner, vals.at, called.at, (int)vals.count, node->range);
            return py_need_constant(l, ranges.at[i],
                             arena_printf(l->arena, "an argument of the host function `%s`", function->name),
                             vals.at[i]);
        }
        given[i].keyword = called.at[i];
    }
    host->call(host->user, function->handle, given, vals.count, &result);
    Val v = py_live_value(l, &result, arena_printf(l->arena, "%s(..)", function->name), node->range);
    return v.kind == VAL_UNBOUND ? val_none : v;
}

Val py_live_method(Lower *l, const Host *of, const char *name, const Val *args, int count, Range range) {
    const FrontResolver *host = l->unit->resolver;
    Val method = py_live_attribute(l, of, name, range);
    if (val_failed(method)) return method;
    if (method.kind != VAL_HOST) return py_error(l, DIAG_EVAL_NOT_CALLABLE, range, val_describe(l, method), "");
    FrontObject *given = ARENA_ARRAY(l->arena, FrontObject, count + 1), result = {0};
    for (int i = 0; i < count; i++)
        if (!to_object(l, args[i], &given[i]))
            return py_need_constant(l, range, "what is given to a Python object", args[i]);
    host->call(host->user, method.host->handle, given, (size_t)count, &result);
    Val v = py_live_value(l, &result, name, range);
    return v.kind == VAL_UNBOUND ? val_none : v;
}

Val py_live_dict(Lower *l, Val v, Range range) {
    const FrontResolver *host = l->unit->resolver;
    FrontObject method = {0};
    host->attribute(host->user, v.host->handle, "items", &method);
    if (method.kind != FRONT_OBJECT_HOST) return v;
    Val pairs = py_live_method(l, v.host, "items", NULL, 0, range);
    if (pairs.kind != VAL_TUPLE) return val_failed(pairs) ? pairs : v;
    Val *items = ARENA_ARRAY(l->arena, Val, 2 * (size_t)pairs.count + 1);
    for (int i = 0; i < pairs.count; i++) {
        if (pairs.items[i].kind != VAL_TUPLE || pairs.items[i].count != 2) return v;
        items[2 * i] = pairs.items[i].items[0];
        items[2 * i + 1] = pairs.items[i].items[1];
    }
    Val out = val_list(l, items, 2 * pairs.count);
    out.kind = VAL_DICT;
    return out;
}

/* --- dotted names, before any kernel is lowered --- */

static bool find_path(const FrontUnit *unit, void *scope, const PyNode *node, Arena *arena, FrontObject *out) {
    const FrontResolver *host = unit->resolver;
    *out = (FrontObject){0};
    if (node->kind == PY_Name) {
        host->lookup(host->user, scope, node->Name.id, out);
    } else if (node->kind == PY_Attribute) {
        FrontObject left;
        if (!find_path(unit, scope, node->Attribute.value, arena, &left)) return false;
        if (left.kind == FRONT_OBJECT_NAMED)
            *out = (FrontObject){.kind = FRONT_OBJECT_NAMED,
                                 .text = arena_printf(arena, "%s.%s", left.text, node->Attribute.attr)};
        else
            host->attribute(host->user, left.handle, node->Attribute.attr, out);
    }
    return out->kind == FRONT_OBJECT_NAMED || out->kind == FRONT_OBJECT_HOST;
}

const char *py_live_path(const FrontUnit *unit, void *scope, const PyNode *node, Arena *arena) {
    FrontObject object;
    bool found = find_path(unit, scope, node, arena, &object);
    return found && object.kind == FRONT_OBJECT_NAMED ? object.text : NULL;
}
