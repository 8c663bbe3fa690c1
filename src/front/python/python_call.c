/* SPDX-License-Identifier: Apache-2.0 */
/* python_call.c: binds the arguments of a call to parameters, for builtins by the signature in
 * their row, for functions by their `def`; and the questions that lowerings ask of arguments.
 *
 *     tl.load(p, mask=m)     "pointer, mask=None, other=None, ..."  ->  args [p, m, None, ...] */
#include "front/python/python.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMS = 64 };

/* One parameter list, of a signature or of a def. */
typedef struct Params {
    const char *name;      /* of the function, for messages */
    int count, positional; /* all; those that a position can reach */
    int star;              /* index of the one that takes the rest, or -1 */
    int rest;              /* of the one that takes the named rest, or -1 */
    const Function *function; /* def: for its defaults */
    struct Param {
        const char *name;
        const char *text;   /* signature: the default's text, or NULL */
        const PyNode *node; /* def: the default, or NULL */
        bool optional;
    } at[MAX_PARAMS];
} Params;

static const Params *read_signature(Lower *l, const Builtin *builtin) {
    MapEntry *known = map_find_number(&l->signatures, (uintptr_t)builtin);
    if (known) return known->value;
    Params *params = ARENA_NEW(l->arena, Params);
    map_put_number(&l->signatures, l->arena, (uintptr_t)builtin, params);
    *params = (Params){.name = builtin->name, .star = -1, .rest = -1};
    for (const char *s = builtin->signature; *s;) {
        while (*s == ' ' || *s == ',') s++;
        bool star = *s == '*', named = star && s[1] == '*';
        s += star + named;
        star = star && !named;
        size_t length = strcspn(s, "=,");
        struct Param *param = &params->at[params->count];
        param->name = arena_string(l->arena, s, length);
        s += length;
        if (star) params->star = params->count;
        if (named) params->rest = params->count;
        if (*s == '=') {
            size_t width = s[1] == '(' ? 2 : strcspn(s + 1, ",");
            param->text = arena_string(l->arena, s + 1, width);
            param->optional = true;
            s += 1 + width;
        }
        params->count++;
        if (params->star < 0 && params->rest < 0) params->positional = params->count;
    }
    return params;
}

static Val default_value(Lower *l, const char *text) {
    if (strcmp(text, "True") == 0) return val_bool(true);
    if (strcmp(text, "False") == 0) return val_bool(false);
    if (strcmp(text, "'\\n'") == 0) return val_str("\n");
    if (text[0] == '\'') return val_str(arena_string(l->arena, text + 1, strlen(text) - 2));
    if (text[0] == '(') return (Val){.kind = VAL_TUPLE};
    if (strcmp(text, "missing") == 0) return (Val){.kind = VAL_UNBOUND};
    if (text[0] == '-' || (text[0] >= '0' && text[0] <= '9')) return val_int(strtol(text, NULL, 10));
    const Type *dtype = l->domain->dtype_named(l->module, text);
    return dtype ? val_dtype(dtype) : val_none;
}

/* The default of a parameter, with the names around its def. */
static Val default_of(Lower *l, const Function *function, const PyNode *node) {
    if (!function->around) return py_eval_outside(l, function->names, node);
    Frame *frame = l->frame;
    l->frame = function->around;
    Val v = py_eval(l, node);
    l->frame = frame;
    return v;
}

static void add_params(Params *params, const PyList *list, const PyList *defaults, bool keyword_only) {
    for (uint32_t i = 0; i < list->count && params->count < MAX_PARAMS; i++) {
        struct Param *param = &params->at[params->count++];
        *param = (struct Param){.name = list->at[i]->arg.arg};
        if (keyword_only) param->node = defaults->at[i];
        param->optional = param->node != NULL;
        if (!keyword_only) params->positional = params->count;
    }
}

static const Params *read_def(Lower *l, const Function *function) {
    Params *params = ARENA_NEW(l->arena, Params);
    const PyNode *a = py_arguments(function->node);
    *params = (Params){.name = py_function_name(function->node), .star = -1, .rest = -1, .function = function};
    add_params(params, a->arguments.posonlyargs, NULL, false);
    add_params(params, a->arguments.args, NULL, false);
    const PyList *defaults = a->arguments.defaults;
    for (uint32_t i = 0; i < defaults->count && (int)i < params->count; i++) {
        struct Param *param = &params->at[params->count - (int)defaults->count + (int)i];
        param->node = defaults->at[i];
        param->optional = true;
    }
    if (a->arguments.vararg && params->count < MAX_PARAMS) {
        params->star = params->count;
        params->at[params->count++] = (struct Param){.name = a->arguments.vararg->arg.arg};
    }
    add_params(params, a->arguments.kwonlyargs, a->arguments.kw_defaults, true);
    if (a->arguments.kwarg && params->count < MAX_PARAMS) {
        params->rest = params->count;
        params->at[params->count++] = (struct Param){.name = a->arguments.kwarg->arg.arg, .optional = true};
    }
    return params;
}

typedef struct Bound { /* one of each a parameter */
    Val *args;
    Range *ranges;
    bool *given;
    Vals rest;  /* what the starred parameter takes */
    Vals named; /* and what the doubly starred one: names and values in turn */
} Bound;

static Bound room_for(Lower *l, const Params *params, Range call) {
    size_t count = (size_t)params->count;
    Bound bound = {.args = ARENA_ARRAY(l->arena, Val, count), .ranges = ARENA_ARRAY(l->arena, Range, count)};
    bound.given = ARENA_ARRAY(l->arena, bool, count);
    for (size_t i = 0; i < count; i++) bound.ranges[i] = call;
    return bound;
}

/* "load(pointer, mask=None, ..)", for messages. */
static const char *signature_of(Lower *l, const Params *params) {
    Text t = text_new(l->arena);
    text_add(&t, "`%s(", params->name);
    for (int i = 0; i < params->count; i++) {
        const struct Param *param = &params->at[i];
        text_add(&t, "%s%s%s", i ? ", " : "", i == params->star ? "*" : "", param->name);
        if (param->optional && i != params->star) text_add(&t, "=%s", param->text ? param->text : "..");
    }
    text_add(&t, ")`");
    return t.at;
}

static bool bind_position(Lower *l, const Params *params, Bound *bound, int *position, Val v, Range range) {
    if (*position < params->positional) {
        bound->args[*position] = v;
        bound->ranges[*position] = range;
        bound->given[(*position)++] = true;
        return true;
    }
    if (params->star >= 0) {
        if (!bound->rest.count) bound->ranges[params->star] = range;
        *VEC_PUSH(&bound->rest, l->arena) = v;
        return true;
    }
    py_error(l, DIAG_EVAL_TOO_MANY, range, params->name, params->positional, signature_of(l, params));
    return false;
}

static bool bind_named(Lower *l, const Params *params, Bound *bound, const char *name, Val v, Range range,
                       Range keyword) {
    const char *names[MAX_PARAMS];
    for (int i = 0; i < params->count; i++) {
        names[i] = params->at[i].name;
        if (strcmp(names[i], name) != 0 || i == params->rest) continue;
        if (bound->given[i]) {
            py_error(l, DIAG_EVAL_TWICE, keyword, name, params->name);
            return false;
        }
        bound->args[i] = v;
        bound->ranges[i] = range;
        bound->given[i] = true;
        if (i == params->star && v.kind == VAL_LIST) bound->args[i] = val_frozen(l, v);
        if (i == params->star && bound->args[i].kind != VAL_TUPLE) /* shape=4 for *shape */
            bound->args[i] = val_tuple(l, &bound->args[i], 1);
        return true;
    }
    const char *near = text_nearest(name, names, (size_t)params->count);
    if (params->rest >= 0) {
        *VEC_PUSH(&bound->named, l->arena) = val_str(name);
        *VEC_PUSH(&bound->named, l->arena) = v;
        return true;
    }
    py_error(l, DIAG_EVAL_NO_PARAMETER, keyword, params->name, name,
             near ? text_suggest(l->arena, "", near)
                   : arena_printf(l->arena, "; it is %s", signature_of(l, params)));
    return false;
}

/* name=value, or **dict. */
static bool bind_keyword(Lower *l, const Params *params, Bound *bound, const PyNode *keyword) {
    const char *name = keyword->keyword.arg;
    const PyNode *value = keyword->keyword.value;
    if (!name && !py_on_host(l)) {
        py_unsupported(l, keyword->range, "`**` in a call");
        return false;
    }
    Val v = py_eval(l, value);
    if (name) return bind_named(l, params, bound, name, v, value->range, keyword->range);
    if (v.kind == VAL_HOST) v = py_live_dict(l, v, value->range);
    if (v.kind != VAL_DICT && !val_failed(v))
        py_error(l, DIAG_EVAL_OPERAND, keyword->range, "**", val_describe(l, v), "");
    bool good = v.kind == VAL_DICT;
    for (int i = 0; good && i + 1 < val_count(v); i += 2) {
        Val key = val_items(v)[i];
        good = key.kind == VAL_STR;
        if (!good) py_error(l, DIAG_EVAL_OPERAND, keyword->range, "**", val_describe(l, key), "; keys are strings");
        good = good && bind_named(l, params, bound, key.text, val_items(v)[i + 1], keyword->range, keyword->range);
    }
    return good;
}

/* What was not given: defaults, and the rest of a starred parameter; false after a mistake. */
static bool fill_defaults(Lower *l, const Params *params, Bound *bound, Range call) {
    bool good = true;
    for (size_t i = 0; i < bound->rest.count; i++) good = good && !val_failed(bound->rest.at[i]);
    for (int i = 0; i < params->count && good; i++) {
        if (i == params->star) {
            if (!bound->given[i]) bound->args[i] = val_tuple(l, bound->rest.at, (int)bound->rest.count);
        } else if (i == params->rest) {
            bound->args[i] = val_list(l, bound->named.at, (int)bound->named.count);
            bound->args[i].kind = VAL_DICT;
        } else if (!bound->given[i]) {
            const struct Param *param = &params->at[i];
            if (!param->optional) {
                py_error(l, DIAG_EVAL_NOT_GIVEN, call, params->name, param->name, signature_of(l, params));
                return false;
            }
            bound->args[i] =
                param->node ? default_of(l, params->function, param->node) : default_value(l, param->text);
        }
        if (val_failed(bound->args[i])) good = false;
    }
    return good;
}

/* Evaluates the arguments of the call in order and binds them; false after a mistake. */
static bool bind(Lower *l, const Params *params, Bound *bound, const Val *self, const PyNode *call) {
    int position = 0;
    bool good = true;
    *bound = room_for(l, params, call->range);
    if (self) good = bind_position(l, params, bound, &position, *self, call->Call.func->range);
    for (uint32_t i = 0; i < call->Call.args->count && good; i++) {
        const PyNode *arg = call->Call.args->at[i];
        bool star = arg->kind == PY_Starred;
        Val v = py_eval(l, star ? arg->Starred.value : arg);
        if (star && v.kind == VAL_LIST) v = val_frozen(l, v);
        if (star && v.kind == VAL_TUPLE) {
            for (int k = 0; k < v.count && good; k++)
                good = bind_position(l, params, bound, &position, v.items[k], arg->range);
        } else if (star && !val_failed(v)) {
            py_error(l, DIAG_EVAL_UNPACK, arg->range, 1, val_describe(l, v));
            good = false;
        } else {
            good = bind_position(l, params, bound, &position, v, arg->range);
        }
    }
    for (uint32_t i = 0; i < call->Call.keywords->count && good; i++)
        good = bind_keyword(l, params, bound, call->Call.keywords->at[i]);
    return good && fill_defaults(l, params, bound, call->range);
}

Val py_call_builtin(Lower *l, const Builtin *builtin, const Val *self, const PyNode *call) {
    Val answer;
    if (l->domain->call_raw(l, builtin, call, &answer)) return answer;
    Bound bound;
    if (!bind(l, read_signature(l, builtin), &bound, self, call)) return val_error;
    return builtin->lower(l, &(Call){builtin, call->range, bound.args, bound.ranges});
}

/* The arguments of a call, one a parameter; NULL after a mistake. */
static const Val *bind_call(Lower *l, const Function *function, const Val *self, const PyNode *call) {
    const Params *params = read_def(l, function);
    Bound bound;
    if (params->count == MAX_PARAMS) {
        py_unsupported(l, call->range, "a function of so many parameters");
        return NULL;
    }
    if (!function->host && !l->domain->host_in_kernels && !py_need_ir(l, call->range)) return NULL;
    return bind(l, params, &bound, self, call) ? bound.args : NULL;
}

Val py_call_function(Lower *l, const Function *function, const Val *self, const PyNode *call) {
    const Val *args = bind_call(l, function, self, call);
    return args ? py_run_function(l, function, args, call->range) : val_error;
}

Val py_construct(Lower *l, const Function *init, const Val *self, const PyNode *call) {
    const Val *args = bind_call(l, init, self, call);
    return args ? py_run_constructor(l, init, args, call->range) : val_error;
}

Val py_apply(Lower *l, Val function, const Val *args, int count, Range call) {
    return py_apply_named(l, function, args, NULL, count, call);
}

Val py_apply_named(Lower *l, Val function, const Val *args, const char *const *names, int count, Range call) {
    if (function.kind != VAL_FUNCTION && function.kind != VAL_BUILTIN)
        return py_error(l, DIAG_EVAL_NOT_CALLABLE, call, val_describe(l, function), "");
    const Params *params = function.kind == VAL_FUNCTION ? read_def(l, function.function)
                                                         : read_signature(l, function.builtin);
    Bound bound = room_for(l, params, call);
    int position = 0;
    for (int i = 0; i < count; i++) {
        bool good = names && names[i] ? bind_named(l, params, &bound, names[i], args[i], call, call)
                                      : bind_position(l, params, &bound, &position, args[i], call);
        if (!good) return val_error;
    }
    if (!fill_defaults(l, params, &bound, call)) return val_error;
    if (function.kind == VAL_FUNCTION) return py_run_function(l, function.function, bound.args, call);
    return function.builtin->lower(l, &(Call){function.builtin, call, bound.args, bound.ranges});
}

/* --- questions to arguments --- */

bool py_complain(Lower *l, const Call *c, int arg, const char *what) {
    const char *here = val_describe(l, c->args[arg]);
    if (c->args[arg].kind == VAL_TENSOR && strstr(what, "known at compile time"))
        here = arena_printf(l->arena, "%s; %s", here, l->domain->words.pass);
    py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[arg], py_title(l, c->builtin), what, here);
    return false;
}

bool py_constant_int(Lower *l, Val v, int64_t *value) {
    if (v.kind == VAL_TENSOR) return ty_is_scalar(val_type(l, v)) && ir_const_int(l->kernel, v.ref, value);
    if (v.kind != VAL_INT && v.kind != VAL_BOOL) return false;
    if (v.i < INT64_MIN || v.i > INT64_MAX) return false;
    *value = (int64_t)v.i;
    return true;
}

bool py_want_int(Lower *l, const Call *c, int arg, int64_t *value) {
    return py_constant_int(l, c->args[arg], value) || py_complain(l, c, arg, "an integer known at compile time");
}

bool py_want_bool(Lower *l, const Call *c, int arg, bool *value) {
    if (!val_is_const(c->args[arg])) return py_complain(l, c, arg, "True or False, known at compile time");
    *value = val_truth(c->args[arg]);
    return true;
}

bool py_want_text(Lower *l, const Call *c, int arg, const char **text) {
    Val v = c->args[arg];
    *text = v.kind == VAL_STR && v.text[0] ? v.text : NULL;
    return v.kind == VAL_STR || v.kind == VAL_NONE || py_complain(l, c, arg, "a string");
}
