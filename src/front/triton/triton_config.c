/* SPDX-License-Identifier: Apache-2.0 */
/* triton_config.c: what the decorators of a kernel say about its constants.
 *
 *     @triton.autotune(configs=[triton.Config({"BLOCK": 128}, num_warps=4), ..], key=["n"])
 *     @triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
 *
 * Both are plain Python. It is run as far as it is arithmetic on constants, lists, dicts,
 * comprehensions and functions of the file; what is more than that is named in a message, and the
 * constant has to be given. */
#include "front/triton/triton.h"

#include <string.h>

/* Runs in silence: whoever asks says what it means that it failed. */
typedef struct Quiet {
    Lower lower;
    TritonState state;
    Diag diag;
} Quiet;

static Lower *begin_quiet(Quiet *q, FrontUnit *unit, Arena *arena) {
    const Tree *tree = unit->tree;
    diag_init(&q->diag, arena, unit->sources);
    q->state = (TritonState){0};
    q->lower = (Lower){.domain = &tri_domain, .own = &q->state, .unit = unit, .arena = arena, .diag = &q->diag};
    q->lower.module = ir_module_new(arena, &q->diag, unit->sources);
    q->lower.names = names_collect(unit, &tri_domain, unit->file, tree->module, arena);
    return &q->lower;
}

/* The argument of a decorator, by position or keyword; NULL if it is not there. */
static const PyNode *argument_of(const PyNode *call, uint32_t position, const char *name) {
    if (position < call->Call.args->count) return call->Call.args->at[position];
    for (uint32_t i = 0; i < call->Call.keywords->count; i++) {
        const PyNode *keyword = call->Call.keywords->at[i];
        if (keyword->keyword.arg && strcmp(keyword->keyword.arg, name) == 0) return keyword->keyword.value;
    }
    return NULL;
}

/* --- configurations --- */

/* triton.Config: a dict of constants, and the options that are given. */
Val tri_lower_config(Lower *l, const Call *c) {
    if (l->kernel) return py_error(l, DIAG_EVAL_HOST, c->range, "triton.Config", "", l->domain->words.language);
    Val parts[3] = {c->args[0], c->args[1], c->args[2]};
    if (parts[0].kind != VAL_DICT)
        return py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[0], "triton.Config", "a dict", val_describe(l, parts[0]));
    return val_tuple(l, parts, 3);
}

/* As --arg reads it. */
static const char *value_text(Lower *l, Val v) {
    if (v.kind == VAL_BOOL) return v.i ? "true" : "false";
    return v.kind == VAL_NONE ? "none" : val_text(l, v);
}

static bool is_parameter(const FrontKernel *kernel, const char *name) {
    for (int i = 0; i < kernel->param_count; i++)
        if (strcmp(kernel->params[i].name, name) == 0) return true;
    return false;
}

/* Names that are no parameters are options of other compilers, and left out. */
static bool read_config(Lower *l, const FrontKernel *kernel, Val config, FrontConfig *out) {
    static const char *const options[] = {"num_warps", "num_stages"};
    if (config.kind != VAL_TUPLE || config.count != 3 || config.items[0].kind != VAL_DICT) return false;
    Val dict = config.items[0];
    Text text = text_new(l->arena);
    size_t count = 0;
    FrontPair *values = ARENA_ARRAY(l->arena, FrontPair, val_count(dict) / 2);
    FrontPair *given = ARENA_ARRAY(l->arena, FrontPair, 2);
    for (int i = 0; i < val_count(dict); i += 2) {
        const Val *item = &val_items(dict)[i];
        if (item[0].kind != VAL_STR) return false;
        if (!is_parameter(kernel, item[0].text)) continue;
        FrontPair pair = {item[0].text, value_text(l, item[1])};
        values[count++] = pair;
        text_add(&text, "%s%s=%s", text.length ? ", " : "", pair.name, pair.value);
    }
    *out = (FrontConfig){.values = values, .value_count = count, .options = given};
    for (int k = 0; k < 2; k++) {
        if (config.items[1 + k].kind == VAL_NONE) continue;
        FrontPair pair = {options[k], value_text(l, config.items[1 + k])};
        given[out->option_count++] = pair;
        text_add(&text, "%s%s=%s", text.length ? ", " : "", pair.name, pair.value);
    }
    out->text = text.at;
    return true;
}

static void read_configs(FrontUnit *unit, const PyNode *call, FrontKernel *kernel) {
    Quiet quiet;
    Lower *l = begin_quiet(&quiet, unit, unit->arena);
    const PyNode *node = argument_of(call, 0, "configs");
    Val list = val_frozen(l, node ? py_eval(l, node) : val_error);
    kernel->config_range = call->range;
    if (quiet.diag.messages.count) {
        const DiagMessage *first = &quiet.diag.messages.at[0];
        kernel->config_range = first->range;
        kernel->config_why = first->text;
    }
    if (list.kind != VAL_TUPLE) return;
    FrontConfig *configs = ARENA_ARRAY(unit->arena, FrontConfig, list.count);
    for (int i = 0; i < list.count; i++)
        if (!read_config(l, kernel, list.items[i], &configs[i])) return;
    kernel->configs = configs;
    kernel->config_count = (size_t)list.count;
}

/* --- heuristics --- */

static void read_heuristics(FrontUnit *unit, const PyNode *call, Entry *entry) {
    const PyNode *dict = argument_of(call, 0, "values");
    if (dict && dict->kind == PY_Name) {
        const PyNode *value = names_node(((Tree *)unit->tree)->names, dict->Name.id);
        if (value) dict = value;
    }
    if (!dict || dict->kind != PY_Dict) return;
    for (uint32_t i = 0; i < dict->Dict.keys->count; i++) {
        const PyNode *key = dict->Dict.keys->at[i];
        if (!key || key->kind != PY_Constant || key->Constant.what != PY_STR) continue;
        *VEC_PUSH(&entry->heuristics, unit->arena) = (Heuristic){key->Constant.text->at, dict->Dict.values->at[i]};
    }
}

void tri_read_decorators(FrontUnit *unit, Entry *entry, FrontKernel *kernel) {
    const PyList *decorators = entry->function->FunctionDef.decorator_list;
    for (uint32_t i = 0; i < decorators->count; i++) {
        const PyNode *node = decorators->at[i];
        const char *path =
            node->kind == PY_Call ? names_path(((Tree *)unit->tree)->names, node->Call.func, unit->arena) : NULL;
        if (path && strcmp(path, "triton.autotune") == 0) read_configs(unit, node, kernel);
        if (path && strcmp(path, "triton.heuristics") == 0) read_heuristics(unit, node, entry);
    }
}

/* The arguments as a dict; an array, or a number of which only the type is given, is there, and nothing more is known
 * of it. */
static Val arguments_dict(Lower *l, const FrontKernel *kernel, const FrontValue *args) {
    Val dict = val_list(l, NULL, 0);
    dict.kind = VAL_DICT;
    for (int i = 0; i < kernel->param_count; i++) {
        const char *name = kernel->params[i].name;
        if (args[i].kind == FRONT_ABSENT) continue;
        bool there = args[i].kind == FRONT_ARRAY || args[i].kind == FRONT_NUMBER;
        Val value = there ? (Val){.kind = VAL_MODULE, .text = name} : val_given(l, &args[i]);
        py_set_item(l, dict, val_str(name), value, kernel->range);
    }
    return dict;
}

static Val run_heuristic(Lower *l, const PyNode *node, Val dict) {
    Val f = py_eval(l, node);
    if (f.kind != VAL_FUNCTION || !f.function->host) return val_error;
    return py_apply(l, f, &dict, 1, node->range);
}

static bool to_front_value(Val v, FrontValue *out) {
    *out = (FrontValue){0};
    switch (v.kind) {
    case VAL_NONE: out->kind = FRONT_NONE; return true;
    case VAL_BOOL:
    case VAL_INT:
        out->kind = v.kind == VAL_BOOL ? FRONT_BOOL : FRONT_INT;
        out->i = (int64_t)v.i;
        return v.i >= INT64_MIN && v.i <= INT64_MAX;
    case VAL_FLOAT:
        out->kind = FRONT_FLOAT;
        out->f = v.f;
        return true;
    case VAL_STR:
        out->kind = FRONT_TEXT;
        out->text = v.text;
        return true;
    case VAL_DTYPE:
        out->kind = FRONT_TEXT;
        out->text = tri_dtype_name(v.dtype->elem);
        return !v.dtype->pointer && !v.dtype->rank;
    default: return false;
    }
}

bool triton_complete(FrontUnit *unit, const FrontKernel *kernel, FrontValue *args, Arena *arena, Diag *diag) {
    const Entry *entry = kernel->node;
    bool good = true;
    for (int i = 0; i < kernel->param_count; i++) /* it will be asked for */
        if (args[i].kind == FRONT_ABSENT && !kernel->params[i].optional) return true;
    for (size_t h = 0; h < entry->heuristics.count; h++) {
        const Heuristic *heuristic = &entry->heuristics.at[h];
        int at = 0;
        while (at < kernel->param_count && strcmp(kernel->params[at].name, heuristic->name) != 0) at++;
        if (at == kernel->param_count || args[at].kind != FRONT_ABSENT) continue;
        Quiet quiet;
        Lower *l = begin_quiet(&quiet, unit, arena);
        Val v = run_heuristic(l, heuristic->node, arguments_dict(l, kernel, args));
        if (to_front_value(v, &args[at])) continue;
        args[at] = (FrontValue){.kind = FRONT_ABSENT};
        diag_emit(diag, DIAG_TRI_HEURISTIC, heuristic->node->range, heuristic->name, heuristic->name);
        good = false;
    }
    return good;
}
